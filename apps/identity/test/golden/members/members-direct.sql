-- members-439620af7e05: $1 source
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
      m.id as id,
      row_number() over (
        order by
          m.id asc
      ) as position
    from
      members m
    where
      m.source_type = 'namespace'
      and m.source_id = :source
      and (
        m.expires_on is null
        or m.expires_on > (statement_timestamp() at time zone 'UTC')::date
      )
    order by
      m.id asc
    limit
      21
  ) cut
  join members m on m.id = cut.id
  join users u on u.id = m.user_id
order by
  cut.position
