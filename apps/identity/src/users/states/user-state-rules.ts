import { Forbidden } from '@rookery/kernel';
import type { User, UserState } from '../user.entity';

/** A change of an account's state by an administrator. */
export type StateChange = 'activate' | 'approve' | 'ban' | 'block' | 'deactivate' | 'unban' | 'unblock';
/** Answer of the endpoint: a bare JSON value. */
export type StateAnswer = true | false | null;

/** Facts that the rules decide by. */
export interface Account extends Pick<User, 'state' | 'kind'> {
  readonly is_self: boolean;
  /** Whether the account was used within the past 90 days. */
  readonly is_recent: boolean;
}
/** The answer and the resulting state. Without a state nothing changes. */
export interface StateDecision {
  readonly answer: StateAnswer;
  readonly state?: UserState;
}

/** Units: days. */
export const DORMANT_DAYS = 90;

const verbatimRefusal = (text: string): Forbidden => new Forbidden(text, { verbatim: true });
const isGhostOrPlaceholder = ({ kind }: Account): boolean => kind === 'ghost' || kind === 'placeholder';
const isBlockedBannedOrPending = ({ state }: Account): boolean =>
  state === 'blocked' || state === 'banned' || state === 'blocked_pending_approval';
const userStateChangeRefusal = (change: string, { state }: Account): Forbidden =>
  verbatimRefusal(`You cannot ${change} ${state} users.`);

/** Rules by change. Errors: Forbidden with the text of the API. Source: reference identity-and-import 10.1, 10.6. */
export const STATE_RULES: Readonly<Record<StateChange, (user: Account) => StateDecision>> = {
  activate(user) {
    if (user.state === 'active') return { answer: true };
    if (isBlockedBannedOrPending(user)) throw new Forbidden('A blocked user must be unblocked to be activated');
    return { answer: true, state: 'active' };
  },
  approve(user) {
    if (user.state !== 'blocked_pending_approval')
      throw verbatimRefusal('The user you are trying to approve is not pending approval');
    return { answer: true, state: 'active' };
  },
  ban(user) {
    if (user.is_self) throw verbatimRefusal('You cannot ban yourself.');
    if (isGhostOrPlaceholder(user)) throw verbatimRefusal('You cannot ban internal users.');
    if (user.state !== 'active') throw userStateChangeRefusal('ban', user);
    return { answer: true, state: 'banned' };
  },
  block(user) {
    if (user.is_self) throw new Forbidden('The API initiating user cannot be blocked by the API');
    if (isBlockedBannedOrPending(user)) return { answer: null };
    if (isGhostOrPlaceholder(user)) throw verbatimRefusal('An internal user cannot be blocked');
    return { answer: true, state: 'blocked' };
  },
  deactivate(user) {
    if (user.state === 'deactivated') return { answer: null };
    if (user.is_self) throw new Forbidden('The API initiating user cannot be deactivated by the API');
    if (isBlockedBannedOrPending(user)) throw new Forbidden('A blocked user cannot be deactivated by the API');
    if (isGhostOrPlaceholder(user)) throw new Forbidden('An internal user cannot be deactivated by the API');
    const recent = `The user you are trying to deactivate has been active in the past ${DORMANT_DAYS} days and cannot be deactivated`;
    if (user.is_recent) throw new Forbidden(`${recent} by the API`);
    return { answer: true, state: 'deactivated' };
  },
  unban(user) {
    if (user.state !== 'banned') throw userStateChangeRefusal('unban', user);
    return { answer: true, state: 'active' };
  },
  unblock(user) {
    if (user.state === 'deactivated') throw new Forbidden('Deactivated users cannot be unblocked by the API');
    const isUndone = user.state === 'blocked' || user.state === 'blocked_pending_approval';
    return isUndone ? { answer: true, state: 'active' } : { answer: false };
  },
};
