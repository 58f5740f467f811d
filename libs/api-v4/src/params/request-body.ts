import { createHash } from 'node:crypto';
import type { MultipartFile, MultipartValue } from '@fastify/multipart';
import { InvalidParameters, TooLarge } from '@rookery/kernel';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { RawParams } from './bracket-params';
import { addPair, isRecord, noParams, readUrlEncoded } from './bracket-params';
import type { UploadedFile } from '../call/call';
import { MalformedBody, UnsupportedMediaType } from '../answers/errors';
import { isBlankSudo, isJsonWithSudo, isLikeSudo, meantSudoIn, PartHeads } from './unread-sudo';

/** Units: bytes. Source: reference reliability 6.3. */
export const DEFAULT_BODY_LIMIT = 1024 * 1024;
const MAX_JSON_DEPTH = 32;
const MULTIPART_PARTS = 1000;

/** A body that was received and is not read yet: who may not send it is refused before it is looked at. */
class UnreadBody {
  constructor(
    readonly kind: 'json' | 'form' | 'other',
    readonly content: string,
    readonly mediaType: string,
  ) {}
}

export interface ReadBody {
  readonly params: RawParams;
  readonly files: Readonly<Record<string, UploadedFile>>;
}

const NO_PARAMS: RawParams = Object.freeze(noParams());
/** No parameters and no files. */
export const NO_BODY: ReadBody = { params: NO_PARAMS, files: {} };
/** A query string that cannot be decoded; told so when parameters are judged. */
export const BROKEN_QUERY: RawParams = Object.freeze(noParams());

/** Never throws, since the router calls it outside of any handler. */
export function readQuery(text: string): RawParams {
  try {
    return readUrlEncoded(text);
  } catch {
    return BROKEN_QUERY;
  }
}

/** Replaces Fastify's parsers by ours. Calls between our own processes (`/internal/`) are JSON and read at once. */
export function registerParsers(instance: FastifyInstance): void {
  instance.removeAllContentTypeParsers();
  const take = (kind: UnreadBody['kind']) => (request: FastifyRequest, content: string, done: Done) => {
    if (kind === 'json' && request.raw.url?.startsWith('/internal/')) return parseNow(content, done);
    done(null, new UnreadBody(kind, content, request.headers['content-type'] ?? ''));
  };
  instance.addContentTypeParser(/^application\/([\w.-]+\+)?json\b/i, { parseAs: 'string' }, take('json'));
  instance.addContentTypeParser(/^application\/x-www-form-urlencoded\b/i, { parseAs: 'string' }, take('form'));
  instance.addContentTypeParser('*', { parseAs: 'string' }, take('other'));
}

/** Leaves bodies of every type unread, for a scope whose routes take them as streams. */
export function registerStreams(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
}

type Done = (error: Error | null, body?: unknown) => void;

function parseNow(content: string, done: Done): void {
  try {
    done(null, readJson(content));
  } catch (error) {
    done(error as Error);
  }
}

/**
 * The parameters in the body.
 * Errors: MalformedBody, UnsupportedMediaType, TooLarge, InvalidParameters.
 */
export function readBody(request: FastifyRequest, limit: number): ReadBody | Promise<ReadBody> {
  const body = request.body;
  if (body instanceof UnreadBody) {
    if (body.content === '') return NO_BODY;
    refuseOtherLetters(request);
    if (body.kind === 'json') return { params: readJson(body.content), files: {} };
    if (body.kind === 'form') return { params: readForm(body.content), files: {} };
    throw new UnsupportedMediaType(body.mediaType);
  }
  if (!request.isMultipart?.()) return NO_BODY;
  refuseOtherLetters(request);
  return readMultipart(request, limit);
}

const CHARSET = /;\s*charset\s*=\s*"?([^\s";]*)/i;
/** Those whose names of parameters are read as they are meant, since their first half is ASCII. */
const LETTERS: ReadonlySet<string> = new Set(['', 'utf-8', 'utf8', 'us-ascii', 'ascii', 'iso-8859-1', 'windows-1252']);

