-- package_storage_of_namespace: $1 id
select
  coalesce(sum(f.size), 0)::bigint as size
from
  directory_namespaces home
  join directory_projects project on project.namespace_id = home.id
  join package_files f on f.project_id = project.id
  and not f.is_pending_destruction
where
  home.traversal_ids[1] = :id::bigint
