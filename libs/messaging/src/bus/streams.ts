import type { EventDefinition, ServiceName } from '@rookery/contracts';
import type { Logger } from '@rookery/platform';
import { AckPolicy, DeliverPolicy, DiscardPolicy, nanos, NatsError, RetentionPolicy, StorageType } from 'nats';
import type { ConsumerConfig, JetStreamManager, NatsConnection, StreamConfig } from 'nats';

/** Units: milliseconds, as all below. */
const DAY_MS = 24 * 60 * 60 * 1000;
export const MAX_ACK_PENDING = 128;
export const ACK_WAIT_MS = 30_000;
/** How long the bus knows a message id again. */
export const DUPLICATE_WINDOW_MS = 10 * 60 * 1000;

export interface StreamOptions {
  readonly replicas: number;
  /** -1: no limit of its own. */
  readonly maxBytes: number;
  readonly duplicateWindowMs?: number;
}

/** The stream of a producing service. */
export function streamOf(service: ServiceName): string {
  return service.toUpperCase();
}

/** The durable of one effect on one event; dots may not stand in such names. */
export function durableOf(consumer: ServiceName, effect: string, event: EventDefinition): string {
  return `${consumer}--${effect}--${event.noun}-${event.verb}-v${event.version}`;
}

/** What a stream must look like, in words that nats-server 2.9 knows. Source: reference reliability 2.3. */
function streamConfig(service: ServiceName, o: StreamOptions): Partial<StreamConfig> & { name: string } {
  return {
    name: streamOf(service),
    subjects: [`${service}.>`],
    retention: RetentionPolicy.Limits,
    storage: StorageType.File,
    // A full stream refuses, and the events wait in the outbox; it never forgets what nobody has read yet.
    discard: DiscardPolicy.New,
    max_age: nanos(7 * DAY_MS),
    max_bytes: o.maxBytes,
    duplicate_window: nanos(o.duplicateWindowMs ?? DUPLICATE_WINDOW_MS),
    num_replicas: o.replicas,
  };
}

/** Shape: `from` is the moment from which events are read; null for all that the stream holds. */
function consumerConfig(
  durable: string,
  event: EventDefinition,
  from: Date | 'now' | null = null,
): Partial<ConsumerConfig> & { durable_name: string } {
  return {
    durable_name: durable,
    filter_subject: event.subject,
    ack_policy: AckPolicy.Explicit,
    ...(from === null ? { deliver_policy: DeliverPolicy.All } : {}),
    ...(from === 'now' ? { deliver_policy: DeliverPolicy.New } : {}),
    ...(from instanceof Date ? { deliver_policy: DeliverPolicy.StartTime, opt_start_time: from.toISOString() } : {}),
    ack_wait: nanos(ACK_WAIT_MS),
    max_ack_pending: MAX_ACK_PENDING,
    // Tries are counted in our own table: the bus cannot tell a bad message from a bad moment.
    max_deliver: -1,
  };
}

const STREAM_NOT_FOUND = 10059;
const CONSUMER_NOT_FOUND = 10014;
/** Somebody else made it in between. */
const NAME_IN_USE = new Set([10058, 10148, 10013]);

function apiCode(error: unknown): number | undefined {
  return error instanceof NatsError ? error.api_error?.err_code : undefined;
}

/** Was a stream or consumer missing? */
export function isMissing(error: unknown): boolean {
  const code = apiCode(error);
  return code === STREAM_NOT_FOUND || code === CONSUMER_NOT_FOUND;
}

/**
 * Makes streams and durables what they must be. A service has the right to make its own stream and its own durables only;
 * whose stream is not there yet waits. Source: ADR 0026.
 */
export class Streams {
  constructor(
    private readonly options: StreamOptions,
    private readonly logger: Logger,
  ) {}

  /** Creates the stream of a service or corrects it; drift is logged. */
  async reconcileStream(connection: NatsConnection, service: ServiceName): Promise<void> {
    const manager = await connection.jetstreamManager({ checkAPI: false });
    const wanted = streamConfig(service, this.options);
    try {
      const { config } = await manager.streams.info(wanted.name);
      await this.correct(wanted.name, driftOf(config, wanted), () => manager.streams.update(wanted.name, wanted));
    } catch (error) {
      if (apiCode(error) !== STREAM_NOT_FOUND) throw error;
      await created(() => manager.streams.add(wanted));
      this.logger.info({ stream: wanted.name }, 'a stream was made');
    }
  }

  /** Creates a durable or corrects it. Errors: NatsError when the stream is missing. */
  async reconcileConsumer(connection: NatsConnection, durable: string, event: EventDefinition): Promise<void> {
    const manager = await connection.jetstreamManager({ checkAPI: false });
    const stream = streamOf(event.service);
    const wanted = consumerConfig(durable, event);
    try {
      const { config } = await manager.consumers.info(stream, durable);
      await this.correctConsumer(manager, stream, config, wanted);
    } catch (error) {
      if (apiCode(error) !== CONSUMER_NOT_FOUND) throw error;
      await created(() => manager.consumers.add(stream, wanted));
      this.logger.info({ stream, durable }, 'a durable consumer was made');
    }
  }

  /**
   * Makes a durable anew, so that it reads from another moment on. Somebody else may make it in between, and then it reads
   * all that there is. Errors: NatsError when the stream is missing.
   */
  async restartConsumer(
    connection: NatsConnection,
    durable: string,
    event: EventDefinition,
    from: Date | 'now',
  ): Promise<void> {
    const manager = await connection.jetstreamManager({ checkAPI: false });
    const stream = streamOf(event.service);
    try {
      await manager.consumers.delete(stream, durable);
    } catch (error) {
      if (apiCode(error) !== CONSUMER_NOT_FOUND) throw error;
    }
    await created(() => manager.consumers.add(stream, consumerConfig(durable, event, from)));
  }

  private async correctConsumer(
    manager: JetStreamManager,
    stream: string,
    config: ConsumerConfig,
    wanted: Partial<ConsumerConfig> & { durable_name: string },
  ): Promise<void> {
    // From where it reads was said when it was made.
    const { durable_name: durable, deliver_policy: _, ...changing } = wanted;
    await this.correct(durable, driftOf(config, changing), () => manager.consumers.update(stream, durable, changing));
  }

  private async correct(name: string, drift: Record<string, unknown>, update: () => Promise<unknown>): Promise<void> {
    if (Object.keys(drift).length === 0) return;
    this.logger.warn({ name, drift }, 'it is not what it must be; correcting');
    try {
      await update();
    } catch (error) {
      // What the bus cannot change in place stays for an operator; events flow meanwhile.
      this.logger.error({ name, drift, err: error }, 'it cannot be corrected');
    }
  }
}

async function created(create: () => Promise<unknown>): Promise<void> {
  try {
    await create();
  } catch (error) {
    if (!NAME_IN_USE.has(apiCode(error) ?? 0)) throw error;
  }
}

/** Names of wanted fields that differ, with what they are now. */
function driftOf(config: object, wanted: object): Record<string, unknown> {
  const now = config as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(wanted)
      .filter(([name, value]) => JSON.stringify(now[name]) !== JSON.stringify(value))
      .map(([name]) => [name, now[name]]),
  );
}
