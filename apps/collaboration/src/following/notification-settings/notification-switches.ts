/**
 * Switches of the level `custom`, with the subjects of the e-mails or to-dos that each one turns on.
 * Source: requirements 1 §4 Notification settings; reference work-tracking 8.1.
 */
const NOTIFICATION_SWITCHES = {
  new_release: 'new releases',
  new_note: 'new comments',
  new_issue: 'new issues',
  reopen_issue: 'reopened issues',
  close_issue: 'closed issues',
  reassign_issue: 'issues with other assignees',
  issue_due: 'issues that are due tomorrow',
  new_merge_request: 'new merge requests',
  push_to_merge_request: 'pushes to merge requests',
  reopen_merge_request: 'reopened merge requests',
  close_merge_request: 'closed merge requests',
  reassign_merge_request: 'merge requests with other assignees',
  change_reviewer_merge_request: 'merge requests with other reviewers',
  merge_merge_request: 'merged merge requests',
  failed_pipeline: 'failed pipelines',
  fixed_pipeline: 'pipelines that succeed after a failure',
  success_pipeline: 'successful pipelines',
  moved_project: 'projects that moved',
  merge_when_pipeline_succeeds: 'merge requests that merge when their pipeline succeeds',
  new_epic: 'new epics; only of groups with the highest plan',
  approver: 'new merge requests that the user may approve',
} as const;
export type NotificationSwitch = keyof typeof NOTIFICATION_SWITCHES;
export type Switches = Readonly<Partial<Record<NotificationSwitch, boolean>>>;

export const SWITCH_NAMES = Object.keys(NOTIFICATION_SWITCHES) as NotificationSwitch[];

/** Switches that are on until they are turned off. */
const ON_BY_DEFAULT: ReadonlySet<NotificationSwitch> = new Set(['failed_pipeline', 'fixed_pipeline', 'moved_project']);

/** Whether a switch is on. `switches` are the stored values. A switch that is not stored has its default. */
export function isNotificationSwitchOn(switches: Switches, name: NotificationSwitch): boolean {
  return switches[name] ?? ON_BY_DEFAULT.has(name);
}

/** Describes a switch in the OpenAPI document. `approver` turns on to-dos, all others e-mails. */
export function describeSwitch(name: NotificationSwitch): string {
  const result = name === 'approver' ? 'to-dos' : 'e-mails';
  return `With the level \`custom\`: ${result} about ${NOTIFICATION_SWITCHES[name]}.`;
}
