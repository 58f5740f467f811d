-- pypi_find_version: $1 file, $2 project, $3 name, $4 version
select
  p.version,
  f.id as file_id,
  f.sha256,
  f.unanswered_token_id
from
  pypi_versions v
  join packages p on p.id = v.package_id
  and p.status <> 'pending_destruction'
  left join package_files f on f.package_id = p.id
  and md5(f.file_name) = md5(:file)
  and f.file_name = :file
  and not f.is_pending_destruction
where
  v.project_id = :project::bigint
  and v.name_key = :name
  and v.version_key = :version
order by
  p.id,
  f.id
limit
  1
