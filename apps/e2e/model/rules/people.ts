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
}
/** Whoever is not active holds nothing, and finds all again when he comes back. Source: reference 10.1; ADR 0135. */
export type Standing = 'active' | 'blocked' | 'banned' | 'deactivated';
export interface PersonState {
  readonly standing: Standing;
  readonly external: boolean;
  readonly tokens: ReadonlyMap<string, Token>;
  readonly memberships: ReadonlyMap<SourceKey, Membership>;
  /** Where he has asked to be let in, which gives him nothing. */
  readonly requests: ReadonlySet<SourceKey>;
}

/** Shape: somebody of whom nothing is known but whether he is external. */
export function newcomer(external: boolean): PersonState {
  return { standing: 'active', external, tokens: new Map(), memberships: new Map(), requests: new Set() };
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

/** No token of the family works any more. */
export function withoutFamily(state: PersonState, family: string): PersonState {
  const tokens = [...state.tokens].map(
    ([key, token]) => [key, token.family === family ? { ...token, is: 'revoked' as const } : token] as const,
  );
  return { ...state, tokens: new Map(tokens) };
}
