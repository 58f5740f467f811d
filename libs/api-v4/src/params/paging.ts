import { COUNT_LIMIT, DEFAULT_PAGE_SIZE, InvalidParameters, MAX_PAGE_SIZE, MethodNotAllowed } from '@rookery/kernel';
import type { PageRequest } from '@rookery/kernel';
import type { KeysetOption } from '../answers/answers';
import type { RawParams } from './bracket-params';
import { addPairsOf, pairsOf } from './bracket-params';
import type { KeysetRequest } from '../call/call';
import { INVALID, toInt } from './coercion';
import { readCursor } from '../answers/keyset';

/** Past this offset a list that has a keyset is refused. Source: reference identity-and-import 1.3. */
export const OFFSET_LIMIT = 50_000;
const NO_KEYSET = 'Keyset pagination is not yet available for this type of request';
/** Credentials that the gateway takes from a query. */
export const CREDENTIAL_NAMES = ['private_token', 'access_token', 'job_token'] as const;
/** Credentials may stand in a query; a link must not repeat them. */
const SECRETS: ReadonlySet<string> = new Set([...CREDENTIAL_NAMES, 'token']);

export const PAGE_NAMES: ReadonlySet<string> = new Set(['page', 'per_page']);
export const KEYSET_NAMES: ReadonlySet<string> = new Set([
  ...PAGE_NAMES,
  'pagination',
  'cursor',
  'id_after',
  'id_before',
]);

export const FIRST_PAGE: PageRequest = { page: 1, perPage: DEFAULT_PAGE_SIZE };

/** Errors: InvalidParameters. Bounds: page at least 1; per_page 1 to 100, more is reduced. */
export function readPage(sent: (name: string) => unknown): PageRequest {
  const problems: string[] = [];
  const page = readNumber('page', sent('page'), 1, problems);
  const perPage = readNumber('per_page', sent('per_page'), DEFAULT_PAGE_SIZE, problems);
  if (perPage === 0) problems.push('per_page has a value not allowed');
  else if (perPage < 0) problems.push('per_page is invalid');
  if (problems.length > 0) throw new InvalidParameters(problems);
  return { page: Math.max(page, 1), perPage: Math.min(perPage, MAX_PAGE_SIZE) };
}

function readNumber(name: string, raw: unknown, initial: number, problems: string[]): number {
  if (raw === undefined || raw === null) return initial;
  const value = toInt(raw);
  if (value === INVALID) {
    problems.push(`${name} is invalid`);
    return initial;
  }
  return value === null ? initial : (value as number);
}

/**
 * The keyset request, or null for ordinary pages.
 * Errors: MethodNotAllowed for an order that has no keyset; InvalidParameters for a cursor that is not ours.
 */
export function readKeyset(
  option: KeysetOption | undefined,
  sent: (name: string) => unknown,
  request: PageRequest,
  isAnonymous: boolean,
): KeysetRequest | null {
  const kind = sent('pagination');
  if (kind === undefined || kind === null || kind === 'legacy') return null;
  if (kind !== 'keyset') throw new InvalidParameters(['pagination does not have a valid value']);
  if (option === undefined || (option.anonymousOnly && !isAnonymous)) return null;
  const orderBy = sent('order_by');
  const sort = sent('sort');
  const fits =
    (orderBy === undefined || option.orderBy.includes(String(orderBy))) &&
    (sort === undefined || (option.sort ?? ['asc', 'desc']).includes(sort as 'asc' | 'desc'));
  if (!fits) throw new MethodNotAllowed(NO_KEYSET);
  const cursor = sent('cursor');
  const content = cursor === undefined || cursor === '' ? null : readCursor(String(cursor));
  const idAfter = toInt(sent('id_after') ?? '');
  const idBefore = toInt(sent('id_before') ?? '');
  const problems = [
    ...(content === undefined ? ['cursor is invalid'] : []),
    ...(idAfter === INVALID ? ['id_after is invalid'] : []),
    ...(idBefore === INVALID ? ['id_before is invalid'] : []),
  ];
  if (problems.length > 0) throw new InvalidParameters(problems);
  const ids = { idAfter: idAfter as number | null, idBefore: idBefore as number | null };
  return { perPage: request.perPage, cursor: content ?? null, ...ids };
}

