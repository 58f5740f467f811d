-- members-all-1da53203f26a: $1 namespaces, $2 project
select
  u.id,
  u.username,
  u.name,
  u.state,
  u.avatar_url,
  u.public_email,
  m.id as membership_id,
  m.access_level,
  m.created_at as member_since,
  m.expires_on,
  m.updated_at as changed_at,
  (
    select
      json_build_object(
        'id',
        c.id,
        'username',
        c.username,
        'name',
        c.name,
        'state',
        c.state,
        'avatar_url',
        c.avatar_url,
        'public_email',
        c.public_email
      )
    from
      users c
    where
      c.id = m.created_by_id
  ) as created_by
from
  (
    select
      m.*
    from
      (
        with
          source as (
            select
              'namespace' as type,
              id,
              50 as cap,
              false as invited
            from
              unnest(:namespaces::bigint[]) id
            union all
            select
              'project',
              :project::bigint,
              50,
              false
            where
              :project::bigint is not null
            union all
            select
              'namespace',
              above.id,
              s.access_level,
              true
            from
              shares s
              join namespaces g on g.id = s.group_id
              cross join unnest(g.traversal_ids) above (id)
            where
              (
                s.expires_on is null
                or s.expires_on > (statement_timestamp() at time zone 'UTC')::date
              )
              and true
              and (
                (
                  s.source_type = 'namespace'
                  and s.source_id = any (:namespaces::bigint[])
                )
                or (
                  s.source_type = 'project'
                  and s.source_id = :project::bigint
                )
              )
          )
        select distinct
          on (m.user_id) m.*
        from
          source
          cross join lateral (
            select
              m.id,
              m.user_id,
              least(m.access_level, source.cap) as access_level,
              m.created_at,
              m.updated_at,
              m.expires_on,
              m.created_by_id
            from
              members m
            where
              m.source_type = source.type
              and m.source_id = source.id
              and (
                m.expires_on is null
                or m.expires_on > (statement_timestamp() at time zone 'UTC')::date
              )
            order by
              m.user_id
            limit
              21
          ) m
        order by
          m.user_id,
          m.access_level desc,
          source.invited,
          m.id
      ) m
    order by
      m.user_id asc
    limit
      21
  ) m
  join users u on u.id = m.user_id
order by
  m.user_id asc
