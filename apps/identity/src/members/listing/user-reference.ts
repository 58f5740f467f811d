import { InvalidParameters } from '@rookery/kernel';

/** Reference to a user in a request: by id or by username. */
export type UserReference = { readonly id: number } | { readonly username: string };

const MAX_PEOPLE = 100;

/** Parses the users of a request: one id, a list of ids, or usernames. Bounds: 100. Errors: InvalidParameters. */
export function parseUserReferences(params: {
  readonly user_id?: unknown;
  readonly username?: string | undefined;
}): UserReference[] {
  const people = params.username === undefined ? parseUserIds(params.user_id) : parseUsernames(params.username);
  if (people.length > MAX_PEOPLE) throw new InvalidParameters([`user_id has more than ${MAX_PEOPLE} items`]);
  return people;
}

function parseUserIds(value: unknown): UserReference[] {
  const parts = Array.isArray(value) ? value : String(value).split(',');
  const ids = parts.map((part) => String(part).trim()).filter((part) => part !== '');
  if (ids.length === 0 || !ids.every((id) => /^\d{1,15}$/.test(id)))
    throw new InvalidParameters(['user_id is invalid']);
  return [...new Set(ids)].map((id) => ({ id: Number(id) }));
}

function parseUsernames(text: string): UserReference[] {
  const names = text.split(',').map((name) => name.trim());
  const known = [...new Set(names.filter((name) => name !== ''))];
  if (known.length === 0) throw new InvalidParameters(['username is empty']);
  return known.map((username) => ({ username }));
}
