import { SUDO_REASONS } from '@rookery/contracts';
import { forbidden, insufficientScope, REFUSALS, userNotFound } from '../request/refusal';
import type { Refusal } from '../request/refusal';
import type { Caller } from '../request/caller';
import { SUDO_SEPARATOR } from './credential';
import type { IdentityClient } from './identity-client';

const STATE_REASONS: Readonly<Record<string, string>> = SUDO_REASONS;

/**
 * Resolves `sudo`: an administrator acts as another user, with exactly that user's permissions. Asked for each request,
 * never leased.
 * Source: reference identity-and-import 1.4.
 */
export class Sudo {
  constructor(private readonly identity: IdentityClient) {}

  /**
   * Returns the caller that acts as another user, or a refusal. `ref` is the user's id or name as the client wrote it.
   */
  async actAs(caller: Caller, ref: string, deadline: number): Promise<Caller | Refusal> {
    const { holder } = caller;
    if (holder === null) return REFUSALS.unauthorized;
    if (!holder.admin) return forbidden(SUDO_REASONS.notAdmin);
    if (!holder.scopes.includes('sudo')) return insufficientScope(['sudo']);
    if (ref.includes(SUDO_SEPARATOR.trim())) return REFUSALS.severalSudo;
    const user = await this.identity.resolveSudo(ref, deadline).then(
      (answer) => answer.user,
      () => undefined,
    );
    if (user === undefined) return REFUSALS.identityAway;
    if (user === null) return userNotFound(ref);
    if (user.state !== 'active') return forbidden(STATE_REASONS[user.state] ?? 'Your account is not active');
    return {
      mark: caller.mark,
      ...(caller.isReplayOnly ? { isReplayOnly: true as const } : {}),
      // A user who impersonates an administrator remains the recorded actor.
      actingFor: holder.impersonator_id ?? holder.user_id,
      holder: {
        ...holder,
        user_id: user.id,
        username: user.username,
        admin: user.admin,
        external: user.external,
        bot: user.bot,
      },
    };
  }
}
