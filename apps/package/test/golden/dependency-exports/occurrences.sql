-- dependency_components_occurrences: $1 report, $2 after, $3 count
select
  id,
  position,
  name,
  version,
  packager,
  licenses,
  is_top_level,
  ancestors
from
  dependency_components
where
  report_id = :report::bigint
  and position > :after::int
order by
  position
limit
  :count::int
