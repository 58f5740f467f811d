import { NOTEABLE_TYPE_OF } from '@rookery/contracts';

/** Actions by which feeds are filtered. Source: reference work-tracking 7.2. */
export const ACTIVITY_ACTIONS = [
  'created',
  'updated',
  'closed',
  'reopened',
  'pushed',
  'commented',
  'merged',
  'joined',
  'left',
  'destroyed',
  'expired',
  'approved',
] as const;
export type ActivityAction = (typeof ACTIVITY_ACTIONS)[number];

// Feeds have no entries about single commits.
const { commit: _, ...NOTEABLE_TARGETS } = NOTEABLE_TYPE_OF;

/** Types of targets: names of the filter, and the types that are stored and shown. Source: reference work-tracking 7.3. */
export const ACTIVITY_TARGET_TYPES = {
  ...NOTEABLE_TARGETS,
  milestone: 'Milestone',
  note: 'Note',
  project: 'Project',
  user: 'User',
  wiki: 'WikiPage::Meta',
  design: 'DesignManagement::Design',
} as const;
/** Types of comments, single and in threads, as an SQL list; the filter `note` finds single ones only. Source: reference work-tracking 7.3. */
export const NOTE_TARGETS = `'Note', 'DiscussionNote', 'DiffNote'`;
export type ActivityTarget = keyof typeof ACTIVITY_TARGET_TYPES;
export const ACTIVITY_TARGETS = Object.keys(ACTIVITY_TARGET_TYPES) as ActivityTarget[];

/** Types that the API shows; comments in threads have their own type. */
export const SHOWN_TARGET_TYPES = [...new Set([...Object.values(ACTIVITY_TARGET_TYPES), 'DiscussionNote', 'DiffNote'])];
/** Results of `activityActionNameSql`. */
export const ACTION_NAMES = [
  'opened',
  'imported',
  'created',
  'closed',
  'pushed to',
  'pushed new',
  'deleted',
  'commented on',
  'accepted',
  'joined',
  'left',
  'destroyed',
  'removed due to membership expiration from',
  'approved',
] as const;

/** A text SQL expression: the name of the stored action in the API. Source: reference work-tracking 7.2. */
export function activityActionNameSql(event: string): string {
  return `case ${event}.action
    when 'created' then case when ${event}.target_type <> 'Project' then 'opened'
      when ${event}.imported_from <> 'none' then 'imported' else 'created' end
    when 'reopened' then 'opened' when 'updated' then 'opened' when 'commented' then 'commented on'
    when 'pushed' then case ${event}.push_data ->> 'action' when 'created' then 'pushed new' when 'removed' then 'deleted'
      else 'pushed to' end
    when 'merged' then 'accepted' when 'expired' then 'removed due to membership expiration from'
    else ${event}.action end`;
}
