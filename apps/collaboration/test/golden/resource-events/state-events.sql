-- issues_by_iid_resource_state_events_20
select
  (
    select
      count(*)::int
    from
      (
        select
          1
        from
          resource_state_events e
        where
          e.noteable_id = i.id
          and e.noteable_type = 'Issue'
        limit
          10001
      ) c
  ) as counted,
  null::boolean as has_more,
  (
    select
      case
        when bool_or(e.is_heavy) then null
        else '[' || coalesce(
          string_agg(
            case
              when not e.is_heavy then format(
                '{"id":%s,"user":%s,"created_at":"%s","resource_type":"Issue","resource_id":%s,"state":"%s"}',
                e.id,
                case
                  when u.id is not null then format(
                    '{"id":%s,"username":"%s","public_email":%s,"name":%s,"state":"%s","locked":false,"avatar_url":%s,"web_url":"http://localhost:8080/%s"}',
                    u.id,
                    u.username,
                    coalesce(to_json(u.public_email)::text, 'null'),
                    to_json(u.name),
                    u.state,
                    coalesce(
                      to_json(
                        case
                          when left(u.avatar_url, 1) = '/' then 'http://localhost:8080' || u.avatar_url
                          else u.avatar_url
                        end
                      )::text,
                      'null'
                    ),
                    u.username
                  )
                  else 'null'
                end,
                to_char((e.created_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                e.noteable_id,
                e.state
              )
            end,
            ','
            order by
              e.created_at asc,
              e.id asc
          ),
          ''
        ) || ']'
      end
    from
      (
        select
          e.*,
          sum(0) over () > 524288 as is_heavy
        from
          (
            select
              e.*
            from
              resource_state_events e
            where
              e.noteable_id = i.id
              and e.noteable_type = 'Issue'
            order by
              e.created_at asc,
              e.id asc
            limit
              20
          ) e
      ) e
      left join directory_users u on u.id = e.user_id
  ) as json
from
  issues i
where
  i.project_id =:$1::bigint
  and i.iid =:$2::bigint
  and (
    not i.confidential
    or:$5::boolean
    or (
      i.author_id =:$3::bigint
      and:$4::boolean
    )
    or:$3::bigint in (
      select
        seen.user_id
      from
        issue_assignees seen
      where
        seen.issue_id = i.id
    )
  )
