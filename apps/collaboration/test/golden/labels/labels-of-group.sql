-- labels-bytes-8c9acab59b11: $1 value, $2 value_2
select
  coalesce(sum(bytes), 0) > 524288 as is_heavy
from
  (
    select
      coalesce(octet_length(row.description), 0) + octet_length(row.description_html) as bytes
    from
      labels row
    where
      (
        row.group_id = :value
        or row.group_id = any (:value_2::bigint[])
      )
    order by
      row.title asc,
      row.id asc
    limit
      20
  ) weighed
