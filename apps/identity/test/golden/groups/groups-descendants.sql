-- groups-b7030b540c49: $1 above
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
          tree.name asc,
          n.id asc
      ) as position
    from
      namespace_ancestors tree
      join namespaces n on n.id = tree.namespace_id
    where
      tree.ancestor_id = :above
      and tree.namespace_id <> :above
    order by
      tree.name asc,
      n.id asc
    limit
      21
  ) cut
  join namespaces n on n.id = cut.id
order by
  cut.position
