/**
 * Matches templates with a wildcard: one segment that takes one or more segments of a path. The wildcard may be the
 * first segment (`/*full_path.git/info/refs`), the last one (`/maven/*path`) or in between. It may end in a literal
 * (`*full_path.git`). The gateway and the services share this file. Source: ADR 0086.
 */
const WILDCARD = /^\*([A-Za-z_]\w*)([^*:{}]*)$/;
const PARAMETER = /^(?::\w+|\{\w+\})$/;

/** First segments that a leading wildcard never takes: they are reserved for fixed routes and internal routes. */
export const FIXED_SEGMENTS: ReadonlySet<string> = new Set(['api', '-', '.well-known', 'uploads', 'users', 'internal']);

/** The wildcard of a template and the segments after it. */
export interface WildcardTail {
  readonly name: string;
  /** Literal end of the last segment that the wildcard takes; empty for none. */
  readonly suffix: string;
  /** Segments after the wildcard: literals, or parameters as null. */
  readonly after: readonly (string | null)[];
}

/** Position of the wildcard among the segments of a template; -1 without one. */
export function wildcardIndex(segments: readonly string[]): number {
  return segments.findIndex((segment) => WILDCARD.test(segment));
}

/** Segments of a path or template. Repeated and trailing slashes count as one or none. */
export function splitPath(path: string): readonly string[] {
  return path.split('/').filter((segment) => segment !== '');
}

/**
 * Parses the tail of a template. `segments` begin with the wildcard. Errors: a plain Error if they do not, or contain a
 * second one.
 */
export function wildcardTail(segments: readonly string[]): WildcardTail {
  const [first = '', ...after] = segments;
  const [, name, suffix] = WILDCARD.exec(first) ?? [];
  if (name === undefined || after.some((segment) => segment.includes('*')))
    throw new Error(`a template takes one wildcard, written *name: ${segments.join('/')}`);
  return { name, suffix: suffix!, after: after.map((segment) => (PARAMETER.test(segment) ? null : segment)) };
}

/**
 * Whether the tail of a template, from its wildcard on, matches the rest of a path. `segments` are raw; those before
 * `from` match already.
 */
export function matchesTail(tail: WildcardTail, segments: readonly string[], from: number): boolean {
  const end = segments.length - tail.after.length;
  if (end <= from || (from === 0 && FIXED_SEGMENTS.has(decodeRouteSegment(segments[0]!)))) return false;
  if (tail.suffix !== '' && !properlyEndsWith(decodeRouteSegment(segments[end - 1]!), tail.suffix)) return false;
  return tail.after.every((wanted, index) => wanted === null || decodeRouteSegment(segments[end + index]!) === wanted);
}

/**
 * Orders tails, the most specific first: compared from their ends, a literal comes before a literal end, that before a
 * parameter, and that before the wildcard. Use with `sort`.
 */
export function compareTailSpecificity(a: WildcardTail, b: WildcardTail): number {
  const most = Math.max(a.after.length, b.after.length) + 1;
  for (let fromEnd = 0; fromEnd < most; fromEnd++) {
    const [rankOfA, rankOfB] = [rankTailPart(a, fromEnd), rankTailPart(b, fromEnd)];
    if (rankOfA !== rankOfB) return rankOfA > rankOfB ? -1 : 1;
  }
  return 0;
}

/** Whether some path matches both tails and neither tail is more specific at every segment. */
export function areAmbiguous(a: WildcardTail, b: WildcardTail): boolean {
  const most = Math.max(a.after.length, b.after.length) + 1;
  let [aWins, bWins] = [false, false];
  for (let fromEnd = 0; fromEnd < most; fromEnd++) {
    if (!canOverlap(tailPartAt(a, fromEnd), tailPartAt(b, fromEnd))) return false;
    aWins ||= rankTailPart(a, fromEnd) > rankTailPart(b, fromEnd);
    bWins ||= rankTailPart(b, fromEnd) > rankTailPart(a, fromEnd);
  }
  return aWins === bWins;
}

/**
 * Returns the problems of a set of routes as sentences: two wildcard routes with the same method and prefix of which
 * neither is more specific, and fixed routes outside the reserved first segments. Templates write parameters as `:name`
 * or `{name}`.
 */
export function wildcardProblems(
  routes: readonly { readonly method: string; readonly template: string }[],
): readonly string[] {
  const split = routes.map(({ method, template }) => {
    const segments = splitPath(template);
    return { name: `${method} ${template}`, method, segments, at: wildcardIndex(segments) };
  });
  const malformed = split.filter(({ segments }) => segments.filter((one) => one.includes('*')).length > 1);
  if (malformed.length > 0) return malformed.map(({ name }) => `${name} has more than one wildcard`);
  const wild = split
    .filter(({ at }) => at >= 0)
    .map((one) => ({
      ...one,
      tail: wildcardTail(one.segments.slice(one.at)),
      head: routeKeyBeforeWildcard(one.method, one),
    }));
  const pairs = wild.flatMap((one, index) => wild.slice(index + 1).map((other) => [one, other] as const));
  const leading = wild.find(({ at }) => at === 0);
  const inTheWay = leading ? split.filter(({ at, segments }) => at !== 0 && !startsWithReservedSegment(segments)) : [];
  return [
    ...pairs
      .filter(([one, other]) => one.head === other.head && areAmbiguous(one.tail, other.tail))
      .map(([one, other]) => `${one.name} and ${other.name} take the same paths, and neither is more specific`),
    ...inTheWay.map(({ name }) => `${name} conflicts with ${leading!.name}`),
  ];
}

function routeKeyBeforeWildcard(method: string, { segments, at }: { segments: readonly string[]; at: number }): string {
  const head = segments.slice(0, at).map((segment) => (PARAMETER.test(segment) ? ':' : segment));
  return `${method} ${head.join('/')}`;
}

function startsWithReservedSegment([first]: readonly string[]): boolean {
  return first === undefined || FIXED_SEGMENTS.has(first);
}

/** Decodes a path segment to the form of a template's literals. Escaped separators stay escaped. */
export function decodeRouteSegment(segment: string): string {
  return segment.includes('%') ? decodeURI(segment) : segment;
}

interface TailPart {
  readonly literal?: string;
  readonly suffix?: string;
}

function tailPartAt({ after, suffix }: WildcardTail, fromEnd: number): TailPart {
  if (fromEnd > after.length) return {};
  if (fromEnd === after.length) return suffix === '' ? {} : { suffix };
  const literal = after[after.length - 1 - fromEnd];
  return literal === null || literal === undefined ? {} : { literal };
}

/** Literals rank highest; a longer literal end ranks above a shorter one. */
function rankTailPart(tail: WildcardTail, fromEnd: number): number {
  const { literal, suffix } = tailPartAt(tail, fromEnd);
  if (literal !== undefined) return Infinity;
  if (suffix !== undefined) return 1 + suffix.length;
  return fromEnd < tail.after.length ? 1 : 0;
}

function canOverlap(a: TailPart, b: TailPart): boolean {
  if (a.literal !== undefined && b.literal !== undefined) return a.literal === b.literal;
  if (a.literal !== undefined) return b.suffix === undefined || properlyEndsWith(a.literal, b.suffix);
  if (b.literal !== undefined) return a.suffix === undefined || properlyEndsWith(b.literal, a.suffix);
  if (a.suffix === undefined || b.suffix === undefined) return true;
  return a.suffix.endsWith(b.suffix) || b.suffix.endsWith(a.suffix);
}

function properlyEndsWith(text: string, suffix: string): boolean {
  return text.length > suffix.length && text.endsWith(suffix);
}
