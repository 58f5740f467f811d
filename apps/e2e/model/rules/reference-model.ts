import type { Forest, Reference, SourceKey, Thing } from './forest';
import { above, find, isWithin, keyOf, keyOfThing } from './forest';
import { shareOf } from './forest-steps';
import type { Membership, PersonState } from './people';
import { knowsOf } from './secrets';
import type { Secrecy, SecretQuestion } from './secrets';

/**
 * Who may do what, told in the plainest way: a state of a person, a state of the forest of groups, and one rule after
 * the other. Source: requirements 2 §3; reference identity-and-import 1.1, 2.6, 2.8, 4.8; ADR 0040.
 */
export interface Question {
  readonly service: 'identity' | 'collaboration' | 'package';
  readonly source: Reference | null;
  /** A level in the source, 0 when it suffices to see it. */
  readonly needs: number;
  readonly writes: boolean;
  /** Former paths of projects lead on. */
  readonly leadsOn?: boolean;
  /** Whether a list of what the caller holds that level in has the source: 'allow' when it does, else 404. */
  readonly lists?: boolean;
  /** Whether only administrators may. */
  readonly administers?: boolean;
  /** What somebody was told of the source: nothing that they may not know of when it is judged. */
  readonly effect?: 'to-do' | 'e-mail' | 'feed entry';
  readonly member?: {
    readonly action: 'add' | 'update' | 'remove';
    readonly old: Membership | undefined;
    readonly grant: number;
    readonly isSelf: boolean;
  };
  readonly request?: {
    readonly action: 'approve' | 'drop';
    readonly isOpen: boolean;
    readonly grant: number;
    readonly isSelf: boolean;
  };
  readonly share?: { readonly action: 'give' | 'end'; readonly group: number; readonly grant: number };
  /** About a token that a group or project has, or shall have. Shape: `grant` is the level of its bot there. */
  readonly token?: { readonly action: 'make' | 'rotate' | 'revoke'; readonly grant: number };
  /** About an issue or epic of the source that may be confidential. */
  readonly secret?: SecretQuestion;
  /** The group that something shall be moved into, which its mover must see. */
  readonly target?: number;
}

export type Verdict = 'allow' | 301 | 400 | 401 | 403 | 404;
export type Asker = PersonState | 'root' | 'anonymous';

/** What the token alone says: null when its holder may come in. Shape: several where either belongs to the state. */
export function refusalsAtDoor(person: PersonState, key: string): readonly Verdict[] | null {
  const token = person.tokens.get(key);
  // Shut out first, and then removed with all tokens.
  if (person.standing === 'gone') return [401, 403];
  if (token?.is !== 'good' || token.giver === 'out of office') return [401];
  return person.standing === 'active' ? null : [403];
}

/**
 * What may be answered to somebody whose token was good. Shape: several where either belongs to the state; `token` null
 * for what nobody asked for, the effects of what others did; `secrecy` of the secret that the question is about.
 */
export function verdicts(
  question: Question,
  forest: Forest,
  asker: Asker,
  token: string | null,
  secrecy: Secrecy | null = null,
): readonly Verdict[] {
  const person = typeof asker === 'string' ? null : asker;
  if (person && question.writes && person.tokens.get(token ?? '')?.scope === 'read_api') return [403];
  if (question.administers && !administers(asker)) return [403];
  if (question.source === null) return ['allow'];
  // A copy knows who is blocked; identity, asked by a service whose copy is late, shows such a person nothing.
  if (person && person.standing !== 'active' && question.service !== 'identity')
    return person.standing === 'gone' ? [401, 403, 404] : [403, 404];
  if (question.secret) return [aboutSecret(question.secret, question.source, secrecy!, forest, asker)];
  return [within(question, question.source, forest, asker)];
}

/** What is hidden is told as missing, in lists too. */
function aboutSecret(
  secret: SecretQuestion,
  source: Reference,
  secrecy: Secrecy,
  forest: Forest,
  asker: Asker,
): Verdict {
  const found = find(forest, source);
  if (!found || !sees(asker, forest, found)) return 404;
  const { among } = secret;
  if (among !== undefined && !isWithin(forest, keyOfThing(found), among)) return 404;
  return knowsOf(secrecy, secret, levelOf(asker, forest, found)) ? 'allow' : 404;
}

function within(question: Question, source: Reference, forest: Forest, asker: Asker): Verdict {
  const found = find(forest, source);
  if (!found) return question.leadsOn ? ledOn(source, forest, asker) : 404;
  const level = levelOf(asker, forest, found);
  if (question.lists) return level >= question.needs ? 'allow' : 404;
  if (!sees(asker, forest, found)) return 404;
  if (question.member) return aboutMember(question.member, asker, level, question.needs);
  if (question.request) return aboutRequest(question.request, asker, level, question.needs);
  if (question.share) return aboutShare(question.share, forest, asker, found, question.needs);
  if (question.token) return aboutToken(question.token, asker, level, question.needs);
  if (level < question.needs) return 403;
  return question.target === undefined || seesGroup(asker, forest, question.target) ? 'allow' : 404;
}

