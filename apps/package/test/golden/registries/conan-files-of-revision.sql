-- conan_files_of_revision: $1 recipe, $2 binary, $3 revision, $4 project, $5 key, $6 version
select
  f.id,
  f.package_id,
  f.file_name,
  f.size,
  f.sha256,
  f.sha1,
  f.md5,
  f.created_at,
  f.updated_at
from
  packages p
  join conan_revisions r on r.package_id = p.id
  and r.recipe_revision = :recipe
  and r.binary_reference = :binary
  and r.binary_revision = :revision
  join conan_files c on c.revision_id = r.id
  join package_files f on f.id = c.file_id
  and not f.is_pending_destruction
where
  p.project_id = :project::bigint
  and p.package_type = 'conan'
  and p.name_key = :key
  and coalesce(p.version, '') = :version
  and p.status in ('default', 'hidden', 'deprecated')
order by
  f.file_name
