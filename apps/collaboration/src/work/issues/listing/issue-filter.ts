import { hasLabelSql, labelledSql } from '../../../planning/labels/labelling/label-filter';
import type { LabelFilter, LabelReach } from '../../../planning/labels/labelling/label-filter';
import { plannedSql } from '../../../planning/milestones/assigning/milestone-filter';
import type { MilestoneFilter } from '../../../planning/milestones/assigning/milestone-filter';
import { TODAY } from '../../../base/noteables/json.shape';
import { filter, wordsIn } from '@rookery/persistence';
import { reactedSql } from '../../../talk/award-emoji/reaction-filter';
import { userNamedSql } from '../../../base/noteables/access-sql';
import type { PersonSql } from '../../../base/noteables/access-sql';
import type { Bind, Filters } from '@rookery/persistence';
import { isOfBoth, wordsOf } from './issue-search';
import { servingSql } from '../serving/serving-filter';
import type { EpicFilter } from '../serving/serving-filter';

/** What a list of issues is narrowed by. Each part is optional; parts that are there must all hold. */
export interface IssueFilter {
  readonly state?: 'opened' | 'closed' | 'all' | undefined;
  readonly scope?: 'created_by_me' | 'assigned_to_me' | 'all' | undefined;
  readonly people?: PeopleFilter | undefined;
  readonly iids?: readonly number[] | undefined;
  readonly issueType?: string | undefined;
  readonly confidential?: boolean | undefined;
  readonly search?: string | undefined;
  readonly searchIn?: readonly ('title' | 'description')[] | undefined;
  readonly createdAfter?: Date | undefined;
  readonly createdBefore?: Date | undefined;
  readonly updatedAfter?: Date | undefined;
  readonly updatedBefore?: Date | undefined;
  readonly dueDate?: DueDate | undefined;
  readonly labels?: LabelFilter | undefined;
  readonly milestone?: MilestoneFilter | undefined;
  readonly weight?: WeightFilter | undefined;
  readonly epic?: EpicFilter | undefined;
  /** An emoji that the caller gave, `None` or `Any`. */
  readonly reaction?: string | undefined;
  /** A filter asks for something that no issue has, for instance a health. */
  readonly asksForMissing?: boolean | undefined;
  readonly not?: Exclusion | undefined;
}

/** What issues of a list are not: not one of these. */
export interface Exclusion extends PeopleFilter {
  readonly iids?: readonly number[] | undefined;
  readonly labels?: LabelFilter | undefined;
  readonly milestone?: MilestoneFilter | undefined;
  readonly weight?: WeightFilter | undefined;
  readonly epic?: EpicFilter | undefined;
  readonly reaction?: string | undefined;
}

/** The weight of issues: this one, none, or any. */
export type WeightFilter = number | 'None' | 'Any';

export interface PeopleFilter {
  readonly authorId?: number | undefined;
  readonly authorUsername?: string | undefined;
  readonly assigneeId?: number | 'None' | 'Any' | undefined;
  readonly assigneeUsernames?: readonly string[] | undefined;
}

export const DUE_DATES = [
  '0',
  'any',
  'today',
  'tomorrow',
  'overdue',
  'week',
  'month',
  'next_month_and_previous_two_weeks',
] as const;
export type DueDate = (typeof DUE_DATES)[number];

/** Days are those of UTC; a week begins on Monday. Source: reference work-tracking 9.1. */
const DUE: Readonly<Record<DueDate, string>> = {
  '0': 'i.due_on is null',
  any: 'i.due_on is not null',
  today: `i.due_on = ${TODAY}`,
  tomorrow: `i.due_on = ${TODAY} + 1`,
  overdue: `i.due_on < ${TODAY}`,
  week: `i.due_on between date_trunc('week', ${TODAY})::date and date_trunc('week', ${TODAY})::date + 6`,
  month: `date_trunc('month', i.due_on) = date_trunc('month', ${TODAY})`,
  next_month_and_previous_two_weeks: `i.due_on between ${TODAY} - 14
    and (date_trunc('month', ${TODAY}) + interval '2 months' - interval '1 day')::date`,
};

/** What the conditions of a list of issues are written with. */
export interface ReachSql {
  /** Who asks. */
  readonly person: PersonSql;
  readonly labels: LabelReach;
  /** Boolean SQL over a milestone `m`: those of the project or projects, and of groups. */
  readonly milestones: string;
}

