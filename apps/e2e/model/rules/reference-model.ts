import type { Forest, Reference, SourceKey, Source } from './forest';
import { selfAndAncestors, findSource, isReadOnly, isWithin, keyOf, keyOfSource } from './forest';
import { shareOf } from './forest-steps';
import type { JobToken, Membership, PersonState, Token } from './people';
import { canSeeSecret } from './secrets';
import type { Secrecy, SecretQuestion } from './secrets';

/**
 * A permission question of one call. The model answers it from the state of a person and the state of the forest, by one
 * rule after the other. Source: requirements 2 §3; reference identity-and-import 1.1, 2.6, 2.8, 4.8; ADR 0040.
 */
export interface Question {
  readonly service: 'identity' | 'collaboration' | 'package';
  readonly source: Reference | null;
  /** The level needed in the source, 0 if visibility is enough. */
  readonly needs: number;
  readonly writes: boolean;
  /** Whether the write is about the caller's own to-dos, which read-only projects do not refuse. */
  readonly isOwnTodo?: true;
  /** Whether the question is about a row of a list by access level: 'allow' if the source is in it, else 404. */
  readonly isListRow?: boolean;
  /** Whether the call is for administrators only. */
  readonly needsAdmin?: boolean;
  /** Kind of the effect or feed row about the source, whose recipient must be allowed to see it. */
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
  /** For tokens of groups and projects. `grant` is the level of the token's bot there. */
  readonly token?: { readonly action: 'make' | 'rotate' | 'revoke'; readonly grant: number };
  /** For issues and epics of the source that may be confidential. */
  readonly secret?: SecretQuestion;
  /** For calls about jobs: the job of a token, or a change of pipelines and jobs. */
  readonly job?: 'shown' | 'changed';
  /** For packages, code and merge requests, which only reporters read in private projects. */
  readonly needsReporterIfPrivate?: true;
  /** For a resource of another project, which no caller finds in the source. */
  readonly isElsewhere?: true;
  /** The destination group of a move, which the caller must be able to see. */
  readonly target?: number;
}

export type Verdict = 'allow' | 301 | 400 | 401 | 403 | 404;
export type Asker = PersonState | 'root' | 'anonymous';

/**
 * Returns the refusals of the token check, null if it accepts the token. There are several if each of them is possible
 * in this state.
 */
export function tokenRefusals(person: PersonState, key: string): readonly Verdict[] | null {
  const token = person.jobs.has(key) ? jobAsToken(person.jobs.get(key)!) : person.tokens.get(key);
  // A removal blocks the account first and then deletes it with all tokens.
  if (person.account === 'removed') return [401, 403];
  if (token?.status !== 'good' || token.giver === 'inactive') return [401];
  return person.account === 'active' ? null : [403];
}

