import type { NoteableType } from '@rookery/contracts';
import type { Bind } from '@rookery/persistence';

/** Which labels things must have: all of these names, none at all, or any. */
export type LabelFilter = readonly string[] | 'None' | 'Any';

/** Shape: undefined for a list that asks for nothing. Source: reference work-tracking 9.1. */
export function labelFilterOf(names: readonly string[] | undefined): LabelFilter | undefined {
  if (names === undefined || names.length === 0) return undefined;
  const has = (word: RegExp): boolean => names.some((name) => word.test(name));
  if (has(/^(none|no label)$/i)) return 'None';
  return has(/^any$/i) ? 'Any' : [...new Set(names)];
}

/** Labels that a list of things can meet: those of its project or projects, and of groups. */
export interface LabelReach {
  readonly type: NoteableType;
  /** Boolean SQL over a label `l`. */
  readonly reaches: string;
  /** Boolean SQL over a link `ll`: so that links of other places are not read. */
  readonly links: string;
}

/** A condition on a row `i`: it has all of the labels, none at all, or any. */
export function labelledSql(filter: LabelFilter, reach: LabelReach, bind: Bind): string {
  if (filter === 'None' || filter === 'Any') return hasLabelSql(filter, reach, bind);
  if (filter.length <= ONE_BY_ONE) return filter.map((name) => hasLabelSql([name], reach, bind)).join(' and ');
  // Many names are counted: a plan with a part for each of them would take longer than the list.
  return `(select count(distinct l.title) from label_links ll join labels l on l.id = ll.label_id
    where ${linkedSql(reach)} and ${reach.reaches} and l.title = any(${bind(filter)}::text[])) = ${filter.length}`;
}

/** A condition on a row `i`: it has one of the labels, none at all, or any. */
export function hasLabelSql(filter: LabelFilter, reach: LabelReach, bind: Bind): string {
  const any = `select 1 from label_links ll join labels l on l.id = ll.label_id
    where ${linkedSql(reach)} and ${reach.reaches}`;
  if (filter === 'None') return `not exists (${any})`;
  if (filter === 'Any') return `exists (${any})`;
  // The ids are found once; a condition on the name would be asked of each thing.
  const title = filter.length === 1 ? `= ${bind(filter[0])}` : `= any(${bind(filter)}::text[])`;
  return `exists (select 1 from label_links ll where ${linkedSql(reach)} and ll.label_id = any(array(
      select l.id from labels l where l.title ${title} and ${reach.reaches})))`;
}

/** How many names are looked for each by its own index scan. */
const ONE_BY_ONE = 4;

function linkedSql({ type, links }: LabelReach): string {
  return `ll.noteable_id = i.id and ll.noteable_type = '${type}' and ${links}`;
}

/** The lowest priority number of the labels of a row `i`, in its project; null when none has one. */
export function labelPrioritySql(reach: LabelReach): string {
  return `(select min(p.priority) from label_links ll
    join label_priorities p on p.label_id = ll.label_id and p.project_id = i.project_id
    join labels l on l.id = ll.label_id where ${linkedSql(reach)} and ${reach.reaches})`;
}
