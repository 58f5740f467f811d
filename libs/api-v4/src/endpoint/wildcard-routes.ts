import {
  compareTailSpecificity,
  decodeRouteSegment,
  matchesTail,
  splitPath,
  wildcardIndex,
  wildcardTail,
} from './wildcard';
import type { WildcardTail } from './wildcard';

interface WildcardRoute<T> {
  readonly method: string;
  /** Segments of the template; those before `tail` are literals or `:name`. */
  readonly segments: readonly string[];
  readonly at: number;
  readonly tail: WildcardTail;
  readonly target: T;
}

/** A matching route and the values of its parameters, each decoded once. */
export interface RouteMatch<T> {
  readonly target: T;
  readonly params: Readonly<Record<string, string>>;
}

/** Empty names, dot segments and control characters, which are never part of a name. */
const INVALID_NAME = /(?:^|\/)\.{0,2}(?:\/|$)|[\u0000-\u001f\u007f]/;

/**
 * Finds the most specific route whose template contains a wildcard. Fastify's router supports wildcards at the end
 * only; it passes on requests that match no fixed route. Source: ADR 0086.
 */
export class WildcardRoutes<T> {
  private routes: readonly WildcardRoute<T>[] = [];

  /** Adds a route. Returns the URL to register with Fastify for its requests. */
  addRoute(method: string, template: string, target: T): string {
    const segments = splitPath(template);
    const at = wildcardIndex(segments);
    const tail = wildcardTail(segments.slice(at));
    this.routes = [...this.routes, { method, segments, at, tail, target }].sort(compareBySpecificity);
    return `/${[...segments.slice(0, at), '*'].join('/')}`;
  }

  /** Returns the matching route; null for none. `path` is the path as sent, without a query. */
  findRoute(method: string, path: string): RouteMatch<T> | null {
    const raw = splitPath(path);
    for (const route of this.routes) {
      if (route.method !== method || !matchesWildcardRoute(route, raw)) continue;
      const params = extractWildcardRouteParams(route, raw);
      if (params !== null) return { target: route.target, params };
    }
    return null;
  }

  /** Methods of the routes that match a path. */
  listMethods(path: string): readonly string[] {
    const methods = new Set(this.routes.map(({ method }) => method));
    return [...methods].filter((method) => this.findRoute(method, path) !== null);
  }
}

function matchesWildcardRoute<T>({ segments, at, tail }: WildcardRoute<T>, rawSegments: readonly string[]): boolean {
  for (let i = 0; i < at; i++) {
    const segment = rawSegments[i];
    if (segment === undefined) return false;
    if (!segments[i]!.startsWith(':') && decodeRouteSegment(segment) !== segments[i]) return false;
  }
  return matchesTail(tail, rawSegments, at);
}

/**
 * Returns null if the wildcard's value contains an empty name, a dot segment or a control character. The gateway answers dot
 * segments and control characters with 400.
 */
function extractWildcardRouteParams<T>(
  { segments, at, tail }: WildcardRoute<T>,
  rawSegments: readonly string[],
): Record<string, string> | null {
  const end = rawSegments.length - tail.after.length;
  const taken = rawSegments.slice(at, end).map(decodeURIComponent).join('/');
  const params = { [tail.name]: tail.suffix === '' ? taken : taken.slice(0, -tail.suffix.length) };
  if (INVALID_NAME.test(params[tail.name]!)) return null;
  segments.forEach((segment, index) => {
    if (!segment.startsWith(':')) return;
    params[segment.slice(1)] = decodeURIComponent(rawSegments[index < at ? index : end + index - at - 1]!);
  });
  return params;
}

/** Compares the segments before the wildcard from left to right, literals first; then the tails from their ends. */
function compareBySpecificity<T>(a: WildcardRoute<T>, b: WildcardRoute<T>): number {
  for (let i = 0; i < Math.max(a.at, b.at); i++) {
    const [rankOfA, rankOfB] = [rankSegment(a, i), rankSegment(b, i)];
    if (rankOfA !== rankOfB) return rankOfB - rankOfA;
  }
  return compareTailSpecificity(a.tail, b.tail);
}

function rankSegment<T>({ segments, at }: WildcardRoute<T>, index: number): number {
  if (index >= at) return 0;
  return segments[index]!.startsWith(':') ? 1 : 2;
}
