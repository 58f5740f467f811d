-- projects-7b25b86d9192: $1 namespace
select
  p.*,
  json_build_object(
    'id',
    n.id,
    'name',
    n.name,
    'path',
    n.path,
    'kind',
    n.kind,
    'full_path',
    n.full_path,
    'full_name',
    n.full_name,
    'parent_id',
    n.parent_id,
    'avatar_url',
    n.avatar_url
  ) as namespace,
  coalesce(
    (
      select
        json_agg(
          t.name
          order by
            a.position,
            a.topic_id
        )
      from
        project_topics a
        join topics t on t.id = a.topic_id
      where
        a.project_id = p.id
    ),
    '[]'
  ) as topics,
  'basic' as shape,
  false as is_single,
  false as with_license,
  null as custom_attributes,
  null as owner,
  0 as level,
  null as project_level,
  null as group_level,
  null as counts,
  '[]'::json as shared_with_groups,
  null as forked_from_project,
  null as statistics
from
  (
    select
      p.id as id,
      row_number() over (
        order by
          p.id desc
      ) as position
    from
      projects p
    where
      p.namespace_id = :namespace::bigint
      and p.visibility = 'public'
    order by
      p.id desc
    limit
      21
  ) cut
  join projects p on p.id = cut.id
  join namespaces n on n.id = p.namespace_id
order by
  cut.position
