import { hasLabelSql, labelFilterSql } from '../../../planning/labels/labelling/label-filter';
import type { LabelFilter, LabelReach } from '../../../planning/labels/labelling/label-filter';
import { milestoneFilterSql } from '../../../planning/milestones/assigning/milestone-filter';
import type { MilestoneFilter } from '../../../planning/milestones/assigning/milestone-filter';
import { TODAY } from '../../../base/noteables/json.shape';
import { filter, searchCondition } from '@rookery/persistence';
import { hasPersonSql, peopleConditions, userConditions } from '../../../planning/people/people-filter';
import type { PeopleFilter, UserFilter } from '../../../planning/people/people-filter';
import { issueAssignees } from '../assignees/issue-assignees';
import { reactionFilterSql } from '../../../talk/award-emoji/reaction-filter';
import type { PersonSql } from '../../../base/noteables/access-sql';
import type { Bind, Filters } from '@rookery/persistence';
import { searchesTitleAndDescription, splitSearchWords } from './issue-search';
import { issueInEpicSql } from '../epic/issue-epic-filter';
import type { EpicFilter } from '../epic/issue-epic-filter';

/** Filter of a list of issues. Each part is optional; all given parts must match. */
export interface IssueFilter {
  readonly state?: 'opened' | 'closed' | 'all' | undefined;
  readonly scope?: 'created_by_me' | 'assigned_to_me' | 'all' | undefined;
  readonly people?: IssuePeopleFilter | undefined;
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
  /** An emoji that the caller reacted with, `None` or `Any`. */
  readonly reaction?: string | undefined;
  /** A filter requires a property that no issue has yet, for instance a health status. */
  readonly matchesNothing?: boolean | undefined;
  readonly not?: Exclusion | undefined;
}

/** Exclusions of a list: issues match none of them. */
export interface Exclusion extends IssuePeopleFilter {
  readonly iids?: readonly number[] | undefined;
  readonly labels?: LabelFilter | undefined;
  readonly milestone?: MilestoneFilter | undefined;
  readonly weight?: WeightFilter | undefined;
  readonly epic?: EpicFilter | undefined;
  readonly reaction?: string | undefined;
}

/** Filter by weight: a number, none, or any. */
export type WeightFilter = number | 'None' | 'Any';

interface IssuePeopleFilter {
  readonly author?: UserFilter | undefined;
  readonly assignee?: PeopleFilter | undefined;
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

/**
 * SQL conditions for due dates. Days are those of UTC; a week begins on Monday. Source: reference work-tracking 9.1.
 */
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

/** SQL expressions for conditions and orders of a list of issues. */
export interface ReachSql {
  /** The viewer. */
  readonly person: PersonSql;
  readonly labels: LabelReach;
  /** Boolean SQL over a milestone `m`: it belongs to the project or projects, or to an ancestor group. */
  readonly milestones: string;
}

/** Filters of lists of issues `i`. */
export function issueFilters(reach: ReachSql): Filters<IssueFilter> {
  const viewer = reach.person.user;
  return {
    matchesNothing: filter.when('false'),
    state: (state) => state !== 'all' && `i.state = '${state}'`,
    scope: (scope) => {
      if (scope === 'all') return false;
      return scope === 'created_by_me' ? `i.author_id = ${viewer}` : hasPersonSql(issueAssignees, viewer);
    },
    people: (people, bind) => issuePeopleConditions(people, bind, 'all').join(' and '),
    reaction: (name, bind) => reactionFilterSql('Issue', viewer, name, bind),
    iids: (iids, bind) => `i.iid = any(${bind(iids)}::bigint[])`,
    issueType: filter.equals('i.issue_type'),
    confidential: filter.whether('i.confidential'),
    dueDate: (due) => DUE[due],
    createdAfter: filter.compares('i.created_at', '>='),
    createdBefore: filter.compares('i.created_at', '<='),
    updatedAfter: filter.compares('i.updated_at', '>='),
    updatedBefore: filter.compares('i.updated_at', '<='),
    search: (text, bind, { searchIn }) =>
      containsWordsSql(text, bind, searchIn?.length ? searchIn : ['title', 'description']),
    labels: (labels, bind) => labelFilterSql(labels, reach.labels, bind),
    milestone: (milestone, bind) => milestoneFilterSql(milestone, reach.milestones, bind),
    weight: weightFilterSql,
    epic: (epic, bind) => issueInEpicSql(epic, reach.person, bind),
    not: (not, bind) => isExcludedIssueSql(reach, not, bind),
  };
}

/** Condition: each word occurs in one of the fields of `i`, ignoring case; false for blank text. */
export function containsWordsSql(
  text: string,
  bind: Bind,
  fields: readonly ('title' | 'description')[],
): string | false {
  const words = splitSearchWords(text);
  const texts = {
    short: fields.includes('title') ? ['i.title'] : [],
    long: fields.includes('description') ? ['i.description'] : [],
  };
  return words.length > 0 && searchCondition(texts, words, bind);
}

/** Returns the filter for a list whose words in title or description are matched already. */
export function removeMatchedIssueSearch({ search, ...filter }: IssueFilter): IssueFilter {
  return searchesTitleAndDescription(filter) ? filter : { ...filter, search };
}

function isExcludedIssueSql(reach: ReachSql, not: Exclusion, bind: Bind): string {
  const labelled = not.labels === undefined ? [] : [hasLabelSql(not.labels, reach.labels, bind)];
  const planned = not.milestone === undefined ? [] : [milestoneFilterSql(not.milestone, reach.milestones, bind)];
  const weighed = not.weight === undefined ? [] : [weightFilterSql(not.weight, bind)];
  const serving = not.epic === undefined ? [] : [issueInEpicSql(not.epic, reach.person, bind)];
  const conditions = [...issuePeopleConditions(not, bind, 'any'), ...labelled, ...planned, ...weighed, ...serving].map(
    (condition) => `(${condition}) is not true`,
  );
  if (not.iids) conditions.push(`i.iid <> all(${bind(not.iids)}::bigint[])`);
  if (not.reaction) conditions.push(`not ${reactionFilterSql('Issue', reach.person.user, not.reaction, bind)}`);
  return conditions.join(' and ');
}

function weightFilterSql(weight: WeightFilter, bind: Bind): string {
  if (weight === 'None') return 'i.weight is null';
  return weight === 'Any' ? 'i.weight is not null' : `i.weight = ${bind(weight)}::bigint`;
}

/** Conditions on author and assignees. `match` is how many of the usernames must be assigned. */
function issuePeopleConditions(
  { author = {}, assignee = {} }: IssuePeopleFilter,
  bind: Bind,
  match: 'all' | 'any',
): string[] {
  return [
    ...userConditions('author_id', author, bind, 'author'),
    ...peopleConditions(issueAssignees, assignee, bind, { match, name: 'assignee' }),
  ];
}
