-- pypi_files_of_project: $1 project, $2 name, $3 after
select distinct
  on (f.file_name) f.file_name,
  f.sha256,
  f.size,
  f.created_at,
  m.requires_python,
  m.metadata_sha256,
  m.yanked
from
  (
    select
      :project::bigint as id
  ) scope
  join packages p on p.project_id = scope.id
  and p.package_type = 'pypi'
  and p.name_key = :name
  and p.status in ('default', 'hidden', 'deprecated')
  join package_files f on f.package_id = p.id
  and not f.is_pending_destruction
  left join pypi_files m on m.file_id = f.id
where
  f.file_name > :after
order by
  f.file_name,
  f.id desc
limit
  2000
