-- npm_manifests: $1 latest, $2 ids
select
  package_id as id,
  manifest,
  case
    when package_id = :latest::bigint then readme
  end as readme,
  integrity,
  shasum,
  deprecation
from
  npm_versions
where
  package_id = any (:ids::bigint[])
order by
  package_id
