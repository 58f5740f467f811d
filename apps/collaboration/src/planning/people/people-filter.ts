import { InvalidParameters } from '@rookery/kernel';
import type { Bind } from '@rookery/persistence';
import { userIdByUsernameSql } from '../../base/noteables/access-sql';
import type { AssignedPeopleList } from './people-list';

/** Filter by one user: an id, or a username without regard to case. */
export interface UserFilter {
  readonly id?: number | undefined;
  readonly username?: string | undefined;
}

/** Filter by the people of a list. `None` requires that the list is empty, `Any` that it is not. */
export interface PeopleFilter {
  readonly id?: number | 'None' | 'Any' | undefined;
  readonly usernames?: readonly string[] | undefined;
}

/** Conditions on a column of a row `i` with a user. `name` is the name of the SQL parameter. */
export function userConditions(column: string, { id, username }: UserFilter, bind: Bind, name: string): string[] {
  return [
    ...(id === undefined ? [] : [`i.${column} = ${bind(id, name)}::bigint`]),
    ...(username === undefined ? [] : [`i.${column} = ${userIdByUsernameSql(bind(username, name))}`]),
  ];
}

/**
 * Conditions on the people of a row `i`. `match` is how many of the usernames must be in the list; `name` is the name
 * of the SQL parameters.
 */
export function peopleConditions(
  list: AssignedPeopleList,
  { id, usernames = [] }: PeopleFilter,
  bind: Bind,
  { match, name }: { readonly match: 'all' | 'any'; readonly name: string },
): string[] {
  const parts: string[] = [];
  if (id === 'None') parts.push(`not ${hasAssignedPeopleSql(list)}`);
  else if (id === 'Any') parts.push(hasAssignedPeopleSql(list));
  else if (id !== undefined) parts.push(hasPersonSql(list, `${bind(id, name)}::bigint`));
  const names = [...new Set(usernames.map((username) => username.toLowerCase()))];
  if (names.length === 1) parts.push(hasPersonSql(list, userIdByUsernameSql(bind(names[0], name))));
  if (names.length > 1) {
    const needed = match === 'all' ? bind(names.length, `${name}s_count`) : '1';
    parts.push(`${countNamedUsersInListSql(list, bind(names, `${name}s`))} >= ${needed}`);
  }
  return parts;
}

/** Boolean SQL: is the user in the list of the row `i`? `user` is an SQL expression. */
export function hasPersonSql(list: AssignedPeopleList, user: string): string {
  return `exists (select 1 from ${list.ofNoteable} and s.user_id = ${user})`;
}

function hasAssignedPeopleSql(list: AssignedPeopleList): string {
  return `exists (select 1 from ${list.ofNoteable})`;
}

/**
 * Counts how many of the named users are in the list, in one expression for any number of names. `usernames` is an SQL
 * expression for usernames in lower case.
 */
function countNamedUsersInListSql(list: AssignedPeopleList, usernames: string): string {
  return `(select count(*) from ${list.ofNoteable} and s.user_id = any(array(
    select u.id from directory_users u where lower(u.username) = any(${usernames}::text[]))))`;
}

/** Parses an id, `None` or `Any`. Errors: InvalidParameters. */
export function parseIdNoneOrAny(name: string, value: string | undefined): number | 'None' | 'Any' | undefined {
  if (value === undefined || value === '') return undefined;
  if (/^(none|0)$/i.test(value)) return 'None';
  return /^any$/i.test(value) ? 'Any' : parseId(name, value);
}

/** Parses an id. Errors: InvalidParameters. */
export function parseId(name: string, value: string | undefined): number | undefined {
  if (value === undefined || value === '') return undefined;
  const id = /^\d+$/.test(value) ? Number(value) : NaN;
  if (!Number.isSafeInteger(id)) throw new InvalidParameters([`${name} is invalid`]);
  return id;
}

/** Maps `assignee_ids` and `assignee_id` to ids; undefined keeps the people. */
export function toRequestedPersonIds(
  ids: readonly number[] | null | undefined,
  id?: number | null,
): readonly number[] | undefined {
  if (ids !== undefined) return (ids ?? []).filter((one) => one > 0);
  if (id === undefined) return undefined;
  return id ? [id] : [];
}
