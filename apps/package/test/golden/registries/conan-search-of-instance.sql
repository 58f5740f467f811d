-- conan_search_of_instance: $1 isAdmin, $2 viewer, $3 isExternal, $4 pattern, $5 ignoresCase, $6 isFirst
select
  p.name,
  p.version,
  p.name_key as key
from
  packages p
  join directory_projects project on project.id = p.project_id
  join directory_namespaces home on home.id = project.namespace_id
where
  starts_with(substr(p.name_key, length(p.name) + 2), replace(home.full_path || '/' || project.path, '/', '+') || '/')
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
  and p.package_type = 'conan'
  and p.status in ('default', 'hidden', 'deprecated')
  and (
    :pattern::text is null
    or case
      when :ignoresCase::boolean then lower(p.name)
      else p.name
    end like :pattern
    or case
      when :ignoresCase::boolean then lower(p.name || '/' || p.version)
      else p.name || '/' || p.version
    end like :pattern
    or case
      when :ignoresCase::boolean then lower(p.name || '/' || p.version || split_part(substr(p.name_key, length(p.name) + 1), '/', 1))
      else p.name || '/' || p.version || split_part(substr(p.name_key, length(p.name) + 1), '/', 1)
    end like :pattern
    or case
      when :ignoresCase::boolean then lower(p.name || '/' || p.version || substr(p.name_key, length(p.name) + 1))
      else p.name || '/' || p.version || substr(p.name_key, length(p.name) + 1)
    end like :pattern
  )
  and exists (
    select
      1
    from
      conan_revisions r
      join conan_files c on c.revision_id = r.id
      join package_files m on m.id = c.file_id
      and m.file_name = 'conanmanifest.txt'
      and not m.is_pending_destruction
    where
      r.package_id = p.id
      and r.binary_reference = ''
      and (r.recipe_revision = '0') = :isFirst::boolean
  )
order by
  p.name,
  p.version,
  p.name_key
limit
  1000
