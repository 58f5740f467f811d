-- geo_sites-e717ff81b65c
select
  row.id as "id",
  row.name as "name",
  row.url as "url",
  row.internal_url as "internalUrl",
  row.is_primary as "isPrimary",
  row.enabled as "enabled",
  row.files_max_capacity as "filesMaxCapacity",
  row.repos_max_capacity as "reposMaxCapacity",
  row.verification_max_capacity as "verificationMaxCapacity",
  row.container_repositories_max_capacity as "containerRepositoriesMaxCapacity",
  row.sync_object_storage as "syncObjectStorage",
  row.selective_sync_type as "selectiveSyncType",
  row.selective_sync_shards as "selectiveSyncShards",
  row.selective_sync_namespace_ids as "selectiveSyncNamespaceIds",
  row.minimum_reverification_interval as "minimumReverificationInterval",
  row.blob_download_timeout as "blobDownloadTimeout",
  row.created_at as "createdAt",
  row.updated_at as "updatedAt"
from
  geo_sites row
order by
  row.id asc
limit
  21
