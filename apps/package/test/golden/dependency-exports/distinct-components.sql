-- dependency_components_distinct: $1 reports, $2 after, $3 count
select distinct
  on (ref) ref,
  name,
  version,
  component_type,
  purl,
  licenses
from
  dependency_components
where
  report_id = any (:reports::bigint[])
  and ref > :after collate "C"
order by
  ref,
  id
limit
  :count::int
