import type { UpstreamPerson } from '@rookery/contracts';
import { DELETED, toFields, isId, MAX_USERNAME, storableText, storableUsername, parseTime } from '../upstream-fields';
import type { Fields } from '../upstream-fields';

export function parseRemoteTimestamps(
  fields: Fields,
): { readonly createdAt: string; readonly updatedAt: string } | null {
  const createdAt = parseTime(fields['created_at']);
  return createdAt === null ? null : { createdAt, updatedAt: parseTime(fields['updated_at']) ?? createdAt };
}

export function parseRemotePerson(value: unknown): UpstreamPerson {
  const { id, login } = toFields(value);
  if (!isId(id) || typeof login !== 'string' || login === '') return DELETED;
  return { id, username: storableUsername(login) };
}

export function nameOfLabel(value: unknown): string | null {
  const name = typeof value === 'string' ? value : toFields(value)['name'];
  return typeof name === 'string' ? storableText(name) : null;
}

/** Returns a username as a part of the name of a branch; empty if there is none. */
export function parseBranchOwnerName(user: unknown): string {
  const { login } = toFields(user);
  return typeof login === 'string' ? login.replace(/[^\w.-]/g, '').slice(0, MAX_USERNAME) : '';
}
