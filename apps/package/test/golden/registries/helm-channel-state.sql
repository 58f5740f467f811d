-- helm_channel_state: $1 project, $2 channel
select
  md5(
    coalesce(
      string_agg(
        f.id::text,
        ','
        order by
          f.id
      ),
      ''
    )
  ) as digest,
  max(f.created_at) as newest
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
