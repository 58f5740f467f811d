-- mails_look
select
  coalesce(
    (
      select
        min(q.next_attempt_at)
      from
        mails q
      where
        q.state = 'queued'
    ) <= now(),
    false
  ) as is_due
