import { bool, int, object } from '@rookery/api-v4';
import { group } from '../details/group.presenter';
import type { GroupStatistics, ListedGroupRow, RootStorageStatistics } from './listed-group-row';

const statistics = object<GroupStatistics>({
  storage_size: int,
  repository_size: int,
  wiki_size: int,
  lfs_objects_size: int,
  job_artifacts_size: int,
  pipeline_artifacts_size: int,
  packages_size: int,
  snippets_size: int,
  uploads_size: int,
});
const rootStorageStatistics = object<RootStorageStatistics>({
  build_artifacts_size: int,
  container_registry_size: int,
  container_registry_size_is_estimated: bool,
  dependency_proxy_size: int,
  lfs_objects_size: int,
  packages_size: int,
  pipeline_artifacts_size: int,
  repository_size: int,
  snippets_size: int,
  storage_size: int,
  uploads_size: int,
  wiki_size: int,
});

/** A group in a list. Source: requirements 2 §2 Group; reference identity-and-import 2.2, 2.3. */
export const listedGroup = group.extend<ListedGroupRow>('ListedGroup').fields({
  statistics: [statistics, (one) => one.statistics!, { when: (one) => !!one.statistics }],
  root_storage_statistics: [
    rootStorageStatistics,
    (one) => one.root_storage_statistics!,
    { when: (one) => !!one.root_storage_statistics },
  ],
});
