-- tokens-resolve-id: $1 ip, $2 id
select
  h.version,
  h.epoch,
  t.id as token_id,
  t.scopes,
  t.impersonation,
  t.revoked,
  t.created_by_id as giver_id,
  coalesce(t.expires_on <= (statement_timestamp() at time zone 'UTC')::date, false) as expired,
  (
    extract(
      epoch
      from
        t.expires_on::timestamp at time zone 'UTC'
    ) * 1000
  )::bigint as expires_at,
  (
    t.last_used_at is null
    or t.last_used_at < statement_timestamp() - interval '10 minutes'
  ) as is_unused_lately,
  coalesce(
    (
      not :ip::text = any (t.last_used_ips)
      and (
        t.ips_changed_at is null
        or t.ips_changed_at < statement_timestamp() - interval '1 minute'
      )
    ),
    false
  ) as is_from_elsewhere,
  u.id as user_id,
  u.username,
  u.state,
  u.confirmed_at is null as is_unconfirmed,
  u.kind,
  u.external
  or (
    u.kind in ('project_bot', 'service_account')
    and (
      coalesce(m.external, false)
      or coalesce(i.external, false)
    )
  ) as external,
  u.admin
  and u.kind = 'human' as admin,
  m.id as maker_id,
  m.kind as maker_kind,
  coalesce(
    t.impersonation
    or (
      u.kind = 'human'
      and t.created_by_id <> t.user_id
    ),
    false
  ) as is_given_out,
  coalesce(
    i.admin
    and i.kind = 'human'
    and i.state = 'active'
    and i.confirmed_at is not null,
    false
  ) as may_give_out
from
  directory_head h
  left join access_tokens t on t.id = :id
  left join users u on u.id = t.user_id
  left join users i on i.id = t.created_by_id
  left join users m on m.id = u.created_by_id
  and u.kind in ('project_bot', 'service_account')
