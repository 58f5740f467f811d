-- npm_versions_of_name: $1 projects, $2 name
select
  string_agg(
    p.id::text,
    chr(30)
    order by
      p.id
  ) as ids,
  string_agg(
    p.project_id::text,
    chr(30)
    order by
      p.id
  ) as projects,
  string_agg(
    p.version,
    chr(30)
    order by
      p.id
  ) as versions,
  string_agg(
    round(date_part('epoch', p.created_at) * 1000)::bigint::text,
    chr(30)
    order by
      p.id
  ) as times
from
  packages p
where
  p.project_id = any (:projects::bigint[])
  and p.package_type = 'npm'
  and p.name_key = :name
  and p.status in ('default', 'hidden', 'deprecated')
