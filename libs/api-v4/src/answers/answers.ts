import type { Readable } from 'node:stream';
import type { Page } from '@rookery/kernel';
import type { JsonPage, JsonText, Otherwise } from './json-text';
import type { KeysetPage } from './keyset';
import type { Presenter } from './presenter';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** A part of a file. Units: bytes from the beginning, `end` included. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** Opens the bytes of a file, or of a part of it. Not called where only the head is answered. */
export type OpenRange = (range: ByteRange | null) => Readable | Promise<Readable>;

/** Bytes that a handler answers with. Units: `length` in bytes when known. */
export interface FileAnswer {
  /**
   * The bytes, or a function that opens them; ranges need the function or a Buffer. May be null where `knownVersions`
   * of the call has the version, since nothing is sent then.
   */
  readonly stream: Readable | Buffer | OpenRange | null;
  readonly mediaType: string;
  /** An answer without it is chunked and has no ranges. Fewer or more bytes than stated abort the connection. */
  readonly length?: number;
  /** Answers `If-Modified-Since`, in whole seconds. */
  readonly lastModified?: Date;
  /** Further headers. Shape: names in small letters. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as an attachment of this name; inline without. */
  readonly filename?: string;
  /** Browsers show it in place, under its name: pictures whose media type was checked. */
  readonly isInline?: true;
  /** Tells contents apart: who has this one is answered 304. Shape: visible ASCII without quotes. */
  readonly version?: string;
  /** Anybody may read it, so caches between may keep it; they ask again each time, as clients do. */
  readonly isPublic?: boolean;
}

/** Keyset paging of a list beside its ordinary pages. Source: reference identity-and-import 1.3. */
export interface KeysetOption {
  /** The orders that have it; the first is documented as default. Others are refused with 405. */
  readonly orderBy: readonly string[];
  readonly sort?: readonly ('asc' | 'desc')[];
  /** The noun of the refusal past an offset of 50,000 rows. */
  readonly offsetCapFor?: string;
  /** Ignore `pagination=keyset` of signed-in callers and answer ordinary pages (groups). */
  readonly anonymousOnly?: boolean;
}

/**
 * The success of an endpoint; two for those few that say so. `R` is what the handler returns: domain rows, never a shape of the API.
 */
export interface Answer<R> {
  readonly kind: 'one' | 'page' | 'all' | 'none' | 'message' | 'empty' | 'json' | 'file' | 'redirect' | 'web';
  readonly status: number;
  readonly presenter?: Presenter<never>;
  readonly schema?: JsonSchema;
  readonly message?: string;
  readonly keyset?: KeysetOption;
  readonly mediaType?: string;
  /** Parts of the file can be asked for. */
  readonly hasRanges?: true;
  /** What an `Otherwise` is answered with. */
  readonly otherwise?: { readonly status: number; readonly schema: JsonSchema };
  /** Only for inference. */
  readonly returns?: (value: never) => R;
}

/** 200 with one thing. */
export function one<T>(presenter: Presenter<T>): Answer<T | JsonText> {
  return { kind: 'one', status: 200, presenter };
}

/** 201 with the thing made. */
export function created<T>(presenter: Presenter<T>): Answer<T | JsonText> {
  return { kind: 'one', status: 201, presenter };
}

/** 200 with one page and the paging headers; adds `page` and `per_page`. */
export function page<T>(
  presenter: Presenter<T>,
  options: { readonly keyset?: KeysetOption } = {},
): Answer<Page<T> | JsonPage | KeysetPage<T>> {
  return { kind: 'page', status: 200, presenter, ...(options.keyset ? { keyset: options.keyset } : {}) };
}

/** As `page`, for an object that holds several lists: each is cut by the same page, the headers tell of the longest. */
export function pageOfLists(schema: JsonSchema): Answer<JsonPage> {
  return { kind: 'page', status: 200, schema };
}

/** 200 with a whole short list, without paging. */
export function all<T>(
  presenter: Presenter<T>,
  options: { readonly status?: 200 | 201 } = {},
): Answer<readonly T[] | JsonText> {
  return { kind: 'all', status: options.status ?? 200, presenter };
}

/** 204 without a body. */
export function none(): Answer<void> {
  return { kind: 'none', status: 204 };
}

/** 200 without a body. */
export function empty(): Answer<void> {
  return { kind: 'empty', status: 200 };
}

/** 202 with `{"message":"202 Accepted"}`, or without a body. */
export function accepted(options: { readonly empty?: true } = {}): Answer<void> {
  return options.empty ? { kind: 'empty', status: 202 } : { kind: 'message', status: 202, message: '202 Accepted' };
}

/** 201 with `{"message":"201 Created"}`: uploads whose thing is not shown. */
export function createdMessage(): Answer<void> {
  return { kind: 'message', status: 201, message: '201 Created' };
}

/** A plain JSON value with its schema: small answers that are no noun. */
export function json<T = unknown>(
  schema: JsonSchema,
  options: { readonly status?: 200 | 201 | 202 } = {},
): Answer<T | JsonText> {
  return { kind: 'json', status: options.status ?? 200, schema };
}

/** A second success: the handler tells it from the first by an `Otherwise`. */
export function orElse<R>(answer: Answer<R>, status: 200 | 201 | 202, schema: JsonSchema): Answer<R | Otherwise> {
  return { ...answer, otherwise: { status, schema } } as Answer<R | Otherwise>;
}

/** 200 with bytes. */
export function file(mediaType = 'application/octet-stream', schema?: JsonSchema): Answer<FileAnswer> {
  return { kind: 'file', status: 200, mediaType, ...(schema === undefined ? {} : { schema }) };
}

/**
 * 200 with bytes of any length, from a stream: with ranges (206, 416), conditions (304, 412), and a `HEAD` that opens
 * nothing. The gateway passes it on under back-pressure. Source: ADR 0086.
 */
export function streamed(mediaType = 'application/octet-stream'): Answer<FileAnswer> {
  return { kind: 'file', status: 200, mediaType, hasRanges: true };
}

/** 302 to the absolute URL that the handler returns; never on a write, which clients would not repeat. */
export function redirect(): Answer<string> {
  return { kind: 'redirect', status: 302 };
}

/** What a person sees in a browser. Shape: the content of `<main>` as HTML, whatever somebody wrote in it escaped. */
export interface WebPage {
  readonly title: string;
  readonly html: string;
  /** Default 200. */
  readonly status?: number;
}

/** A page for a browser; or 302 to the absolute URL that the handler of a GET returns. */
export function webPage(): Answer<WebPage | string> {
  return { kind: 'web', status: 200, mediaType: 'text/html' };
}
