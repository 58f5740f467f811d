import type { NoteableType } from '@rookery/contracts';
import { labelOrMilestoneAppliesSql } from '../../../base/noteables/reach-sql';
import type { Bind } from '@rookery/persistence';

/** Filter by labels: noteables with all of these names, with no label, or with any label. */
export type LabelFilter = readonly string[] | 'None' | 'Any';

/** Converts the parameter of a list. Returns undefined without a filter. Source: reference work-tracking 9.1. */
export function toLabelFilter(names: readonly string[] | undefined): LabelFilter | undefined {
  if (names === undefined || names.length === 0) return undefined;
  const has = (word: RegExp): boolean => names.some((name) => word.test(name));
  if (has(/^(none|no label)$/i)) return 'None';
  return has(/^any( label)?$/i) ? 'Any' : [...new Set(names)];
}

/** Labels that a project or group can use: its own and those of the groups above it. */
export interface LabelReach {
  readonly type: NoteableType;
  /** SQL for the id of the project, null for noteables of groups; `above` is SQL for the ids of the groups above. */
  readonly project: string | null;
  readonly above: string;
  /** Result of `unreachableLabelsSql`, a bigint[] expression; null for noteables of groups. */
  readonly strays: string | null;
}

/** Whether one of these filters selects noteables with or without any label. */
export function filtersByLabelPresence(...filters: readonly (LabelFilter | undefined)[]): boolean {
  return filters.some((filter) => filter === 'None' || filter === 'Any');
}

/**
 * SQL for the labels that a project uses but can no longer reach: a bigint[] expression. Such labels are rare, so they are
 * selected once for the count and the page: the index is skipped from one used label to the next, and the labels are found by
 * id. A join would look up the label of each link; a condition on all labels would read labels of other projects.
 */
export function unreachableLabelsSql({ project, above }: { readonly project: string; readonly above: string }): string {
  const next = (after: string): string => `(select used.label_id from label_links used
      where used.project_id = ${project}${after} order by used.label_id limit 1)`;
  return `array(
    with recursive met (label_id) as (${next('')} union all
      select ${next(' and used.label_id > met.label_id')} from met where met.label_id is not null)
    select l.id from labels l where l.id = any(array(select met.label_id from met))
      and ${labelOrMilestoneAppliesSql('l', { project, above })} is not true)`;
}

/**
 * Condition on a row `i`: it has all of the labels, no label, or any label. One label may drive the plan; the others are
 * looked up by key for each noteable. With joins the planner would use nested loops over all noteables of each label, because
 * it underestimates how many noteables have one label of one project.
 */
export function labelFilterSql(filter: LabelFilter, reach: LabelReach, bind: Bind): string {
  if (filter === 'None' || filter === 'Any') return hasLabelSql(filter, reach, bind);
  if (filter.length > ONE_BY_ONE) return hasAllLabelsSql(filter.length, `${bind(filter)}::text[]`, reach);
  const [first, ...others] = filter.map((name) => labelLinksByTitlesSql(`= ${bind(name)}`, reach));
  return [`exists (${first!})`, ...others.map((link) => `exists (${link} offset 0)`)].join(' and ');
}

/**
 * Condition that counts the labels of a noteable, for many names. Planning a part for each name would take longer than
 * the list. The rarest label drives the plan. No row matches if a name has no label. `names` is a text[] expression
 * with `count` elements.
 */
function hasAllLabelsSql(count: number, names: string, reach: LabelReach): string {
  const fromNamed = `from labels l where l.title = any(${names}) and ${labelOrMilestoneAppliesSql('l', reach)}`;
  const ofProject = reach.project === null ? '' : ` and used.project_id = ${reach.project}`;
  const rarest = labelLinksByTitlesSql(
    `= (select l.title ${fromNamed} group by l.title order by sum((select count(*) from (
        select 1 from label_links used where used.label_id = l.id${ofProject} limit ${RARE}) used)), l.title limit 1)`,
    reach,
  );
  const ids = `array(select l.id ${fromNamed} order by l.id)`;
  const titles = `array(select l.title ${fromNamed} order by l.id)`;
  const counted = `(select count(distinct (${titles})[array_position(${ids}, ll.label_id)])
    from (select ll.label_id from label_links ll where ${isLabelLinkOfNoteableSql(reach)} and ll.label_id = any(${ids}) offset 0) ll)`;
  // The first `exists` lets the planner start with the rarest label; the second prevents counting for rows without it.
  return `(select count(distinct l.title) ${fromNamed}) = ${count} and exists (${rarest})
    and case when exists (${rarest} offset 0) then ${counted} = ${count} else false end`;
}

/** Condition on a row `i`: it has one of the labels, no label, or any label. */
export function hasLabelSql(filter: LabelFilter, reach: LabelReach, bind: Bind): string {
  const any = `exists (select 1 from label_links ll where ${isLabelLinkOfNoteableSql(reach)} and ${isLabelOfLinkReachableSql(reach)})`;
  if (filter === 'None') return `not ${any}`;
  if (filter === 'Any') return any;
  const titles = filter.length === 1 ? `= ${bind(filter[0])}` : `= any(${bind(filter)}::text[])`;
  return `exists (${labelLinksByTitlesSql(titles, reach)})`;
}

/**
 * SQL for the links of a row `i` to labels of some names. The ids are found once. A condition on the name would be
 * evaluated for each noteable. `titles` is the operator and operand after the title column.
 */
function labelLinksByTitlesSql(titles: string, reach: LabelReach): string {
  return `select ll.label_id from label_links ll where ${isLabelLinkOfNoteableSql(reach)} and ll.label_id = any(array(
      select l.id from labels l where l.title ${titles} and ${labelOrMilestoneAppliesSql('l', reach)}))`;
}

/** Maximum number of names that are looked up by one index scan each. */
const ONE_BY_ONE = 4;
/** Labels with at least this number of links are treated as equally frequent. */
const RARE = 1000;

function isLabelLinkOfNoteableSql({ type, project }: LabelReach): string {
  const ofProject = project === null ? '' : ` and ll.project_id = ${project}`;
  return `ll.noteable_id = i.id and ll.noteable_type = '${type}'${ofProject}`;
}

/** Condition on a link `ll`: the project or group can reach its label. */
function isLabelOfLinkReachableSql({ project, above, strays }: LabelReach): string {
  if (strays !== null) return `(ll.label_id = any(${strays}::bigint[])) is not true`;
  // A group has few epics compared with the issues of a project, so the label of each link is looked up.
  return `exists (select 1 from labels l where l.id = ll.label_id and ${labelOrMilestoneAppliesSql('l', { project, above })})`;
}

/** SQL for the lowest priority number of the labels of a row `i` in its project; null if none has a priority. */
export function labelPrioritySql(reach: LabelReach): string {
  return `(select min(p.priority) from label_links ll
    join label_priorities p on p.label_id = ll.label_id and p.project_id = i.project_id
    where ll.noteable_id = i.id and ll.noteable_type = '${reach.type}' and ${isLabelOfLinkReachableSql(reach)})`;
}
