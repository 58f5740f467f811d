import { Injectable } from '@nestjs/common';
import { userDeleted } from '@rookery/contracts';
import type { RowOf, Tx } from '@rookery/persistence';
import { ChangeLog } from '../../directory/change-log';
import { MembershipsService } from '../../members/memberships.service';
import { ProjectsService } from '../../projects/projects.service';
import { AccessTokensService } from '../../tokens/access-tokens.service';
import type { User } from '../../users/user.entity';
import type { UserRemoval } from './user-removal.entity';
import { UserRows } from '../../users/user-rows';

/** A removal that has begun, with the kind of the user. */
export type PendingRemoval = RowOf<UserRemoval, 'userId' | 'hardDelete' | 'actorId'> & RowOf<User, 'kind'>;

/** Bounds: rows that one transaction changes or removes. */
const ROWS = 1000;

/** Removes the rows of a user, and hands over those that stay. */
@Injectable()
export class AccountRemoval {
  constructor(
    private readonly log: ChangeLog,
    private readonly users: UserRows,
    private readonly projects: ProjectsService,
    private readonly memberships: MembershipsService,
    private readonly tokens: AccessTokensService,
  ) {}

  /** Sets the creator of the user's projects in other namespaces to the heir, or to null. Returns true if none is left. */
  async handOverProjects(tx: Tx, { user_id }: PendingRemoval, heirId: number | null): Promise<boolean> {
    return (await this.projects.changeCreator(tx, user_id, heirId, ROWS)) < ROWS;
  }

  /** Returns true if none is left. */
  async endMemberships(tx: Tx, { user_id }: PendingRemoval): Promise<boolean> {
    return (await this.memberships.endOfUser(tx, user_id, ROWS)) < ROWS;
  }

  /**
   * Revokes tokens that the user issued to others as an administrator. Returns true if none is left. The lock on the user's
   * row prevents new tokens and memberships of the user, and new tokens issued by them, until the transaction ends.
   */
  async revokeIssuedTokens(tx: Tx, { user_id }: PendingRemoval): Promise<boolean> {
    await tx.query(`select id from users where id = $1 for update`, [user_id]);
    return (await this.tokens.revokeIssuedBy(tx, user_id, ROWS)) < ROWS;
  }

  async remove(tx: Tx, { user_id, hard_delete, actor_id }: PendingRemoval, heirId: number | null): Promise<void> {
    await this.log.recordWithBelongings(tx, 'user', user_id);
    await this.users.removeUser(tx, user_id);
    const data = { user_id, ghost_user_id: heirId, hard_delete };
    this.log.emit(tx, userDeleted.of({ aggregateId: user_id, actorId: actor_id, data }));
  }
}
