-- terraform_file_of_project: $1 project, $2 name, $3 version
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
  p.project_id = :project::bigint
  and p.package_type = 'terraform_module'
  and p.name_key = :name
  and p.status in ('default', 'hidden', 'deprecated')
  and coalesce(p.version, '') = :version
order by
  f.id desc
limit
  1
