-- milestones_of_project_up_active_20
select
  (
    select
      count(*)::int
    from
      (
        select
          1
        from
          (
            select
              m.*
            from
              milestones m
            where
              m.group_id = any (:$2::bigint[])
            union all
            select
              m.*
            from
              milestones m
            where
              m.project_id =:$1::bigint
          ) m
        where
          m.state = 'active'
        limit
          10001
      ) c
  ) as counted,
  null::boolean as has_more,
  (
    select
      case
        when bool_or(m.is_heavy) then null
        else '[' || coalesce(
          string_agg(
            case
              when not m.is_heavy then format(
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
            end,
            ','
            order by
              m.due_on asc nulls last,
              m.id desc
          ),
          ''
        ) || ']'
      end
    from
      (
        select
          m.*,
          sum(coalesce(octet_length(m.description), 0)) over () > 524288 as is_heavy
        from
          (
            select
              m.*
            from
              (
                (
                  select
                    m.*
                  from
                    (
                      select
                        m.*
                      from
                        milestones m
                      where
                        m.group_id = any (:$2::bigint[])
                    ) m
                  where
                    m.state = 'active'
                  order by
                    m.due_on asc nulls last,
                    m.id desc
                  limit
                    20
                )
                union all
                (
                  select
                    m.*
                  from
                    (
                      select
                        m.*
                      from
                        milestones m
                      where
                        m.project_id =:$1::bigint
                    ) m
                  where
                    m.state = 'active'
                  order by
                    m.due_on asc nulls last,
                    m.id desc
                  limit
                    20
                )
              ) m
            order by
              m.due_on asc nulls last,
              m.id desc
            limit
              20
          ) m
      ) m
  ) as json
