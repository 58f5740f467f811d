import type { UpstreamPerson } from '@rookery/contracts';

type Fields = Readonly<Record<string, unknown>>;

export interface RemoteLabel {
  readonly name: string;
  /** Shape: `rrggbb`. */
  readonly color: string;
  readonly description: string | null;
}

export interface RemoteMilestone {
  readonly number: number;
  readonly title: string;
  readonly description: string | null;
  readonly isClosed: boolean;
  readonly dueOn: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface RemoteIssue {
  readonly number: number;
  readonly title: string;
  readonly body: string | null;
  readonly isClosed: boolean;
  readonly isLocked: boolean;
  readonly author: UpstreamPerson;
  readonly assignees: readonly UpstreamPerson[];
  readonly labels: readonly string[];
  readonly milestone: number | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly closedAt: string | null;
}

/** A comment on an issue or a pull request. */
export interface RemoteComment {
  readonly id: number;
  /** Number of the issue or pull request. */
  readonly number: number;
  readonly author: UpstreamPerson;
  readonly body: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** Deleted users have no id. Source: reference identity-and-import 6.7. */
const DELETED: UpstreamPerson = { id: null, username: 'ghost' };
const MAX_USERNAME = 255;
const MAX_LIST = 500;
const COMMENT_PAGE = /\/(issues|pull)\/(\d{1,15})#/;

/** Readers of objects in lists of upstream hosts. Shape: null if a needed field is missing or has another type. */
export function labelIn(item: unknown): RemoteLabel | null {
  const fields = fieldsOf(item);
  const { name, color } = fields;
  if (typeof name !== 'string' || typeof color !== 'string') return null;
  return { name: cleaned(name), color: cleaned(color), description: textIn(fields['description']) };
}

export function milestoneIn(item: unknown): RemoteMilestone | null {
  const fields = fieldsOf(item);
  const times = timesIn(fields);
  const { number, title, state } = fields;
  if (!isId(number) || typeof title !== 'string' || !times) return null;
  const due = timeIn(fields['due_on']);
  return {
    ...{ number, title: cleaned(title), description: textIn(fields['description']), isClosed: state === 'closed' },
    ...{ ...times, dueOn: due?.slice(0, 10) ?? null },
  };
}

export function issueIn(item: unknown): RemoteIssue | null {
  const fields = fieldsOf(item);
  const times = timesIn(fields);
  const { number, title, state, locked } = fields;
  if (!isId(number) || typeof title !== 'string' || !times) return null;
  const milestone = fieldsOf(fields['milestone'])['number'];
  return {
    ...{ number, title: cleaned(title), body: textIn(fields['body']), isClosed: state === 'closed' },
    ...{ ...times, isLocked: locked === true, closedAt: timeIn(fields['closed_at']) },
    author: personIn(fields['user']),
    assignees: listIn(fields['assignees']).map(personIn),
    labels: listIn(fields['labels']).flatMap((label) => nameOfLabel(label) ?? []),
    milestone: isId(milestone) ? milestone : null,
  };
}

/** Pull requests are in the list of issues, too. */
export function isPullRequest(item: unknown): boolean {
  return fieldsOf(item)['pull_request'] !== undefined;
}

export function commentIn(item: unknown): RemoteComment | null {
  const fields = fieldsOf(item);
  const times = timesIn(fields);
  const { id, body } = fields;
  const [, , number] = pageOf(item) ?? [];
  if (!isId(id) || typeof body !== 'string' || !times || number === undefined) return null;
  return { id, number: Number(number), author: personIn(fields['user']), body: cleaned(body), ...times };
}

export function isPullRequestComment(item: unknown): boolean {
  return pageOf(item)?.[1] === 'pull';
}

function pageOf(item: unknown): RegExpExecArray | null {
  const page = fieldsOf(item)['html_url'];
  return typeof page === 'string' ? COMMENT_PAGE.exec(page) : null;
}

function fieldsOf(item: unknown): Fields {
  return typeof item === 'object' && item !== null ? (item as Fields) : {};
}

function timesIn(fields: Fields): { readonly createdAt: string; readonly updatedAt: string } | null {
  const createdAt = timeIn(fields['created_at']);
  return createdAt === null ? null : { createdAt, updatedAt: timeIn(fields['updated_at']) ?? createdAt };
}

/** Returns an instant; null for texts that are none, and for years that the database cannot store. */
function timeIn(value: unknown): string | null {
  const at = typeof value === 'string' ? new Date(value) : null;
  if (at === null || Number.isNaN(at.getTime())) return null;
  return /^(?!0000)\d{4}-/.test(at.toISOString()) ? at.toISOString() : null;
}

function personIn(value: unknown): UpstreamPerson {
  const { id, login } = fieldsOf(value);
  if (!isId(id) || typeof login !== 'string' || login === '') return DELETED;
  return { id, username: cleaned(login).replace(/\p{C}/gu, '').slice(0, MAX_USERNAME) };
}

function nameOfLabel(value: unknown): string | null {
  const name = typeof value === 'string' ? value : fieldsOf(value)['name'];
  return typeof name === 'string' ? cleaned(name) : null;
}

function textIn(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? cleaned(value) : null;
}

function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value.slice(0, MAX_LIST) : [];
}

function isId(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

/** PostgreSQL cannot store the character NUL, nor a half of a surrogate pair. */
function cleaned(text: string): string {
  return text.replaceAll('\0', '').replace(/\p{Cs}/gu, '\ufffd');
}
