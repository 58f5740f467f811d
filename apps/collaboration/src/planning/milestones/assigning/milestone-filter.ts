import type { Bind } from '@rookery/persistence';
import { TODAY } from '../../../base/noteables/json.shape';

/** Which milestone things have: that of a title or id, none, any, one that is due in the future, or one that has begun. */
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
  upcoming: 'Upcoming',
  '#upcoming': 'Upcoming',
  started: 'Started',
  '#started': 'Started',
};
/** Words that a title may be, too. */
const TITLES = new Set(['0', 'upcoming', 'started']);

/** By title, or by a word. Shape: undefined for a list that asks for nothing. Source: reference work-tracking 9.1. */
export function milestoneTitled(text: string | undefined): MilestoneFilter | undefined {
  if (text === undefined || text === '') return undefined;
  const word = text.toLowerCase();
  return (TITLES.has(word) ? undefined : WORDS[word]) ?? { title: text };
}

/** By a word, or by id. Shape: undefined for a list that asks for nothing, null for what is neither. */
export function milestoneIdentified(text: string | undefined): MilestoneFilter | null | undefined {
  if (text === undefined || text === '') return undefined;
  const word = WORDS[text.toLowerCase()];
  if (word) return word;
  const id = /^\d+$/.test(text) ? Number(text) : NaN;
  return Number.isSafeInteger(id) ? { id } : null;
}

/** A condition on a row `i`. Shape: `reaches` is boolean SQL over a milestone `m`: those that the list can meet. */
export function plannedSql(filter: MilestoneFilter, reaches: string, bind: Bind): string {
  const planned = `i.milestone_id is not null and i.milestone_id in (select m.id from milestones m where ${reaches})`;
  if (filter === 'None') return `(${planned}) is not true`;
  if (filter === 'Any') return planned;
  // The ids are found once; a condition on the milestone would be asked of each thing.
  return `i.milestone_id = any(array(select m.id from milestones m where ${meantSql(filter, bind)} and ${reaches}))`;
}

/** The day on which the milestone of a row `i` is due; null when it has none. Shape: `reaches` as above. */
export function milestoneDueSql(reaches: string): string {
  return `(select m.due_on from milestones m where m.id = i.milestone_id and ${reaches})`;
}

function meantSql(filter: Exclude<MilestoneFilter, 'None' | 'Any'>, bind: Bind): string {
  if (filter === 'Upcoming') return `m.state = 'active' and m.due_on > ${TODAY}`;
  if (filter === 'Started') return `m.state = 'active' and m.start_on <= ${TODAY}`;
  return 'id' in filter ? `m.id = ${bind(filter.id)}` : `m.title = ${bind(filter.title)}`;
}
