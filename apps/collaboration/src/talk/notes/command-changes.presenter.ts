import { bool, choice, day, int, list, nullable, object, text } from '@rookery/api-v4';

const ids = list(int);
const duration = { schema: { anyOf: [int.schema, choice('reset').schema] }, write: String };

/**
 * Changes made by quick actions. Each key is present only if its quick action was executed. Source: reference
 * work-tracking 2.6.
 */
export const commandChanges = object(
  {},
  {
    state_event: choice('close', 'reopen'),
    title: text,
    assignee_ids: ids,
    reviewer_ids: ids,
    add_label_ids: ids,
    remove_label_ids: ids,
    label_ids: ids,
    milestone_id: nullable(int),
    due_date: nullable(day),
    weight: nullable(int),
    confidential: bool,
    discussion_locked: bool,
    time_estimate: int,
    spend_time: object({ duration }),
    todo_event: choice('mark', 'done'),
    subscription_event: choice('subscribe', 'unsubscribe'),
    emoji_award: text,
    relate: list(text),
    canonical_issue_id: int,
    target_project: text,
    target_clone_project: text,
    clone_with_notes: bool,
    epic: nullable(int),
    wip_event: choice('draft', 'ready'),
    target_branch: text,
    approve: bool,
    unapprove: bool,
    merge: text,
    rebase: bool,
  },
);
