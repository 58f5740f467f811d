-- maven_plugins: $1 project, $2 name
select distinct
  on (plugin.artifact_id) plugin.artifact_id,
  plugin.prefix,
  plugin.name
from
  (
    select
      p.id,
      p.version
    from
      packages p
    where
      p.project_id = :project::bigint
      and p.package_type = 'maven'
      and p.name_key = :name
      and p.status in ('default', 'hidden', 'deprecated')
      and p.version is null
  ) p
  join maven_plugins plugin on plugin.package_id = p.id
order by
  plugin.artifact_id,
  p.id desc
limit
  5000
