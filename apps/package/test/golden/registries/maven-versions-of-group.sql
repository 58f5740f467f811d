-- maven_versions_in_group: $1 name, $2 below, $3 isAdmin, $4 viewer, $5 isExternal
select
  p.id as published,
  p.version,
  newest.created_at as uploaded_at
from
  (
    select
      p.id,
      p.version,
      p.project_id
    from
      packages p
    where
      p.package_type = 'maven'
      and p.name_key = :name
      and p.status in ('default', 'hidden', 'deprecated')
      and p.version is not null
    offset
      0
  ) p
  join directory_projects project on project.id = p.project_id
  join directory_namespaces home on home.id = project.namespace_id
  and (
    home.traversal_ids >= :below::bigint[]
    and home.traversal_ids < (:below::bigint[]) [1 :array_length (:below::bigint[], 1) - 1] || ((:below::bigint[]) [array_length(:below::bigint[], 1)] + 1)
  )
  and project.packages_enabled
  and project.repository_access_level is distinct from 'disabled'
  and (
    :isAdmin::boolean
    or (
      (
        project.visibility = 'public'
        or (
          project.visibility = 'internal'
          and :viewer::bigint is not null
          and not :isExternal::boolean
        )
      )
      and (
        project.repository_access_level is null
        or project.repository_access_level = 'enabled'
      )
    )
    or (
      :viewer::bigint is not null
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
                m.user_id = :viewer::bigint
                and m.source_type = 'project'
                and m.source_id = project.id
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
                join directory_memberships m on m.user_id = :viewer::bigint
                and m.source_type = 'namespace'
                and m.source_id = any (invited.traversal_ids)
              where
                s.source_type = 'project'
                and s.source_id = project.id
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
                m.user_id = :viewer::bigint
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
                join directory_memberships m on m.user_id = :viewer::bigint
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
                and home.owner_id = :viewer::bigint
            ) held
        ),
        0
      ) >= case
        when (
          project.visibility = 'public'
          or (
            project.visibility = 'internal'
            and :viewer::bigint is not null
            and not :isExternal::boolean
          )
        ) then 10
        else 20
      end
    )
  )
  cross join lateral (
    select
      f.created_at
    from
      package_files f
    where
      f.package_id = p.id
      and not f.is_pending_destruction
    order by
      f.id desc
    limit
      1
  ) newest
order by
  p.id desc
limit
  5000
