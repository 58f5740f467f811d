-- terraform_versions_of_project: $1 project, $2 name
select
  p.version
from
  packages p
where
  p.project_id = :project::bigint
  and p.package_type = 'terraform_module'
  and p.name_key = :name
  and p.status in ('default', 'hidden', 'deprecated')
order by
  p.id desc
limit
  5000
