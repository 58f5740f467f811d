-- mails_claim
with
  picked as materialized (
    select
      q.id,
      q.template,
      q.allowed_at,
      q.claim
    from
      mails q
    where
      q.state = 'queued'
      and q.next_attempt_at <= now()
      and (
        q.allowed_at is not null
        or coalesce(
          (
            select
              a.tokens + extract(
                epoch
                from
                  now() - a.refilled_at
              ) *:$4::float8
            from
              mail_allowances a
            where
              a.recipient_id = q.recipient_id
          ),
          1
        ) >= 1
      )
    order by
      q.next_attempt_at,
      q.id
    limit
:$2::integer
    for update
      skip locked
  )
update mails m
set
  attempts = m.attempts + 1,
  claim =:$3,
  next_attempt_at = now() +:$1::integer * interval '1 millisecond',
  allowed_at = coalesce(m.allowed_at, now())
from
  picked
where
  m.id = picked.id
returning
  m.id,
  m.recipient_id,
  m.template,
  m.traceparent,
  m.noteable_type,
  m.noteable_id,
  coalesce(cardinality(m.note_ids), 1) as tells,
  picked.allowed_at is null as is_fresh,
  (
    picked.allowed_at is not null
    and picked.claim is null
    and not picked.template like '%\_gathered'
  ) as is_put_off
