import type { SourceKey } from './forest';
import { withEntry } from './forest';

/** Shape: `over` when it ended on the day on which it was given. */
export interface Membership {
  readonly level: number;
  readonly over: boolean;
}
export interface Token {
  readonly scope: 'api' | 'read_api';
  /** The first token of a chain of rotations. */
  readonly family: string;
  /** A token that ran out may still be replaced; one that was revoked takes its family with it. */
  readonly is: 'good' | 'over' | 'revoked';
  /** Who gave it out, when that was not root. */
  readonly issuer?: number;
  /** Only of tokens that an administrator gave out for a person: whether whoever did is one now. */
  readonly giver?: 'in office' | 'out of office';
  /** Only of those by which the giver acts as that person. */
  readonly impersonates?: true;
}
/**
 * People who are not active hold nothing, and find all of it again when they come back; but those who are gone do not,
 * nor do bots whose group or project is gone.
 * Source: reference identity-and-import 10.1, 10.6, 10.7.
 */
export type Standing = 'active' | 'blocked' | 'banned' | 'deactivated' | 'gone';
export interface PersonState {
  readonly kind: 'human' | 'bot';
  readonly standing: Standing;
  readonly admin: boolean;
  readonly external: boolean;
  /** Only of bots: who made it, when that was not root. */
  readonly maker?: number;
  readonly tokens: ReadonlyMap<string, Token>;
  readonly memberships: ReadonlyMap<SourceKey, Membership>;
  /** Where they have asked to be let in, which gives them nothing. */
  readonly requests: ReadonlySet<SourceKey>;
}

/** Shape: somebody of whom nothing is known but whether they are external, and what `as` says. */
export function newcomer(external: boolean, as: Partial<PersonState> = {}): PersonState {
  const holdings = { tokens: new Map(), memberships: new Map(), requests: new Set<SourceKey>() };
  return { kind: 'human', standing: 'active', admin: false, external, ...holdings, ...as };
}

/** Somebody who was removed: nothing is theirs any more, and nothing brings them back. */
export function departed(state: PersonState): PersonState {
  return { ...state, standing: 'gone', admin: false, memberships: new Map(), requests: new Set() };
}

/** Whoever has become a member asks no more. */
export function withMember(state: PersonState, key: SourceKey, member: Membership): PersonState {
  return withRequest({ ...state, memberships: withEntry(state.memberships, key, member) }, key, false);
}

export function withoutMembers(state: PersonState, gone: (key: SourceKey) => boolean): PersonState {
  return { ...state, memberships: new Map([...state.memberships].filter(([key]) => !gone(key))) };
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

/**
 * What takes the place of a token: it has a new issuer, who got to see it. One that replaces itself brings nobody new; but
 * a person who replaces what was given to them has something of their own then.
 * Source: reference identity-and-import 4.7, 4.9.
 */
export function renewed(token: Token, by: 'itself' | 'root' | number): Token {
  const { issuer: _, giver, ...rest } = token;
  const isKept = by === 'itself' && (giver === undefined || token.impersonates === true);
  if (isKept) return { ...token, is: 'good' };
  if (typeof by === 'number') return { ...rest, is: 'good', issuer: by };
  return { ...rest, is: 'good', ...(token.impersonates ? { giver: 'in office' } : {}) };
}

/** May its holder come in by it? */
export function opens({ standing }: PersonState, { is, giver }: Token): boolean {
  return standing === 'active' && is === 'good' && giver !== 'out of office';
}

/** No token of the family works any more. */
export function withoutFamily(state: PersonState, family: string): PersonState {
  const tokens = [...state.tokens].map(
    ([key, token]) => [key, token.family === family ? { ...token, is: 'revoked' as const } : token] as const,
  );
  return { ...state, tokens: new Map(tokens) };
}
