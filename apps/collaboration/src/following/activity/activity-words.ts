import { NOTEABLE_TYPE_OF } from '@rookery/contracts';

/** What may be asked for. Source: reference work-tracking 7.2. */
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

/** Commits are pushed; nothing in a feed is about one. */
const { commit: _, ...NOTEABLE_TARGETS } = NOTEABLE_TYPE_OF;

/** What may be asked for, and what is stored and shown. Source: reference work-tracking 7.3. */
export const ACTIVITY_TARGET_TYPES = {
  ...NOTEABLE_TARGETS,
  milestone: 'Milestone',
  note: 'Note',
  project: 'Project',
  user: 'User',
  wiki: 'WikiPage::Meta',
  design: 'DesignManagement::Design',
} as const;
/** Comments alone and in threads, as an SQL list: the filter `note` finds the former only. Source: reference work-tracking 7.3. */
export const NOTE_TARGETS = `'Note', 'DiscussionNote'`;
export type ActivityTarget = keyof typeof ACTIVITY_TARGET_TYPES;
export const ACTIVITY_TARGETS = Object.keys(ACTIVITY_TARGET_TYPES) as ActivityTarget[];

/** What is shown: comments in threads have a word of their own. */
export const SHOWN_TARGET_TYPES = [...new Set([...Object.values(ACTIVITY_TARGET_TYPES), 'DiscussionNote'])];
/** The words of `actionNameSql`. */
export const ACTION_NAMES = [
  'opened',
  'imported',
  'created',
  'closed',
  'pushed',
  'commented on',
  'accepted',
  'joined',
  'left',
  'destroyed',
  'removed due to membership expiration from',
  'approved',
] as const;

/** A text SQL expression: the stored action in the words of the feed. Source: reference work-tracking 7.2. */
export function actionNameSql(event: string): string {
  return `case ${event}.action
    when 'created' then case when ${event}.target_type <> 'Project' then 'opened'
      when ${event}.imported_from <> 'none' then 'imported' else 'created' end
    when 'reopened' then 'opened' when 'updated' then 'opened' when 'commented' then 'commented on'
    when 'merged' then 'accepted' when 'expired' then 'removed due to membership expiration from'
    else ${event}.action end`;
}
