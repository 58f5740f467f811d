-- package_files_find_newest: $1 file, $2 project, $3 type, $4 name, $5 version
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
  f.unanswered_token_id
from
  packages p
  join package_files f on f.package_id = p.id
  and md5(f.file_name) = md5(:file)
  and f.file_name = :file
  and not f.is_pending_destruction
where
  p.project_id = :project::bigint
  and p.package_type = :type
  and p.name_key = :name
  and coalesce(p.version, '') = coalesce(:version::text, '')
  and p.status <> 'pending_destruction'
order by
  f.id desc
limit
  1
