-- dependency_sources_pipelines: $1 project, $2 ref
select
  p.id
from
  pipelines p
where
  p.project_id = :project::bigint
  and p.ref = :ref
  and not p.is_tag
  and p.status in ('success', 'failed', 'canceled', 'skipped')
  and exists (
    select
      1
    from
      dependency_reports r
    where
      r.pipeline_id = p.id
      and r.state <> 'invalid'
  )
order by
  p.id desc
limit
  1
