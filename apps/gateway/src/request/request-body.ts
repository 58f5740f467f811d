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

/** Ends a stream with a refusal for the client. */
export class BodyRefused extends Error {
  constructor(readonly refusal: Refusal) {
    super(refusal.reason);
  }
}

/**
 * Collects a small body. Returns a refusal if it takes too long or exceeds `limit`, and null if the client left.
 * `length` is -1 for a body without a stated length. Units of `limit`: bytes.
 */
export function collectBody(
  request: IncomingMessage,
  length: number,
  slowPeerMs: number,
  limit = SMALL_BODY,
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
      if (received > limit) settle(limit === SMALL_BODY ? REFUSALS.unreadBody : REFUSALS.tooLarge);
    };
    const onEnd = (): void => settle(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, received));
    const onClose = (): void => settle(received === length ? Buffer.concat(chunks, received) : null);
    const timer = setTimeout(() => settle(REFUSALS.requestTimeout), slowPeerMs * SMALL_BODY_PATIENCE);
    request.on('data', onData).on('end', onEnd).on('close', onClose);
  });
}

export function isCollectedBody(outcome: Buffer | Refusal): outcome is Buffer {
  return !isRefusal(outcome);
}

/** Checks that the caller's permissions are unchanged. Returns the refusal that ends the request, or null. */
export type Recheck = () => Promise<Refusal | null>;

export interface MeterLimits {
  /** Units: bytes. */
  readonly limit: number;
  readonly slowPeerMs: number;
  /** The body may be slow while bytes arrive; otherwise a minimum rate applies. */
  readonly mayBeSlow: boolean;
  /** Longest time without progress because the service does not read. Units: milliseconds. */
  readonly serviceMs: number;
}

/**
 * Number of slow-peer times after which the gateway gives up a client that takes no bytes. It gives up a service after the
 * same time, unless its route has a longer deadline.
 */
export const STALLED_TIMES = 3;

/**
 * Forwards a body and counts its bytes. It ends the stream after more than `limit` bytes, and when the service stops reading.
 * It also ends it for a slow client: a streamed body when no byte has arrived for the slow-peer time (a setting), any other
 * body when it arrives at less than 1 KiB a second after that time. The sender may lose permissions meanwhile, so the last chunk is held back until a recheck: no service acts
 * before it has the complete body. Source: reference reliability 4.3, 6.3; ADR 0086.
 */
export class BodyMeter extends Transform {
  private received = 0;
  private held: Buffer | null = null;
  /** Bytes at the last check, and the time since the service last read at a check. Units: milliseconds. */
  private seen = 0;
  private stalledMs = 0;
  /** The client has sent all of it; the service may still have to read. */
  private isWhole = false;
  private readonly startedAt = performance.now();
  private readonly timer: NodeJS.Timeout;
  private resolveBegun: () => void = () => undefined;

  /** Resolves with the first byte, or with the end of an empty body. Rejects when the stream is given up before. */
  readonly begun: Promise<void>;

  constructor(
    private readonly limits: MeterLimits,
    private readonly recheck: Recheck,
  ) {
    super();
    this.timer = setInterval(() => this.checkProgress(), limits.slowPeerMs).unref();
    this.begun = new Promise((resolve, reject) => {
      this.resolveBegun = resolve;
      this.once('close', () => reject(this.errored ?? new Error('client gone')));
    });
    this.begun.catch(() => undefined);
    // Before its request is sent nothing reads the body, and an error without a handler would end the process.
    this.on('error', () => undefined);
    this.once('close', () => clearInterval(this.timer));
  }

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    this.resolveBegun();
    this.received += chunk.length;
    if (this.received > this.limits.limit) return done(new BodyRefused(REFUSALS.tooLarge));
    const before = this.held;
    this.held = chunk;
    done(null, before ?? undefined);
  }

  override _flush(done: TransformCallback): void {
    this.resolveBegun();
    this.isWhole = true;
    this.recheck().then(
      (refusal) => (refusal ? done(new BodyRefused(refusal)) : done(null, this.held ?? undefined)),
      (error: Error) => done(error),
    );
  }

  private checkProgress(): void {
    const hasMoved = this.received > this.seen;
    this.seen = this.received;
    // Waiting data means that the service is slow, not the client.
    const waitsForService = this.writableNeedDrain || this.readableLength > 0;
    this.stalledMs = waitsForService && !hasMoved ? this.stalledMs + this.limits.slowPeerMs : 0;
    if (this.stalledMs >= this.limits.serviceMs) this.destroy(new BodyRefused(REFUSALS.late));
    else if (!waitsForService && !this.isWhole && this.isClientTooSlow(hasMoved))
      this.destroy(new BodyRefused(REFUSALS.requestTimeout));
  }

  private isClientTooSlow(hasReceived: boolean): boolean {
    if (this.limits.mayBeSlow) return !hasReceived;
    const counted = performance.now() - this.startedAt - this.limits.slowPeerMs;
    return this.received < (counted / 1000) * LEAST_BYTES_PER_SECOND;
  }
}
