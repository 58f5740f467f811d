-- packages_siblings: $1 id
select
  p.id,
  p.version,
  p.created_at
from
  packages own
  join packages p on p.project_id = own.project_id
  and p.package_type = own.package_type
  and p.name_key = own.name_key
  and p.id <> own.id
  and p.status in ('default', 'deprecated', 'error')
where
  own.id = :id::bigint
order by
  p.version,
  p.id
limit
  5000
