import type { ServerResponse } from 'node:http';
import { Transform } from 'node:stream';
import type { Readable, TransformCallback } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { encodeExtended } from 'content-disposition';
import { PreconditionFailed, Unavailable } from '@rookery/kernel';
import { currentWaiter } from '@rookery/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import fresh from 'fresh';
import parseRange from 'range-parser';
import type { ByteRange, FileAnswer, OpenRange } from './answers';
import { RangeNotSatisfiable } from './errors';
import { commonHeaders } from './reply';
import type { ReplyFacts } from './reply';

type RequestHeaders = FastifyRequest['headers'];

/** A single byte range. Requests for several ranges or other units get the whole file. */
const ONE_RANGE = /^bytes=(?:\d{1,15}-\d{0,15}|-\d{1,15})$/;

/**
 * Sends a file, the requested range of it, or only its headers. `hasRanges` repeats the declaration of the endpoint.
 * Without it only `If-None-Match` and `If-Modified-Since` are evaluated.
 * Errors: PreconditionFailed, RangeNotSatisfiable; a plain Error for a file without bytes. After an error that follows
 * the headers, the answer is incomplete and the caller must abort it.
 */
export async function writeFile(
  reply: FastifyReply,
  facts: ReplyFacts,
  file: FileAnswer,
  { headers: asked, hasRanges }: { readonly headers: RequestHeaders; readonly hasRanges: boolean },
): Promise<void> {
  try {
    const validators = validatorHeaders(file);
    if (hasRanges) checkPreconditions(asked, file);
    const headers = commonHeaders(facts, chooseCacheControl(file));
    if (file.vary !== undefined) headers.push('vary', file.vary);
    for (const [name, value] of Object.entries(validators)) headers.push(name, value);
    if (Object.keys(validators).length > 0 && fresh(asked, validators)) return replyWithoutBody(reply, 304, headers);
    if (file.stream === null) throw new Error('a file has no bytes although the caller does not have its version');
    headers.push(...contentHeaders(file));
    const size = knownSize(file);
    const range = hasRanges && !facts.isHead ? chooseByteRange(asked, file, size) : null;
    if (hasRanges && isSeekable(file) && size !== undefined) headers.push('accept-ranges', 'bytes');
    if (range) headers.push('content-range', `bytes ${range.start}-${range.end}/${size}`);
    const length = range ? range.end - range.start + 1 : size;
    if (length !== undefined) headers.push('content-length', String(length));
    if (facts.isHead) return replyWithoutBody(reply, 200, headers);
    await writeFileBytes(reply, file, { status: range ? 206 : 200, headers, range, length });
  } finally {
    // Closes the source even if it was not sent.
    if (isStream(file.stream)) file.stream.destroy();
  }
}

interface PlannedFileReply {
  readonly status: number;
  readonly headers: readonly string[];
  readonly range: ByteRange | null;
  readonly length: number | undefined;
}

async function writeFileBytes(reply: FastifyReply, { stream }: FileAnswer, planned: PlannedFileReply): Promise<void> {
  const { range, length, status, headers } = planned;
  if (Buffer.isBuffer(stream)) {
    reply.hijack();
    reply.raw.writeHead(status, [...headers]);
    reply.raw.end(range ? stream.subarray(range.start, range.end + 1) : stream);
    return;
  }
  const source = typeof stream === 'function' ? await openFileRange(reply, range, stream) : stream!;
  reply.hijack();
  if (!reply.raw.destroyed) reply.raw.writeHead(status, [...headers]);
  await sendToReader(length === undefined ? [source] : [source, new ExactLengthCheck(length)], reply.raw);
}

/**
 * Sends the first stream through the others to the reader of an answer. If the reader leaves, it closes the streams and
 * resolves. Errors: those of the streams.
 */
