-- conan_binary_revisions: $1 recipe, $2 binary, $3 project, $4 key, $5 version, $6 count
select
  r.binary_revision as revision,
  m.created_at as time
from
  packages p
  join conan_revisions r on r.package_id = p.id
  and r.recipe_revision = :recipe
  and r.binary_reference = :binary
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
