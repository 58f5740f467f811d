-- issues_notes_updated_at_desc_all_notes_20: $1 reads_internal, $2 reads_code, $3 is_admin, $4 viewer, $5 parent, $6 named, $7 reads_confidential, $8 is_member
select
  i.public_notes_count + case
    when :reads_internal::boolean then i.internal_notes_count
    else 0
  end as comments,
  i.system_notes_count as activity,
  (
    select
      case
        when bool_or(n.is_heavy) then null
        else '[' || coalesce(
          string_agg(
            case
              when not n.is_heavy then format(
                '{"id":%s,"type":%s,"body":%s,"attachment":null,"author":%s,"created_at":"%s","updated_at":"%s","system":%s,"noteable_id":%s,"noteable_type":"Issue","project_id":%s,"noteable_iid":%s,"resolvable":%s,"confidential":%s,"internal":%s,"imported":%s,"imported_from":"%s","commands_changes":{}%s}',
                n.id,
                coalesce(
                  '"' || (
                    case
                      when n.thread_id is not null then 'DiscussionNote'
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
                  when n.thread_id is not null then 'true'
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
                  when n.thread_id is not null then format(
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
                end
              )
            end,
            ','
            order by
              n.updated_at desc,
              n.id desc
          ),
          ''
        ) || ']'
      end
    from
      (
        select
          n.*,
          sum(octet_length(n.body)) over () > 524288 as is_heavy
        from
          (
            select
              n.*
            from
              notes n
            where
              n.noteable_id = i.id
              and n.noteable_type = 'Issue'
              and (
                not n.internal
                or :reads_internal::boolean
              )
            order by
              n.updated_at desc,
              n.id desc
            limit
              20
          ) n
      ) n
      left join directory_users a on a.id = n.author_id
  ) as json
from
  issues i
where
  i.project_id = :parent::bigint
  and i.iid = :named::bigint
  and (
    not i.confidential
    or :reads_confidential::boolean
    or (
      i.author_id = :viewer::bigint
      and :is_member::boolean
    )
    or :viewer::bigint in (
      select
        seen.user_id
      from
        issue_assignees seen
      where
        seen.issue_id = i.id
    )
  )
