-- merge_requests_shared_branches: $1 projectId, $2 userId
select distinct
  i.source_branch as name
from
  merge_requests i
  join directory_projects s on s.id = i.source_project_id
  join directory_projects t on t.id = i.project_id
  join directory_namespaces home on home.id = t.namespace_id
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
