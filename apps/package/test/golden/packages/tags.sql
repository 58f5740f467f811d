-- package_tags_of_packages: $1 packages
select
  id,
  package_id,
  name,
  created_at,
  updated_at
from
  package_tags
where
  package_id = any (:packages::bigint[])
order by
  name,
  id
