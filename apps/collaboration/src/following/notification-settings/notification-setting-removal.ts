import { declareAttachedTable } from '@rookery/persistence';

/** Removal of notification settings. */
export const attachedNotificationSettings = declareAttachedTable({
  table: 'notification_settings',
  key: 'ctid',
  users: [{ column: 'user_id', onRemoval: 'delete' }],
  stays: { source_id: 'the setting of a deleted project or group has no effect' },
});
