import type { SourceKey } from './forest';
import { withEntry } from './forest';

/** `isExpired` is set if the membership ended on the day on which it was given. */
export interface Membership {
  readonly level: number;
  readonly isExpired: boolean;
}
export interface Token {
  readonly scope: 'api' | 'read_api';
  /** The first token of a chain of rotations. */
  readonly family: string;
  /** An expired token may still be rotated; an attempt to rotate a revoked one revokes its whole family. */
  readonly status: 'good' | 'expired' | 'revoked';
  /** Id of the user that created it, if that was not root. */
  readonly issuer?: number;
  /** Only for tokens that an administrator created for a person: whether the issuer is an active administrator now. */
  readonly giver?: 'active' | 'inactive';
  /** Only for impersonation tokens. */
  readonly impersonates?: true;
}
/** The token of a job that an outside runner runs for a person. */
export interface JobToken {
  readonly project: number;
  readonly status: 'running' | 'ended';
}
/**
 * State of an account. Inactive people have no permissions and regain all of them when they are activated again. People
 * with `removed`, among them bots whose group or project was deleted, never return.
 * Source: reference identity-and-import 10.1, 10.6, 10.7.
 */
export type AccountState = 'active' | 'blocked' | 'banned' | 'deactivated' | 'removed';
export interface PersonState {
  readonly kind: 'human' | 'bot';
  readonly account: AccountState;
  readonly admin: boolean;
  readonly external: boolean;
  /** Only for bots: id of the user that created it, if that was not root. */
  readonly creator?: number;
  readonly tokens: ReadonlyMap<string, Token>;
  /** By the name that the model gives to the token. */
  readonly jobs: ReadonlyMap<string, JobToken>;
  readonly memberships: ReadonlyMap<SourceKey, Membership>;
  /** Sources with an open access request, which gives no permissions. */
  readonly requests: ReadonlySet<SourceKey>;
}

/** Returns the state of a new active person without tokens and memberships. `as` overrides fields. */
export function newPerson(external: boolean, as: Partial<PersonState> = {}): PersonState {
  const holdings = { tokens: new Map(), jobs: new Map(), memberships: new Map(), requests: new Set<SourceKey>() };
  return { kind: 'human', account: 'active', admin: false, external, ...holdings, ...as };
}

/** Returns the state of a removed person: without memberships and requests, for good. */
export function removedPerson(state: PersonState): PersonState {
  return { ...state, account: 'removed', admin: false, memberships: new Map(), requests: new Set() };
}

/** Adds a membership and removes the access request for the same source. */
export function withMembership(state: PersonState, key: SourceKey, member: Membership): PersonState {
  return withRequest({ ...state, memberships: withEntry(state.memberships, key, member) }, key, false);
}

export function withoutMemberships(state: PersonState, isRemoved: (key: SourceKey) => boolean): PersonState {
  return { ...state, memberships: new Map([...state.memberships].filter(([key]) => !isRemoved(key))) };
}

export function withRequest(state: PersonState, key: SourceKey, isOpen: boolean): PersonState {
  const requests = new Set(state.requests);
  if (isOpen) requests.add(key);
  else requests.delete(key);
  return { ...state, requests };
}

export function withToken(state: PersonState, key: string, token: Token): PersonState {
  return { ...state, tokens: withEntry(state.tokens, key, token) };
}

export function withJob(state: PersonState, key: string, job: JobToken): PersonState {
  return { ...state, jobs: withEntry(state.jobs, key, job) };
}

/**
 * Returns the successor of a rotated token. Its issuer is the user that rotated it, because they see the new secret. A
 * token that rotates itself keeps its issuer; but if an administrator created it for a person, the successor counts as
 * the person's own, except for impersonation tokens.
 * Source: reference identity-and-import 4.7, 4.9.
 */
export function successorOf(token: Token, by: 'itself' | 'root' | number): Token {
  const { issuer: _, giver, ...rest } = token;
  const isKept = by === 'itself' && (giver === undefined || token.impersonates === true);
  if (isKept) return { ...token, status: 'good' };
  if (typeof by === 'number') return { ...rest, status: 'good', issuer: by };
  return { ...rest, status: 'good', ...(token.impersonates ? { giver: 'active' } : {}) };
}

/** Reports whether a call with the token is accepted. */
export function isAccepted({ account }: PersonState, { status, giver }: Token): boolean {
  return account === 'active' && status === 'good' && giver !== 'inactive';
}

/** Revokes all tokens of the family. */
export function withoutFamily(state: PersonState, family: string): PersonState {
  const tokens = [...state.tokens].map(
    ([key, token]) => [key, token.family === family ? { ...token, status: 'revoked' as const } : token] as const,
  );
  return { ...state, tokens: new Map(tokens) };
}
