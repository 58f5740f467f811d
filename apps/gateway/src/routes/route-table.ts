import { compareTailSpecificity, decodeRouteSegment, matchesTail, splitPath, wildcardTail } from '@rookery/api-v4';
import type { WildcardTail } from '@rookery/api-v4';
import { createRoute } from './route';
import type { Route, RouteRows } from './route';

/** Routes that end at one node, by method. */
type RoutesByMethod = Map<string, Route>;

interface RouteNode {
  readonly literals: Map<string, RouteNode>;
  /** Segments with a parameter in the middle, such as `{project}.git`; longest literal part first. */
  readonly mixed: { readonly prefix: string; readonly suffix: string; readonly node: RouteNode }[];
  parameter: RouteNode | undefined;
  readonly ends: RoutesByMethod;
  /** Templates whose wildcard begins here, the most specific first. */
  readonly rest: { readonly tail: WildcardTail; readonly route: Route }[];
}

export type Match =
  | { readonly kind: 'route'; readonly route: Route }
  | { readonly kind: 'other methods'; readonly allowed: readonly string[] }
  | { readonly kind: 'none' };

/** A wildcard in the notation of our services or of other OpenAPI documents. */
const OTHER_WILDCARD = /^\{(?:(\w+)\*|[+*](\w+))\}$/;
const PARAMETER = /^\{\w+\}$/;
const MIXED = /^([^{}]*)\{\w+\}([^{}]*)$/;
const NONE: Match = { kind: 'none' };

/**
 * The gateway's router: matches raw segments against templates, the most specific template first (literal, then partly
 * literal, then parameter, then wildcard, from left to right), among those that have the method. A wildcard at the root
 * matches nothing below the first segments of fixed routes. A dot never ends a segment. Source: ADR 0051, 0086.
 */
export class RouteTable {
  private readonly root = createRouteNode();

  constructor(rows: RouteRows) {
    for (const [template, methods] of Object.entries(rows)) {
      for (const [method, row] of Object.entries(methods)) this.addRoute(createRoute(template, method, row));
    }
  }

  /** Finds the route. HEAD also matches routes of GET. `segments` are those that `parseRequestTarget` returns. */
  findRoute(method: string, segments: readonly string[]): Match {
    const route =
      findRouteBelow(this.root, segments, 0, method) ??
      (method === 'HEAD' ? findRouteBelow(this.root, segments, 0, 'GET') : undefined);
    if (route) return { kind: 'route', route };
    const allowed = new Set<string>();
    collectAllowedMethods(this.root, segments, 0, allowed);
    if (allowed.size === 0) return NONE;
    if (allowed.has('GET')) allowed.add('HEAD');
    return { kind: 'other methods', allowed: [...allowed, 'OPTIONS'].sort() };
  }

  private addRoute(route: Route): void {
    let node = this.root;
    const segments = splitPath(route.template).map((part) => part.replace(OTHER_WILDCARD, '*$1$2'));
    for (const [index, segment] of segments.entries()) {
      if (segment.startsWith('*')) {
        node.rest.push({ tail: wildcardTail(segments.slice(index)), route });
        node.rest.sort((a, b) => compareTailSpecificity(a.tail, b.tail));
        return;
      }
      node = ensureChildNode(node, segment);
    }
    node.ends.set(route.method, route);
  }
}

function createRouteNode(): RouteNode {
  return { literals: new Map(), mixed: [], parameter: undefined, ends: new Map(), rest: [] };
}

function ensureChildNode(node: RouteNode, segment: string): RouteNode {
  if (PARAMETER.test(segment)) return (node.parameter ??= createRouteNode());
  const mixed = MIXED.exec(segment);
  if (!mixed) {
    const known = node.literals.get(segment) ?? createRouteNode();
    node.literals.set(segment, known);
    return known;
  }
  const [, prefix = '', suffix = ''] = mixed;
  const known = node.mixed.find((one) => one.prefix === prefix && one.suffix === suffix);
  if (known) return known.node;
  const made = createRouteNode();
  node.mixed.push({ prefix, suffix, node: made });
  node.mixed.sort((a, b) => b.prefix.length + b.suffix.length - a.prefix.length - a.suffix.length);
  return made;
}

function findRouteBelow(node: RouteNode, segments: readonly string[], at: number, method: string): Route | undefined {
  const segment = segments[at];
  if (segment === undefined) return node.ends.get(method);
  const literal = node.literals.get(decodeRouteSegment(segment));
  if (literal) {
    const found = findRouteBelow(literal, segments, at + 1, method);
    if (found) return found;
  }
  for (const one of node.mixed) {
    const found = matchesMixedSegment(one, segment) ? findRouteBelow(one.node, segments, at + 1, method) : undefined;
    if (found) return found;
  }
  const found = node.parameter ? findRouteBelow(node.parameter, segments, at + 1, method) : undefined;
  return (
    found ?? node.rest.find(({ tail, route }) => route.method === method && matchesTail(tail, segments, at))?.route
  );
}

/** Collects the methods of all templates that match. */
function collectAllowedMethods(node: RouteNode, segments: readonly string[], at: number, methods: Set<string>): void {
  const segment = segments[at];
  if (segment === undefined) {
    for (const method of node.ends.keys()) methods.add(method);
    return;
  }
  const literal = node.literals.get(decodeRouteSegment(segment));
  if (literal) collectAllowedMethods(literal, segments, at + 1, methods);
  for (const one of node.mixed)
    if (matchesMixedSegment(one, segment)) collectAllowedMethods(one.node, segments, at + 1, methods);
  if (node.parameter) collectAllowedMethods(node.parameter, segments, at + 1, methods);
  for (const { tail, route } of node.rest) if (matchesTail(tail, segments, at)) methods.add(route.method);
}

function matchesMixedSegment(pattern: { readonly prefix: string; readonly suffix: string }, segment: string): boolean {
  const literal = decodeRouteSegment(segment);
  return (
    literal.length > pattern.prefix.length + pattern.suffix.length &&
    literal.startsWith(pattern.prefix) &&
    literal.endsWith(pattern.suffix)
  );
}
