-- pipelines-9e25c2f0372a: $1 project
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
  (
    select
      p.id as id,
      row_number() over (
        order by
          p.id desc
      ) as position
    from
      pipelines p
    where
      p.project_id = :project
    order by
      p.id desc
    limit
      21
  ) cut
  join pipelines p on p.id = cut.id
order by
  cut.position
