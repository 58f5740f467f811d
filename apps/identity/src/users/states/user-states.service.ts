import { Injectable } from '@nestjs/common';
import type { SignedInViewer } from '@rookery/kernel';
import { NotFound } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { Work } from '@rookery/persistence';
import { User } from '../user.entity';
import { LastAdministratorCheck } from './administrators';
import { UserChangeLog } from '../user-change-log';
import { DORMANT_DAYS, STATE_RULES } from './user-state-rules';
import type { Account, StateAnswer, StateChange } from './user-state-rules';

type LockedAccount = Account & { readonly admin: boolean };

/** Changes account states: blocks, bans and activates users. Source: reference identity-and-import 10.1, 10.6. */
@Injectable()
export class UserStatesService {
  constructor(
    private readonly work: Work,
    private readonly administrators: LastAdministratorCheck,
    private readonly changes: UserChangeLog,
  ) {}

  /** Errors: NotFound; Forbidden by the rule of the change, and for the last administrator. */
  changeState(viewer: SignedInViewer, id: number, change: StateChange): Promise<StateAnswer> {
    return this.work.run(async (tx) => {
      const user = await this.lockUser(tx, id, viewer.userId);
      const { answer, state } = STATE_RULES[change](user);
      if (state === undefined) return answer;
      if (user.admin && state !== 'active') await this.administrators.keepOne(tx, id);
      await tx.manager.update(User, id, { state, updatedAt: new Date() });
      await this.changes.recordUsers(tx, id);
      return answer;
    });
  }

  /**
   * Locks the row of the user. Users whose removal is in progress are not found, so that their state cannot be changed
   * back.
   */
  private async lockUser(tx: Tx, id: number, viewerId: number): Promise<LockedAccount> {
    const [user] = await tx.query<LockedAccount>(
      `select u.state, u.kind, u.admin, u.id = $2 as is_self, coalesce(greatest(u.last_activity_on::timestamptz,
         u.current_sign_in_at, (select max(t.last_used_at) from access_tokens t where t.user_id = u.id))
         > now() - $3::int * interval '1 day', false) as is_recent
       from users u where u.id = $1 and not exists (select 1 from user_removals r where r.user_id = u.id)
       for no key update of u`,
      [id, viewerId, DORMANT_DAYS],
    );
    if (!user) throw new NotFound('User');
    return user;
  }
}
