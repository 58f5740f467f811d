-- npm_tags_of_name: $1 projects, $2 name
select
  t.name,
  p.version,
  p.id as package_id,
  p.project_id
from
  package_tags t
  join packages p on p.id = t.package_id
  and p.status in ('default', 'hidden', 'deprecated')
where
  t.project_id = any (:projects::bigint[])
  and t.package_type = 'npm'
  and t.name_key = :name
order by
  t.updated_at,
  t.id
