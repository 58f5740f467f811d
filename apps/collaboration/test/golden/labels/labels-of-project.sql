-- labels-bytes-e1280315a81b: $1 parent, $2 groups
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
        row.project_id = :parent
        or row.group_id = any (:groups::bigint[])
      )
    order by
      row.title asc,
      row.id asc
    limit
      20
  ) weighed
