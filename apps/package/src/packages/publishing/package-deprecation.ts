import { statement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';

/** Hidden packages stay hidden. */
const SET = statement<{ ids: readonly number[]; from: string; to: string; now: Date }, never>(
  'packages_set_deprecated',
  `update packages set status = :to, updated_at = :now::timestamptz
   where id = any(:ids::bigint[]) and status = :from`,
);

/** Sets or ends the status `deprecated` of packages. Source: reference packages-and-admin 3.3. */
export async function setPackagesDeprecated(
  tx: Tx,
  ids: readonly number[],
  isDeprecated: boolean,
  now: Date,
): Promise<void> {
  const [from, to] = isDeprecated ? (['default', 'deprecated'] as const) : (['deprecated', 'default'] as const);
  if (ids.length > 0) await tx.run(SET, { ids, from, to, now });
}
