-- merge_requests_shared_branches: $1 projectId, $2 userId
select distinct
  i.source_branch as name
from
  merge_requests i
  join directory_projects s on s.id = i.source_project_id
  join directory_projects t on t.id = i.project_id
  join directory_namespaces home on home.id = t.namespace_id
  join directory_namespaces origin on origin.id = s.namespace_id
  join directory_users g on g.id = coalesce(i.collaboration_granted_by_id, i.author_id)
  and g.state = 'active'
where
  i.source_project_id = :projectId::bigint
  and i.project_id <> i.source_project_id
  and i.state = 'opened'
  and i.allow_collaboration
  and not t.archived
  and t.merge_requests_access_level <> 'disabled'
  and (
    s.visibility = 'public'
    or s.visibility = t.visibility
    or t.visibility = 'private'
  )
  and (
    (s.fork ->> 'network_id')::bigint = t.id
    or exists (
      with recursive
        origins (id) as (
          select
            (s.fork ->> 'project_id')::bigint
          union
          select
            (o.fork ->> 'project_id')::bigint
          from
            origins
            join directory_projects o on o.id = origins.id
        )
      select
        1
      from
        origins
      where
        origins.id = t.id
    )
  )
  and coalesce(
    (
      select
        max(held.level)::integer
      from
        (
          select
            m.access_level as level
          from
            directory_memberships m
          where
            m.user_id = :userId::bigint
            and m.source_type = 'project'
            and m.source_id = t.id
            and (
              m.expires_on is null
              or m.expires_on > (statement_timestamp() at time zone 'UTC')::date
            )
          union all
          select
            least(s.access_level, m.access_level)
          from
            directory_shares s
            join directory_namespaces invited on invited.id = s.group_id
            join directory_memberships m on m.user_id = :userId::bigint
            and m.source_type = 'namespace'
            and m.source_id = any (invited.traversal_ids)
          where
            s.source_type = 'project'
            and s.source_id = t.id
            and (
              s.expires_on is null
              or s.expires_on > (statement_timestamp() at time zone 'UTC')::date
            )
            and (
              m.expires_on is null
              or m.expires_on > (statement_timestamp() at time zone 'UTC')::date
            )
          union all
          select
            m.access_level as level
          from
            directory_memberships m
          where
            m.user_id = :userId::bigint
            and m.source_type = 'namespace'
            and m.source_id = any (home.traversal_ids)
            and (
              m.expires_on is null
              or m.expires_on > (statement_timestamp() at time zone 'UTC')::date
            )
          union all
          select
            least(s.access_level, m.access_level)
          from
            directory_shares s
            join directory_namespaces invited on invited.id = s.group_id
            join directory_memberships m on m.user_id = :userId::bigint
            and m.source_type = 'namespace'
            and m.source_id = any (invited.traversal_ids)
          where
            s.source_type = 'namespace'
            and s.source_id = any (home.traversal_ids)
            and (
              s.expires_on is null
              or s.expires_on > (statement_timestamp() at time zone 'UTC')::date
            )
            and (
              m.expires_on is null
              or m.expires_on > (statement_timestamp() at time zone 'UTC')::date
            )
          union all
          select
            50
          where
            home.kind = 'user'
            and home.owner_id = :userId::bigint
        ) held
    ),
    0
  ) >= 30
  and (
    g.admin
    or coalesce(
      (
        select
          max(held.level)::integer
        from
          (
            select
              m.access_level as level
            from
              directory_memberships m
            where
              m.user_id = g.id
              and m.source_type = 'project'
              and m.source_id = s.id
              and (
                m.expires_on is null
                or m.expires_on > (statement_timestamp() at time zone 'UTC')::date
              )
            union all
            select
              least(s.access_level, m.access_level)
            from
              directory_shares s
              join directory_namespaces invited on invited.id = s.group_id
              join directory_memberships m on m.user_id = g.id
              and m.source_type = 'namespace'
              and m.source_id = any (invited.traversal_ids)
            where
              s.source_type = 'project'
              and s.source_id = s.id
              and (
                s.expires_on is null
                or s.expires_on > (statement_timestamp() at time zone 'UTC')::date
              )
              and (
                m.expires_on is null
                or m.expires_on > (statement_timestamp() at time zone 'UTC')::date
              )
            union all
            select
              m.access_level as level
            from
              directory_memberships m
            where
              m.user_id = g.id
              and m.source_type = 'namespace'
              and m.source_id = any (origin.traversal_ids)
              and (
                m.expires_on is null
                or m.expires_on > (statement_timestamp() at time zone 'UTC')::date
              )
            union all
            select
              least(s.access_level, m.access_level)
            from
              directory_shares s
              join directory_namespaces invited on invited.id = s.group_id
              join directory_memberships m on m.user_id = g.id
              and m.source_type = 'namespace'
              and m.source_id = any (invited.traversal_ids)
            where
              s.source_type = 'namespace'
              and s.source_id = any (origin.traversal_ids)
              and (
                s.expires_on is null
                or s.expires_on > (statement_timestamp() at time zone 'UTC')::date
              )
              and (
                m.expires_on is null
                or m.expires_on > (statement_timestamp() at time zone 'UTC')::date
              )
            union all
            select
              50
            where
              origin.kind = 'user'
              and origin.owner_id = g.id
          ) held
      ),
      0
    ) >= 30
  )
