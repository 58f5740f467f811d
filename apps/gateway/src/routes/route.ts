import type { ServiceName } from '@rookery/contracts';

export type Upstream = ServiceName | 'gateway';

/** What is given up first when there is too much to do; `vital` (health, revocation, removal) last. */
export type ShedClass = 'list' | 'read' | 'write' | 'vital';
export type RateClass = 'api' | 'packages' | 'git';

/** One operation as `routes.generated.json` holds it; what is left out is the default. */
export interface RouteRow {
  readonly service: Upstream;
  readonly shed: ShedClass;
  /** Units: bytes. */
  readonly bodyLimit?: number;
  /** Units: milliseconds until the answer must begin. */
  readonly deadlineMs?: number;
  /** The body is passed on as it comes, and bound by its progress. */
  readonly streamsRequest?: true;
  /** The service answers HEAD by itself, without opening what it would stream. */
  readonly streamsResponse?: true;
  /** Basic credentials count here (git and package managers). */
  readonly basic?: true;
  /** For the gateway's own routes: a signed-in caller with one of these scopes. */
  readonly scopes?: readonly string[];
}

/** Shape: template -> method -> operation. Templates begin with a slash and name parameters in braces. */
export type RouteRows = Readonly<Record<string, Readonly<Record<string, RouteRow>>>>;

export interface Route extends RouteRow {
  readonly template: string;
  readonly method: string;
  readonly rate: RateClass;
}

export function routeOf(template: string, method: string, row: RouteRow): Route {
  return { ...row, template, method, rate: rateClassOf(template) };
}

export function rateClassOf(template: string): RateClass {
  // Only repositories lie at the root.
  if (template.startsWith('/*')) return 'git';
  return template.includes('/packages/') ? 'packages' : 'api';
}
