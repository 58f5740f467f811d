-- issues_by_iid_resource_milestone_events_20
select
  (
    select
      count(*)::int
    from
      (
        select
          1
        from
          resource_milestone_events e
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
                '{"id":%s,"user":%s,"created_at":"%s","resource_type":"Issue","resource_id":%s,"milestone":%s,"action":"%s"}',
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
                case
                  when m.id is not null then format(
                    '{"id":%s,"iid":%s,"title":%s,"description":%s,"state":"%s","created_at":"%s","updated_at":"%s","due_date":%s,"start_date":%s,"expired":%s,"web_url":"http://localhost:8080/%s"%s%s}',
                    m.id,
                    m.iid,
                    to_json(m.title),
                    coalesce(to_json(m.description)::text, 'null'),
                    m.state,
                    to_char((m.created_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                    to_char((m.updated_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                    coalesce('"' || to_char(m.due_on, 'YYYY-MM-DD') || '"', 'null'),
                    coalesce('"' || to_char(m.start_on, 'YYYY-MM-DD') || '"', 'null'),
                    case
                      when m.due_on < (now() at time zone 'UTC')::date then 'true'
                      else 'false'
                    end,
                    case
                      when m.group_id is null then (
                        select
                          home.full_path || '/' || p.path
                        from
                          directory_projects p
                          join directory_namespaces home on home.id = p.namespace_id
                        where
                          p.id = m.project_id
                      )
                      else (
                        select
                          'groups/' || home.full_path
                        from
                          directory_namespaces home
                        where
                          home.id = m.group_id
                      )
                    end || '/-/milestones/' || m.iid,
                    case
                      when m.project_id is not null then format(',"project_id":%s', m.project_id)
                    end,
                    case
                      when m.group_id is not null then format(',"group_id":%s', m.group_id)
                    end
                  )
                  else 'null'
                end,
                e.action
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
          sum(
            coalesce(
              (
                select
                  coalesce(octet_length(m.description), 0)
                from
                  milestones m
                where
                  m.id = e.milestone_id
              ),
              0
            )
          ) over () > 524288 as is_heavy
        from
          (
            select
              e.*
            from
              resource_milestone_events e
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
      left join milestones m on m.id = e.milestone_id
      and (
        m.project_id = e.project_id
        or m.group_id = any (:$6::bigint[])
      )
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
