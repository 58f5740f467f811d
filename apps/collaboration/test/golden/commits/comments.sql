-- commit_comments_page_20: $1 commit
select
  i.public_notes_count as counted,
  (
    select
      case
        when bool_or(n.is_heavy) then null
        else '[' || coalesce(
          string_agg(
            case
              when not n.is_heavy then format(
                '{"note":%s,"path":%s,"line":%s,"line_type":%s,"author":%s,"created_at":"%s"}',
                to_json(n.body),
                coalesce(to_json(p.new_path)::text, 'null'),
                coalesce((coalesce((p.shown ->> 'new_line')::integer, (p.shown ->> 'old_line')::integer))::text, 'null'),
                coalesce(
                  '"' || (
                    case
                      when (p.shown ->> 'old_line')::integer is null
                      and (p.shown ->> 'new_line')::integer is not null then 'new'
                      when (p.shown ->> 'new_line')::integer is null
                      and (p.shown ->> 'old_line')::integer is not null then 'old'
                    end
                  ) || '"',
                  'null'
                ),
                case
                  when a.id is not null then format(
                    '{"id":%s,"username":"%s","public_email":%s,"name":%s,"state":"%s","locked":false,"avatar_url":%s,"web_url":"http://localhost:8080/%s"}',
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
                    a.username
                  )
                  else 'null'
                end,
                to_char((n.created_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
              )
            end,
            ','
            order by
              n.created_at asc,
              n.id asc
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
              and n.noteable_type = 'Commit'
              and not n.system
            order by
              n.created_at asc,
              n.id asc
            limit
              20
          ) n
      ) n
      left join directory_users a on a.id = n.author_id
      left join note_positions p on p.thread_id = n.thread_id
  ) as json
from
  discussed_commits i
where
  i.id = :commit::bigint
