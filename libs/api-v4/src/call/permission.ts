import type { Role, SignedInViewer, Viewer } from '@rookery/kernel';
import { ACCESS_LEVELS } from '@rookery/kernel';
import type { Call } from './call';

/** What a compound rule may ask besides the call: providers of the service. */
export interface RuleServices {
  // Nest's own token type: classes with private constructors and symbols alike.
  get<T>(token: (abstract new (...args: never[]) => T) | symbol | string): T;
}

/** Who may call an endpoint. Made by `anyone`, `signedIn`, `administrator`, `atLeast` and `ability` only. */
export interface Permission<P = unknown, W = unknown, V extends Viewer = Viewer> {
  readonly name: string;
  readonly kind: 'anyone' | 'signedIn' | 'administrator' | 'atLeast' | 'ability';
  /** Whether an anonymous caller gets as far as the rule; `reads` = on GET only. */
  readonly anonymous: 'asked' | 'reads' | 'refused';
  /** null = nothing to decide once the caller is known to be signed in or an administrator. */
  readonly rule: ((call: Call<P, W, V>, services: RuleServices) => boolean | Promise<boolean>) | null;
}

/** Everybody who sees the parent, anonymous callers included. */
export function anyone(): Permission<unknown, unknown, Viewer> {
  return { name: 'anyone', kind: 'anyone', anonymous: 'asked', rule: null };
}

/** Anybody with a token. */
export function signedIn(): Permission<unknown, unknown, SignedInViewer> {
  return { name: 'signed in', kind: 'signedIn', anonymous: 'refused', rule: null };
}

/** Instance administrators; refused before parameters are looked at. Source: ADR 0003. */
export function administrator(): Permission<unknown, unknown, SignedInViewer> {
  return { name: 'administrator', kind: 'administrator', anonymous: 'refused', rule: null };
}

/** A role in the parent, or an administrator of the instance. */
export function atLeast(role: Role): Permission<unknown, { readonly level: number }, SignedInViewer> {
  const level = ACCESS_LEVELS[role];
  return {
    name: `at least ${role}`,
    kind: 'atLeast',
    anonymous: 'refused',
    rule: (call) => call.viewer.isAdmin || call.within.level >= level,
  };
}

/**
 * A named compound rule; it lives in the policy of its room. An anonymous caller is asked on GET only, and never
 * with `signedIn`.
 */
export function ability<P = unknown, W = unknown>(
  name: string,
  rule: (call: Call<P, W, SignedInViewer>, services: RuleServices) => boolean | Promise<boolean>,
  options: { readonly signedIn: true },
): Permission<P, W, SignedInViewer>;
export function ability<P = unknown, W = unknown>(
  name: string,
  rule: (call: Call<P, W>, services: RuleServices) => boolean | Promise<boolean>,
): Permission<P, W>;
export function ability<P, W>(
  name: string,
  rule: (call: Call<P, W, never>, services: RuleServices) => boolean | Promise<boolean>,
  options: { readonly signedIn?: true } = {},
): Permission<P, W, never> {
  return { name, kind: 'ability', anonymous: options.signedIn ? 'refused' : 'reads', rule };
}
