import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { MultipartFile, MultipartValue } from '@fastify/multipart';
import { InvalidParameters, TooLarge } from '@rookery/kernel';
import type { LocalRequest } from '@rookery/platform';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { RawParams } from './bracket-params';
import { addBracketedParam, isRecord, createEmptyParams, readUrlEncoded } from './bracket-params';
import type { UploadedFile } from '../call/call';
import type { ApiRequest } from '../call/api-request';
import { MalformedBody, UnsupportedMediaType } from '../answers/errors';
import {
  isBlankSudo,
  mayFormBeJsonWithSudo,
  isSudoSpelling,
  findEffectiveSudo,
  MultipartSudoScanner,
} from './unread-sudo';

/** Units: bytes. Source: reference reliability 6.3. */
export const DEFAULT_BODY_LIMIT = 1024 * 1024;
const MAX_JSON_DEPTH = 32;
const MULTIPART_PARTS = 1000;

/** A received body that is not parsed yet, so that unauthorized callers are refused before it is parsed. */
class UnparsedRequestBody {
  constructor(
    readonly kind: 'json' | 'form' | 'other',
    readonly content: string,
    readonly mediaType: string,
  ) {}
}

/** A parsed body. */
export interface ParsedBody {
  readonly params: RawParams;
  readonly files: Readonly<Record<string, UploadedFile>>;
}

const NO_PARAMS: RawParams = Object.freeze(createEmptyParams());
/** No parameters and no files. */
export const NO_BODY: ParsedBody = { params: NO_PARAMS, files: {} };
/** Stands for a query string that cannot be decoded. It is refused when parameters are validated. */
export const BROKEN_QUERY: RawParams = Object.freeze(createEmptyParams());

/**
 * Parses a query string. Never throws, because the router calls it outside of handlers: returns BROKEN_QUERY instead.
 */
export function parseQueryString(text: string): RawParams {
  try {
    return readUrlEncoded(text);
  } catch {
    return BROKEN_QUERY;
  }
}

/** Replaces Fastify's body parsers. JSON of internal routes (`/internal/`) is parsed at once, other bodies later. */
export function registerParsers(instance: FastifyInstance): void {
  instance.removeAllContentTypeParsers();
  const take =
    (kind: UnparsedRequestBody['kind']) => (request: FastifyRequest, content: string, done: ParserCallback) => {
      if (kind === 'json' && request.raw.url?.startsWith('/internal/')) return parseJsonBody(content, done);
      done(null, new UnparsedRequestBody(kind, content, request.headers['content-type'] ?? ''));
    };
  instance.addContentTypeParser(/^application\/([\w.-]+\+)?json\b/i, { parseAs: 'string' }, take('json'));
  instance.addContentTypeParser(/^application\/x-www-form-urlencoded\b/i, { parseAs: 'string' }, take('form'));
  instance.addContentTypeParser('*', { parseAs: 'string' }, take('other'));
}

/** Stands for a body that only the parsers of the HTTP server take or refuse. */
export const NEEDS_HTTP: unique symbol = Symbol('needs HTTP');
const PLAIN_TYPES: Readonly<Record<string, UnparsedRequestBody['kind']>> = {
  'application/json': 'json',
  'application/json; charset=utf-8': 'json',
  'application/x-www-form-urlencoded': 'form',
};
const WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

/**
 * Returns the body of a local call as the parsers of the HTTP server would. Returns NEEDS_HTTP for a media type outside
 * PLAIN_TYPES, a body without a type, over the limit or not in UTF-8, a body of GET, and a form to an internal route.
 * Units: `limit` in bytes.
 */
export function readLocalCallBody({ method, url, headers, body }: LocalRequest, limit: number): unknown {
  const type = headers['content-type'];
  if (!WITH_BODY.has(method)) return body === null ? undefined : NEEDS_HTTP;
  if (type === undefined) return body === null ? undefined : NEEDS_HTTP;
  const kind = Object.hasOwn(PLAIN_TYPES, type) ? PLAIN_TYPES[type] : undefined;
  if (kind === undefined || (body !== null && Buffer.byteLength(body) > limit)) return NEEDS_HTTP;
  if (Buffer.isBuffer(body) && !isUtf8(body)) return NEEDS_HTTP;
  const content = body?.toString() ?? '';
  if (!url.startsWith('/internal/')) return new UnparsedRequestBody(kind, content, type);
  // Other services send valid JSON objects.
  return kind === 'json' ? readJsonParams(content) : NEEDS_HTTP;
}

/** Disables body parsing in a scope whose routes read bodies as streams. */
export function disableBodyParsing(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
}

type ParserCallback = (error: Error | null, body?: unknown) => void;

function parseJsonBody(content: string, done: ParserCallback): void {
  try {
    done(null, readJsonParams(content));
  } catch (error) {
    done(error as Error);
  }
}

/**
 * Parses the parameters and files of a body.
 * Errors: MalformedBody, UnsupportedMediaType, TooLarge, InvalidParameters.
 */
