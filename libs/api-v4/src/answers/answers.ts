import type { Readable } from 'node:stream';
import type { Page } from '@rookery/kernel';
import type { JsonPage, JsonText, AlternativeAnswer, UnfinishedAnswer } from './json-text';
import type { KeysetPage } from './keyset';
import type { Presenter } from './presenter';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** A part of a file. Units: bytes from the beginning, `end` included. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Opens the bytes of a file or of a range of it. Not called if the answer has only headers. `gone` is aborted if the
 * client leaves before the bytes are open.
 */
export type OpenRange = (range: ByteRange | null, gone: AbortSignal) => Readable | Promise<Readable>;

/** A file that a handler answers with. Units: `length` in bytes when known. */
export interface FileAnswer {
  /**
   * The bytes, or a function that opens them; ranges need the function or a Buffer. May be null if `knownVersions` of
   * the call contains the version, because no bytes are sent then.
   */
  readonly stream: Readable | Buffer | OpenRange | null;
  readonly mediaType: string;
  /** An answer without it is chunked and has no ranges. Fewer or more bytes than stated abort the connection. */
  readonly length?: number;
  /** Compared with `If-Modified-Since`, in whole seconds. */
  readonly lastModified?: Date;
  /** Additional headers, with names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Name of the attachment. Without it the file is sent inline. */
  readonly filename?: string;
  /** Lets browsers display the file, although it has a name: for pictures whose media type was checked. */
  readonly isInline?: true;
  /** Identifies the contents (ETag), in visible ASCII without quotes. Clients that have this version receive 304. */
  readonly version?: string;
  /** Forbids every cache to store the bytes. */
  readonly isNeverStored?: true;
  /** Value of `Cache-Control` that clients expect, instead of the one that follows from the other fields. */
  readonly cacheControl?: string;
  /**
   * Allows shared caches to store the file, because everyone may read it. They revalidate it each time, like clients.
   */
  readonly isPublic?: boolean;
  /** The address names the content, so that the client may keep it without asking again. */
  readonly isImmutable?: true;
  /** Value of `Vary`: names of the request headers that choose the content. */
  readonly vary?: string;
}

/** Declares keyset paging for a list in addition to offset pages. Source: reference identity-and-import 1.3. */
export interface KeysetOption {
  /** Orders with keyset paging; the first is the documented default. Others are refused with 405. */
  readonly orderBy: readonly string[];
  readonly sort?: readonly ('asc' | 'desc')[];
  /** Name of the resource in the refusal of offsets past 50,000 rows. Without it large offsets are allowed. */
  readonly offsetCapFor?: string;
  /** Ignores `pagination=keyset` of signed-in callers and answers offset pages (groups). */
  readonly isAnonymousOnly?: boolean;
}

/** Declares the successful answer of an endpoint. `R` is the handler's result, in domain types and not API types. */
export interface Answer<R> {
  readonly kind:
    | 'one'
    | 'page'
    | 'all'
    | 'none'
    | 'message'
    | 'empty'
    | 'json'
    | 'file'
    | 'redirect'
    | 'web'
    | 'headers';
  readonly status: number;
  readonly presenter?: Presenter<never>;
  readonly schema?: JsonSchema;
  readonly message?: string;
  readonly keyset?: KeysetOption;
  /** The endpoint declares `pagination` and `page_token` itself and answers with the page that they name. */
  readonly hasPageTokens?: true;
  /** Refuses pages and page sizes below 1, which other lists read as 1 or refuse with other texts. */
  readonly hasStrictPages?: true;
  readonly mediaType?: string;
  /** Schemas of further types of a file, which the client chooses by `Accept`. */
  readonly otherTypes?: Readonly<Record<string, JsonSchema>>;
  /** Descriptions of the headers that a handler returns, by lower-case name. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Clients may request byte ranges of the file. */
  readonly hasRanges?: true;
  /** The gateway forwards the file as a stream, as it does where `hasRanges` is set. */
  readonly isStreamed?: true;
  /** Second success, for a handler that returns an `AlternativeAnswer`. */
  readonly alternative?: { readonly status: number; readonly schema: JsonSchema | null };
  /** Exists only for type inference. */
  readonly returns?: (value: never) => R;
}

/** 200 with one resource. */
export function one<T>(presenter: Presenter<T>): Answer<T | JsonText> {
  return { kind: 'one', status: 200, presenter };
}

/** 201 with the created resource. */
export function created<T>(presenter: Presenter<T>): Answer<T | JsonText> {
  return { kind: 'one', status: 201, presenter };
}

/** 200 with one page and the paging headers; adds `page` and `per_page`. */
export function page<T>(
  presenter: Presenter<T>,
  options: Pick<Answer<T>, 'keyset' | 'hasPageTokens' | 'hasStrictPages'> = {},
): Answer<Page<T> | JsonPage | KeysetPage<T>> {
  return { kind: 'page', status: 200, presenter, ...options };
}

