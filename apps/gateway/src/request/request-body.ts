import type { IncomingMessage } from 'node:http';
import { Transform } from 'node:stream';
import type { TransformCallback } from 'node:stream';
import { isRefusal, REFUSALS } from './refusal';
import type { Refusal } from './refusal';

/** Bodies up to this length are collected, which is cheaper than streaming them. Units: bytes. */
export const SMALL_BODY = 64 * 1024;
const LEAST_BYTES_PER_SECOND = 1024;
/** A small body has this many times the patience of the slow-peer setting. */
const SMALL_BODY_PATIENCE = 3;

/** Why a stream was given up: carries the answer that the client gets. */
export class BodyRefused extends Error {
  constructor(readonly refusal: Refusal) {
    super(refusal.reason);
  }
}

/**
 * Collects a small body; the refusal when it takes too long, null when the client left. Shape: `length` -1 for that of a
 * read whose length is not stated: it may turn out to be too large.
 */
export function collect(
  request: IncomingMessage,
  length: number,
  slowPeerMs: number,
): Promise<Buffer | Refusal | null> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let received = 0;
    const settle = (outcome: Buffer | Refusal | null): void => {
      clearTimeout(timer);
      request.off('data', onData).off('end', onEnd).off('close', onClose);
      resolve(outcome);
    };
    const onData = (chunk: Buffer): void => {
      chunks.push(chunk);
      received += chunk.length;
      if (received > SMALL_BODY) settle(REFUSALS.unreadBody);
    };
    const onEnd = (): void => settle(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, received));
    const onClose = (): void => settle(received === length ? Buffer.concat(chunks, received) : null);
    const timer = setTimeout(() => settle(REFUSALS.requestTimeout), slowPeerMs * SMALL_BODY_PATIENCE);
    request.on('data', onData).on('end', onEnd).on('close', onClose);
  });
}

export function isCollected(outcome: Buffer | Refusal): outcome is Buffer {
  return !isRefusal(outcome);
}

/** Checks that the caller still has their rights. Shape: null, or the refusal that ends the request. */
export type Recheck = () => Promise<Refusal | null>;

export interface MeterLimits {
  /** Units: bytes. */
  readonly limit: number;
  readonly slowPeerMs: number;
  /** The body may be as slow as it likes while bytes move; else a least rate counts. */
  readonly mayBeSlow: boolean;
}

/** How often the slow-peer time may pass without a byte before a service that does not read is given up. */
const STALLED_TIMES = 3;

/**
 * Passes a body on while counting it. It is ended by more than `limit` bytes; by less than 1 KiB a second once the
 * slow-peer time is over, or for a streamed body by a slow-peer time without any byte; and by a service that stops
 * reading. The sender may lose their rights meanwhile, so the last chunk is held back until they were rechecked: no
 * service acts before it has the whole. Source: reference reliability 4.3, 6.3; ADR 0086.
 */
export class BodyMeter extends Transform {
  private received = 0;
  private held: Buffer | null = null;
  /** Bytes at the last look, and how many looks found the service not reading. */
  private seen = 0;
  private stalls = 0;
  private readonly startedAt = performance.now();
  private readonly timer: NodeJS.Timeout;
  private begin: () => void = () => undefined;

  /** Resolves with the first byte, or with the end of an empty body. Rejects when the stream is given up before. */
  readonly begun: Promise<void>;

  constructor(
    private readonly limits: MeterLimits,
    private readonly recheck: Recheck,
  ) {
    super();
    this.timer = setInterval(() => this.watch(), limits.slowPeerMs).unref();
    this.begun = new Promise((resolve, reject) => {
      this.begin = resolve;
      this.once('close', () => reject(this.errored ?? new Error('client gone')));
    });
    this.begun.catch(() => undefined);
    this.once('close', () => clearInterval(this.timer));
  }

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    this.begin();
    this.received += chunk.length;
    if (this.received > this.limits.limit) return done(new BodyRefused(REFUSALS.tooLarge));
    const before = this.held;
    this.held = chunk;
    done(null, before ?? undefined);
  }

  override _flush(done: TransformCallback): void {
    this.begin();
    clearInterval(this.timer);
    this.recheck().then(
      (refusal) => (refusal ? done(new BodyRefused(refusal)) : done(null, this.held ?? undefined)),
      (error: Error) => done(error),
    );
  }

  private watch(): void {
    const hasMoved = this.received > this.seen;
    this.seen = this.received;
    // What waits here waits for the service, not for the client.
    const waitsForService = this.writableNeedDrain || this.readableLength > 0;
    this.stalls = waitsForService && !hasMoved ? this.stalls + 1 : 0;
    if (this.stalls >= STALLED_TIMES) this.destroy(new BodyRefused(REFUSALS.late));
    else if (!waitsForService && this.isTooSlow(hasMoved)) this.destroy(new BodyRefused(REFUSALS.requestTimeout));
  }

  private isTooSlow(hasMoved: boolean): boolean {
    if (this.limits.mayBeSlow) return !hasMoved;
    const counted = performance.now() - this.startedAt - this.limits.slowPeerMs;
    return this.received < (counted / 1000) * LEAST_BYTES_PER_SECOND;
  }
}