export async function sendToReader(
  streams: readonly [source: Readable, ...through: Transform[]],
  reader: ServerResponse,
): Promise<void> {
  const [source] = streams;
  let isGone = reader.destroyed;
  // If a stream fails, `pipeline` closes the reader as well, but later.
  reader.once('close', () => {
    isGone ||= source.errored === null && (!source.destroyed || source.readableEnded);
  });
  try {
    await pipeline([...streams, reader]);
  } catch (error) {
    if (!isGone || (error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  }
}

/**
 * Opens the bytes of a file. It may wait long, such as for a free process: the caller may have lost the permission
 * meanwhile, and a client that left must keep no place in a line. Errors: those of `open`; the refusal for the caller;
 * Unavailable without the client.
 */
async function openFileRange({ raw }: FastifyReply, range: ByteRange | null, open: OpenRange): Promise<Readable> {
  const gone = new AbortController();
  const abort = (): void => gone.abort(new Unavailable('gone'));
  if (raw.closed) abort();
  raw.once('close', abort);
  try {
    const source = await open(range, gone.signal);
    try {
      await currentWaiter()?.rights?.recheckBeforeRead();
    } catch (error) {
      // The refusal is the answer; the end of the source is no error of its own.
      source.on('error', () => undefined).destroy();
      throw error;
    }
    return source;
  } finally {
    raw.off('close', abort);
  }
}

/** Fails if the source has more or fewer bytes than stated, because Content-Length would be wrong then. */
class ExactLengthCheck extends Transform {
  constructor(private left: number) {
    super({ highWaterMark: 64 * 1024 });
  }

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    this.left -= chunk.length;
    if (this.left < 0) done(new Error('a file is longer than was stated'));
    else done(null, chunk);
  }

  override _flush(done: TransformCallback): void {
    done(this.left === 0 ? null : new Error('a file is shorter than was stated'));
  }
}

function replyWithoutBody(reply: FastifyReply, status: number, headers: readonly string[]): void {
  reply.hijack();
  reply.raw.writeHead(status, [...headers]);
  reply.raw.end();
}

function chooseCacheControl({ cacheControl, isNeverStored, isPublic, isImmutable }: FileAnswer): string {
  if (cacheControl !== undefined) return cacheControl;
  if (isNeverStored) return 'no-cache, max-age=0, must-revalidate';
  if (isImmutable) return 'private, max-age=31536000, immutable';
  return `max-age=0, ${isPublic ? 'public' : 'private'}, must-revalidate`;
}

function validatorHeaders({ version, lastModified }: FileAnswer): Record<string, string> {
  return {
    ...(version === undefined ? {} : { etag: `"${version}"` }),
    ...(lastModified === undefined ? {} : { 'last-modified': lastModified.toUTCString() }),
  };
}

function contentHeaders({ mediaType, filename, isInline, headers }: FileAnswer): string[] {
  return [
    ...['content-type', mediaType, 'x-content-type-options', 'nosniff'],
    // The file can neither load nor run anything, even if a browser misinterprets it.
    ...['content-security-policy', "default-src 'none'"],
    ...(filename === undefined ? [] : ['content-disposition', contentDisposition(filename, isInline)]),
    ...Object.entries(headers ?? {}).flat(),
  ];
}

/** Checks `If-Match` and `If-Unmodified-Since`. Errors: PreconditionFailed (RFC 9110 13.2.2). */
function checkPreconditions(requestHeaders: RequestHeaders, { version, lastModified }: FileAnswer): void {
  const wanted = requestHeaders['if-match'];
  if (wanted !== undefined) {
    const tags = wanted.split(',').map((tag) => tag.trim());
    if (!tags.includes('*') && (version === undefined || !tags.includes(`"${version}"`)))
      throw new PreconditionFailed();
    return;
  }
  const since = parseHttpDateSeconds(requestHeaders['if-unmodified-since']);
  if (since !== null && lastModified && toUnixSeconds(lastModified) > since) throw new PreconditionFailed();
}

/** Returns the requested range; null for the whole file. Errors: RangeNotSatisfiable (RFC 9110 14.2). */
function chooseByteRange(requestHeaders: RequestHeaders, file: FileAnswer, size: number | undefined): ByteRange | null {
  const { range } = requestHeaders;
  if (range === undefined || size === undefined || !isSeekable(file) || !ONE_RANGE.test(range)) return null;
  if (!matchesIfRange(requestHeaders['if-range'] as string | undefined, file)) return null;
  const ranges = parseRange(size, range);
  if (typeof ranges === 'number') throw new RangeNotSatisfiable(size);
  return ranges[0]!;
}

/** Evaluates `If-Range`: the range applies only if the client's part is of the current version or time. */
function matchesIfRange(ifRange: string | undefined, { version, lastModified }: FileAnswer): boolean {
  if (ifRange === undefined) return true;
  if (ifRange.includes('"')) return version !== undefined && ifRange.trim() === `"${version}"`;
  return lastModified !== undefined && parseHttpDateSeconds(ifRange) === toUnixSeconds(lastModified);
}

function parseHttpDateSeconds(date: string | undefined): number | null {
  const time = date === undefined ? NaN : Date.parse(date);
  return Number.isNaN(time) ? null : Math.floor(time / 1000);
}

function toUnixSeconds(date: Date): number {
  return Math.floor(date.getTime() / 1000);
}

function knownSize({ stream, length }: FileAnswer): number | undefined {
  return Buffer.isBuffer(stream) ? stream.length : length;
}

function isSeekable({ stream }: FileAnswer): boolean {
  return Buffer.isBuffer(stream) || typeof stream === 'function';
}

function isStream(stream: FileAnswer['stream']): stream is Readable {
  return stream !== null && typeof stream === 'object' && !Buffer.isBuffer(stream);
}

/** Sends the name in both forms, because some browsers and package clients read only one (RFC 6266, RFC 8187). */
function contentDisposition(filename: string, isInline = false): string {
  const name = filename.replace(/[\p{Cc}\p{Cs}/\\]/gu, '_');
  const plain = name.replace(/[^\x20-\x7e]|"/g, '_');
  return `${isInline ? 'inline' : 'attachment'}; filename="${plain}"; filename*=${encodeExtended(name)}`;
}
