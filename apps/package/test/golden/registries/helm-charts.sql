-- helm_charts: $1 project, $2 channel, $3 name, $4 file
select
  f.id as file_id,
  p.name,
  p.version,
  h.chart,
  f.file_name,
  f.sha256,
  f.created_at
from
  helm_files h
  join package_files f on f.id = h.file_id
  and not f.is_pending_destruction
  join packages p on p.id = f.package_id
  and p.status in ('default', 'hidden', 'deprecated')
where
  h.project_id = :project::bigint
  and h.channel = :channel
  and h.chart is not null
  and (h.chart_name, h.file_id) > (:name, :file::bigint)
order by
  h.chart_name,
  h.file_id
limit
  100
