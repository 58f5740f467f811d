import type { Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { TooLarge } from '@rookery/kernel';
import type { Viewer } from '@rookery/kernel';
import type { FastifyRequest } from 'fastify';
import { MalformedBody, UnsupportedMediaType, UploadAborted } from '../answers/errors';
import { ByteLimit, StreamedBody } from '../call/streamed-body';
import type { StreamedBodyOption } from '../call/streamed-body';

/**
 * Longest time without a byte while the handler waits for the client. The gateway gives up earlier. Units:
 * milliseconds.
 */
const IDLE_MS = 60_000;
const MIN_PATIENCE_MS = 1000;

/** Connections whose request may exceed the usual time of arrival. */
const receiving = new WeakSet<Socket>();

/** Whether a connection carries a streamed body. Such a body must make progress but has no total time limit. */
export function isReceivingUpload(socket: Socket): boolean {
  return receiving.has(socket);
}

/** Lets the body of a connection take longer than the usual time of arrival. */
export function allowSlowBody(socket: Socket): void {
  receiving.add(socket);
}

/** Receives the streamed body of one request, from the check of its headers until its answer. */
export class UploadReceiver {
  private body: StreamedBody | null = null;
  private idle: NodeJS.Timeout | undefined;
  private patienceMs = 0;

  constructor(
    private readonly request: FastifyRequest,
    private readonly option: StreamedBodyOption,
  ) {}

  /** Whether the handler has the stream. The request cannot be executed a second time then. */
  get isOpen(): boolean {
    return this.body !== null;
  }

  /**
   * Returns the viewer with a deadline that moves while the body arrives: the time that the context grants counts from
   * the end of the body.
   */
  viewerOf(viewer: Viewer): Viewer {
    this.patienceMs ||= Math.max(MIN_PATIENCE_MS, viewer.deadline - Date.now());
    const { deadline } = viewer;
    return defineComputedDeadline({ ...viewer }, () =>
      this.body === null ? deadline : (this.body.endedAt ?? Date.now()) + this.patienceMs,
    );
  }

  /** Checks the headers before the body is read. Errors: UnsupportedMediaType, TooLarge. */
  checkHead(): void {
    const { types, maxBytes, inflates } = this.option;
    const { mediaType, coding, declaredSize } = this.readBodyHeaders();
    const type = mediaType.split(';', 1)[0]!.trim().toLowerCase();
    if (types !== undefined && !types.includes(type)) throw new UnsupportedMediaType(mediaType);
    if (coding !== '' && !(inflates && isGzip(coding))) throw new UnsupportedMediaType(`${mediaType}, ${coding}`);
    if (declaredSize !== null && declaredSize > maxBytes) throw new TooLarge();
  }

  /** Starts to receive the body. Called once. `recheck` has the meaning of that in `StreamedBody`. */
  open(recheck: () => Promise<void>): StreamedBody {
    const { raw } = this.request;
    const { coding, ...facts } = this.readBodyHeaders();
    const body = new StreamedBody(this.option, facts, recheck);
    const entry = coding === '' ? body : createGunzipInto(body, this.option.maxBytes);
    this.body = body;
    allowSlowBody(raw.socket);
    // A handler may end before it has read everything; its answer reports the problem.
    body.on('error', () => undefined);
    raw.on('error', () => undefined);
    const cut = (): void => void (entry.writableEnded || body.destroy(new UploadAborted()));
    if (raw.destroyed) cut();
    else raw.once('close', cut).pipe(entry);
    this.abortWhenIdle(body);
    return body;
  }

  /** Discards the rest of the body, so that the connection can be closed or reused. */
  close(): void {
    const { raw } = this.request;
    clearInterval(this.idle);
    receiving.delete(raw.socket);
    if (this.body === null) return;
    raw.unpipe();
    if (!this.body.readableEnded) this.body.destroy();
    if (!raw.readableEnded) raw.resume();
  }

  private readBodyHeaders(): { mediaType: string; coding: string; declaredSize: number | null } {
    const { headers } = this.request;
    const length = headers['content-length'];
    const coding = (headers['content-encoding'] ?? '').toLowerCase();
    return {
      mediaType: headers['content-type'] ?? '',
      coding: coding === 'identity' ? '' : coding,
      declaredSize: length === undefined ? null : Number(length),
    };
  }

  /** Aborts the upload if the client sends nothing for IDLE_MS while the handler waits for it. */
  private abortWhenIdle(body: StreamedBody): void {
    let seen = 0;
    const look = (): void => {
      const isWaiting = body.endedAt === null && !body.writableNeedDrain && body.readableLength === 0;
      if (isWaiting && body.size === seen) this.request.raw.destroy();
      seen = body.size;
    };
    this.idle = setInterval(look, IDLE_MS).unref();
    body.once('close', () => clearInterval(this.idle));
  }
}

/** Replaces the deadline by a computed one. Returns the target. */
export function defineComputedDeadline<T extends { readonly deadline: number }>(target: T, get: () => number): T {
  return Object.defineProperty(target, 'deadline', { get, enumerable: true });
}

/** Returns a stream that accepts gzip bytes and writes the inflated bytes to `body`. */
function createGunzipInto(body: StreamedBody, maxBytes: number): ByteLimit {
  const sent = new ByteLimit(maxBytes);
  const gunzip = createGunzip().once('error', () => body.destroy(new MalformedBody()));
  // Zeros after the last member end it with a chunk pending: the body would end before its last byte is here.
  gunzip.once('end', () => void (gunzip.writableLength > 0 && body.destroy(new MalformedBody())));
  pipeline(sent, gunzip, body, () => undefined);
  return sent;
}

function isGzip(coding: string): boolean {
  return coding === 'gzip' || coding === 'x-gzip';
}
