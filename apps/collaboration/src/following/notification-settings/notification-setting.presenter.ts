import { bool, choice, nested, presenter, text } from '@rookery/api-v4';
import { NOTIFICATION_LEVELS } from './notification-levels';
import type { GlobalNotificationSetting, NotificationSettingView } from './notification-settings.service';
import { describeSwitch, isNotificationSwitchOn, SWITCH_NAMES } from './notification-switches';
import type { NotificationSwitch } from './notification-switches';

type SwitchFields = Record<
  NotificationSwitch,
  [
    typeof bool,
    (setting: NotificationSettingView) => boolean,
    { about: string; when?: (setting: NotificationSettingView) => boolean },
  ]
>;

/** Effective values, so that each one is a boolean. Source: reference work-tracking 8.1. */
const events = presenter<NotificationSettingView>('NotificationSwitches').fields(
  Object.fromEntries(
    SWITCH_NAMES.map((name) => [
      name,
      [
        bool,
        (setting: NotificationSettingView) => isNotificationSwitchOn(setting.switches, name),
        {
          about: describeSwitch(name),
          ...(name === 'new_epic' ? { when: (setting: NotificationSettingView) => setting.hasEpics } : {}),
        },
      ],
    ]),
  ) as SwitchFields,
);

const level = [choice(...NOTIFICATION_LEVELS), (setting: NotificationSettingView) => setting.level] as const;
const shownEvents = [
  nested(events),
  (setting: NotificationSettingView) => setting,
  {
    about: 'Only while the level is `custom`.',
    when: (setting: NotificationSettingView) => setting.level === 'custom',
  },
] as const;

/** Setting of a group or project. */
export const notificationSetting = presenter<NotificationSettingView>('NotificationSetting').fields({
  level,
  events: shownEvents,
});

export const globalNotificationSetting = presenter<GlobalNotificationSetting>('GlobalNotificationSetting').fields({
  level,
  notification_email: [text, (setting) => setting.email, { about: 'Address to which notifications are sent.' }],
  events: shownEvents,
});
