import { Server } from '@nestjs/microservices';
import type { CustomTransportStrategy, MessageHandler } from '@nestjs/microservices';
import type { EffectExtras } from './consume';
import { DurableConsumer } from './durable-consumer';
import type { ConsumerParts } from './durable-consumer';
import type { Effect } from './effects';

/** Units: milliseconds; a handler's statements time out sooner. */
const DRAIN_MS = 20_000;

/**
 * Nest's transport for events: each `@Consume` handler becomes a durable consumer of its own.
 * Source: architecture 4; reference stack 3; ADR 0025.
 */
export class JetStreamStrategy extends Server implements CustomTransportStrategy {
  override readonly transportId = Symbol('JetStream');
  private readonly effects: Effect[] = [];
  private consumers: DurableConsumer[] = [];

  constructor(private readonly parts: ConsumerParts) {
    super();
  }

  /** What this process does about events. */
  get handled(): readonly Effect[] {
    return this.effects;
  }

  /** Nest chains handlers of one pattern; here each has its own durable, inbox name and retries. */
  override addHandler(pattern: unknown, callback: MessageHandler, isEvent = false, extras: object = {}): void {
    const { effect, definition, gatherMs = 0 } = extras as Partial<EffectExtras>;
    if (!isEvent || effect === undefined || definition === undefined) {
      throw new Error(`the handler of ${String(pattern)} is not declared with @Consume`);
    }
    if (this.effects.some((one) => one.name === effect && one.definition.subject === definition.subject)) {
      throw new Error(`two handlers have the effect ${effect} on ${definition.subject}`);
    }
    this.effects.push({ name: effect, definition, gatherMs, call: (batch) => callback(batch) });
  }

  /** Returns at once, whether the bus is there or not. */
  listen(callback: () => void): void {
    this.parts.broker.start();
    this.consumers = this.effects.map((effect) => new DurableConsumer(effect, this.parts));
    for (const consumer of this.consumers) consumer.start();
    callback();
  }

  async close(): Promise<void> {
    const consumers = this.consumers.splice(0);
    await Promise.all(consumers.map((consumer) => consumer.stop(DRAIN_MS)));
  }

  on(): void {
    throw new Error('the bus announces its state in the log and in metrics');
  }

  unwrap<T>(): T {
    return this.parts.broker as T;
  }
}
