import { Flag, Text } from '@rookery/api-v4';
import { describeSwitch, SWITCH_NAMES } from './notification-switches';
import type { NotificationSwitch, Switches } from './notification-switches';

const createNotificationSwitchOptions = (name: NotificationSwitch) =>
  ({ optional: true, about: describeSwitch(name) }) as const;

export class UpdateNotificationSettings {
  @Text({
    optional: true,
    about: 'One of `disabled`, `participating`, `watch`, `global` (of the next place above), `mention`, `custom`.',
  })
  level?: string;
  @Flag(createNotificationSwitchOptions('new_release')) new_release?: boolean;
  @Flag(createNotificationSwitchOptions('new_note')) new_note?: boolean;
  @Flag(createNotificationSwitchOptions('new_issue')) new_issue?: boolean;
  @Flag(createNotificationSwitchOptions('reopen_issue')) reopen_issue?: boolean;
  @Flag(createNotificationSwitchOptions('close_issue')) close_issue?: boolean;
  @Flag(createNotificationSwitchOptions('reassign_issue')) reassign_issue?: boolean;
  @Flag(createNotificationSwitchOptions('issue_due')) issue_due?: boolean;
  @Flag(createNotificationSwitchOptions('new_merge_request')) new_merge_request?: boolean;
  @Flag(createNotificationSwitchOptions('push_to_merge_request')) push_to_merge_request?: boolean;
  @Flag(createNotificationSwitchOptions('reopen_merge_request')) reopen_merge_request?: boolean;
  @Flag(createNotificationSwitchOptions('close_merge_request')) close_merge_request?: boolean;
  @Flag(createNotificationSwitchOptions('reassign_merge_request')) reassign_merge_request?: boolean;
  @Flag(createNotificationSwitchOptions('change_reviewer_merge_request')) change_reviewer_merge_request?: boolean;
  @Flag(createNotificationSwitchOptions('merge_merge_request')) merge_merge_request?: boolean;
  @Flag(createNotificationSwitchOptions('failed_pipeline')) failed_pipeline?: boolean;
  @Flag(createNotificationSwitchOptions('fixed_pipeline')) fixed_pipeline?: boolean;
  @Flag(createNotificationSwitchOptions('success_pipeline')) success_pipeline?: boolean;
  @Flag(createNotificationSwitchOptions('moved_project')) moved_project?: boolean;
  @Flag(createNotificationSwitchOptions('merge_when_pipeline_succeeds')) merge_when_pipeline_succeeds?: boolean;
  @Flag(createNotificationSwitchOptions('new_epic')) new_epic?: boolean;
  @Flag(createNotificationSwitchOptions('approver')) approver?: boolean;
}

export class UpdateGlobalNotificationSettings extends UpdateNotificationSettings {
  @Text({ optional: true, about: "One of the caller's confirmed addresses." }) notification_email?: string;
}

/** Returns the switches that the request sets. */
export function toSwitches(params: UpdateNotificationSettings): Switches {
  return Object.fromEntries(SWITCH_NAMES.flatMap((name) => (params[name] === undefined ? [] : [[name, params[name]]])));
}
