import { setTimeout as pause } from 'node:timers/promises';
import type { ServiceName } from '@rookery/contracts';
import type { DeadLetters } from '@rookery/persistence';
import type { Logger, Metrics } from '@rookery/platform';
import type { ConsumerMessages, JsMsg, Subscription } from 'nats';
import type { Broker } from '../bus/broker';
import type { DeliveredWith } from './consume';
import type { Effect, Effects } from './effects';
import { decodeEvent, toLetter } from './envelope';
import { inEventSpan } from './event-span';
import type { FaultPoints } from '../bus/fault-points';
import { retryWhileUnavailable } from '../bus/retry-while-unavailable';
import { durableNameOf, isStreamOrConsumerMissing, MAX_ACK_PENDING, streamNameOf } from '../bus/streams';
import type { Streams } from '../bus/streams';
import { Wake } from '../bus/wake';

/** Units: milliseconds. */
const HEARTBEAT_MS = 10_000;
/**
 * Duration of one pull request to the bus, and the interval of the bus's heartbeats meanwhile. While idle, each durable
 * costs a message for either, on both sides. A lost link or durable is reported at once; only a bus that silently
 * forgets the request (a lost cluster node) is noticed by missing heartbeats, after twice `heartbeatMs`.
 */
const PULL = { expiresMs: 120_000, heartbeatMs: 15_000 };
const RESTART_MS = 250;
/**
 * Minimum time between the end of a batch of several events and the next batch: three times `gatherMs`,
 * within these bounds. Several events indicate that more follow, and a batch costs hardly more than an event.
 */
const BATCH_PAUSE_MS = { least: 50, most: 500 };

export interface ConsumerParts {
  readonly service: ServiceName;
  readonly broker: Broker;
  readonly streams: Streams;
  readonly effects: Effects;
  readonly letters: DeadLetters;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly faults: FaultPoints;
  readonly batchCount: number;
  /** Delays before the second try, the third …; there is one try more than delays. */
  readonly retryDelaysMs: readonly number[];
}

interface Delivery {
  readonly message: JsMsg;
  readonly event: DeliveredWith<unknown>;
  readonly isRedelivered: boolean;
}

/** Covers the time of all tries, and an operator's reaction. Units: seconds. */
const DELAYS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 30, 60, 300, 900, 1800, 3600, 21_600, 86_400];

/**
 * One effect on one event: a durable pull consumer that always requests more events. It processes one batch at a time
 * and acknowledges it only after the commit. A failing batch is split into single events, so that a bad message delays
 * no other. While the database is down, events are held and no try is counted.
 * Source: reference reliability 2.3, 2.4; ADR 0025.
 */
export class DurableConsumer {
  readonly durable: string;
  private readonly stopping = new AbortController();
  private readonly queue: JsMsg[] = [];
  private readonly held = new Set<JsMsg>();
  /** Woken when there are enough events for a batch. */
  private readonly gathering = new Wake();
  private readonly counters;
  private messages: ConsumerMessages | null = null;
  private lastReported: string | null = null;
  private running: Promise<void> | null = null;
  private working: Promise<void> | null = null;
  private latest = { count: 0, endedAt: 0 };

  constructor(
    private readonly effect: Effect,
    private readonly parts: ConsumerParts,
  ) {
    this.durable = durableNameOf(parts.service, effect.name, effect.definition);
    const { metrics } = parts;
    this.counters = {
      done: metrics.counter('rookery_effects_total', 'Events that had their effect.', ['effect']),
      absorbed: metrics.counter('rookery_inbox_absorbed_total', 'Deliveries of events seen before.', ['effect']),
      failed: metrics.counter('rookery_effects_failed_total', 'Failed tries of an effect.', ['effect']),
      dead: metrics.counter('rookery_dead_letters_total', 'Events given to an operator.', ['effect', 'reason']),
      foreign: metrics.counter('rookery_foreign_events_total', 'Events of an unknown type.', ['effect']),
      lag: metrics.histogram('rookery_effect_delay_seconds', 'From the fact to its effect.', ['effect'], DELAYS),
    };
  }

  start(): void {
    this.running ??= this.consumeMessages();
  }

  /** Number of events that wait for this effect, delivered or not. Errors: thrown if the bus does not answer. */
  async countPending(): Promise<{ readonly effect: string; readonly subject: string; readonly count: number }> {
    const { broker } = this.parts;
    const { definition, name } = this.effect;
    if (!broker.isConnected) throw new Error('the bus is away');
    const manager = await (await broker.waitForConnection(this.stopping.signal)).jetstreamManager({ checkAPI: false });
    const { num_pending, num_ack_pending } = await manager.consumers.info(
      streamNameOf(definition.service),
      this.durable,
    );
    return { effect: name, subject: definition.subject, count: num_pending + num_ack_pending };
  }

