-- pypi_download_of_project: $1 project, $2 sha256, $3 file
select
  f.id,
  f.package_id,
  f.file_name,
  f.size,
  f.sha256,
  f.sha1,
  f.md5,
  f.created_at,
  f.updated_at,
  m.metadata_sha256,
  m.metadata_size
from
  (
    select
      :project::bigint as id
  ) scope
  join package_files f on f.sha256 = :sha256
  and f.project_id = scope.id
  and f.file_name = :file
  and not f.is_pending_destruction
  join packages p on p.id = f.package_id
  and p.package_type = 'pypi'
  and p.status in ('default', 'hidden', 'deprecated')
  left join pypi_files m on m.file_id = f.id
order by
  f.id desc
limit
  1
