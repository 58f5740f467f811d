import type { ServiceName } from '@rookery/contracts';

export type Upstream = ServiceName | 'gateway';

/** The order of shedding under load; `vital` (health, revocation, removal) comes last. */
export type ShedClass = 'list' | 'read' | 'write' | 'vital';
export type RateClass = 'api' | 'packages' | 'git';

/** One operation in `routes.generated.json`; omitted fields have their defaults. */
export interface RouteRow {
  readonly service: Upstream;
  readonly shed: ShedClass;
  /** Units: bytes. */
  readonly bodyLimit?: number;
  /** Units: milliseconds until the answer must begin. */
  readonly deadlineMs?: number;
  /** The body is streamed to the service, and limited by its progress. */
  readonly streamsRequest?: true;
  /** The service answers HEAD itself, without opening the stream. */
  readonly streamsResponse?: true;
  /** Basic credentials count here (git and package managers). */
  readonly basic?: true;
  /** For the gateway's own routes: a signed-in caller with one of these scopes. */
  readonly scopes?: readonly string[];
}

/** Maps templates to methods, and methods to operations. Templates begin with a slash and name parameters in braces. */
export type RouteRows = Readonly<Record<string, Readonly<Record<string, RouteRow>>>>;

export interface Route extends RouteRow {
  readonly template: string;
  readonly method: string;
  readonly rate: RateClass;
  /** Clients that read refusals in a form of their own. */
  readonly client: 'npm' | 'conan' | null;
}

export function createRoute(template: string, method: string, row: RouteRow): Route {
  return { ...row, template, method, rate: rateClassOf(template), client: packageClientOf(template) };
}

function packageClientOf(template: string): Route['client'] {
  if (template.includes('/packages/npm/')) return 'npm';
  return template.includes('/packages/conan/') ? 'conan' : null;
}

export function rateClassOf(template: string): RateClass {
  // Only repositories are at the root. `go get` has the credentials of git.
  if (template.startsWith('/*') || template.startsWith('/-/go-get/')) return 'git';
  return template.includes('/packages/') ? 'packages' : 'api';
}