  /** Requests no more events, finishes the current batch, and gives the rest back. Units: milliseconds. */
  async stop(graceMs: number): Promise<void> {
    this.stopping.abort();
    this.gathering.nudge();
    await this.endSubscription();
    await Promise.race([this.working ?? Promise.resolve(), pause(graceMs, undefined, { ref: false })]);
    for (const message of [...this.held, ...this.queue.splice(0)]) message.nak();
    this.held.clear();
    await this.running;
  }

  /**
   * Ends the subscription after the server has confirmed it. `queueMessage` gives back the messages sent until then,
   * which would otherwise be missing until the acknowledgement wait is over. `stop()` of the client would drop them.
   */
  private async endSubscription(): Promise<void> {
    // The client does not expose the subscription of a pull consumer.
    const { sub } = (this.messages ?? {}) as { sub?: Subscription };
    if (this.parts.broker.isConnected && sub && !sub.isClosed()) {
      await Promise.race([sub.drain().catch(() => undefined), pause(1000, undefined, { ref: false })]);
    }
    this.messages?.stop();
  }

  private async consumeMessages(): Promise<void> {
    const { broker, streams } = this.parts;
    const { definition } = this.effect;
    while (!this.stopping.signal.aborted) {
      try {
        const connection = await broker.waitForConnection(this.stopping.signal);
        await streams.reconcileConsumer(connection, this.durable, definition);
        const consumer = await connection.jetstream().consumers.get(streamNameOf(definition.service), this.durable);
        this.messages = await consumer.consume({
          max_messages: MAX_ACK_PENDING,
          expires: PULL.expiresMs,
          idle_heartbeat: PULL.heartbeatMs,
          abort_on_missing_resource: true,
          callback: (message) => this.queueMessage(message),
        });
        this.lastReported = null;
        if (this.stopping.signal.aborted) this.messages.stop();
        const error = await this.messages.closed();
        if (error) throw error;
      } catch (error) {
        if (!this.stopping.signal.aborted) this.logInterruptionOnce(error);
      }
      await pause(RESTART_MS, undefined, { signal: this.stopping.signal }).catch(() => undefined);
    }
  }

  /** Logs an interruption once. A missing stream is created by its own service, which may take any time. */
  private logInterruptionOnce(error: unknown): void {
    const { logger } = this.parts;
    const why = isStreamOrConsumerMissing(error)
      ? 'its stream or durable is not there yet'
      : 'consuming was interrupted';
    if (why === this.lastReported) return;
    this.lastReported = why;
    if (isStreamOrConsumerMissing(error)) logger.info({ durable: this.durable }, why);
    else logger.warn({ err: error, durable: this.durable }, why);
  }

  private queueMessage(message: JsMsg): void {
    if (this.stopping.signal.aborted) return message.nak();
    this.queue.push(message);
    if (this.queue.length === this.parts.batchCount) this.gathering.nudge();
    this.working ??= this.waitUntilGathered().then(() => this.processQueue());
  }

  /** Lets at least the received bytes be parsed first, so that events that arrived together are handled together. */
  private waitUntilGathered(): Promise<void> {
    const { gatherMs } = this.effect;
    let ms = gatherMs;
    if (this.latest.count > 1) {
      const pauseMs = Math.min(BATCH_PAUSE_MS.most, Math.max(BATCH_PAUSE_MS.least, 3 * gatherMs));
      ms = Math.max(gatherMs, this.latest.endedAt + pauseMs - performance.now());
    }
    return ms <= 0 ? Promise.resolve() : this.gathering.sleep(ms);
  }

  private async processQueue(): Promise<void> {
    const heartbeat = setInterval(() => this.extendAckWait(), HEARTBEAT_MS);
    try {
      while (this.queue.length > 0 && !this.stopping.signal.aborted) {
        const batch = this.queue.splice(0, this.parts.batchCount);
        for (const message of batch) this.held.add(message);
        await this.runBatch(batch);
        for (const message of batch) this.held.delete(message);
        this.latest = { count: batch.length, endedAt: performance.now() };
        if (this.queue.length > 0 && this.queue.length < this.parts.batchCount) await this.waitUntilGathered();
      }
    } catch (error) {
      // Held messages are delivered again after the acknowledgement wait.
      this.parts.logger.error({ err: error, durable: this.durable }, 'a batch was left unfinished');
    } finally {
      clearInterval(heartbeat);
      this.working = null;
      // A message may have arrived since the last check.
      if (this.queue.length > 0 && !this.stopping.signal.aborted) this.working = this.processQueue();
    }
  }

