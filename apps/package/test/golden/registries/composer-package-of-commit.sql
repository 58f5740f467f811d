-- composer_package_of_commit: $1 name, $2 project, $3 sha
select
  p.id
from
  composer_versions v
  join packages p on p.id = v.package_id
  and p.name_key = :name
  and p.status in ('default', 'hidden', 'deprecated')
where
  v.project_id = :project::bigint
  and v.target_sha = :sha
order by
  p.id desc
limit
  1
