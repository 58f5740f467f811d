-- generic_newest_file: $1 file, $2 project, $3 name, $4 version
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
  and md5(f.file_name) = md5(:file)
  and f.file_name = :file
  and not f.is_pending_destruction
where
  p.project_id = :project::bigint
  and p.package_type = 'generic'
  and p.name_key = :name
  and coalesce(p.version, '') = :version
  and p.status in ('default', 'hidden', 'deprecated')
order by
  f.id desc
limit
  1