  private extendAckWait(): void {
    for (const message of [...this.held, ...this.queue]) message.working();
  }

  private async runBatch(messages: readonly JsMsg[]): Promise<void> {
    const deliveries: Delivery[] = [];
    for (const message of messages) {
      const decoded = decodeEvent(message.string(), this.effect.definition);
      if (decoded.outcome === 'event') {
        deliveries.push({ message, event: decoded.event, isRedelivered: message.redelivered });
      } else if (decoded.outcome === 'foreign') {
        this.counters.foreign.inc({ effect: this.effect.name });
        this.settleMessage(message, 'ack');
      } else {
        await this.retryWhileAway(() => this.buryUnreadableMessage(message, decoded.reason, decoded.problem));
      }
    }
    if (deliveries.length === 0) return;
    const error = await this.attemptEffects(deliveries);
    if (error === null) return;
    if (deliveries.length === 1) return this.countFailure(deliveries[0]!, error.reason);
    for (const delivery of deliveries) {
      const own = await this.attemptEffects([delivery]);
      if (own) await this.countFailure(delivery, own.reason);
    }
  }

  /** Runs all messages in one transaction. Returns null when done or stopping, else the reason of the failure. */
  private async attemptEffects(deliveries: readonly Delivery[]): Promise<{ readonly reason: unknown } | null> {
    const { effects, faults } = this.parts;
    try {
      const parents = deliveries.flatMap(({ message }) => message.headers?.get('traceparent') || []);
      const fresh = await inEventSpan(this.effect.name, parents, () =>
        this.retryWhileAway(() => effects.runEffect(this.effect, deliveries)),
      );
      if (fresh === null) return null;
      this.counters.done.inc({ effect: this.effect.name }, fresh);
      this.counters.absorbed.inc({ effect: this.effect.name }, deliveries.length - fresh);
    } catch (error) {
      return { reason: error };
    }
    await faults.reachPoint('consumer.before-ack');
    for (const { message, event } of deliveries) {
      this.counters.lag.observe({ effect: this.effect.name }, Math.max(0, Date.now() - Date.parse(event.time)) / 1000);
      this.settleMessage(message, 'ack');
    }
    return null;
  }

  /** Counts a failed try; the message comes again later, or becomes a dead letter. */
  private async countFailure(delivery: Delivery, error: unknown): Promise<void> {
    const { letters, retryDelaysMs, logger } = this.parts;
    const { message, event } = delivery;
    this.counters.failed.inc({ effect: this.effect.name });
    const outcome = await this.retryWhileAway(() =>
      letters.recordFailure(toLetter(this.effect.name, message, event.id), error, retryDelaysMs.length + 1),
    );
    if (outcome === null) return;
    const facts = { effect: this.effect.name, eventId: event.id, attempts: outcome.attempts, err: error };
    if (outcome.state === 'retrying') {
      logger.warn(facts, 'an effect failed and will be tried again');
      this.settleMessage(message, 'later', retryDelaysMs[outcome.attempts - 1] ?? retryDelaysMs.at(-1) ?? 0);
      return;
    }
    logger.error(facts, 'an effect failed for the last time: dead letter');
    this.counters.dead.inc({ effect: this.effect.name, reason: 'failed' });
    this.settleMessage(message, 'never');
  }

  private async buryUnreadableMessage(
    message: JsMsg,
    reason: 'undecodable' | 'unknown_version',
    problem: string,
  ): Promise<void> {
    await this.parts.letters.buryLetter(toLetter(this.effect.name, message, null), reason, problem);
    this.parts.logger.error({ effect: this.effect.name, reason, problem }, 'an event cannot be read: dead letter');
    this.counters.dead.inc({ effect: this.effect.name, reason });
    this.settleMessage(message, 'never');
  }

  private settleMessage(message: JsMsg, how: 'ack' | 'never' | 'later', delayMs = 0): void {
    this.held.delete(message);
    if (how === 'ack') message.ack();
    else if (how === 'never') message.term();
    else message.nak(delayMs);
  }

  private retryWhileAway<T>(use: () => Promise<T>): Promise<T | null> {
    return retryWhileUnavailable(use, this.stopping.signal, (err) =>
      this.parts.logger.warn({ err, durable: this.durable }, 'an effect waits'),
    );
  }
}
