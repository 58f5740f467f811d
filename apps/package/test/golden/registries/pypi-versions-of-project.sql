-- pypi_versions_of_project: $1 project, $2 name, $3 after
select distinct
  p.version
from
  (
    select
      :project::bigint as id
  ) scope
  join packages p on p.project_id = scope.id
  and p.package_type = 'pypi'
  and p.name_key = :name
  and p.status in ('default', 'hidden', 'deprecated')
where
  p.version > :after
order by
  p.version
limit
  2000
