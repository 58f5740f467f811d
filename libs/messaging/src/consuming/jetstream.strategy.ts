import { Server } from '@nestjs/microservices';
import type { CustomTransportStrategy, MessageHandler } from '@nestjs/microservices';
import { EventFamily } from '@rookery/contracts';
import type { EventDefinition } from '@rookery/contracts';
import type { EffectExtras } from './consume';
import { DurableConsumer } from './durable-consumer';
import type { ConsumerParts } from './durable-consumer';
import type { Effect } from './effects';

/** Units: milliseconds; a handler's statements time out sooner. */
const DRAIN_MS = 20_000;

/**
 * Nest's transport for events: each `@Consume` handler gets a durable consumer of its own for every event of its effect.
 * Source: docs/architecture.md 3; ADR 0025.
 */
export class JetStreamStrategy extends Server implements CustomTransportStrategy {
  override readonly transportId = Symbol('JetStream');
  private readonly effects: Effect[] = [];
  private consumers: DurableConsumer[] = [];
  private readonly stopping = new AbortController();

  /**
   * `membersOf` returns the events provided for a family. `canStart` resolves when consumers may start, with false if
   * they never may.
   */
  constructor(
    private readonly parts: ConsumerParts,
    private readonly membersOf: (family: EventFamily) => readonly EventDefinition[],
    private readonly canStart: (signal: AbortSignal) => Promise<boolean>,
  ) {
    super();
    const help = 'Events that wait for their effect, as the bus counts them.';
    parts.metrics.gauge('rookery_consumer_pending', help, ['effect', 'subject'], async (gauge) => {
      const all = await Promise.all(this.consumers.map((consumer) => consumer.countPending()));
      for (const { effect, subject, count } of all) gauge.set({ effect, subject }, count);
    });
  }

  /** The effects of this process. */
  get handled(): readonly Effect[] {
    return this.effects;
  }

  /** Nest chains handlers with the same pattern; here each has its own durable, inbox name and retries. */
  override addHandler(pattern: unknown, callback: MessageHandler, isEvent = false, extras: object = {}): void {
    const { effect, of, gatherMs = 0 } = extras as Partial<EffectExtras>;
    if (!isEvent || effect === undefined || of === undefined) {
      throw new Error(`the handler of ${String(pattern)} is not declared with @Consume`);
    }
    for (const definition of of instanceof EventFamily ? this.membersOf(of) : [of]) {
      if (this.effects.some((one) => one.name === effect && one.definition.subject === definition.subject)) {
        throw new Error(`two handlers have the effect ${effect} on ${definition.subject}`);
      }
      this.effects.push({ name: effect, definition, gatherMs, call: (batch) => callback(batch) });
    }
  }

  /** Returns at once, whether the bus is up or not. */
  listen(callback: () => void): void {
    this.parts.broker.start();
    this.consumers = this.effects.map((effect) => new DurableConsumer(effect, this.parts));
    void this.startConsumers();
    callback();
  }

  private async startConsumers(): Promise<void> {
    if (await this.canStart(this.stopping.signal)) for (const consumer of this.consumers) consumer.start();
  }

  async close(): Promise<void> {
    this.stopping.abort();
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
