-- dependency_sources_projects: $1 below, $2 after, $3 count
select
  project.id
from
  directory_projects project
  join directory_namespaces home on home.id = project.namespace_id
where
  (
    home.traversal_ids >= :below::bigint[]
    and home.traversal_ids < (:below::bigint[]) [1 :array_length (:below::bigint[], 1) - 1] || ((:below::bigint[]) [array_length(:below::bigint[], 1)] + 1)
  )
  and not project.archived
  and project.id > :after::bigint
  and exists (
    select
      1
    from
      dependency_reports r
    where
      r.project_id = project.id
  )
order by
  project.id
limit
  :count::int
