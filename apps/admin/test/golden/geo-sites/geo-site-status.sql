-- geo_site_statuses-one-eb9a6880c7ec: $1 value
select
  s.id as site_id,
  s.is_primary,
  s.selective_sync_type,
  (
    select
      coalesce(
        jsonb_agg(
          jsonb_build_object('id', n.id, 'name', n.name, 'path', n.path, 'kind', n.kind, 'full_path', n.full_path, 'parent_id', n.parent_id)
          order by
            n.id
        ),
        '[]'
      )
    from
      directory_namespaces n
    where
      n.id = any (s.selective_sync_namespace_ids)
  ) as namespaces,
  t.is_healthy,
  t.health,
  t.measured,
  t.checked_at,
  t.healthy_at
from
  geo_site_statuses t
  join geo_sites s on s.id = t.geo_site_id
where
  t.url = (
    select
      coalesce(s.internal_url, s.url)
    from
      geo_sites s
    where
      s.id = t.geo_site_id
      and s.enabled
  )
  and t.geo_site_id = :value
limit
  1
