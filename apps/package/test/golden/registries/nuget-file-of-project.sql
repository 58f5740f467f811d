-- nuget_file_of_project: $1 project, $2 name, $3 version, $4 file
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
  (
    select
      :project::bigint as id
  ) scope
  join nuget_versions v on v.project_id = scope.id
  and v.name_key = :name
  and v.version_key = :version
  join packages p on p.id = v.package_id
  and p.status in ('default', 'hidden', 'deprecated')
  join package_files f on f.package_id = p.id
  and md5(f.file_name) = md5(:file)
  and f.file_name = :file
  and not f.is_pending_destruction
order by
  f.id desc
limit
  1
