import { statement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { BOTS } from './bot-external-flag';

/**
 * SQL: the user who created a bot, followed through bots that created bots. For a user who is not a bot, it is that
 * user. Limits count actions by this user, because users can create any number of bots.
 */
export const responsibleUserSql = (user: string): string => `(with recursive behind as (
    select id, kind, created_by_id, 0 as step from users where id = ${user}
    union all select m.id, m.kind, m.created_by_id, b.step + 1
      from behind b join users m on m.id = b.created_by_id where b.kind in ${BOTS}
  ) select id from behind order by step desc limit 1)`;

const ANOTHER = statement<{ user: number }, { readonly responsible_id: number }>(
  'users-responsible',
  `select r.id as responsible_id from (select ${responsibleUserSql(':user::bigint')} as id) r where r.id <> :user::bigint`,
);

/**
 * Returns the part of an event's data that names the user who is responsible for a bot. It is empty for other actors.
 */
export async function findResponsibleUserEventData(
  tx: Tx,
  actorId: number,
): Promise<{ readonly responsible_id?: number }> {
  const [row] = await tx.run(ANOTHER, { user: actorId });
  return row ? { responsible_id: row.responsible_id } : {};
}
