-- npm_manifest_sizes: $1 ids
select
  string_agg(
    package_id::text,
    chr(30)
    order by
      package_id
  ) as ids,
  string_agg(
    octet_length(manifest)::text,
    chr(30)
    order by
      package_id
  ) as sizes
from
  npm_versions
where
  package_id = any (:ids::bigint[])
