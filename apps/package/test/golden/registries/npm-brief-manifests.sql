-- npm_brief_manifests: $1 ids
select
  package_id as id,
  brief as manifest,
  null::text as readme,
  integrity,
  shasum,
  deprecation
from
  npm_versions
where
  package_id = any (:ids::bigint[])
order by
  package_id
