-- nuget_version_of_project: $1 project, $2 name, $3 version
select
  p.id as package_id,
  p.project_id,
  v.name_key,
  p.name,
  p.version,
  v.version_key,
  p.created_at,
  v.nuspec
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
order by
  p.id desc
limit
  1
