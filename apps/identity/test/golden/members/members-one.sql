-- members-one-05a6e96d7dda: $1 source, $2 user
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
  members m
  join users u on u.id = m.user_id
where
  m.source_type = 'namespace'
  and m.source_id = :source
  and m.user_id = :user
  and (
    m.expires_on is null
    or m.expires_on > (statement_timestamp() at time zone 'UTC')::date
  )
limit
  1
