-- groups-4de8e877a375: $1 viewer, $2 level
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
      (
        with
          leads as materialized (
            select
              mine.source_id as id
            from
              members mine
            where
              mine.user_id = :viewer::bigint
              and mine.source_type = 'namespace'
              and mine.access_level >= :level::integer
              and (
                mine.expires_on is null
                or mine.expires_on > (statement_timestamp() at time zone 'UTC')::date
              )
              and mine.leads_further
          ),
          trees as materialized (
            select
              id
            from
              leads
            union
            select
              s.source_id as id
            from
              shares s
            where
              s.source_type = 'namespace'
              and s.access_level >= :level::integer
              and (
                s.expires_on is null
                or s.expires_on > (statement_timestamp() at time zone 'UTC')::date
              )
              and s.group_id in (
                select
                  a.namespace_id
                from
                  leads
                  join namespace_ancestors a on a.ancestor_id = leads.id
              )
          ) (
            select
              mine.source_id as id,
              mine.source_name as name
            from
              members mine
            where
              mine.user_id = :viewer::bigint
              and mine.source_type = 'namespace'
              and mine.access_level >= :level::integer
              and (
                mine.expires_on is null
                or mine.expires_on > (statement_timestamp() at time zone 'UTC')::date
              )
            order by
              mine.source_name asc,
              mine.source_id
            limit
              21
          )
        union
        (
          select
            one.*
          from
            trees,
            lateral (
              select
                a.namespace_id as id,
                a.name
              from
                namespace_ancestors a
              where
                a.ancestor_id = trees.id
              order by
                a.name asc,
                a.namespace_id
              limit
                21
            ) one
        )
      ) n
    order by
      n.name asc,
      n.id asc
    limit
      21
  ) cut
  join namespaces n on n.id = cut.id
order by
  cut.position
