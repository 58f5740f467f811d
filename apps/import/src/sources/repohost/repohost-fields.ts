import type { UpstreamPerson } from '@rookery/contracts';
import { hashedId } from '../hashed-ids';
import { DELETED, toFields, storableUsername, parseText, parseTime } from '../upstream-fields';
import type { Fields } from '../upstream-fields';

export function parseRepohostTimestamps(
  fields: Fields,
): { readonly createdAt: string; readonly updatedAt: string } | null {
  const createdAt = parseTime(fields['created_on']);
  return createdAt === null ? null : { createdAt, updatedAt: parseTime(fields['updated_on']) ?? createdAt };
}

/** Reads a person. Users of this service have no numbers, so `id` is a hash of the upstream id. */
export function parseRepohostPerson(value: unknown): UpstreamPerson {
  const { uuid, account_id: account, nickname, username, display_name: shown } = toFields(value);
  const id = [uuid, account].find((one) => typeof one === 'string' && one !== '') as string | undefined;
  const name = [nickname, username, shown].find((one) => typeof one === 'string' && one !== '') as string | undefined;
  if (id === undefined || name === undefined) return DELETED;
  return { id: hashedId(id), username: storableUsername(name) };
}

/** Returns the Markdown source of a text. */
export function parseRawText(content: unknown): string | null {
  return parseText(toFields(content)['raw']);
}
