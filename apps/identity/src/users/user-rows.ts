import { Injectable } from '@nestjs/common';
import { Conflict, Invalid } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import type { AvatarChange } from '../avatars/avatars.service';
import { AvatarsService } from '../avatars/avatars.service';
import { PersonalNamespacesService } from '../namespaces/personal-namespaces.service';
import { BotExternalFlagService } from './bot-external-flag';
import { UserChangeLog } from './user-change-log';
import { USERNAME_TAKEN } from './user-rules';
import { User } from './user.entity';

const BOUND = 'must stay: whoever made the bot, or gave out a token of it, is external';

/** Rows of users with dependent data: personal namespace, avatar, directory change log, leases of tokens. */
@Injectable()
export class UserRows {
  constructor(
    private readonly namespaces: PersonalNamespacesService,
    private readonly avatars: AvatarsService,
    private readonly changes: UserChangeLog,
    private readonly limits: BotExternalFlagService,
  ) {}

  /** Renames a user and the personal namespace. Errors: Conflict for a taken username. */
  async renameUser(tx: Tx, id: number, { name, username }: { name: string; username: string }): Promise<void> {
    if (!(await this.namespaces.renameNamespace(tx, id, { name, path: username }))) throw new Conflict(USERNAME_TAKEN);
    await tx.manager.update(User, id, { name, username, updatedAt: new Date() });
    // Also drops leases of the user's tokens, because the gateway passes the username to services.
    await this.changes.recordUsers(tx, id);
  }

  /**
   * Changes the avatar of the user and of the personal namespace. Returns the new path; undefined when nothing was
   * sent.
   */
  async changeAvatar(tx: Tx, id: number, avatar: AvatarChange): Promise<string | null | undefined> {
    const url = await this.avatars.changeAvatar(tx, 'user', id, avatar);
    if (url === undefined) return undefined;
    await tx.manager.update(User, id, { avatarUrl: url, updatedAt: new Date() });
    await this.namespaces.setAvatarUrl(tx, id, url);
    await this.changes.recordUsers(tx, id);
    return url;
  }

  /**
   * Propagates `external` to the user's bots. The caller updates the user's row before. Errors: Invalid for a bot that
   * is external because of a responsible user.
   */
  async changeExternal(tx: Tx, id: number, external: boolean): Promise<void> {
    if (!external && (await this.limits.isExternalByOthers(tx, id))) throw new Invalid({ external: [BOUND] });
    await this.limits.propagateExternal(tx, id, external);
  }

  /** Blocks users and makes their tokens invalid. */
  async blockUsers(tx: Tx, ids: readonly number[]): Promise<void> {
    if (ids.length === 0) return;
    await tx.query(
      `update users set state = 'blocked', updated_at = now() where id in (
         select id from users where id = any($1) order by id for update)`,
      [ids],
    );
    await this.changes.recordUsers(tx, ...ids);
  }

  /**
   * Sets the user's last activity to the day of the last use of a token; `updated_at` is unchanged. Skips a locked row
   * instead of waiting, because the next use records it too.
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

  /**
   * Deletes the row; addresses, identities, tokens, stars, avatar and attributes are deleted with it. The caller has
   * recorded the removal.
   */
  async removeUser(tx: Tx, id: number): Promise<void> {
    await this.namespaces.remove(tx, id);
    await tx.manager.delete(User, id);
  }
}
