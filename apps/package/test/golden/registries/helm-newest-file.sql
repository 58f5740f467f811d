-- helm_newest_file: $1 project, $2 channel, $3 file
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
  helm_files h
  join package_files f on f.id = h.file_id
  and not f.is_pending_destruction
  join packages p on p.id = f.package_id
  and p.status in ('default', 'hidden', 'deprecated')
where
  h.project_id = :project::bigint
  and h.channel = :channel
  and h.file_name = :file
order by
  h.file_id desc
limit
  1
