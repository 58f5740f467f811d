-- nuget_feed_rows: $1 ids
select
  p.id as package_id,
  p.project_id,
  v.name_key,
  p.name,
  p.version,
  v.version_key,
  p.created_at,
  v.nuspec,
  v.is_prerelease,
  f.sha256,
  f.size
from
  nuget_versions v
  join packages p on p.id = v.package_id
  join lateral (
    select
      sha256,
      size
    from
      package_files
    where
      package_id = p.id
      and md5(file_name) = md5(v.name_key || '.' || v.version_key || '.nupkg')
      and file_name = v.name_key || '.' || v.version_key || '.nupkg'
      and not is_pending_destruction
    order by
      id desc
    limit
      1
  ) f on true
where
  v.package_id = any (:ids::bigint[])
