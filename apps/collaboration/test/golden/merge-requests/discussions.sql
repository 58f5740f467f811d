-- merge_requests_discussions_page_20: $1 reads_internal, $2 reads_code, $3 is_admin, $4 viewer, $5 parent, $6 named
select
  i.public_notes_count + i.system_notes_count + case
    when :reads_internal::boolean then i.internal_notes_count
    else 0
  end - (
    select
      count(*)::integer
    from
      notes r
    where
      r.noteable_id = i.id
      and r.noteable_type = 'MergeRequest'
      and r.thread_id is not null
      and r.is_reply
      and (
        not r.internal
        or :reads_internal::boolean
      )
  ) as counted,
  (
    select
      case
        when bool_or(h.is_heavy) then null
        else '[' || coalesce(
          string_agg(
            case
              when not h.is_heavy then format(
                '{"id":"%s","individual_note":%s,"notes":[%s]}',
                left(encode(sha256(convert_to('discussion ' || coalesce(h.thread_id, h.id), 'UTF8')), 'hex'), 24) || lpad(to_hex(coalesce(h.thread_id, h.id)), 16, '0'),
                case
                  when h.thread_id is null then 'true'
                  else 'false'
                end,
                array_to_string(
                  (
                    select
                      array_agg(
                        format(
                          '{"id":%s,"type":%s,"body":%s,"attachment":null,"author":%s,"created_at":"%s","updated_at":"%s","system":%s,"noteable_id":%s,"noteable_type":"MergeRequest","project_id":%s,"noteable_iid":%s,"resolvable":%s,"confidential":%s,"internal":%s,"imported":%s,"imported_from":"%s","commands_changes":{}%s%s}',
                          n.id,
                          coalesce(
                            '"' || (
                              case
                                when n.thread_id is not null then case
                                  when exists (
                                    select
                                      1
                                    from
                                      note_positions p
                                    where
                                      p.thread_id = n.thread_id
                                  ) then 'DiffNote'
                                  else 'DiscussionNote'
                                end
                              end
                            ) || '"',
                            'null'
                          ),
                          to_json(
                            case
                              when (
                                n.referenced_id is null
                                or false
                              )
                              and (
                                not (
                                  n.system
                                  and n.body ~ '^(?:mentioned in|closed via) commit [0-9a-f]+$'
                                )
                                or :reads_code::boolean
                              ) then n.body
                              else regexp_replace(n.body, '\S+(?= as (?:child epic|parent epic|a duplicate of this issue)$)|\S+$', 'something that you may not see')
                            end
                          ),
                          case
                            when a.id is not null then format(
                              '{"id":%s,"username":"%s","public_email":%s,"name":%s,"state":"%s","locked":false,"avatar_url":%s,"web_url":"http://localhost:8080/%s","email":%s%s}',
                              a.id,
                              a.username,
                              coalesce(to_json(a.public_email)::text, 'null'),
                              to_json(a.name),
                              a.state,
                              coalesce(
                                to_json(
                                  case
                                    when left(a.avatar_url, 1) = '/' then 'http://localhost:8080' || a.avatar_url
                                    else a.avatar_url
                                  end
                                )::text,
                                'null'
                              ),
                              a.username,
                              to_json(
                                coalesce(
                                  case
                                    when :is_admin::boolean
                                    or a.id = :viewer::bigint then a.notification_email
                                  end,
                                  a.public_email,
                                  a.id || '-' || a.username || '@users.noreply.localhost'
                                )
                              ),
                              case
                                when not a.private_profile
                                or :is_admin::boolean
                                or a.id = :viewer::bigint then format(',"created_at":"%s"', to_char((a.created_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
                              end
                            )
                            else 'null'
                          end,
                          to_char((n.created_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                          to_char((n.updated_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                          case
                            when n.system then 'true'
                            else 'false'
                          end,
                          coalesce((n.noteable_id)::text, 'null'),
                          coalesce((n.project_id)::text, 'null'),
                          coalesce((i.iid)::text, 'null'),
                          case
                            when (
                              n.thread_id is not null
                              and not n.system
                            ) then 'true'
                            else 'false'
                          end,
                          case
                            when n.internal then 'true'
                            else 'false'
                          end,
                          case
                            when n.internal then 'true'
                            else 'false'
                          end,
                          case
                            when n.imported_from <> 'none' then 'true'
                            else 'false'
                          end,
                          n.imported_from,
                          case
                            when (
                              n.thread_id is not null
                              and not n.system
                            ) then format(
                              ',"resolved":%s,"resolved_by":%s,"resolved_at":%s',
                              case
                                when n.resolved_at is not null then 'true'
                                else 'false'
                              end,
                              coalesce(
                                (
                                  select
                                    format(
                                      '{"id":%s,"username":"%s","public_email":%s,"name":%s,"state":"%s","locked":false,"avatar_url":%s,"web_url":"http://localhost:8080/%s"}',
                                      r.id,
                                      r.username,
                                      coalesce(to_json(r.public_email)::text, 'null'),
                                      to_json(r.name),
                                      r.state,
                                      coalesce(
                                        to_json(
                                          case
                                            when left(r.avatar_url, 1) = '/' then 'http://localhost:8080' || r.avatar_url
                                            else r.avatar_url
                                          end
                                        )::text,
                                        'null'
                                      ),
                                      r.username
                                    )
                                  from
                                    directory_users r
                                  where
                                    r.id = n.resolved_by_id
                                ),
                                'null'
                              ),
                              coalesce('"' || to_char((n.resolved_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '"', 'null')
                            )
                          end,
                          case
                            when exists (
                              select
                                1
                              from
                                note_positions p
                              where
                                p.thread_id = n.thread_id
                            ) then format(
                              ',"commit_id":%s,"position":%s,"suggestions":[%s]',
                              coalesce(
                                '"' || (
                                  (
                                    select
                                      p.commit_id
                                    from
                                      note_positions p
                                    where
                                      p.thread_id = n.thread_id
                                  )
                                ) || '"',
                                'null'
                              ),
                              (
                                select
                                  p.shown::text
                                from
                                  note_positions p
                                where
                                  p.thread_id = n.thread_id
                              ),
                              array_to_string(
                                (
                                  select
                                    array_agg(
                                      format(
                                        '{"id":%s,"from_line":%s,"to_line":%s,"appliable":%s,"applicable":%s,"applied":%s,"from_content":%s,"to_content":%s}',
                                        s.id,
                                        greatest(1, (p.shown ->> 'new_line')::integer - s.lines_above),
                                        (p.shown ->> 'new_line')::integer + s.lines_below,
                                        case
                                          when s.commit_id is null
                                          and p.is_active
                                          and not s.is_outdated
                                          and exists (
                                            select
                                              1
                                            from
                                              merge_requests open
                                            where
                                              open.id = p.noteable_id
                                              and open.state = 'opened'
                                          )
                                          and s.from_content <> s.to_content
                                          and p.new_path not like '%ipynb' then 'true'
                                          else 'false'
                                        end,
                                        case
                                          when s.commit_id is null
                                          and p.is_active
                                          and not s.is_outdated
                                          and exists (
                                            select
                                              1
                                            from
                                              merge_requests open
                                            where
                                              open.id = p.noteable_id
                                              and open.state = 'opened'
                                          )
                                          and s.from_content <> s.to_content
                                          and p.new_path not like '%ipynb' then 'true'
                                          else 'false'
                                        end,
                                        case
                                          when s.commit_id is not null then 'true'
                                          else 'false'
                                        end,
                                        to_json(s.from_content),
                                        to_json(s.to_content)
                                      )
                                      order by
                                        s.relative_order,
                                        s.id
                                    ) as texts
                                  from
                                    suggestions s
                                    join note_positions p on p.thread_id = n.thread_id
                                  where
                                    s.note_id = n.id
                                ),
                                ','
                              )
                            )
                          end
                        )
                        order by
                          n.created_at,
                          n.id
                      ) as texts
                    from
                      (
                        select
                          n.*
                        from
                          notes n
                        where
                          n.id = h.id
                          and h.thread_id is null
                        union all
                        select
                          n.*
                        from
                          notes n
                        where
                          n.noteable_id = h.noteable_id
                          and n.noteable_type = h.noteable_type
                          and n.thread_id = h.thread_id
                      ) n
                      left join directory_users a on a.id = n.author_id
                    where
                      not n.internal
                      or :reads_internal::boolean
                  ),
                  ','
                )
              )
            end,
            ','
            order by
              h.created_at asc,
              h.id asc
          ),
          ''
        ) || ']'
      end
    from
      (
        select
          h.*,
          sum(
            case
              when h.thread_id is null then octet_length(h.body)
              else coalesce(
                (
                  select
                    sum(
                      octet_length(n.body) + coalesce(
                        (
                          select
                            sum(octet_length(s.from_content) + octet_length(s.to_content))
                          from
                            suggestions s
                          where
                            s.note_id = n.id
                        ),
                        0
                      )
                    )
                  from
                    notes n
                  where
                    n.noteable_id = h.noteable_id
                    and n.noteable_type = h.noteable_type
                    and n.thread_id = h.thread_id
                    and (
                      not n.internal
                      or :reads_internal::boolean
                    )
                ),
                0
              )
            end
          ) over () > 524288 as is_heavy
        from
          (
            select
              h.*
            from
              notes h
            where
              h.noteable_id = i.id
              and h.noteable_type = 'MergeRequest'
              and not h.is_reply
              and (
                not h.internal
                or :reads_internal::boolean
              )
            order by
              h.created_at asc,
              h.id asc
            limit
              20
          ) h
      ) h
  ) as json
from
  merge_requests i
where
  i.project_id = :parent::bigint
  and i.iid = :named::bigint
  and true
