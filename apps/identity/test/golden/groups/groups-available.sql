-- groups-879694b0eec0: $1 viewer, $2 level
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
      and (
        n.visibility <> 'private'
        or n.id in (
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
            ),
            tops as materialized (
              select
                t.id
              from
                trees t
              where
                not exists (
                  select
                    1
                  from
                    namespace_ancestors a
                  where
                    a.namespace_id = t.id
                    and a.ancestor_id <> t.id
                    and a.ancestor_id in (
                      select
                        id
                      from
                        trees
                    )
                )
            ),
            inside as not materialized (
              select
                a.namespace_id as id
              from
                tops
                join namespace_ancestors a on a.ancestor_id = tops.id
            ),
            few as materialized (
              select
                count(*) < 200 as yes
              from
                (
                  select
                    1
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
                  limit
                    200
                ) some_of_them
            )
          select
            id
          from
            inside
          union all
          select
            mine.source_id
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
            and not case
              when (
                select
                  yes
                from
                  few
              ) then exists (
                select
                  1
                from
                  namespace_ancestors a
                where
                  a.namespace_id = mine.source_id
                  and a.ancestor_id in (
                    select
                      id
                    from
                      tops
                  )
                offset
                  0
              )
              else mine.source_id in (
                select
                  id
                from
                  inside
              )
            end
        )
      )
    order by
      n.name asc,
      n.id asc
    limit
      21
  ) cut
  join namespaces n on n.id = cut.id
order by
  cut.position