/** 200 with an object of several lists, each cut to the same page. The paging headers describe the longest list. */
export function pagedLists(schema: JsonSchema): Answer<JsonPage> {
  return { kind: 'page', status: 200, schema };
}

/** 200 with a whole short list, without paging. */
export function unpagedList<T>(
  presenter: Presenter<T>,
  options: { readonly status?: 200 | 201 } = {},
): Answer<readonly T[] | JsonText> {
  return { kind: 'all', status: options.status ?? 200, presenter };
}

/** 204 without a body. */
export function noContent(): Answer<void> {
  return { kind: 'none', status: 204 };
}

/** 200 without a body. */
export function emptyOk(): Answer<void> {
  return { kind: 'empty', status: 200 };
}

/** 202 with `{"message":"202 Accepted"}`, or without a body. */
export function accepted(options: { readonly empty?: true } = {}): Answer<void> {
  return options.empty ? { kind: 'empty', status: 202 } : { kind: 'message', status: 202, message: '202 Accepted' };
}

/** 201 with `{"message":"201 Created"}`, for uploads whose resource is not shown. */
export function createdMessage(): Answer<void> {
  return { kind: 'message', status: 201, message: '201 Created' };
}

/** A JSON value with its schema, for small answers without a presenter. */
export function json<T = unknown>(
  schema: JsonSchema,
  options: { readonly status?: 200 | 201 | 202 } = {},
): Answer<T | JsonText> {
  return { kind: 'json', status: options.status ?? 200, schema };
}

/** Adds a second success to an answer. The handler selects it by returning an `AlternativeAnswer`. */
export function withAlternative<R>(
  answer: Answer<R>,
  status: 200 | 201 | 202,
  schema: JsonSchema,
): Answer<R | AlternativeAnswer> {
  return { ...answer, alternative: { status, schema } } as Answer<R | AlternativeAnswer>;
}

/** Adds 202 with the same resource, which is still being made: the handler returns an `UnfinishedAnswer` for it. */
export function oneOrUnfinished<T>(presenter: Presenter<T>): Answer<T | JsonText | UnfinishedAnswer<T>> {
  const alternative = { status: 202, schema: presenter.reference };
  return { ...one(presenter), alternative } as Answer<T | JsonText | UnfinishedAnswer<T>>;
}

/** Adds a second success without a body, 204: the handler returns `new AlternativeAnswer(null)` for it. */
export function orNoContent<R>(answer: Answer<R>): Answer<R | AlternativeAnswer> {
  return { ...answer, alternative: { status: 204, schema: null } } as Answer<R | AlternativeAnswer>;
}

/** Headers of an answer without a body, with names in lower case. */
export type AnswerHeaders = Readonly<Record<string, string>>;

/** 204 without a body, with the headers that the handler returns. `headerDescriptions` describes each header. */
export function noContentWithHeaders(headerDescriptions: AnswerHeaders): Answer<AnswerHeaders> {
  return { kind: 'headers', status: 204, headers: headerDescriptions };
}

/** Adds a second success without a body, 204, to a file: the handler returns an `AlternativeAnswer` with headers for it. */
export function orNoContentWithHeaders(
  answer: Answer<FileAnswer>,
  about: AnswerHeaders,
): Answer<FileAnswer | AlternativeAnswer> {
  return { ...orNoContent(answer), headers: about };
}

/** 200 with a file. `otherTypes` has the meaning of that in `Answer`. */
export function file(
  mediaType = 'application/octet-stream',
  schema?: JsonSchema,
  otherTypes?: Readonly<Record<string, JsonSchema>>,
): Answer<FileAnswer> {
  return {
    ...{ kind: 'file', status: 200, mediaType },
    ...(schema === undefined ? {} : { schema }),
    ...(otherTypes === undefined ? {} : { otherTypes }),
  };
}

/** 200 with a document in one of several media types, which the handler chooses by `Accept`. */
export function negotiatedFile(mediaType: string, ...otherTypes: readonly string[]): Answer<FileAnswer> {
  return file(mediaType, undefined, Object.fromEntries(otherTypes.map((type) => [type, {}])));
}

/**
 * 200 with a streamed file of any length. Supports ranges (206, 416), conditions (304, 412), and `HEAD` without opening
 * the file. The gateway forwards it with back-pressure. Source: ADR 0086.
 */
export function streamedFile(
  mediaType = 'application/octet-stream',
  otherTypes?: Readonly<Record<string, JsonSchema>>,
): Answer<FileAnswer> {
  return { ...file(mediaType, undefined, otherTypes), hasRanges: true };
}

/** 200 with JSON that the handler streams, because it may be large, with headers of its own. `HEAD` opens nothing. */
export function streamedJson(schema: JsonSchema): Answer<FileAnswer> {
  return { ...file('application/json', schema), isStreamed: true };
}

/** 302 to the absolute URL that the handler returns. Not for writes, which clients would not repeat there. */
export function redirect(): Answer<string> {
  return { kind: 'redirect', status: 302 };
}

/** A page for a browser. `html` is the content of `<main>`, in which texts of users must be escaped. */
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
