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

/**
 * Passes a body on while counting it: more than `limit` bytes, or less than 1 KiB a second once the first patience is
 * over, ends it. Who sends it may lose their rights meanwhile, so the last of it is held back until they were looked at
 * again: no service does anything before it has the whole. Source: reference reliability 4.3, 6.3.
 */
export class BodyMeter extends Transform {
  private received = 0;
  private held: Buffer | null = null;
  private readonly startedAt = performance.now();
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly limit: number,
    private readonly slowPeerMs: number,
    private readonly lastLook: Recheck,
  ) {
    super();
    this.timer = setInterval(() => this.watchRate(), slowPeerMs).unref();
    this.once('close', () => clearInterval(this.timer));
  }

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    this.received += chunk.length;
    if (this.received > this.limit) return done(new BodyRefused(REFUSALS.tooLarge));
    const before = this.held;
    this.held = chunk;
    done(null, before ?? undefined);
  }

  override _flush(done: TransformCallback): void {
    clearInterval(this.timer);
    this.lastLook().then(
      (refusal) => (refusal ? done(new BodyRefused(refusal)) : done(null, this.held ?? undefined)),
      (error: Error) => done(error),
    );
  }

  private watchRate(): void {
    // What waits here waits for the service, not for the client.
    if (this.writableNeedDrain || this.readableLength > 0) return;
    const counted = performance.now() - this.startedAt - this.slowPeerMs;
    if (this.received < (counted / 1000) * LEAST_BYTES_PER_SECOND)
      this.destroy(new BodyRefused(REFUSALS.requestTimeout));
  }
}
