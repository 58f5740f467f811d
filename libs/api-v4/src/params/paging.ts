import { COUNT_LIMIT, DEFAULT_PAGE_SIZE, InvalidParameters, MAX_PAGE_SIZE, MethodNotAllowed } from '@rookery/kernel';
import type { PageRequest } from '@rookery/kernel';
import type { KeysetOption } from '../answers/answers';
import type { RawParams } from './bracket-params';
import { appendBracketedPairs, toPairs } from './bracket-params';
import type { KeysetRequest } from '../call/call';
import { INVALID, toInt } from './coercion';
import { readCursor } from '../answers/keyset';

/** Largest offset of lists with keyset paging. Source: reference identity-and-import 1.3. */
const OFFSET_LIMIT = 50_000;
const NO_KEYSET = 'Keyset pagination is not yet available for this type of request';
/** Credentials that the gateway reads from a query. */
export const CREDENTIAL_NAMES = ['private_token', 'access_token', 'job_token'] as const;
/** Query parameters that links must not repeat. */
const SECRETS: ReadonlySet<string> = new Set([...CREDENTIAL_NAMES, 'token']);

export const PAGE_NAMES: ReadonlySet<string> = new Set(['page', 'per_page']);
export const KEYSET_NAMES: ReadonlySet<string> = new Set([
  ...PAGE_NAMES,
  'pagination',
  'page_token',
  'cursor',
  'id_after',
  'id_before',
]);

export const FIRST_PAGE: PageRequest = { page: 1, perPage: DEFAULT_PAGE_SIZE };

/**
 * Reads the requested page. Bounds: page at least 1; per_page 1 to 100, larger values are reduced. Errors:
 * InvalidParameters. With `isStrict` no page below 1 is read as the first. Source: reference repositories 4.1.
 */
export function readPage(sent: (name: string) => unknown, isStrict = false): PageRequest {
  const problems: string[] = [];
  const page = readPagingNumber('page', sent('page'), 1, problems);
  const perPage = readPagingNumber('per_page', sent('per_page'), DEFAULT_PAGE_SIZE, problems);
  if (isStrict) {
    if (page < 1) problems.push('page does not have a valid value');
    if (perPage < 1) problems.push('per_page does not have a valid value');
  } else if (perPage === 0) problems.push('per_page has a value not allowed');
  else if (perPage < 0) problems.push('per_page is invalid');
  if (problems.length > 0) throw new InvalidParameters(problems);
  return { page: Math.max(page, 1), perPage: Math.min(perPage, MAX_PAGE_SIZE) };
}

function readPagingNumber(name: string, raw: unknown, initial: number, problems: string[]): number {
  if (raw === undefined || raw === null) return initial;
  const value = toInt(raw);
  if (value === INVALID) {
    problems.push(`${name} is invalid`);
    return initial;
  }
  return value === null ? initial : (value as number);
}

/**
 * Reads the keyset parameters; null for offset pages.
 * Errors: MethodNotAllowed for an order without a keyset; InvalidParameters for a malformed cursor.
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
  if (option === undefined || (option.isAnonymousOnly && !isAnonymous)) return null;
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

/** Errors: MethodNotAllowed for an offset past OFFSET_LIMIT if the list has keyset paging. */
export function refuseDeepOffset(
  option: KeysetOption | undefined,
  { page, perPage }: PageRequest,
  isAnonymous: boolean,
): void {
  if (option?.offsetCapFor === undefined || (page - 1) * perPage < OFFSET_LIMIT) return;
  if (option.isAnonymousOnly && !isAnonymous) return;
  throw new MethodNotAllowed(
    `Offset pagination has a maximum allowed offset of ${OFFSET_LIMIT} for requests that return objects of type ` +
      `${option.offsetCapFor}. Remaining records can be retrieved using keyset pagination.`,
  );
}

/** Parts of a request that page links repeat. `url` is absolute and has no query. */
export interface LinkSource {
  readonly url: string;
  readonly path: RawParams;
  readonly query: RawParams;
  /** Declared parameters with their defaults, as the handler got them. */
  readonly params: RawParams;
}

/**
 * Longest Link header. If all links are longer, only the next page is linked, if that fits: clients read at most 16 KiB
 * of headers, each link repeats the query, and other headers have the page numbers. Units: characters.
 */
const LINK_BYTES = 12 * 1024;

/**
 * Returns the headers of an offset page, as a flat list of names and values. Missing neighbour pages are empty texts.
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
  const link = createPageLinker(source, perPage);
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

/** Returns the headers of a keyset page: a link with rel `next`; none for the last page. */
export function keysetHeaders(
  perPage: number,
  next: Readonly<Record<string, string | number>> | null,
  source: LinkSource,
): string[] {
  if (next === null) return [];
  const more = toPairs({ pagination: 'keyset', per_page: perPage, ...next });
  const pairs = [...collectPageLinkPairs(source, new Set([...KEYSET_NAMES, ...Object.keys(next)])), ...more];
  return ['link', `<${source.url}?${encodeQuery(sortPairsByName(pairs))}>; rel="next"`];
}

/** Returns a function that builds the link to a page. Everything except the page number is built once. */
function createPageLinker(source: LinkSource, perPage: number): (page: number) => string {
  const pairs = collectPageLinkPairs(source, PAGE_NAMES);
  pairs.push(['per_page', String(perPage)]);
  sortPairsByName(pairs);
  const after = pairs.findIndex(([name]) => name > 'page');
  const before = encodeQuery(pairs.slice(0, after));
  const head = `${source.url}?${before}${before === '' ? '' : '&'}page=`;
  const tail = `&${encodeQuery(pairs.slice(after))}`;
  return (page) => `${head}${page}${tail}`;
}

/**
 * Returns the sent parameters and defaults, without credentials and the names in `pagingNames`. Path parameters have
 * precedence.
 */
function collectPageLinkPairs(
  { path, query, params }: LinkSource,
  pagingNames: ReadonlySet<string>,
): [string, string][] {
  const pairs = toPairs(path);
  for (const name of Object.keys(query)) {
    if (!(name in path) && !pagingNames.has(name) && !SECRETS.has(name)) appendBracketedPairs(pairs, name, query[name]);
  }
  for (const name of Object.keys(params)) {
    if (!(name in path) && !(name in query) && !pagingNames.has(name)) appendBracketedPairs(pairs, name, params[name]);
  }
  return pairs;
}

function sortPairsByName(pairs: [string, string][]): [string, string][] {
  return pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
}

function encodeQuery(pairs: readonly [string, string][]): string {
  let text = '';
  for (const [name, value] of pairs) {
    text += `${text === '' ? '' : '&'}${encodeURIComponent(name)}=${encodeURIComponent(value)}`;
  }
  return text;
}
