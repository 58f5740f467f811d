-- pipelines_of_status: $1 project, $2 sha, $3 ref, $4 pipeline
select
  p.id,
  p.iid,
  p.project_id,
  p.sha,
  p.ref,
  p.is_tag,
  p.status,
  p.source,
  p.user_id,
  p.coverage,
  p.duration,
  p.committed_at,
  p.started_at,
  p.finished_at,
  p.created_at,
  p.updated_at
from
  pipelines p
where
  p.project_id = :project::bigint
  and p.sha = :sha
  and (
    :ref::text is null
    or p.ref = :ref
  )
  and (
    :pipeline::bigint is null
    or p.id = :pipeline
  )
order by
  p.id desc
limit
  1
