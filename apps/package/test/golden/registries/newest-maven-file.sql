-- maven_newest_file: $1 project, $2 name, $3 version, $4 file
select
  f.id,
  f.package_id,
  f.file_name,
  f.size,
  f.sha256,
  f.sha1,
  f.md5,
  f.created_at,
  f.updated_at,
  m.sha512
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
      and coalesce(p.version, '') = :version
  ) p
  join package_files f on f.package_id = p.id
  and md5(f.file_name) = md5(:file)
  and f.file_name = :file
  and not f.is_pending_destruction
  left join maven_files m on m.file_id = f.id
order by
  p.id desc,
  f.id desc
limit
  1
