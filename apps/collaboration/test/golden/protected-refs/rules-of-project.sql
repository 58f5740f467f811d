-- protected_refs_of_project: $1 projectId
select
  'branch' as kind,
  name,
  allow_force_push,
  push_levels,
  merge_levels
from
  protected_branches
where
  project_id = :projectId::bigint
union all
select
  'tag',
  name,
  false,
  create_levels,
  '{}'::integer[]
from
  protected_tags
where
  project_id = :projectId::bigint