/**
 * Returns the possible verdicts for a caller with a good token. There are several if each of them is possible in this
 * state. `token` is null for effects, which have no caller. `secrecy` is the state of the secret that the question is
 * about.
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
  if (question.needsAdmin && !isAdmin(asker)) return [403];
  if (question.source === null) return ['allow'];
  // A copy knows who is blocked. A service with a late copy asks identity, which shows nothing to a blocked person.
  if (person && person.account !== 'active' && question.service !== 'identity')
    return person.account === 'removed' ? [401, 403, 404] : [403, 404];
  if (question.secret) {
    const verdict = secretVerdict(question.secret, question.source, secrecy!, forest, asker);
    return [
      verdict === 'allow' && isRefusedWrite(question, findSource(forest, question.source)!, forest) ? 403 : verdict,
    ];
  }
  if (question.job === 'shown')
    return findSource(forest, question.source) === null ? ['allow', 401, 403, 404] : ['allow'];
  const verdict = sourceVerdict(question, question.source, forest, asker);
  // A project that the user of a job no longer sees does not admit the job. Jobs of a deleted project end a little later.
  if (person?.jobs.has(token ?? '') && verdict === 404)
    return findSource(forest, question.source) === null ? [401, 403, 404] : [403, 404];
  // Only identity knows former paths: there are none in other services while it does not answer.
  return verdict === 301 && question.service !== 'identity' ? [301, 404] : [verdict];
}

function jobAsToken({ status }: JobToken): Pick<Token, 'status' | 'giver'> {
  return { status: status === 'running' ? 'good' : 'revoked' };
}

/** Returns 404 for a hidden secret, as for a missing one; lists omit both. */
function secretVerdict(
  secret: SecretQuestion,
  source: Reference,
  secrecy: Secrecy,
  forest: Forest,
  asker: Asker,
): Verdict {
  const found = findSource(forest, source);
  if (!found || !canSee(asker, forest, found)) return 404;
  const { listGroup, omitsReadOnly } = secret;
  if (omitsReadOnly && isReadOnly(forest, found)) return 404;
  if (listGroup !== undefined && !isWithin(forest, keyOfSource(found), listGroup)) return 404;
  return canSeeSecret(secrecy, secret, levelOf(asker, forest, found)) ? 'allow' : 404;
}

function sourceVerdict(question: Question, source: Reference, forest: Forest, asker: Asker): Verdict {
  const found = findSource(forest, source);
  if (!found) return redirectVerdict(source, forest, asker);
  const level = levelOf(asker, forest, found);
  if (question.isListRow) return level >= question.needs ? 'allow' : 404;
  if (!canSee(asker, forest, found)) return 404;
  if (question.member) return memberVerdict(question.member, asker, level, question.needs);
  if (question.request) return requestVerdict(question.request, asker, level, question.needs);
  if (question.share) return shareVerdict(question.share, forest, asker, found, question.needs);
  if (question.token) return tokenVerdict(question.token, asker, level, question.needs);
  if (question.needsReporterIfPrivate && found.entity.visibility === 'private' && level < 20) return 403;
  if (question.isElsewhere) return 404;
  if (level < question.needs) return 403;
  if (isRefusedWrite(question, found, forest)) return 403;
  return question.target === undefined || canSeeGroup(asker, forest, question.target) ? 'allow' : 404;
}

/** Reports whether a write is refused because the group or project is read-only. Identity's own writes are not. */
function isRefusedWrite({ writes, service, isOwnTodo, job }: Question, found: Source, forest: Forest): boolean {
  const isGuarded = service === 'collaboration' || job === 'changed';
  return writes && !isOwnTodo && isGuarded && isReadOnly(forest, found);
}

function redirectVerdict(source: Reference, forest: Forest, asker: Asker): Verdict {
  const id = source.kind === 'project' && 'path' in source ? forest.former.get(source.path) : undefined;
  const found = id === undefined ? null : findSource(forest, { kind: 'project', id });
  return found && canSee(asker, forest, found) ? 301 : 404;
}

/** No user grants, changes or removes a level above their own; every member may leave. */
function memberVerdict(
  { action, old, grant, isSelf }: NonNullable<Question['member']>,
  asker: Asker,
  level: number,
  needs: number,
): Verdict {
  const isLeaving = action === 'remove' && isSelf;
  if (!isLeaving && level < needs) return 403;
  if (action !== 'add' && (old === undefined || old.isExpired)) return 404;
  if (isLeaving || isAdmin(asker)) return 'allow';
  if (action !== 'add' && (old?.level ?? 0) > level) return 403;
  return action === 'remove' || grant <= level ? 'allow' : 403;
}

/**
 * Users who manage members answer access requests; requesters may withdraw theirs. Approving grants a level, which must
 * not be above the approver's own.
 */
function requestVerdict(
  { action, isOpen, grant, isSelf }: NonNullable<Question['request']>,
  asker: Asker,
  level: number,
  needs: number,
): Verdict {
  if (level < needs && !(action === 'drop' && isSelf)) return 403;
  if (!isOpen) return 404;
  return action === 'drop' || isAdmin(asker) || grant <= level ? 'allow' : 403;
}