/** What is not read as it was written may say anything, also whom to act as. Errors: UnsupportedMediaType. */
function refuseOtherLetters({ headers }: FastifyRequest): void {
  const type = headers['content-type'] ?? '';
  const coding = headers['content-encoding'] ?? 'identity';
  const letters = CHARSET.exec(type)?.[1] ?? '';
  if (coding.toLowerCase() !== 'identity') throw new UnsupportedMediaType(`${type}, ${coding}`);
  if (!LETTERS.has(letters.toLowerCase())) throw new UnsupportedMediaType(type);
}

/** Tells bodies apart: as they were sent, but by their parts where the boundary between these is another each time. */
export function digestOf({ body }: FastifyRequest, { params, files }: ReadBody): Buffer {
  const digest = createHash('sha256');
  if (body instanceof UnreadBody) return digest.update(`${body.kind}\n${body.content}`).digest();
  digest.update(`parts\n${JSON.stringify(params)}\n`);
  for (const [name, { filename, mediaType, bytes }] of Object.entries(files)) {
    digest.update(JSON.stringify([name, filename, mediaType, bytes.length])).update(bytes);
  }
  return digest.digest();
}

function readForm(content: string): RawParams {
  const params = readUrlEncoded(content);
  if (isJsonWithSudo(content)) params['sudo'] ??= content;
  return params;
}

/** An object; nothing and `null` are an empty one. */
export function readJson(content: string): RawParams {
  if (content.trim() === '') return NO_PARAMS;
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch {
    throw new MalformedBody();
  }
  if (value === null) return NO_PARAMS;
  if (!isRecord(value) || isDeeper(value, MAX_JSON_DEPTH)) throw new MalformedBody();
  // The parser keeps the last of two with one name.
  const isBlank = Object.keys(value).some((name) => isLikeSudo(name) && isBlankSudo(value[name]));
  if (isBlank) value['sudo'] = meantSudoIn(content);
  return value;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  for (const item of Object.values(value)) if (isDeeper(item, levels - 1)) return true;
  return false;
}

async function readMultipart(request: FastifyRequest, limit: number): Promise<ReadBody> {
  const params = noParams();
  const files = Object.create(null) as Record<string, UploadedFile>;
  const limits = { fieldSize: limit, fileSize: limit, fields: MULTIPART_PARTS, files: 10, fieldNameSize: 256 };
  let left = limit;
  const heads = new PartHeads();
  request.raw.on('data', (chunk: Buffer) => heads.add(chunk));
  try {
    for await (const part of request.parts({ limits })) {
      if (part.type === 'file') left -= await keepFile(part, files);
      else left -= keepText(part, params);
      if (left < 0) throw new TooLarge();
    }
  } catch (error) {
    throw multipartError(error);
  }
  // Told as any other that is not read, where the parser did not find it.
  if (heads.nameSudo && !Object.keys({ ...params, ...files }).some(isLikeSudo)) params['sudo'] = 'a part';
  return { params, files };
}

async function keepFile(part: MultipartFile, files: Record<string, UploadedFile>): Promise<number> {
  const bytes = await part.toBuffer();
  // A part with an empty file name is what a form sends when nothing was chosen; one of bytes may have none at all.
  // One that says whom to act as is kept in any case, to be refused.
  if (part.filename || isLikeSudo(part.fieldname))
    files[part.fieldname] = { filename: part.filename ?? '', mediaType: part.mimetype, bytes };
  return bytes.length;
}

function keepText(part: MultipartValue, params: RawParams): number {
  if (part.valueTruncated) throw new TooLarge();
  const text = typeof part.value === 'string' ? part.value : JSON.stringify(part.value);
  addPair(params, part.fieldname, text);
  return text.length;
}

function multipartError(error: unknown): unknown {
  if (error instanceof TooLarge || error instanceof InvalidParameters) return error;
  const status = (error as { statusCode?: number }).statusCode;
  return status === 413 ? new TooLarge() : new MalformedBody();
}
