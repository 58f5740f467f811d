-- dependency_components_distinct: $1 reports, $2 after, $3 count
select distinct
  on (ref) ref,
  name,
  version,
  component_type,
  purl,
  licenses
from
  unnest(:reports::bigint[]) as report (id)
  cross join lateral (
    select distinct
      on (c.ref) c.id,
      c.ref,
      c.name,
      c.version,
      c.component_type,
      c.purl,
      c.licenses
    from
      dependency_components c
    where
      c.report_id = report.id
      and c.ref > :after collate "C"
    order by
      c.ref,
      c.id
    limit
      :count::int
  ) as page
order by
  ref,
  page.id
limit
  :count::int
