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
  /** A filter asks for something that no issue has, for instance a label. */
  readonly asksForMissing?: boolean | undefined;
  readonly not?: (PeopleFilter & { readonly iids?: readonly number[] | undefined }) | undefined;
}

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

const TODAY = `(now() at time zone 'UTC')::date`;

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

/** Conditions over the alias `i`, and the values that their parameters stand for. */
export class Conditions {
  readonly parts: string[] = [];

  constructor(readonly values: unknown[]) {}

  /** The parameter that stands for a value. */
  value(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }

  get sql(): string {
    return this.parts.join('\n      and ');
  }
}

/** Adds what a filter asks for. Shape: `viewer` is the parameter of the caller's id. */
export function addFilter(conditions: Conditions, filter: IssueFilter, viewer: string): void {
  const { parts } = conditions;
  if (filter.asksForMissing) parts.push('false');
  if (filter.state === 'opened' || filter.state === 'closed') parts.push(`i.state = '${filter.state}'`);
  if (filter.scope === 'created_by_me') parts.push(`i.author_id = ${viewer}`);
  if (filter.scope === 'assigned_to_me') parts.push(assignedTo(viewer));
  if (filter.people) parts.push(...peopleConditions(conditions, filter.people));
  if (filter.iids) parts.push(`i.iid = any(${conditions.value(filter.iids)}::bigint[])`);
  if (filter.issueType) parts.push(`i.issue_type = ${conditions.value(filter.issueType)}`);
  if (filter.confidential !== undefined) parts.push(filter.confidential ? 'i.confidential' : 'not i.confidential');
  if (filter.dueDate) parts.push(DUE[filter.dueDate]);
  addTimes(conditions, filter);
  addSearch(conditions, filter);
  if (filter.not) addExclusions(conditions, filter.not);
}

function addTimes(conditions: Conditions, filter: IssueFilter): void {
  const bounds: [string, Date | undefined][] = [
    ['i.created_at >=', filter.createdAfter],
    ['i.created_at <=', filter.createdBefore],
    ['i.updated_at >=', filter.updatedAfter],
    ['i.updated_at <=', filter.updatedBefore],
  ];
  for (const [comparison, at] of bounds) {
    if (at) conditions.parts.push(`${comparison} ${conditions.value(at)}::timestamptz`);
  }
}

/** Every word must occur in one of the fields, ignoring case. */
function addSearch(conditions: Conditions, filter: IssueFilter): void {
  const fields = filter.searchIn ?? ['title', 'description'];
  const words = (filter.search ?? '').split(/\s+/).filter(Boolean).slice(0, MAX_WORDS);
  for (const word of words) {
    const pattern = conditions.value(`%${word.replace(/[\\%_]/g, '\\$&')}%`);
    conditions.parts.push(`(${fields.map((field) => `i.${field} ilike ${pattern}`).join(' or ')})`);
  }
}

const MAX_WORDS = 20;

function addExclusions(conditions: Conditions, not: NonNullable<IssueFilter['not']>): void {
  for (const condition of peopleConditions(conditions, not)) conditions.parts.push(`(${condition}) is not true`);
  if (not.iids) conditions.parts.push(`i.iid <> all(${conditions.value(not.iids)}::bigint[])`);
}

function peopleConditions(conditions: Conditions, people: PeopleFilter): string[] {
  const parts: string[] = [];
  if (people.authorId !== undefined) parts.push(`i.author_id = ${conditions.value(people.authorId)}::bigint`);
  if (people.authorUsername !== undefined) {
    parts.push(`i.author_id = ${userNamed(conditions, people.authorUsername)}`);
  }
  if (people.assigneeId === 'None') parts.push(`not ${ASSIGNED}`);
  else if (people.assigneeId === 'Any') parts.push(ASSIGNED);
  else if (people.assigneeId !== undefined) parts.push(assignedTo(`${conditions.value(people.assigneeId)}::bigint`));
  for (const username of people.assigneeUsernames ?? []) parts.push(assignedTo(userNamed(conditions, username)));
  return parts;
}

const ASSIGNED = 'exists (select 1 from issue_assignees s where s.issue_id = i.id)';

function assignedTo(user: string): string {
  return `exists (select 1 from issue_assignees s where s.issue_id = i.id and s.user_id = ${user})`;
}

function userNamed(conditions: Conditions, username: string): string {
  return `(select u.id from directory_users u where lower(u.username) = lower(${conditions.value(username)}) limit 1)`;
}
