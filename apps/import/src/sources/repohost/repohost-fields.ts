import type { UpstreamPerson } from '@rookery/contracts';
import { hashedId } from '../hashed-ids';
import { DELETED, toFields, storableUsername, textIn, timeIn } from '../upstream-fields';
import type { Fields } from '../upstream-fields';

export function timesIn(fields: Fields): { readonly createdAt: string; readonly updatedAt: string } | null {
  const createdAt = timeIn(fields['created_on']);
  return createdAt === null ? null : { createdAt, updatedAt: timeIn(fields['updated_on']) ?? createdAt };
}

/** Shape: users have no numbers, so the id is made of the upstream id. */
export function personIn(value: unknown): UpstreamPerson {
  const { uuid, account_id: account, nickname, username, display_name: shown } = toFields(value);
  const id = [uuid, account].find((one) => typeof one === 'string' && one !== '') as string | undefined;
  const name = [nickname, username, shown].find((one) => typeof one === 'string' && one !== '') as string | undefined;
  if (id === undefined || name === undefined) return DELETED;
  return { id: hashedId(id), username: storableUsername(name) };
}

/** Returns the Markdown source of a text. */
export function rawTextIn(content: unknown): string | null {
  return textIn(toFields(content)['raw']);
}
