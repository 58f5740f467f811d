-- npm_source_of_project: $1 name, $2 project
select
  i.project_id,
  i.generation,
  i.changed_at
from
  package_indexes i
where
  i.package_type = 'npm'
  and i.name_key = :name
  and i.project_id = :project::bigint
