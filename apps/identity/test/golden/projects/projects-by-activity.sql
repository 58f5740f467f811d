-- projects-aeb9cba3fc7e: $1 viewer
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
  'full' as shape,
  false as is_single,
  false as with_license,
  null as custom_attributes,
  (
    select
      json_build_object(
        'id',
        o.id,
        'username',
        o.username,
        'name',
        o.name,
        'state',
        o.state,
        'avatar_url',
        o.avatar_url,
        'public_email',
        o.public_email
      )
    from
      users o
    where
      o.id = n.owner_id
  ) as owner,
  coalesce(
    (
      select
        max(held.level)::integer
      from
        (
          select
            m.access_level as level
          from
            members m
          where
            m.user_id = (
              select
                :viewer::bigint
            )
            and m.source_type = 'project'
            and m.source_id = p.id
            and (
              m.expires_on is null
              or m.expires_on > (statement_timestamp() at time zone 'UTC')::date
            )
          union all
          select
            least(s.access_level, m.access_level)
          from
            shares s
            join namespaces invited on invited.id = s.group_id
            join members m on m.user_id = (
              select
                :viewer::bigint
            )
            and m.source_type = 'namespace'
            and m.source_id = any (invited.traversal_ids)
          where
            s.source_type = 'project'
            and s.source_id = p.id
            and (
              s.expires_on is null
              or s.expires_on > (statement_timestamp() at time zone 'UTC')::date
            )
            and (
              m.expires_on is null
              or m.expires_on > (statement_timestamp() at time zone 'UTC')::date
            )
          union all
          select
            m.access_level as level
          from
            members m
          where
            m.user_id = (
              select
                :viewer::bigint
            )
            and m.source_type = 'namespace'
            and m.source_id = any (n.traversal_ids)
            and (
              m.expires_on is null
              or m.expires_on > (statement_timestamp() at time zone 'UTC')::date
            )
          union all
          select
            least(s.access_level, m.access_level)
          from
            shares s
            join namespaces invited on invited.id = s.group_id
            join members m on m.user_id = (
              select
                :viewer::bigint
            )
            and m.source_type = 'namespace'
            and m.source_id = any (invited.traversal_ids)
          where
            s.source_type = 'namespace'
            and s.source_id = any (n.traversal_ids)
            and (
              s.expires_on is null
              or s.expires_on > (statement_timestamp() at time zone 'UTC')::date
            )
            and (
              m.expires_on is null
              or m.expires_on > (statement_timestamp() at time zone 'UTC')::date
            )
          union all
          select
            50
          where
            n.kind = 'user'
            and n.owner_id = (
              select
                :viewer::bigint
            )
        ) held
    ),
    0
  ) as level,
  (
    select
      m.access_level
    from
      members m
    where
      m.user_id = (
        select
          :viewer::bigint
      )
      and m.source_type = 'project'
      and m.source_id = p.id
      and (
        m.expires_on is null
        or m.expires_on > (statement_timestamp() at time zone 'UTC')::date
      )
  ) as project_level,
  nullif(
    greatest(
      case
        when n.kind = 'group' then coalesce(
          (
            select
              max(held.level)::integer
            from
              (
                select
                  m.access_level as level
                from
                  members m
                where
                  m.user_id = (
                    select
                      :viewer::bigint
                  )
                  and m.source_type = 'namespace'
                  and m.source_id = any (n.traversal_ids)
                  and (
                    m.expires_on is null
                    or m.expires_on > (statement_timestamp() at time zone 'UTC')::date
                  )
                union all
                select
                  least(s.access_level, m.access_level)
                from
                  shares s
                  join namespaces invited on invited.id = s.group_id
                  join members m on m.user_id = (
                    select
                      :viewer::bigint
                  )
                  and m.source_type = 'namespace'
                  and m.source_id = any (invited.traversal_ids)
                where
                  s.source_type = 'namespace'
                  and s.source_id = any (n.traversal_ids)
                  and (
                    s.expires_on is null
                    or s.expires_on > (statement_timestamp() at time zone 'UTC')::date
                  )
                  and (
                    m.expires_on is null
                    or m.expires_on > (statement_timestamp() at time zone 'UTC')::date
                  )
                union all
                select
                  50
                where
                  n.kind = 'user'
                  and n.owner_id = (
                    select
                      :viewer::bigint
                  )
              ) held
          ),
          0
        )
      end,
      (
        select
          max(least(s.access_level, m.access_level))
        from
          shares s
          join namespaces invited on invited.id = s.group_id
          join members m on m.user_id = (
            select
              :viewer::bigint
          )
          and m.source_type = 'namespace'
          and m.source_id = any (invited.traversal_ids)
        where
          s.source_type = 'project'
          and s.source_id = p.id
          and (
            s.expires_on is null
            or s.expires_on > (statement_timestamp() at time zone 'UTC')::date
          )
          and (
            m.expires_on is null
            or m.expires_on > (statement_timestamp() at time zone 'UTC')::date
          )
      )
    ),
    0
  ) as group_level,
  (
    select
      json_build_object('all', measured.open_issues_count, 'public', measured.open_public_issues_count, 'commits', measured.commit_count)
    from
      project_statistics measured
    where
      measured.project_id = p.id
  ) as counts,
  coalesce(
    (
      select
        json_agg(
          json_build_object(
            'group_id',
            invited.id,
            'group_name',
            invited.name,
            'group_full_path',
            invited.full_path,
            'group_access_level',
            given.access_level,
            'expires_at',
            given.expires_on
          )
          order by
            given.id
        )
      from
        shares given
        join namespaces invited on invited.id = given.group_id
      where
        given.source_type = 'project'
        and given.source_id = p.id
        and (
          given.expires_on is null
          or given.expires_on > (statement_timestamp() at time zone 'UTC')::date
        )
        and (
          invited.visibility <> 'private'
          or coalesce(
            (
              select
                max(held.level)::integer
              from
                (
                  select
                    m.access_level as level
                  from
                    members m
                  where
                    m.user_id = (
                      select
                        :viewer::bigint
                    )
                    and m.source_type = 'namespace'
                    and m.source_id = any (invited.traversal_ids)
                    and (
                      m.expires_on is null
                      or m.expires_on > (statement_timestamp() at time zone 'UTC')::date
                    )
                  union all
                  select
                    least(s.access_level, m.access_level)
                  from
                    shares s
                    join namespaces invited on invited.id = s.group_id
                    join members m on m.user_id = (
                      select
                        :viewer::bigint
                    )
                    and m.source_type = 'namespace'
                    and m.source_id = any (invited.traversal_ids)
                  where
                    s.source_type = 'namespace'
                    and s.source_id = any (invited.traversal_ids)
                    and (
                      s.expires_on is null
                      or s.expires_on > (statement_timestamp() at time zone 'UTC')::date
                    )
                    and (
                      m.expires_on is null
                      or m.expires_on > (statement_timestamp() at time zone 'UTC')::date
                    )
                  union all
                  select
                    50
                  where
                    invited.kind = 'user'
                    and invited.owner_id = (
                      select
                        :viewer::bigint
                    )
                ) held
            ),
            0
          ) >= 10
        )
    ),
    '[]'
  ) as shared_with_groups,
  (
    select
      json_build_object(
        'id',
        f.id,
        'description',
        f.description,
        'name',
        f.name,
        'path',
        f.path,
        'default_branch',
        f.default_branch,
        'avatar_url',
        f.avatar_url,
        'star_count',
        f.star_count,
        'forks_count',
        f.forks_count,
        'visibility',
        f.visibility,
        'created_at',
        to_char((f.created_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
        'last_activity_at',
        to_char((f.last_activity_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
        'namespace',
        json_build_object(
          'id',
          fn.id,
          'name',
          fn.name,
          'path',
          fn.path,
          'kind',
          fn.kind,
          'full_path',
          fn.full_path,
          'full_name',
          fn.full_name,
          'parent_id',
          fn.parent_id,
          'avatar_url',
          fn.avatar_url
        ),
        'topics',
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
              a.project_id = f.id
          ),
          '[]'
        )
      )
    from
      projects f
      join namespaces fn on fn.id = f.namespace_id
    where
      f.id = p.forked_from_project_id
      and (
        f.visibility <> 'private'
        or coalesce(
          (
            select
              max(held.level)::integer
            from
              (
                select
                  m.access_level as level
                from
                  members m
                where
                  m.user_id = (
                    select
                      :viewer::bigint
                  )
                  and m.source_type = 'project'
                  and m.source_id = f.id
                  and (
                    m.expires_on is null
                    or m.expires_on > (statement_timestamp() at time zone 'UTC')::date
                  )
                union all
                select
                  least(s.access_level, m.access_level)
                from
                  shares s
                  join namespaces invited on invited.id = s.group_id
                  join members m on m.user_id = (
                    select
                      :viewer::bigint
                  )
                  and m.source_type = 'namespace'
                  and m.source_id = any (invited.traversal_ids)
                where
                  s.source_type = 'project'
                  and s.source_id = f.id
                  and (
                    s.expires_on is null
                    or s.expires_on > (statement_timestamp() at time zone 'UTC')::date
                  )
                  and (
                    m.expires_on is null
                    or m.expires_on > (statement_timestamp() at time zone 'UTC')::date
                  )
                union all
                select
                  m.access_level as level
                from
                  members m
                where
                  m.user_id = (
                    select
                      :viewer::bigint
                  )
                  and m.source_type = 'namespace'
                  and m.source_id = any (fn.traversal_ids)
                  and (
                    m.expires_on is null
                    or m.expires_on > (statement_timestamp() at time zone 'UTC')::date
                  )
                union all
                select
                  least(s.access_level, m.access_level)
                from
                  shares s
                  join namespaces invited on invited.id = s.group_id
                  join members m on m.user_id = (
                    select
                      :viewer::bigint
                  )
                  and m.source_type = 'namespace'
                  and m.source_id = any (invited.traversal_ids)
                where
                  s.source_type = 'namespace'
                  and s.source_id = any (fn.traversal_ids)
                  and (
                    s.expires_on is null
                    or s.expires_on > (statement_timestamp() at time zone 'UTC')::date
                  )
                  and (
                    m.expires_on is null
                    or m.expires_on > (statement_timestamp() at time zone 'UTC')::date
                  )
                union all
                select
                  50
                where
                  fn.kind = 'user'
                  and fn.owner_id = (
                    select
                      :viewer::bigint
                  )
              ) held
          ),
          0
        ) >= 10
      )
  ) as forked_from_project,
  null as statistics
from
  (
    select
      p.id as id,
      row_number() over (
        order by
          p.last_activity_at desc,
          p.id desc
      ) as position
    from
      projects p
    where
      (
        p.visibility <> 'private'
        or p.namespace_id in (
          with
            leads as materialized (
              select
                mine.source_id as id
              from
                members mine
              where
                mine.user_id = (
                  select
                    :viewer::bigint
                )
                and mine.source_type = 'namespace'
                and mine.access_level >= 10
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
                and s.access_level >= 10
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
                    mine.user_id = (
                      select
                        :viewer::bigint
                    )
                    and mine.source_type = 'namespace'
                    and mine.access_level >= 10
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
            mine.user_id = (
              select
                :viewer::bigint
            )
            and mine.source_type = 'namespace'
            and mine.access_level >= 10
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
          union all
          select
            own.id
          from
            namespaces own
          where
            own.owner_id = (
              select
                :viewer::bigint
            )
        )
        or p.id in (
          select
            m.source_id as id
          from
            members m
          where
            m.user_id = (
              select
                :viewer::bigint
            )
            and m.source_type = 'project'
            and m.access_level >= 10
            and (
              m.expires_on is null
              or m.expires_on > (statement_timestamp() at time zone 'UTC')::date
            )
          union
          select
            s.source_id
          from
            shares s
          where
            s.source_type = 'project'
            and s.access_level >= 10
            and (
              s.expires_on is null
              or s.expires_on > (statement_timestamp() at time zone 'UTC')::date
            )
            and s.group_id in (
              select
                a.namespace_id as id
              from
                namespace_ancestors a
              where
                a.ancestor_id in (
                  select
                    m.source_id
                  from
                    members m
                  where
                    m.user_id = (
                      select
                        :viewer::bigint
                    )
                    and m.source_type = 'namespace'
                    and m.access_level >= 10
                    and (
                      m.expires_on is null
                      or m.expires_on > (statement_timestamp() at time zone 'UTC')::date
                    )
                )
            )
        )
      )
    order by
      p.last_activity_at desc,
      p.id desc
    limit
      21
  ) cut
  join projects p on p.id = cut.id
  join namespaces n on n.id = p.namespace_id
order by
  cut.position
