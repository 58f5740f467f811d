-- conan_search_of_project: $1 project, $2 pattern, $3 ignoresCase, $4 isFirst
select
  p.name,
  p.version,
  p.name_key as key
from
  packages p
where
  p.project_id = :project::bigint
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
