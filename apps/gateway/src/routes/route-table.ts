import { byPrecision, literalOf, matchesTail, splitPath, wildcardTail } from '@rookery/api-v4';
import type { WildcardTail } from '@rookery/api-v4';
import { createRoute } from './route';
import type { Route, RouteRows } from './route';

/** Routes that end at one node, by method. */
type RoutesByMethod = Map<string, Route>;

interface Node {
  readonly literals: Map<string, Node>;
  /** Segments with a parameter in the middle, such as `{project}.git`; longest literal part first. */
  readonly mixed: { readonly prefix: string; readonly suffix: string; readonly node: Node }[];
  parameter: Node | undefined;
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
  private readonly root = newNode();

  constructor(rows: RouteRows) {
    for (const [template, methods] of Object.entries(rows)) {
      for (const [method, row] of Object.entries(methods)) this.addRoute(createRoute(template, method, row));
    }
  }

  /** Finds the route. HEAD also matches routes of GET. Shape: `segments` as from `cutTarget`. */
  findRoute(method: string, segments: readonly string[]): Match {
    const route =
      searchNode(this.root, segments, 0, method) ??
      (method === 'HEAD' ? searchNode(this.root, segments, 0, 'GET') : undefined);
    if (route) return { kind: 'route', route };
    const allowed = new Set<string>();
    gatherMethods(this.root, segments, 0, allowed);
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
        node.rest.sort((a, b) => byPrecision(a.tail, b.tail));
        return;
      }
      node = ensureChild(node, segment);
    }
    node.ends.set(route.method, route);
  }
}

function newNode(): Node {
  return { literals: new Map(), mixed: [], parameter: undefined, ends: new Map(), rest: [] };
}

function ensureChild(node: Node, segment: string): Node {
  if (PARAMETER.test(segment)) return (node.parameter ??= newNode());
  const mixed = MIXED.exec(segment);
  if (!mixed) {
    const known = node.literals.get(segment) ?? newNode();
    node.literals.set(segment, known);
    return known;
  }
  const [, prefix = '', suffix = ''] = mixed;
  const known = node.mixed.find((one) => one.prefix === prefix && one.suffix === suffix);
  if (known) return known.node;
  const made = newNode();
  node.mixed.push({ prefix, suffix, node: made });
  node.mixed.sort((a, b) => b.prefix.length + b.suffix.length - a.prefix.length - a.suffix.length);
  return made;
}

function searchNode(node: Node, segments: readonly string[], at: number, method: string): Route | undefined {
  const segment = segments[at];
  if (segment === undefined) return node.ends.get(method);
  const literal = node.literals.get(literalOf(segment));
  if (literal) {
    const found = searchNode(literal, segments, at + 1, method);
    if (found) return found;
  }
  for (const one of node.mixed) {
    const found = fitsSegment(one, segment) ? searchNode(one.node, segments, at + 1, method) : undefined;
    if (found) return found;
  }
  const found = node.parameter ? searchNode(node.parameter, segments, at + 1, method) : undefined;
  return (
    found ?? node.rest.find(({ tail, route }) => route.method === method && matchesTail(tail, segments, at))?.route
  );
}

/** Collects the methods of all templates that match. */
function gatherMethods(node: Node, segments: readonly string[], at: number, into: Set<string>): void {
  const segment = segments[at];
  if (segment === undefined) {
    for (const method of node.ends.keys()) into.add(method);
    return;
  }
  const literal = node.literals.get(literalOf(segment));
  if (literal) gatherMethods(literal, segments, at + 1, into);
  for (const one of node.mixed) if (fitsSegment(one, segment)) gatherMethods(one.node, segments, at + 1, into);
  if (node.parameter) gatherMethods(node.parameter, segments, at + 1, into);
  for (const { tail, route } of node.rest) if (matchesTail(tail, segments, at)) into.add(route.method);
}

function fitsSegment(one: { readonly prefix: string; readonly suffix: string }, segment: string): boolean {
  const literal = literalOf(segment);
  return (
    literal.length > one.prefix.length + one.suffix.length &&
    literal.startsWith(one.prefix) &&
    literal.endsWith(one.suffix)
  );
}
