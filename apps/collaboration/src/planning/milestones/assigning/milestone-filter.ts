import type { Bind } from '@rookery/persistence';
import { TODAY } from '../../../base/noteables/json.shape';

/** Filter by milestone: a title, an id, none, any, `Upcoming` (due in the future) or `Started`. */
export type MilestoneFilter =
  | { readonly title: string }
  | { readonly id: number }
  | 'None'
  | 'Any'
  | 'Upcoming'
  | 'Started';

const WORDS: Readonly<Record<string, MilestoneFilter>> = {
  none: 'None',
  '0': 'None',
  'no milestone': 'None',
  any: 'Any',
  'any milestone': 'Any',
  upcoming: 'Upcoming',
  '#upcoming': 'Upcoming',
  started: 'Started',
  '#started': 'Started',
};
/** Keywords that are titles when a title is expected. */
const TITLES = new Set(['0', 'upcoming', 'started']);

/** Converts a title or keyword to a filter. Returns undefined without a filter. Source: reference work-tracking 9.1. */
export function milestoneFilterByTitle(text: string | undefined): MilestoneFilter | undefined {
  if (text === undefined || text === '') return undefined;
  const word = text.toLowerCase();
  return (TITLES.has(word) ? undefined : WORDS[word]) ?? { title: text };
}

/** Converts a keyword or id to a filter. Returns undefined without a filter, and null for an invalid value. */
export function milestoneFilterById(text: string | undefined): MilestoneFilter | null | undefined {
  if (text === undefined || text === '') return undefined;
  const word = WORDS[text.toLowerCase()];
  if (word) return word;
  const id = /^\d+$/.test(text) ? Number(text) : NaN;
  return Number.isSafeInteger(id) ? { id } : null;
}

/** Condition on a row `i`. `isUsableSql` is boolean SQL over a milestone `m`: true if the project or group can use it. */
export function milestoneFilterSql(filter: MilestoneFilter, isUsableSql: string, bind: Bind): string {
  const hasMilestone = `i.milestone_id is not null and i.milestone_id in (select m.id from milestones m where ${isUsableSql})`;
  if (filter === 'None') return `(${hasMilestone}) is not true`;
  if (filter === 'Any') return hasMilestone;
  // The ids are found once; a condition on the milestone would be evaluated for each noteable.
  return `i.milestone_id = any(array(select m.id from milestones m where ${matchesMilestoneFilterSql(filter, bind)} and ${isUsableSql}))`;
}

/**
 * SQL for the due day of the milestone of a row `i`; null if it has none. `isUsableSql` is that of `milestoneFilterSql`.
 */
export function milestoneDueDateSql(isUsableSql: string): string {
  return `(select m.due_on from milestones m where m.id = i.milestone_id and ${isUsableSql})`;
}

function matchesMilestoneFilterSql(filter: Exclude<MilestoneFilter, 'None' | 'Any'>, bind: Bind): string {
  if (filter === 'Upcoming') return `m.state = 'active' and m.due_on > ${TODAY}`;
  if (filter === 'Started') return `m.state = 'active' and m.start_on <= ${TODAY}`;
  return 'id' in filter ? `m.id = ${bind(filter.id)}` : `m.title = ${bind(filter.title)}`;
}
