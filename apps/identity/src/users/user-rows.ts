import { Injectable } from '@nestjs/common';
import { Conflict, Invalid } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import type { AvatarChange } from '../avatars/avatars.service';
import { AvatarsService } from '../avatars/avatars.service';
import { PersonalNamespacesService } from '../namespaces/personal-namespaces.service';
import { BotLimits } from './bot-limits';
import { UserChangeLog } from './user-change-log';
import { USERNAME_TAKEN } from './user-rules';
import { User } from './user.entity';

const BOUND = 'must stay: whoever made the bot, or gave out a token of it, is external';

/** The rows of users with what hangs on them: the personal namespace, the picture, the directory, leases of tokens. */
@Injectable()
export class UserRows {
  constructor(
    private readonly namespaces: PersonalNamespacesService,
    private readonly avatars: AvatarsService,
    private readonly changes: UserChangeLog,
    private readonly limits: BotLimits,
  ) {}

  /** Their personal namespace is called as they are. Errors: Conflict for a username that is taken. */
  async rename(tx: Tx, id: number, { name, username }: { name: string; username: string }): Promise<void> {
    if (!(await this.namespaces.rename(tx, id, { name, path: username }))) throw new Conflict(USERNAME_TAKEN);
    await tx.manager.update(User, id, { name, username, updatedAt: new Date() });
    // The gateway tells services the username, so what it remembers of their tokens goes, too.
    await this.changes.record(tx, id);
  }

  /** The personal namespace shows the picture, too. Shape: the new path; undefined when nothing was sent. */
  async changeAvatar(tx: Tx, id: number, avatar: AvatarChange): Promise<string | null | undefined> {
    const url = await this.avatars.change(tx, 'user', id, avatar);
    if (url === undefined) return undefined;
    await tx.manager.update(User, id, { avatarUrl: url, updatedAt: new Date() });
    await this.namespaces.setAvatarUrl(tx, id, url);
    await this.changes.record(tx, id);
    return url;
  }

  /**
   * Their bots follow them; the caller writes the row itself before. Errors: Invalid for a bot that is external because
   * of others.
   */
  async changeExternal(tx: Tx, id: number, external: boolean): Promise<void> {
    if (!external && (await this.limits.isBound(tx, id))) throw new Invalid({ external: [BOUND] });
    await this.limits.follow(tx, id, external);
  }

  /** They count no more anywhere, and their tokens are refused from now on. */
  async block(tx: Tx, ids: readonly number[]): Promise<void> {
    if (ids.length === 0) return;
    await tx.query(
      `update users set state = 'blocked', updated_at = now() where id in (
         select id from users where id = any($1) order by id for update)`,
      [ids],
    );
    await this.changes.record(tx, ...ids);
  }

  /**
   * The day of the last use of a token is the last activity of its holder; `updated_at` does not move. It never waits:
   * the next use tells it, too.
   */
  async recordActivity(runner: Pick<Tx, 'query'>, id: number): Promise<void> {
    await runner.query(
      `update users set last_activity_on = (now() at time zone 'UTC')::date
       where id = (select id from users
         where id = $1 and last_activity_on is distinct from (now() at time zone 'UTC')::date
         for no key update skip locked)`,
      [id],
    );
  }

  /** Addresses, identities, tokens, stars, picture and attributes go with the row. The caller has recorded it. */
  async remove(tx: Tx, id: number): Promise<void> {
    await this.namespaces.remove(tx, id);
    await tx.manager.delete(User, id);
  }
}