/**
 * Sharing a group answers 404 for users who do not own it. Ending its share changes nothing for them, but is answered as a
 * success if they can see the invited group. No user gives or ends a share above their own level.
 */
function shareVerdict(
  { action, group, grant }: NonNullable<Question['share']>,
  forest: Forest,
  asker: Asker,
  found: Source,
  needs: number,
): Verdict {
  const level = levelOf(asker, forest, found);
  const isEnough = level >= needs;
  if (!isEnough && found.kind === 'project') return 403;
  if (action === 'give') {
    if (!isEnough || !canSeeGroup(asker, forest, group)) return 404;
    return grant <= level ? 'allow' : 403;
  }
  const share = shareOf(forest, keyOfSource(found), group);
  if (!share) return 404;
  if (!isEnough) return canSeeGroup(asker, forest, group) ? 'allow' : 404;
  return share.level <= level ? 'allow' : 403;
}

/**
 * No user creates or rotates a token of a level above their own, and bots create tokens only as owners. The refusals are
 * 400, but a rotation is 401 for users who may not manage tokens at all. Source: reference identity-and-import 4.9.
 */
function tokenVerdict({ action, grant }: NonNullable<Question['token']>, asker: Asker, level: number, needs: number) {
  if (level < needs) return action === 'rotate' ? 401 : 400;
  const isBot = typeof asker !== 'string' && asker.kind === 'bot';
  if (action === 'make' && isBot && level < 50) return 400;
  return action === 'revoke' || isAdmin(asker) || grant <= level ? 'allow' : 400;
}

/** Reports whether the caller is root or an administrator. */
function isAdmin(asker: Asker): boolean {
  return asker === 'root' || (asker !== 'anonymous' && asker.admin);
}

export function canSee(asker: Asker, forest: Forest, found: Source): boolean {
  const { visibility } = found.entity;
  if (visibility === 'public' || levelOf(asker, forest, found) >= 10) return true;
  return visibility === 'internal' && asker !== 'anonymous' && asker !== 'root' && !asker.external;
}

/** Returns the highest level of the caller in the source or any group above it. */
export function levelOf(asker: Asker, forest: Forest, found: Source): number {
  if (asker === 'anonymous') return 0;
  if (asker === 'root' || asker.admin) return 50;
  const home = found.kind === 'project' ? found.entity.group : found.entity.id;
  const places = selfAndAncestors(forest, home).map(({ id }) => keyOf({ kind: 'group', id }));
  if (found.kind === 'project') places.push(keyOfSource(found));
  return Math.max(0, ...places.map((place) => levelAt(asker, forest, place)));
}

/**
 * Returns the level of a person at one source: from their membership and from each group invited there. An invited group
 * gives them their level as a member of it or of a group above it, limited by the level of the share. Members of its
 * subgroups, and members by invitations to the invited group itself, get nothing.
 */
function levelAt(person: PersonState, forest: Forest, place: SourceKey): number {
  const invited = forest.shares.filter(({ source, isExpired }) => source === place && !isExpired);
  const byShares = invited.map(({ group, level }) => {
    const there = selfAndAncestors(forest, group).map(({ id }) =>
      membershipLevelAt(person, keyOf({ kind: 'group', id })),
    );
    return Math.min(level, Math.max(0, ...there));
  });
  return Math.max(membershipLevelAt(person, place), ...byShares);
}

function membershipLevelAt(person: PersonState, place: SourceKey): number {
  const member = person.memberships.get(place);
  return member && !member.isExpired ? member.level : 0;
}

function canSeeGroup(asker: Asker, forest: Forest, id: number): boolean {
  const found = findSource(forest, { kind: 'group', id });
  return found !== null && canSee(asker, forest, found);
}
