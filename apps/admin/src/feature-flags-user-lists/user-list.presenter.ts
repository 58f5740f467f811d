import type { ProjectScope } from '@rookery/api-v4';
import { instant, int, presenter, text } from '@rookery/api-v4';
import type { UserList } from './user-list.entity';

/** A user list with the project that its path begins with. */
export interface UserListView {
  readonly list: UserList;
  readonly project: Pick<ProjectScope, 'fullPath'>;
}

const featureFlagUserListWebPath = ({ list, project }: UserListView): string =>
  `/${project.fullPath}/-/feature_flags_user_lists/${list.iid}`;

/** Source: requirements 3 §2 Feature flag user list; reference packages-and-admin 9.1. */
export const userListPresenter = presenter<UserListView>('FeatureFlagUserList').fields({
  id: [int, ({ list }) => list.id],
  iid: [int, ({ list }) => list.iid],
  project_id: [int, ({ list }) => list.projectId],
  name: [text, ({ list }) => list.name],
  user_xids: [text, ({ list }) => list.userXids, { about: 'Comma-separated external user ids.' }],
  created_at: [instant, ({ list }) => list.createdAt],
  updated_at: [instant, ({ list }) => list.updatedAt],
  path: [text, featureFlagUserListWebPath],
  edit_path: [text, (shown) => `${featureFlagUserListWebPath(shown)}/edit`],
});
