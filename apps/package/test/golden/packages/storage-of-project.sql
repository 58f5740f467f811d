-- package_storage_of_project: $1 id
select
  coalesce(sum(f.size), 0)::bigint as size
from
  package_files f
where
  f.project_id = :id::bigint
  and not f.is_pending_destruction
