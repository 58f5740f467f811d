import { NOTEABLE_TYPE_OF } from '@rookery/contracts';

/** Reasons of to-dos. Source: requirements 1 §4 To-do items; reference work-tracking 6.1, 6.3. */
export const TODO_ACTIONS = [
  'assigned',
  'mentioned',
  'build_failed',
  'marked',
  'approval_required',
  'unmergeable',
  'directly_addressed',
  'merge_train_removed',
  'member_access_requested',
  'review_requested',
  'review_submitted',
  'okr_checkin_requested',
  'added_approver',
  'ssh_key_expired',
  'ssh_key_expiring_soon',
] as const;
export type TodoAction = (typeof TODO_ACTIONS)[number];

// Snippets raise no to-dos.
const { snippet: _, ...NOTEABLE_TARGETS } = NOTEABLE_TYPE_OF;

/** Types of targets of to-dos. Source: reference work-tracking 6.1, 6.2. */
export const TODO_TARGET_TYPES = [
  ...Object.values(NOTEABLE_TARGETS),
  'DesignManagement::Design',
  'AlertManagement::Alert',
  'Project',
  'Namespace',
  'Vulnerability',
  'WikiPage::Meta',
  'WorkItem',
  'Key',
  'User',
] as const;
export type TodoTargetType = (typeof TODO_TARGET_TYPES)[number];

export const TODO_STATES = ['pending', 'done'] as const;
export type TodoState = (typeof TODO_STATES)[number];
