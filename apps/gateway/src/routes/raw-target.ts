/** The raw request target, split but not decoded. `query` is without the question mark. */
export interface RawTarget {
  /** Path that is sent upstream: without repeated and trailing slashes, escapes untouched. */
  readonly path: string;
  readonly query: string;
  readonly segments: readonly string[];
}

const SLASH = 0x2f;
const QUESTION = 0x3f;
const HASH = 0x23;
const BACKSLASH = 0x5c;
const HAS_CONTROL = /[\u0000-\u001f\u007f]/;
const ENCODED_AGAIN = /%(?:2f|5c|2e|00)/i;
/** Segments of dots only: steps in a tree, never a name. */
const DOT_STEP = /(?:^|[\\/])\.{1,2}(?:[\\/]|$)/;

/**
 * Splits a request target at its raw slashes. Nothing is decoded here: `%2F` stays inside its segment and is decoded
 * once, by the service. Returns null for targets that two parsers could read differently: raw control or non-ASCII
 * characters, backslashes, fragments, malformed or doubly encoded escapes, `.` and `..` in any spelling.
 * Source: reference reliability 6.1; reference identity-and-import 1.2; ADR 0051.
 */
export function parseRequestTarget(url: string): RawTarget | null {
  if (url.charCodeAt(0) !== SLASH) return null;
  const segments: string[] = [];
  let start = 1;
  let index = 1;
  let isCanonical = true;
  for (; index <= url.length; index += 1) {
    const code = index < url.length ? url.charCodeAt(index) : QUESTION;
    if (code === SLASH || code === QUESTION) {
      if (index > start) {
        const segment = url.slice(start, index);
        if (!isUnambiguousSegment(segment)) return null;
        segments.push(segment);
      } else if (code === SLASH || segments.length > 0) isCanonical = false;
      if (code === QUESTION) break;
      start = index + 1;
    } else if (code <= 0x20 || code >= 0x7f || code === HASH || code === BACKSLASH) return null;
  }
  const query = url.slice(index + 1);
  if (query.includes('#')) return null;
  return { path: isCanonical ? url.slice(0, index) : `/${segments.join('/')}`, query, segments };
}

/** Query with which `go get` asks for the repository of a package, in place of a page for people. */
const ASKS_FOR_REPOSITORY = /(?:^|&)go-get=1(?:&|$)/;

/** Returns the target that answers a request: `/group/project/package?go-get=1` has a route of its own. */
export function rewriteGoGetTarget(method: string, target: RawTarget): RawTarget {
  const { path, segments, query } = target;
  if (method !== 'GET' || segments.length === 0 || !ASKS_FOR_REPOSITORY.test(query)) return target;
  return { path: `/-/go-get${path}`, segments: ['-', 'go-get', ...segments], query };
}

function isUnambiguousSegment(segment: string): boolean {
  if (segment === '.' || segment === '..') return false;
  if (!segment.includes('%')) return true;
  let decoded: string;
  try {
    decoded = decodeURIComponent(segment);
  } catch {
    return false;
  }
  return !HAS_CONTROL.test(decoded) && !ENCODED_AGAIN.test(decoded) && !DOT_STEP.test(decoded);
}
