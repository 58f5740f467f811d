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

/** A removal under way. */
export type PendingRemoval = RowOf<UserRemoval, 'userId' | 'hardDelete' | 'actorId'> & RowOf<User, 'kind'>;

/** Bounds: rows that one transaction changes or removes at most. */
const ROWS = 1000;

/** The rows of somebody who is removed, and what of them stays with others. */
@Injectable()
export class AccountRemoval {
  constructor(
    private readonly log: ChangeLog,
    private readonly users: UserRows,
    private readonly projects: ProjectsService,
    private readonly memberships: MembershipsService,
    private readonly tokens: AccessTokensService,
  ) {}

  /** Projects elsewhere that the person made stay, as made by the ghost user or by nobody. True when none is left. */
  async handOverProjects(tx: Tx, { user_id }: PendingRemoval, heirId: number | null): Promise<boolean> {
    return (await this.projects.changeCreator(tx, user_id, heirId, ROWS)) < ROWS;
  }

  /** True when none is left. */
  async endMemberships(tx: Tx, { user_id }: PendingRemoval): Promise<boolean> {
    return (await this.memberships.endOfUser(tx, user_id, ROWS)) < ROWS;
  }

  /**
   * What they gave out as an administrator ends with them. True when none is left: from here on nobody can give out
   * another in their name, nor make the person a member or give them a token.
   */
  async endGivenTokens(tx: Tx, { user_id }: PendingRemoval): Promise<boolean> {
    await tx.query(`select id from users where id = $1 for update`, [user_id]);
    return (await this.tokens.revokeGivenOutBy(tx, user_id, ROWS)) < ROWS;
  }

  async remove(tx: Tx, { user_id, hard_delete, actor_id }: PendingRemoval, heirId: number | null): Promise<void> {
    await this.log.recordWithBelongings(tx, 'user', user_id);
    await this.users.remove(tx, user_id);
    const data = { user_id, ghost_user_id: heirId, hard_delete };
    this.log.emit(tx, userDeleted.of({ aggregateId: user_id, actorId: actor_id, data }));
  }
}
