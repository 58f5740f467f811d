-- epics_watchers: $1 after, $2 switches, $3 noteables, $4 limit
with
  general as materialized (
    select
      s.user_id
    from
      notification_settings s
    where
      s.source_type = 'global'
      and s.source_id = 0
      and s.user_id > :after::bigint
      and s.level in ('watch', 'custom')
      and (
        s.level = 'watch'
        or exists (
          select
            1
          from
            unnest(:switches::text[]) as wanted (name)
          where
            (s.switches ->> wanted.name)::boolean
        )
      )
  ),
  place as materialized (
    select
      i.group_id as id,
      array_agg(distinct i.id) as noteable_ids
    from
      unnest(:noteables::bigint[]) as wanted (id)
      join lateral (
        select
          i.*
        from
          epics i
        where
          i.id = wanted.id
        offset
          0
      ) i on true
    group by
      1
  )
select
  place.noteable_ids,
  watcher.user_ids
from
  place
  join lateral (
    select
      home.*
    from
      directory_namespaces home
    where
      home.id = place.id
    offset
      0
  ) home on true
  cross join lateral (
    select
      array_agg(
        one.user_id
        order by
          one.user_id
      ) as user_ids
    from
      (
        select
          near.user_id
        from
          (
            select
              s.user_id
            from
              notification_settings s
            where
              s.source_type = 'namespace'
              and s.source_id = any (home.traversal_ids)
              and s.user_id > :after::bigint
              and s.level in ('watch', 'custom')
              and (
                s.level = 'watch'
                or exists (
                  select
                    1
                  from
                    unnest(:switches::text[]) as wanted (name)
                  where
                    (s.switches ->> wanted.name)::boolean
                )
              )
            union all
            select
              general.user_id
            from
              (
                select
                  m.user_id
                from
                  directory_memberships m
                where
                  m.source_type = 'namespace'
                  and m.source_id = any (home.traversal_ids)
                union all
                select
                  m.user_id
                from
                  directory_shares s
                  join lateral (
                    select
                      invited.*
                    from
                      directory_namespaces invited
                    where
                      invited.id = s.group_id
                    offset
                      0
                  ) invited on true
                  join directory_memberships m on m.source_type = 'namespace'
                  and m.source_id = any (invited.traversal_ids)
                where
                  s.source_type = 'namespace'
                  and s.source_id = any (home.traversal_ids)
                union all
                select
                  home.owner_id
              ) member
              join general on general.user_id = member.user_id
            where
              (
                select
                  true
                from
                  general
                limit
                  1
              )
          ) near
        group by
          near.user_id
        order by
          near.user_id
        limit
          :limit::integer
      ) one
  ) watcher
where
  watcher.user_ids is not null
