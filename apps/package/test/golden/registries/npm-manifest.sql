-- npm_manifest: $1 id
select
  package_id as id,
  manifest,
  integrity,
  shasum,
  deprecation,
  readme
from
  npm_versions
where
  package_id = :id::bigint
