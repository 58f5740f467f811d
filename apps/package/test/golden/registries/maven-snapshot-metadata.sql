-- maven_snapshot_metadata: $1 project, $2 name, $3 version, $4 file
select
  found.*,
  array(
    select
      listed.name
    from
      unnest(found.listed_files) as listed (name)
    where
      char_length(listed.name) <= 5000
      and (
        select
          f.id
        from
          package_files f
        where
          f.package_id = found.package_id
          and md5(f.file_name) = md5(listed.name)
          and f.file_name = listed.name
          and not f.is_pending_destruction
        limit
          1
      ) is null
  ) as missing
from
  (
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
      m.sha512,
      m.listed_files
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
  ) found
