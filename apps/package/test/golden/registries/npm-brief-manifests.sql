-- npm_brief_manifests: $1 ids
select
  string_agg(
    package_id::text,
    chr(30)
    order by
      package_id
  ) as ids,
  string_agg(
    brief,
    chr(30)
    order by
      package_id
  ) as manifests,
  string_agg(
    integrity,
    chr(30)
    order by
      package_id
  ) as integrities,
  string_agg(
    shasum,
    chr(30)
    order by
      package_id
  ) as shasums,
  json_object_agg(package_id, deprecation) filter (
    where
      deprecation is not null
  ) as deprecations
from
  npm_versions
where
  package_id = any (:ids::bigint[])
