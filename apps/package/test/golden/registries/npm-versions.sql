-- npm_versions_of_name: $1 projects, $2 name
select
  p.id,
  p.project_id,
  p.version,
  p.created_at
from
  packages p
where
  p.project_id = any (:projects::bigint[])
  and p.package_type = 'npm'
  and p.name_key = :name
  and p.status in ('default', 'hidden', 'deprecated')
order by
  p.id
