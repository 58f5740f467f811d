import type { GroupRow } from '../details/groups.queries';

/** Units: bytes. Types instead of interfaces, because `object()` requires an index signature, which only types have. */
export type GroupStatistics = {
  readonly storage_size: number;
  readonly repository_size: number;
  readonly wiki_size: number;
  readonly lfs_objects_size: number;
  readonly job_artifacts_size: number;
  readonly pipeline_artifacts_size: number;
  readonly packages_size: number;
  readonly snippets_size: number;
  readonly uploads_size: number;
};
export type RootStorageStatistics = {
  readonly build_artifacts_size: number;
  readonly container_registry_size: number;
  readonly container_registry_size_is_estimated: boolean;
  readonly dependency_proxy_size: number;
  readonly lfs_objects_size: number;
  readonly packages_size: number;
  readonly pipeline_artifacts_size: number;
  readonly repository_size: number;
  readonly snippets_size: number;
  readonly storage_size: number;
  readonly uploads_size: number;
  readonly wiki_size: number;
};

/**
 * A group in a list. Statistics are present if an administrator requested them, those of the root only at the top
 * level.
 */
export interface ListedGroupRow extends GroupRow {
  readonly statistics?: GroupStatistics;
  readonly root_storage_statistics?: RootStorageStatistics | null;
}
