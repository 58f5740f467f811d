/** Levels of notification. Source: reference work-tracking 8.1, 8.2. */
export const NOTIFICATION_LEVELS = ['disabled', 'participating', 'watch', 'global', 'mention', 'custom'] as const;
export type NotificationLevel = (typeof NOTIFICATION_LEVELS)[number];

/** Place of a setting: `namespace` is a group. */
export type SettingPlace =
  | { readonly type: 'global' }
  | { readonly type: 'namespace' | 'project'; readonly id: number };

/** The level of a user who has no setting for the place. */
export function defaultLevel(place: SettingPlace): NotificationLevel {
  return place.type === 'global' ? 'participating' : 'global';
}
