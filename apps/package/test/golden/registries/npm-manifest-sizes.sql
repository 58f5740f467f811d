-- npm_manifest_sizes: $1 ids
select
  package_id as id,
  octet_length(manifest) as size
from
  npm_versions
where
  package_id = any (:ids::bigint[])
order by
  package_id
