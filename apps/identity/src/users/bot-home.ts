import type { Viewer } from '@rookery/kernel';
import { Invalid } from '@rookery/kernel';
import type { Bind, Tx } from '@rookery/persistence';
import { isGroupVisibleSql, isProjectVisibleSql } from '../directory/reach/seen-sql';

/** The group or project that a user is about to join. */
export interface BotPlace {
  readonly kind: 'group' | 'project';
  readonly id: number;
  /** Namespaces from the root to the group itself or to the project's namespace. */
  readonly traversalIds: readonly number[];
}

/**
 * Checks that a token's bot only joins the group or project of its token and those below it. Users and service accounts
 * may join any. Errors: Invalid. Source: reference identity-and-import 4.9.
 */
export async function checkBotMembership(tx: Tx, userId: number, place: BotPlace): Promise<void> {
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

/**
 * Boolean SQL: the viewer can see the user `u`. A token's bot is named after the token and its project or group, so
 * only viewers who can see that project or group can see the bot.
 */
export function isUserVisibleSql(viewer: Viewer, bind: Bind): string {
  if (viewer.isAdmin) return 'true';
  const user = viewer.userId === null ? 'null' : `${bind(viewer.userId, 'viewer')}::bigint`;
  const seenProject = isProjectVisibleSql(viewer, { project: 'p', namespace: 'n', user });
  const seenGroup = isGroupVisibleSql(viewer, { namespace: 'n', user });
  return `(u.kind <> 'project_bot' or exists (select 1 from access_tokens t
    left join projects p on t.resource_type = 'project' and p.id = t.resource_id
    join namespaces n on n.id = case t.resource_type when 'project' then p.namespace_id else t.resource_id end
    where t.user_id = u.id and t.resource_id is not null
      and case t.resource_type when 'project' then ${seenProject} else ${seenGroup} end))`;
}

/** Boolean SQL: the user `u` is the bot of a token of one of these groups. `groups` is a bigint[] expression. */
export function isTokenBotOfGroupsSql(groups: string): string {
  return `exists (select 1 from access_tokens t
    where t.user_id = u.id and t.resource_type = 'group' and t.resource_id = any(${groups}::bigint[]))`;
}
