-- conan_recipe_revisions: $1 isFirst, $2 project, $3 key, $4 version, $5 count
select
  r.recipe_revision as revision,
  m.created_at as time
from
  packages p
  join conan_revisions r on r.package_id = p.id
  and r.binary_reference = ''
  and (r.recipe_revision = '0') = :isFirst::boolean
  join conan_files c on c.revision_id = r.id
  join package_files m on m.id = c.file_id
  and m.file_name = 'conanmanifest.txt'
  and not m.is_pending_destruction
where
  p.project_id = :project::bigint
  and p.package_type = 'conan'
  and p.name_key = :key
  and coalesce(p.version, '') = :version
  and p.status in ('default', 'hidden', 'deprecated')
order by
  m.created_at desc,
  m.id desc
limit
  :count::int
