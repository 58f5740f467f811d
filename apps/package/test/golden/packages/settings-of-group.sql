-- package_settings_nearest: $1 groups
select
  generic_duplicates_allowed,
  generic_duplicate_exception_regex,
  maven_duplicates_allowed,
  maven_duplicate_exception_regex,
  nuget_duplicates_allowed,
  nuget_duplicate_exception_regex,
  terraform_module_duplicates_allowed,
  terraform_module_duplicate_exception_regex
from
  package_settings
where
  group_id = any (:groups::bigint[])
order by
  array_position(:groups::bigint[], group_id) desc
limit
  1
