-- groups-4e6b081a8167
select
  n.id,
  n.kind,
  n.owner_id,
  n.parent_id,
  n.traversal_ids,
  n.name,
  n.path,
  n.full_name,
  n.full_path,
  n.description,
  n.visibility,
  n.avatar_url,
  n.emails_enabled,
  n.plan,
  n.project_creation_level,
  n.subgroup_creation_level,
  n.request_access_enabled,
  n.settings,
  n.runners_token,
  n.marked_for_deletion_on,
  n.created_at,
  n.updated_at
from
  (
    select
      n.id as id,
      row_number() over (
        order by
          n.name asc,
          n.id asc
      ) as position
    from
      namespaces n
    where
      n.kind = 'group'
    order by
      n.name asc,
      n.id asc
    limit
      21
  ) cut
  join namespaces n on n.id = cut.id
order by
  cut.position
