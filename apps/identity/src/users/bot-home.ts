import { Invalid } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';

/** Where somebody is to become a member. */
export interface BotPlace {
  readonly kind: 'group' | 'project';
  readonly id: number;
  /** Namespaces from the root to the group itself or to the project's namespace. */
  readonly traversalIds: readonly number[];
}

/**
 * The bot of a token belongs to the group or project of the token and to what lies below it, and nowhere else; people
 * and service accounts may belong anywhere. Errors: Invalid. Source: reference identity-and-import 4.9.
 */
export async function keepBotAtHome(tx: Tx, userId: number, place: BotPlace): Promise<void> {
  const [bot] = await tx.query<{ resource_type: 'group' | 'project' | null; resource_id: number | null }>(
    `select t.resource_type, t.resource_id from users u
     left join lateral (select * from access_tokens a where a.user_id = u.id order by a.id desc limit 1) t on true
     where u.id = $1 and u.kind = 'project_bot'`,
    [userId],
  );
  if (!bot) return;
  const { resource_type, resource_id } = bot;
  const isAtHome =
    resource_type === 'group'
      ? place.traversalIds.includes(resource_id!)
      : place.kind === 'project' && place.id === resource_id;
  if (!isAtHome) throw new Invalid({ user_id: ['project bots cannot be added to other groups / projects'] });
}
