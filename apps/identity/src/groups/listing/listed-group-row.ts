import type { GroupRow } from '../details/groups.queries';

/** Sizes are bytes. Types and not interfaces: only types have the index signature that `object()` asks for. */
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

/** A group in a list; the statistics are there when an administrator asked for them, the root's at the top level. */
export interface ListedGroupRow extends GroupRow {
  readonly statistics?: GroupStatistics;
  readonly root_storage_statistics?: RootStorageStatistics | null;
}
