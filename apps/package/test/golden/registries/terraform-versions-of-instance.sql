-- terraform_versions_of_instance: $1 root, $2 name, $3 isAdmin, $4 viewer, $5 isExternal
select
  p.version,
  home.full_path || '/' || project.path as project_path
from
  package_indexes i
  join directory_projects project on project.id = i.project_id
  join directory_namespaces home on home.id = project.namespace_id
  join directory_namespaces root on root.id = home.traversal_ids[1]
  and lower(root.path) = lower(:root)
  join packages p on p.project_id = i.project_id
  and p.package_type = i.package_type
  and p.name_key = i.name_key
  and p.status in ('default', 'hidden', 'deprecated')
where
  i.package_type = 'terraform_module'
  and i.name_key = :name
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
order by
  p.id desc
limit
  5000
