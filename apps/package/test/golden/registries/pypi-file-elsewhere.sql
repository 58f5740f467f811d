-- pypi_find_file_elsewhere: $1 file, $2 project, $3 name, $4 version
select
  f.id
from
  pypi_versions v
  join packages p on p.id = v.package_id
  and p.status <> 'pending_destruction'
  join package_files f on f.package_id = p.id
  and md5(f.file_name) = md5(:file)
  and f.file_name = :file
  and not f.is_pending_destruction
where
  v.project_id = :project::bigint
  and v.name_key = :name
  and v.version_key <> :version
limit
  1
