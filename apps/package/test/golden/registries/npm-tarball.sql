-- npm_tarball: $1 projects, $2 name, $3 version
select
  f.id,
  f.package_id,
  f.file_name,
  f.size,
  f.sha256,
  f.sha1,
  f.md5,
  f.created_at,
  f.updated_at
from
  packages p
  join package_files f on f.package_id = p.id
  and not f.is_pending_destruction
where
  p.project_id = any (:projects::bigint[])
  and p.package_type = 'npm'
  and p.name_key = :name
  and p.status in ('default', 'hidden', 'deprecated')
  and coalesce(p.version, '') = :version
order by
  p.id desc,
  f.id desc
limit
  1
