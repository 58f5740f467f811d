import type { Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { TooLarge } from '@rookery/kernel';
import type { Viewer } from '@rookery/kernel';
import type { FastifyRequest } from 'fastify';
import { MalformedBody, UnsupportedMediaType, UploadCut } from '../answers/errors';
import { ByteLimit, StreamedBody } from '../call/streamed-body';
import type { StreamedBodyOption } from '../call/streamed-body';

/** Time without a byte from a client that is waited for. The gateway gives up earlier. Units: milliseconds. */
const IDLE_MS = 60_000;
const LEAST_PATIENCE_MS = 1000;

/** Connections whose request may take longer to arrive than others. */
const receiving = new WeakSet<Socket>();

/** Whether a connection carries a streamed body, which is bound by its progress and not by a total time. */
export function isReceivingUpload(socket: Socket): boolean {
  return receiving.has(socket);
}

/** The streamed body of one request, from its head to its answer. */
export class Upload {
  private body: StreamedBody | null = null;
  private idle: NodeJS.Timeout | undefined;
  private patienceMs = 0;

  constructor(
    private readonly request: FastifyRequest,
    private readonly option: StreamedBodyOption,
  ) {}

  /** Whether the handler has the stream, so that nothing may be carried out a second time. */
  get isOpen(): boolean {
    return this.body !== null;
  }

  /**
   * The viewer with a deadline that moves while the body arrives: the time that the context gave counts from its end.
   */
  viewerOf(viewer: Viewer): Viewer {
    this.patienceMs ||= Math.max(LEAST_PATIENCE_MS, viewer.deadline - Date.now());
    const { deadline } = viewer;
    return moveDeadline({ ...viewer }, () =>
      this.body === null ? deadline : (this.body.endedAt ?? Date.now()) + this.patienceMs,
    );
  }

  /** Refuses by the head alone. Errors: UnsupportedMediaType, TooLarge. */
  checkHead(): void {
    const { types, maxBytes, inflates } = this.option;
    const { mediaType, coding, declaredSize } = this.head();
    const type = mediaType.split(';', 1)[0]!.trim().toLowerCase();
    if (types !== undefined && !types.includes(type)) throw new UnsupportedMediaType(mediaType);
    if (coding !== '' && !(inflates && isGzip(coding))) throw new UnsupportedMediaType(`${mediaType}, ${coding}`);
    if (declaredSize !== null && declaredSize > maxBytes) throw new TooLarge();
  }

  /** Shape: `recheck` as `StreamedBody` has it. Called once. */
  open(recheck: () => Promise<void>): StreamedBody {
    const { raw } = this.request;
    const { coding, ...facts } = this.head();
    const body = new StreamedBody(this.option, facts, recheck);
    const entry = coding === '' ? body : inflatedInto(body, this.option.maxBytes);
    this.body = body;
    receiving.add(raw.socket);
    // A handler may end without reading on; its answer says what was wrong.
    body.on('error', () => undefined);
    raw.on('error', () => undefined);
    const cut = (): void => void (entry.writableEnded || body.destroy(new UploadCut()));
    if (raw.destroyed) cut();
    else raw.once('close', cut).pipe(entry);
    this.watch(body);
    return body;
  }

  /** Takes what the client still sends, so that its connection can end or go on. */
  close(): void {
    const { raw } = this.request;
    clearInterval(this.idle);
    receiving.delete(raw.socket);
    if (this.body === null) return;
    raw.unpipe();
    if (!this.body.readableEnded) this.body.destroy();
    if (!raw.readableEnded) raw.resume();
  }

  private head(): { mediaType: string; coding: string; declaredSize: number | null } {
    const { headers } = this.request;
    const length = headers['content-length'];
    const coding = (headers['content-encoding'] ?? '').toLowerCase();
    return {
      mediaType: headers['content-type'] ?? '',
      coding: coding === 'identity' ? '' : coding,
      declaredSize: length === undefined ? null : Number(length),
    };
  }

  /** Ends an upload whose client sends nothing while it is waited for. */
  private watch(body: StreamedBody): void {
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

/** Makes a deadline one that is computed whenever it is read. Returns the target. */
export function moveDeadline<T extends { readonly deadline: number }>(target: T, get: () => number): T {
  return Object.defineProperty(target, 'deadline', { get, enumerable: true });
}

/** Inflates on the way to a body. Returns the stream that takes the bytes as they are sent. */
function inflatedInto(body: StreamedBody, maxBytes: number): ByteLimit {
  const sent = new ByteLimit(maxBytes);
  const gunzip = createGunzip().once('error', () => body.destroy(new MalformedBody()));
  pipeline(sent, gunzip, body, () => undefined);
  return sent;
}

function isGzip(coding: string): boolean {
  return coding === 'gzip' || coding === 'x-gzip';
}
