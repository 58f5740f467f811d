import { bool, choice, nested, presenter, text } from '@rookery/api-v4';
import { NOTIFICATION_LEVELS } from './notification-levels';
import type { GlobalNotificationSetting, ShownSetting } from './notification-settings.service';
import { describeSwitch, isOn, SWITCH_NAMES } from './notification-switches';
import type { NotificationSwitch } from './notification-switches';

type SwitchFields = Record<
  NotificationSwitch,
  [typeof bool, (setting: ShownSetting) => boolean, { about: string; when?: (setting: ShownSetting) => boolean }]
>;

/** Effective values, so that each one is a boolean. Source: reference work-tracking 8.1. */
const events = presenter<ShownSetting>('NotificationSwitches').fields(
  Object.fromEntries(
    SWITCH_NAMES.map((name) => [
      name,
      [
        bool,
        (setting: ShownSetting) => isOn(setting.switches, name),
        {
          about: describeSwitch(name),
          ...(name === 'new_epic' ? { when: (setting: ShownSetting) => setting.hasEpics } : {}),
        },
      ],
    ]),
  ) as SwitchFields,
);

const level = [choice(...NOTIFICATION_LEVELS), (setting: ShownSetting) => setting.level] as const;
const shownEvents = [
  nested(events),
  (setting: ShownSetting) => setting,
  { about: 'Only while the level is `custom`.', when: (setting: ShownSetting) => setting.level === 'custom' },
] as const;

/** Setting of a group or project. */
export const notificationSetting = presenter<ShownSetting>('NotificationSetting').fields({
  level,
  events: shownEvents,
});

export const globalNotificationSetting = presenter<GlobalNotificationSetting>('GlobalNotificationSetting').fields({
  level,
  notification_email: [text, (setting) => setting.email, { about: 'Address to which notifications are sent.' }],
  events: shownEvents,
});