/** What lists of issues `i` are narrowed by. */
export function issueFilters(reach: ReachSql): Filters<IssueFilter> {
  const viewer = reach.person.user;
  return {
    asksForMissing: filter.when('false'),
    state: (state) => state !== 'all' && `i.state = '${state}'`,
    scope: (scope) => {
      if (scope === 'all') return false;
      return scope === 'created_by_me' ? `i.author_id = ${viewer}` : assignedTo(viewer);
    },
    people: (people, bind) => peopleConditions(people, bind, 'all').join(' and '),
    reaction: (name, bind) => reactedSql('Issue', viewer, name, bind),
    iids: (iids, bind) => `i.iid = any(${bind(iids)}::bigint[])`,
    issueType: filter.equals('i.issue_type'),
    confidential: filter.whether('i.confidential'),
    dueDate: (due) => DUE[due],
    createdAfter: filter.compares('i.created_at', '>='),
    createdBefore: filter.compares('i.created_at', '<='),
    updatedAfter: filter.compares('i.updated_at', '>='),
    updatedBefore: filter.compares('i.updated_at', '<='),
    search: (text, bind, { searchIn }) => found(text, bind, searchIn?.length ? searchIn : ['title', 'description']),
    labels: (labels, bind) => labelledSql(labels, reach.labels, bind),
    milestone: (milestone, bind) => plannedSql(milestone, reach.milestones, bind),
    weight: weighing,
    epic: (epic, bind) => servingSql(epic, reach.person, bind),
    not: (not, bind) => excluded(reach, not, bind),
  };
}

/** Every word must occur in one of the fields of `i`, ignoring case. Blanks ask for nothing. */
export function found(text: string, bind: Bind, fields: readonly ('title' | 'description')[]): string | false {
  const words = wordsOf(text);
  const texts = {
    short: fields.includes('title') ? ['i.title'] : [],
    long: fields.includes('description') ? ['i.description'] : [],
  };
  return words.length > 0 && wordsIn(texts, words, bind);
}

/** What is left to narrow a list by that has found the words in title or description already. */
export function beyondWords({ search, ...filter }: IssueFilter): IssueFilter {
  return isOfBoth(filter) ? filter : { ...filter, search };
}

function excluded(reach: ReachSql, not: Exclusion, bind: Bind): string {
  const labelled = not.labels === undefined ? [] : [hasLabelSql(not.labels, reach.labels, bind)];
  const planned = not.milestone === undefined ? [] : [plannedSql(not.milestone, reach.milestones, bind)];
  const weighed = not.weight === undefined ? [] : [weighing(not.weight, bind)];
  const serving = not.epic === undefined ? [] : [servingSql(not.epic, reach.person, bind)];
  const conditions = [...peopleConditions(not, bind, 'any'), ...labelled, ...planned, ...weighed, ...serving].map(
    (condition) => `(${condition}) is not true`,
  );
  if (not.iids) conditions.push(`i.iid <> all(${bind(not.iids)}::bigint[])`);
  if (not.reaction) conditions.push(`not ${reactedSql('Issue', reach.person.user, not.reaction, bind)}`);
  return conditions.join(' and ');
}

function weighing(weight: WeightFilter, bind: Bind): string {
  if (weight === 'None') return 'i.weight is null';
  return weight === 'Any' ? 'i.weight is not null' : `i.weight = ${bind(weight)}::bigint`;
}

/** Shape: `held` says how many of the usernames have to be assigned. */
function peopleConditions(people: PeopleFilter, bind: Bind, held: 'all' | 'any'): string[] {
  const parts: string[] = [];
  if (people.authorId !== undefined) parts.push(`i.author_id = ${bind(people.authorId, 'author')}::bigint`);
  if (people.authorUsername !== undefined)
    parts.push(`i.author_id = ${userNamedSql(bind(people.authorUsername, 'author'))}`);
  if (people.assigneeId === 'None') parts.push(`not ${ASSIGNED}`);
  else if (people.assigneeId === 'Any') parts.push(ASSIGNED);
  else if (people.assigneeId !== undefined) parts.push(assignedTo(`${bind(people.assigneeId, 'assignee')}::bigint`));
  const usernames = [...new Set((people.assigneeUsernames ?? []).map((username) => username.toLowerCase()))];
  if (usernames.length === 1) parts.push(assignedTo(userNamedSql(bind(usernames[0], 'assignee'))));
  if (usernames.length > 1) {
    const needed = held === 'all' ? bind(usernames.length, 'assignees_count') : '1';
    parts.push(`${assignedOf(bind(usernames, 'assignees'))} >= ${needed}`);
  }
  return parts;
}

const ASSIGNED = 'exists (select 1 from issue_assignees s where s.issue_id = i.id)';

function assignedTo(user: string): string {
  return `exists (select 1 from issue_assignees s where s.issue_id = i.id and s.user_id = ${user})`;
}

/** How many of the named people are assigned; one expression, however many are named. Shape: usernames in lower case. */
function assignedOf(usernames: string): string {
  return `(select count(*) from issue_assignees s where s.issue_id = i.id and s.user_id = any(array(
    select u.id from directory_users u where lower(u.username) = any(${usernames}::text[]))))`;
}
