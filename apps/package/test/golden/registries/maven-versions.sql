-- maven_versions: $1 project, $2 name
select
  p.id as published,
  p.version,
  newest.created_at as uploaded_at
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
      and p.version is not null
  ) p
  cross join lateral (
    select
      f.created_at
    from
      package_files f
    where
      f.package_id = p.id
      and not f.is_pending_destruction
    order by
      f.id desc
    limit
      1
  ) newest
order by
  p.id desc
limit
  5000
