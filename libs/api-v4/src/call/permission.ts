import type { Role, SignedInViewer, Viewer } from '@rookery/kernel';
import { ACCESS_LEVELS } from '@rookery/kernel';
import type { Call } from './call';

/** Gives a compound rule access to the providers of the service. */
export interface RuleServices {
  // Nest's own token type: classes with private constructors and symbols alike.
  get<T>(token: (abstract new (...args: never[]) => T) | symbol | string): T;
}

/**
 * Permission that an endpoint requires. Created by `anyone`, `signedIn`, `administrator`, `atLeast` and `ability` only.
 */
export interface Permission<P = unknown, W = unknown, V extends Viewer = Viewer> {
  readonly name: string;
  readonly kind: 'anyone' | 'signedIn' | 'administrator' | 'atLeast' | 'ability';
  /** Whether the rule is evaluated for anonymous callers; `reads` = on GET only. */
  readonly anonymous: 'asked' | 'reads' | 'refused';
  /** null = the caller only has to be signed in, or to be an administrator. */
  readonly rule: ((call: Call<P, W, V>, services: RuleServices) => boolean | Promise<boolean>) | null;
}

/** Permits every caller who can see the parent, including anonymous ones. */
export function anyone(): Permission<unknown, unknown, Viewer> {
  return { name: 'anyone', kind: 'anyone', anonymous: 'asked', rule: null };
}

/** Permits every caller with a valid token. */
export function signedIn(): Permission<unknown, unknown, SignedInViewer> {
  return { name: 'signed in', kind: 'signedIn', anonymous: 'refused', rule: null };
}

/**
 * Permits administrators of the instance. Other callers are refused before parameters are validated. Source: ADR 0003.
 */
export function administrator(): Permission<unknown, unknown, SignedInViewer> {
  return { name: 'administrator', kind: 'administrator', anonymous: 'refused', rule: null };
}

/** Permits callers with at least this role in the project or group of the path, and administrators of the instance. */
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
 * Permits callers by a named rule, which is defined in the policy file of its wing. Anonymous callers reach the rule on
 * GET only, and never with `signedIn`.
 * With `anonymous: 'asked'`, the rule also decides about anonymous callers on writes.
 */
export function ability<P = unknown, W = unknown>(
  name: string,
  rule: (call: Call<P, W, SignedInViewer>, services: RuleServices) => boolean | Promise<boolean>,
  options: { readonly signedIn: true },
): Permission<P, W, SignedInViewer>;
export function ability<P = unknown, W = unknown>(
  name: string,
  rule: (call: Call<P, W>, services: RuleServices) => boolean | Promise<boolean>,
  options?: { readonly anonymous: 'asked' },
): Permission<P, W>;
export function ability<P, W>(
  name: string,
  rule: (call: Call<P, W, never>, services: RuleServices) => boolean | Promise<boolean>,
  options: { readonly signedIn?: true; readonly anonymous?: 'asked' } = {},
): Permission<P, W, never> {
  return { name, kind: 'ability', anonymous: options.signedIn ? 'refused' : (options.anonymous ?? 'reads'), rule };
}
