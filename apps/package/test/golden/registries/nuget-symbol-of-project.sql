-- nuget_symbol_of_project: $1 project, $2 signature, $3 name, $4 checksums
select
  f.sha256,
  f.size,
  f.created_at,
  s.entry_name,
  s.signature,
  s.size as symbol_size
from
  (
    select
      :project::bigint as id
  ) scope
  join nuget_symbols s on s.project_id = scope.id
  and s.signature = :signature
  and s.name_key = :name
  and s.checksum = any (:checksums::text[])
  join package_files f on f.id = s.file_id
  and not f.is_pending_destruction
  join packages p on p.id = f.package_id
  and p.status in ('default', 'hidden', 'deprecated')
order by
  s.file_id desc
limit
  1
