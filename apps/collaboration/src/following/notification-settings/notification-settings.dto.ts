import { Flag, Text } from '@rookery/api-v4';
import { describeSwitch, SWITCH_NAMES } from './notification-switches';
import type { NotificationSwitch, Switches } from './notification-switches';

const switchOption = (name: NotificationSwitch) => ({ optional: true, about: describeSwitch(name) }) as const;

export class UpdateNotificationSettings {
  @Text({
    optional: true,
    about: 'One of `disabled`, `participating`, `watch`, `global` (of the next place above), `mention`, `custom`.',
  })
  level?: string;
  @Flag(switchOption('new_release')) new_release?: boolean;
  @Flag(switchOption('new_note')) new_note?: boolean;
  @Flag(switchOption('new_issue')) new_issue?: boolean;
  @Flag(switchOption('reopen_issue')) reopen_issue?: boolean;
  @Flag(switchOption('close_issue')) close_issue?: boolean;
  @Flag(switchOption('reassign_issue')) reassign_issue?: boolean;
  @Flag(switchOption('issue_due')) issue_due?: boolean;
  @Flag(switchOption('new_merge_request')) new_merge_request?: boolean;
  @Flag(switchOption('push_to_merge_request')) push_to_merge_request?: boolean;
  @Flag(switchOption('reopen_merge_request')) reopen_merge_request?: boolean;
  @Flag(switchOption('close_merge_request')) close_merge_request?: boolean;
  @Flag(switchOption('reassign_merge_request')) reassign_merge_request?: boolean;
  @Flag(switchOption('change_reviewer_merge_request')) change_reviewer_merge_request?: boolean;
  @Flag(switchOption('merge_merge_request')) merge_merge_request?: boolean;
  @Flag(switchOption('failed_pipeline')) failed_pipeline?: boolean;
  @Flag(switchOption('fixed_pipeline')) fixed_pipeline?: boolean;
  @Flag(switchOption('success_pipeline')) success_pipeline?: boolean;
  @Flag(switchOption('moved_project')) moved_project?: boolean;
  @Flag(switchOption('merge_when_pipeline_succeeds')) merge_when_pipeline_succeeds?: boolean;
  @Flag(switchOption('new_epic')) new_epic?: boolean;
  @Flag(switchOption('approver')) approver?: boolean;
}

export class UpdateGlobalNotificationSettings extends UpdateNotificationSettings {
  @Text({ optional: true, about: "One of the caller's confirmed addresses." }) notification_email?: string;
}

/** Returns the switches that the request sets. */
export function toSwitches(params: UpdateNotificationSettings): Switches {
  return Object.fromEntries(SWITCH_NAMES.flatMap((name) => (params[name] === undefined ? [] : [[name, params[name]]])));
}
