import { Invalid } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { problemsByField } from '../paths/path-rules';
import { NOT_OWN_ADDRESS } from '../users/user-rules';

/**
 * Makes the address the primary one: one of his others changes places with it, a new one takes its place, and the
 * former one is free again. An administrator vouches for it.
 * Source: reference identity-and-import 10.1; ADR 0137. Errors: of the unique index when somebody else has it.
 */
export async function makePrimary(tx: Tx, userId: number, address: string): Promise<void> {
  const [own] = await tx.query<{ id: number; is_primary: boolean }>(
    `select id, is_primary from emails where user_id = $1 and lower(email) = lower($2) for update`,
    [userId, address],
  );
  if (own && !own.is_primary)
    await tx.query(`update emails set is_primary = false where user_id = $1 and is_primary`, [userId]);
  await tx.query(
    `update emails set email = $2, is_primary = true, becomes_primary = false, confirmation_requested_at = null,
       confirmed_at = coalesce(case when lower(email) = lower($2) then confirmed_at end, now())
     where user_id = $1 and ${own ? 'id = $3' : 'is_primary and $3::bigint is null'}`,
    [userId, address, own?.id ?? null],
  );
  await tx.query(
    `update users u set email = $2, confirmed_at = coalesce(u.confirmed_at, now()),
       public_email = case when exists (select 1 from emails e where e.user_id = u.id and lower(e.email) = lower(u.public_email))
         then u.public_email end,
       commit_email = case when exists (select 1 from emails e where e.user_id = u.id and lower(e.email) = lower(u.commit_email))
         then u.commit_email end
     where u.id = $1`,
    [userId, address],
  );
}

/** Only a confirmed address of his own can be shown. Errors: Invalid. */
export async function refuseForeign(
  tx: Tx,
  userId: number,
  sent: { readonly public_email?: string; readonly commit_email?: string },
): Promise<void> {
  const wanted = Object.entries({ public_email: sent.public_email, commit_email: sent.commit_email }).filter(
    (entry): entry is [string, string] => Boolean(entry[1]),
  );
  if (wanted.length === 0) return;
  const rows = await tx.query<{ email: string }>(
    `select lower(email) as email from emails where user_id = $1 and confirmed_at is not null
       and lower(email) in (select lower(w) from unnest($2::text[]) w)`,
    [userId, wanted.map(([, address]) => address)],
  );
  const own = new Set(rows.map((row) => row.email));
  const problems = wanted.map(([field, address]) => [field, own.has(address.toLowerCase()) ? [] : [NOT_OWN_ADDRESS]]);
  const refused = problemsByField(Object.fromEntries(problems) as Record<string, string[]>);
  if (Object.keys(refused).length > 0) throw new Invalid(refused);
}
