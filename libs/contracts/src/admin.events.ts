import { defineEvent } from './event';
import { int, object } from './schema';

const message = object({ broadcast_message_id: int });

export const broadcastMessageCreated = defineEvent(
  'admin.broadcast_message.created.v1',
  'An administrator wrote a broadcast message.',
  message,
);
export const broadcastMessageUpdated = defineEvent(
  'admin.broadcast_message.updated.v1',
  'A broadcast message changed.',
  message,
);
export const broadcastMessageDeleted = defineEvent(
  'admin.broadcast_message.deleted.v1',
  'A broadcast message was deleted.',
  message,
);

const featureFlag = object({ feature_flag_id: int, project_id: int });

export const featureFlagCreated = defineEvent(
  'admin.feature_flag.created.v1',
  'A feature flag of a project was created.',
  featureFlag,
);
export const featureFlagUpdated = defineEvent(
  'admin.feature_flag.updated.v1',
  'A feature flag of a project, or a strategy of it, changed.',
  featureFlag,
);
export const featureFlagDeleted = defineEvent(
  'admin.feature_flag.deleted.v1',
  'A feature flag of a project was deleted.',
  featureFlag,
);

const userList = object({ user_list_id: int, project_id: int });

export const featureFlagUserListCreated = defineEvent(
  'admin.feature_flag_user_list.created.v1',
  'A user list for feature flags was created.',
  userList,
);
export const featureFlagUserListUpdated = defineEvent(
  'admin.feature_flag_user_list.updated.v1',
  'A user list for feature flags changed.',
  userList,
);
export const featureFlagUserListDeleted = defineEvent(
  'admin.feature_flag_user_list.deleted.v1',
  'A user list for feature flags was deleted.',
  userList,
);