export function readBody(request: ApiRequest, limit: number): ParsedBody | Promise<ParsedBody> {
  const body = request.body;
  if (body instanceof UnparsedRequestBody) {
    if (body.content === '') return NO_BODY;
    refuseUnsupportedBodyEncodings(request);
    if (body.kind === 'json') return { params: readJsonParams(body.content), files: {} };
    if (body.kind === 'form') return { params: readFormParams(body.content), files: {} };
    throw new UnsupportedMediaType(body.mediaType);
  }
  if (!isMultipart(request)) return NO_BODY;
  refuseUnsupportedBodyEncodings(request);
  return readMultipart(request, limit);
}

/** Whether a request has parts. Local calls have none. */
function isMultipart(request: ApiRequest): request is FastifyRequest {
  return (request as Partial<FastifyRequest>).isMultipart?.() ?? false;
}

const CHARSET = /;\s*charset\s*=\s*"?([^\s";]*)/i;
/** Accepted charsets. Parameter names are read correctly in them, because they agree with UTF-8 in ASCII. */
const CHARSETS: ReadonlySet<string> = new Set(['', 'utf-8', 'utf8', 'us-ascii', 'ascii', 'iso-8859-1', 'windows-1252']);

/**
 * Refuses encodings that would be misread: they could hide any parameter, also `sudo`. Errors: UnsupportedMediaType.
 */
function refuseUnsupportedBodyEncodings({ headers }: ApiRequest): void {
  const type = headers['content-type'] ?? '';
  const coding = headers['content-encoding'] ?? 'identity';
  const charset = CHARSET.exec(type)?.[1] ?? '';
  if (coding.toLowerCase() !== 'identity') throw new UnsupportedMediaType(`${type}, ${coding}`);
  if (!CHARSETS.has(charset.toLowerCase())) throw new UnsupportedMediaType(type);
}

/**
 * Returns a digest of a body. Multipart bodies are compared by their parts, because clients choose another boundary
 * each time.
 */
export function digestBody({ body }: ApiRequest, { params, files }: ParsedBody): Buffer {
  const digest = createHash('sha256');
  if (body instanceof UnparsedRequestBody) return digest.update(`${body.kind}\n${body.content}`).digest();
  digest.update(`parts\n${JSON.stringify(params)}\n`);
  for (const [name, { filename, mediaType, bytes }] of Object.entries(files)) {
    digest.update(JSON.stringify([name, filename, mediaType, bytes.length])).update(bytes);
  }
  return digest.digest();
}

function readFormParams(content: string): RawParams {
  const params = readUrlEncoded(content);
  if (mayFormBeJsonWithSudo(content)) params['sudo'] ??= content;
  return params;
}

/** Parses a JSON object. Empty content and `null` are an empty object. Errors: MalformedBody. */
function readJsonParams(content: string): RawParams {
  if (content.trim() === '') return NO_PARAMS;
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch {
    throw new MalformedBody();
  }
  if (value === null) return NO_PARAMS;
  if (!isRecord(value) || isNestedDeeper(value, MAX_JSON_DEPTH)) throw new MalformedBody();
  // JSON.parse keeps the last of several values with the same name, which could be a blank `sudo`.
  const isBlank = Object.keys(value).some((name) => isSudoSpelling(name) && isBlankSudo(value[name]));
  if (isBlank) value['sudo'] = findEffectiveSudo(content);
  return value;
}

function isNestedDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  for (const item of Object.values(value)) if (isNestedDeeper(item, levels - 1)) return true;
  return false;
}

async function readMultipart(request: FastifyRequest, limit: number): Promise<ParsedBody> {
  const params = createEmptyParams();
  const files = Object.create(null) as Record<string, UploadedFile>;
  const limits = { fieldSize: limit, fileSize: limit, fields: MULTIPART_PARTS, files: 10, fieldNameSize: 256 };
  let left = limit;
  const headers = new MultipartSudoScanner();
  request.raw.on('data', (chunk: Buffer) => headers.addChunk(chunk));
  try {
    for await (const part of request.parts({ limits })) {
      if (part.type === 'file') left -= await storeFilePart(part, files);
      else left -= storeTextPart(part, params);
      if (left < 0) throw new TooLarge();
    }
  } catch (error) {
    throw toMultipartError(error);
  }
  // Adds a `sudo` that the parser missed, so that it is refused like any unread one.
  if (headers.hasSudo && !Object.keys({ ...params, ...files }).some(isSudoSpelling)) params['sudo'] = 'a part';
  return { params, files };
}

async function storeFilePart(part: MultipartFile, files: Record<string, UploadedFile>): Promise<number> {
  const bytes = await part.toBuffer();
  // A form sends a part with an empty file name when no file was chosen; a part with bytes may have no file name.
  // A part named `sudo` is kept in any case, to be refused.
  if (part.filename || isSudoSpelling(part.fieldname))
    files[part.fieldname] = { filename: part.filename ?? '', mediaType: part.mimetype, bytes };
  return bytes.length;
}

function storeTextPart(part: MultipartValue, params: RawParams): number {
  if (part.valueTruncated) throw new TooLarge();
  const text = typeof part.value === 'string' ? part.value : JSON.stringify(part.value);
  addBracketedParam(params, part.fieldname, text);
  return text.length;
}

function toMultipartError(error: unknown): unknown {
  if (error instanceof TooLarge || error instanceof InvalidParameters) return error;
  const status = (error as { statusCode?: number }).statusCode;
  return status === 413 ? new TooLarge() : new MalformedBody();
}