/** Errors: MethodNotAllowed past OFFSET_LIMIT where a keyset is there instead. */
export function refuseDeepOffset(
  option: KeysetOption | undefined,
  { page, perPage }: PageRequest,
  isAnonymous: boolean,
): void {
  if (option?.offsetCapFor === undefined || (page - 1) * perPage < OFFSET_LIMIT) return;
  if (option.anonymousOnly && !isAnonymous) return;
  throw new MethodNotAllowed(
    `Offset pagination has a maximum allowed offset of ${OFFSET_LIMIT} for requests that return objects of type ` +
      `${option.offsetCapFor}. Remaining records can be retrieved using keyset pagination.`,
  );
}

/** Everything of a request that a link repeats. Shape: `url` is absolute and has no query. */
export interface LinkSource {
  readonly url: string;
  readonly path: RawParams;
  readonly query: RawParams;
  /** Declared parameters as the handler got them, for their defaults. */
  readonly params: RawParams;
}

/**
 * Of longer links only the one that leads on is told, if it fits: clients read 16 KiB of headers in all, each link repeats
 * a query that may be as long, and pages are numbered besides.
 */
const LINK_BYTES = 12 * 1024;

/**
 * The headers of an offset page, as a flat list of names and values. Absent neighbours are empty texts.
 * Source: reference identity-and-import 1.3.
 */
export function pageHeaders(
  request: PageRequest,
  result: { readonly total: number | null; readonly hasNext: boolean },
  source: LinkSource,
): string[] {
  const { page, perPage } = request;
  const total = result.total !== null && result.total <= COUNT_LIMIT ? result.total : null;
  const last = total === null ? null : Math.max(1, Math.ceil(total / perPage));
  const next = result.hasNext ? page + 1 : null;
  const previous = page > 1 && (last === null || page <= last) ? page - 1 : null;
  const link = linkTo(source, perPage);
  const toNext = next === null ? [] : [`<${link(next)}>; rel="next"`];
  const links = [
    ...(previous === null ? [] : [`<${link(previous)}>; rel="prev"`]),
    ...toNext,
    `<${link(1)}>; rel="first"`,
    ...(last === null ? [] : [`<${link(last)}>; rel="last"`]),
  ].join(', ');
  const headers = [
    'x-page',
    String(page),
    'x-per-page',
    String(perPage),
    'x-next-page',
    next === null ? '' : String(next),
    'x-prev-page',
    previous === null ? '' : String(previous),
  ];
  if (links.length <= LINK_BYTES) headers.push('link', links);
  else if (toNext.length > 0 && toNext[0]!.length <= LINK_BYTES) headers.push('link', toNext[0]!);
  if (last !== null) headers.push('x-total', String(total), 'x-total-pages', String(last));
  return headers;
}

/** Only rel `next`, and nothing at the end. */
export function keysetHeaders(
  perPage: number,
  next: Readonly<Record<string, string | number>> | null,
  source: LinkSource,
): string[] {
  if (next === null) return [];
  const more = pairsOf({ pagination: 'keyset', per_page: perPage, ...next });
  const pairs = [...repeatedPairs(source, KEYSET_NAMES), ...more];
  return ['link', `<${source.url}?${encode(sorted(pairs))}>; rel="next"`];
}

/** Gives the link to a page; all but the number is built once. */
function linkTo(source: LinkSource, perPage: number): (page: number) => string {
  const pairs = repeatedPairs(source, PAGE_NAMES);
  pairs.push(['per_page', String(perPage)]);
  sorted(pairs);
  const after = pairs.findIndex(([name]) => name > 'page');
  const before = encode(pairs.slice(0, after));
  const head = `${source.url}?${before}${before === '' ? '' : '&'}page=`;
  const tail = `&${encode(pairs.slice(after))}`;
  return (page) => `${head}${page}${tail}`;
}

/** Everything that was sent, defaults included, but for the names of `position` and credentials. The path wins. */
function repeatedPairs({ path, query, params }: LinkSource, position: ReadonlySet<string>): [string, string][] {
  const pairs = pairsOf(path);
  for (const name of Object.keys(query)) {
    if (!(name in path) && !position.has(name) && !SECRETS.has(name)) addPairsOf(pairs, name, query[name]);
  }
  for (const name of Object.keys(params)) {
    if (!(name in path) && !(name in query) && !position.has(name)) addPairsOf(pairs, name, params[name]);
  }
  return pairs;
}

function sorted(pairs: [string, string][]): [string, string][] {
  return pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
}

function encode(pairs: readonly [string, string][]): string {
  let text = '';
  for (const [name, value] of pairs) {
    text += `${text === '' ? '' : '&'}${encodeURIComponent(name)}=${encodeURIComponent(value)}`;
  }
  return text;
}