function ledOn(source: Reference, forest: Forest, asker: Asker): Verdict {
  const id = 'path' in source ? forest.former.get(source.path) : undefined;
  const found = id === undefined ? null : find(forest, { kind: 'project', id });
  return found && sees(asker, forest, found) ? 301 : 404;
}

/** Nobody gives, changes or takes a level above their own; everybody may leave. */
function aboutMember(
  { action, old, grant, isSelf }: NonNullable<Question['member']>,
  asker: Asker,
  level: number,
  needs: number,
): Verdict {
  const isLeaving = action === 'remove' && isSelf;
  if (!isLeaving && level < needs) return 403;
  if (action !== 'add' && (old === undefined || old.over)) return 404;
  if (isLeaving || administers(asker)) return 'allow';
  if (action !== 'add' && (old?.level ?? 0) > level) return 403;
  return action === 'remove' || grant <= level ? 'allow' : 403;
}

/**
 * Who manages members answers requests; who asked may withdraw. Approving gives a level, so nobody gives one above
 * their own.
 */
function aboutRequest(
  { action, isOpen, grant, isSelf }: NonNullable<Question['request']>,
  asker: Asker,
  level: number,
  needs: number,
): Verdict {
  if (level < needs && !(action === 'drop' && isSelf)) return 403;
  if (!isOpen) return 404;
  return action === 'drop' || administers(asker) || grant <= level ? 'allow' : 403;
}

/**
 * People who do not own a group are told 404 when they share it; ending a share changes nothing then, and is answered
 * as if it did for groups that they see. Nobody gives or ends a share above their own level.
 */
function aboutShare(
  { action, group, grant }: NonNullable<Question['share']>,
  forest: Forest,
  asker: Asker,
  found: Thing,
  needs: number,
): Verdict {
  const level = levelOf(asker, forest, found);
  const isEnough = level >= needs;
  if (!isEnough && found.kind === 'project') return 403;
  if (action === 'give') {
    if (!isEnough || !seesGroup(asker, forest, group)) return 404;
    return grant <= level ? 'allow' : 403;
  }
  const share = shareOf(forest, keyOfThing(found), group);
  if (!share) return 404;
  if (!isEnough) return seesGroup(asker, forest, group) ? 'allow' : 404;
  return share.level <= level ? 'allow' : 403;
}

/**
 * Nobody makes or renews a token of a level above their own, and bots make tokens only as owners. Here the refusals are
 * 400, but 401 for who may not manage tokens at all. Source: reference identity-and-import 4.9.
 */
function aboutToken({ action, grant }: NonNullable<Question['token']>, asker: Asker, level: number, needs: number) {
  if (level < needs) return action === 'rotate' ? 401 : 400;
  const isBot = typeof asker !== 'string' && asker.kind === 'bot';
  if (action === 'make' && isBot && level < 50) return 400;
  return action === 'revoke' || administers(asker) || grant <= level ? 'allow' : 400;
}

/** Root, and whom root has made an administrator. */
export function administers(asker: Asker): boolean {
  return asker === 'root' || (asker !== 'anonymous' && asker.admin);
}

export function sees(asker: Asker, forest: Forest, found: Thing): boolean {
  const { visibility } = found.thing;
  if (visibility === 'public' || levelOf(asker, forest, found) >= 10) return true;
  return visibility === 'internal' && asker !== 'anonymous' && asker !== 'root' && !asker.external;
}

/** The highest level that somebody holds in the thing or in any group above it. */
export function levelOf(asker: Asker, forest: Forest, found: Thing): number {
  if (asker === 'anonymous') return 0;
  if (asker === 'root' || asker.admin) return 50;
  const home = found.kind === 'project' ? found.thing.group : found.thing.id;
  const places = above(forest, home).map(({ id }) => keyOf({ kind: 'group', id }));
  if (found.kind === 'project') places.push(keyOfThing(found));
  return Math.max(0, ...places.map((place) => heldAt(asker, forest, place)));
}

/**
 * What a person holds at one place: as its member, and through each group invited there. The latter is what they are as
 * a member of that group or of a group above it, and at most what was given to the group. Members of its subgroups, and
 * those whom it has by invitations of its own, get nothing.
 */
function heldAt(person: PersonState, forest: Forest, place: SourceKey): number {
  const invited = forest.shares.filter(({ source, over }) => source === place && !over);
  const byShares = invited.map(({ group, level }) => {
    const there = above(forest, group).map(({ id }) => memberAt(person, keyOf({ kind: 'group', id })));
    return Math.min(level, Math.max(0, ...there));
  });
  return Math.max(memberAt(person, place), ...byShares);
}

function memberAt(person: PersonState, place: SourceKey): number {
  const member = person.memberships.get(place);
  return member && !member.over ? member.level : 0;
}

function seesGroup(asker: Asker, forest: Forest, id: number): boolean {
  const found = find(forest, { kind: 'group', id });
  return found !== null && sees(asker, forest, found);
}
