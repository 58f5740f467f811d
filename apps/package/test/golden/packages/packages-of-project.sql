-- packages-a5b71ee957db: $1 project
select
  p.id,
  p.project_id,
  p.name,
  p.name_key,
  p.version,
  p.package_type,
  p.status,
  p.creator_id,
  p.created_at,
  p.updated_at,
  p.last_downloaded_at
from
  (
    select
      p.id as id,
      row_number() over (
        order by
          p.created_at asc,
          p.id asc
      ) as position
    from
      packages p
    where
      p.project_id = :project
      and p.status in ('default', 'deprecated', 'error')
      and p.version is not null
    order by
      p.created_at asc,
      p.id asc
    limit
      21
  ) cut
  join packages p on p.id = cut.id
order by
  cut.position
