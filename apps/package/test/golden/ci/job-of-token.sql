-- ci_jobs_by_token: $1 now, $2 digest
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
  j.status = 'running'
  and j.token_until > :now::timestamptz as is_running
from
  ci_jobs j
where
  j.token_digest = :digest
