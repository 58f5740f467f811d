-- package_files-454aaa4ff579: $1 package
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
  (
    select
      f.id as id,
      row_number() over (
        order by
          f.id asc
      ) as position
    from
      package_files f
    where
      f.package_id = :package
      and not f.is_pending_destruction
    order by
      f.id asc
    limit
      21
  ) cut
  join package_files f on f.id = cut.id
order by
  cut.position
