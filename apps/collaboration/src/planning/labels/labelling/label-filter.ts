import type { NoteableType } from '@rookery/contracts';
import { reachedSql } from '../../../base/noteables/reach-sql';
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

/** Labels that a list of things of a project or group can meet: its own and those of the groups above it. */
export interface LabelReach {
  readonly type: NoteableType;
  /** Expressions: the id of the project, null for things of groups, and the ids of the groups above. */
  readonly project: string | null;
  readonly above: string;
  /** What `straysSql` found, a bigint[] expression; null for things of groups. */
  readonly strays: string | null;
}

/** Does one of these filters of a list ask whether things have labels at all? */
export function asksForAny(...filters: readonly (LabelFilter | undefined)[]): boolean {
  return filters.some((filter) => filter === 'None' || filter === 'Any');
}

/**
 * The labels that things of a project have and that reach it no more: a bigint[] expression. Nearly all do reach it, so
 * the few that do not are found once for the count and the page: from one label that is used in the project to the next
 * by the index, and those by their ids. A join would find the label of each link; a condition on all labels would read
 * what others have.
 */
export function straysSql({ project, above }: { readonly project: string; readonly above: string }): string {
  const next = (after: string): string => `(select used.label_id from label_links used
      where used.project_id = ${project}${after} order by used.label_id limit 1)`;
  return `array(
    with recursive met (label_id) as (${next('')} union all
      select ${next(' and used.label_id > met.label_id')} from met where met.label_id is not null)
    select l.id from labels l where l.id = any(array(select met.label_id from met))
      and ${reachedSql('l', { project, above })} is not true)`;
}

/**
 * A condition on a row `i`: it has all of the labels, none at all, or any. One label may lead to the things; whether they
 * have the others is looked up for each by key. Joined with them, all that have one would be gone through for each that has
 * another: the planner takes one label of one project to be on next to nothing.
 */
export function labelledSql(filter: LabelFilter, reach: LabelReach, bind: Bind): string {
  if (filter === 'None' || filter === 'Any') return hasLabelSql(filter, reach, bind);
  if (filter.length > ONE_BY_ONE) return countedSql(filter.length, `${bind(filter)}::text[]`, reach);
  const [first, ...others] = filter.map((name) => linkSql(`= ${bind(name)}`, reach));
  return [`exists (${first!})`, ...others.map((link) => `exists (${link} offset 0)`)].join(' and ');
}

/**
 * Many names are counted: a plan with a part for each of them would take longer than the list. The rarest leads, none where
 * one of the names is that of no label. Shape: `names` is a text[] expression of so many.
 */
function countedSql(count: number, names: string, reach: LabelReach): string {
  const named = `from labels l where l.title = any(${names}) and ${reachedSql('l', reach)}`;
  const ofProject = reach.project === null ? '' : ` and used.project_id = ${reach.project}`;
  const rarest = linkSql(
    `= (select l.title ${named} group by l.title order by sum((select count(*) from (
        select 1 from label_links used where used.label_id = l.id${ofProject} limit ${RARE}) used)), l.title limit 1)`,
    reach,
  );
  const ids = `array(select l.id ${named} order by l.id)`;
  const titles = `array(select l.title ${named} order by l.id)`;
  const counted = `(select count(distinct (${titles})[array_position(${ids}, ll.label_id)])
    from (select ll.label_id from label_links ll where ${linkedSql(reach)} and ll.label_id = any(${ids}) offset 0) ll)`;
  // Once for the planner, which may begin with it, and once so that nothing is counted where it is missing.
  return `(select count(distinct l.title) ${named}) = ${count} and exists (${rarest})
    and case when exists (${rarest} offset 0) then ${counted} = ${count} else false end`;
}

/** A condition on a row `i`: it has one of the labels, none at all, or any. */
export function hasLabelSql(filter: LabelFilter, reach: LabelReach, bind: Bind): string {
  const any = `exists (select 1 from label_links ll where ${linkedSql(reach)} and ${isNoStraySql(reach)})`;
  if (filter === 'None') return `not ${any}`;
  if (filter === 'Any') return any;
  const titles = filter.length === 1 ? `= ${bind(filter[0])}` : `= any(${bind(filter)}::text[])`;
  return `exists (${linkSql(titles, reach)})`;
}

/**
 * The links of a row `i` to labels of some names. The ids are found once; a condition on the name would be asked of each
 * thing. Shape: `titles` is what follows the title in a condition.
 */
function linkSql(titles: string, reach: LabelReach): string {
  return `select ll.label_id from label_links ll where ${linkedSql(reach)} and ll.label_id = any(array(
      select l.id from labels l where l.title ${titles} and ${reachedSql('l', reach)}))`;
}

/** How many names are looked for each by its own index scan. */
const ONE_BY_ONE = 4;
/** Labels with as many links are all taken to be as frequent. */
const RARE = 1000;

function linkedSql({ type, project }: LabelReach): string {
  const ofProject = project === null ? '' : ` and ll.project_id = ${project}`;
  return `ll.noteable_id = i.id and ll.noteable_type = '${type}'${ofProject}`;
}

/** A condition on a link `ll`: its label reaches the project or the group. */
function isNoStraySql({ project, above, strays }: LabelReach): string {
  if (strays !== null) return `(ll.label_id = any(${strays}::bigint[])) is not true`;
  // A group has few epics beside the issues of a project: the label of each link is looked up.
  return `exists (select 1 from labels l where l.id = ll.label_id and ${reachedSql('l', { project, above })})`;
}

/** The lowest priority number of the labels of a row `i`, in its project; null when none has one. */
export function labelPrioritySql(reach: LabelReach): string {
  return `(select min(p.priority) from label_links ll
    join label_priorities p on p.label_id = ll.label_id and p.project_id = i.project_id
    where ll.noteable_id = i.id and ll.noteable_type = '${reach.type}' and ${isNoStraySql(reach)})`;
}
