-- ci_jobs-026129d00151: $1 project
select
  j.id,
  j.project_id,
  j.pipeline_id,
  j.kind,
  j.name,
  j.stage,
  j.ref,
  j.status,
  j.user_id,
  j.description,
  j.target_url,
  j.coverage,
  j.failure_reason,
  j.queued_at,
  j.started_at,
  j.finished_at,
  j.created_at,
  p.iid as pipeline_iid,
  p.sha as pipeline_sha,
  p.ref as pipeline_ref,
  p.is_tag as pipeline_is_tag,
  p.status as pipeline_status,
  p.source as pipeline_source,
  p.created_at as pipeline_created_at,
  p.updated_at as pipeline_updated_at
from
  (
    select
      j.id as id,
      row_number() over (
        order by
          j.id desc
      ) as position
    from
      ci_jobs j
    where
      j.project_id = :project
      and j.kind = 'job'
    order by
      j.id desc
    limit
      21
  ) cut
  join ci_jobs j on j.id = cut.id
  join pipelines p on p.id = j.pipeline_id
order by
  cut.position
