import type { EventDefinition, ServiceName } from '@rookery/contracts';
import type { Logger } from '@rookery/platform';
import { AckPolicy, DeliverPolicy, DiscardPolicy, nanos, NatsError, RetentionPolicy, StorageType } from 'nats';
import type { ConsumerConfig, JetStreamManager, NatsConnection, StreamConfig } from 'nats';

/** Units: milliseconds, as all below. */
const DAY_MS = 24 * 60 * 60 * 1000;
export const MAX_ACK_PENDING = 128;
const ACK_WAIT_MS = 30_000;
/** Period in which the bus recognizes a repeated message id. */
const DUPLICATE_WINDOW_MS = 10 * 60 * 1000;

export interface StreamOptions {
  readonly replicas: number;
  /** -1: no limit of its own. */
  readonly maxBytes: number;
  readonly duplicateWindowMs?: number;
}

/** The stream of a producing service. */
export function streamNameOf(service: ServiceName): string {
  return service.toUpperCase();
}

/** The durable of one effect on one event; dots may not stand in such names. */
export function durableNameOf(consumer: ServiceName, effect: string, event: EventDefinition): string {
  return `${consumer}--${effect}--${event.noun}-${event.verb}-v${event.version}`;
}

/** Required configuration of a stream, as nats-server 2.9 names it. Source: reference reliability 2.3. */
function streamConfig(service: ServiceName, o: StreamOptions): Partial<StreamConfig> & { name: string } {
  return {
    name: streamNameOf(service),
    subjects: [`${service}.>`],
    retention: RetentionPolicy.Limits,
    storage: StorageType.File,
    // A full stream refuses new events, which wait in the outbox; it never drops events that are still unread.
    discard: DiscardPolicy.New,
    max_age: nanos(7 * DAY_MS),
    max_bytes: o.maxBytes,
    duplicate_window: nanos(o.duplicateWindowMs ?? DUPLICATE_WINDOW_MS),
    num_replicas: o.replicas,
  };
}

/** Required configuration of a durable. Events are read from the time `from` on, or all of the stream if it is null. */
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
    // Tries are counted in our own table: the bus cannot distinguish a bad message from an outage.
    max_deliver: -1,
  };
}

const STREAM_NOT_FOUND = 10059;
const CONSUMER_NOT_FOUND = 10014;
/** Whether another process created it in between. */
const NAME_IN_USE = new Set([10058, 10148, 10013]);

function jetStreamApiErrorCode(error: unknown): number | undefined {
  return error instanceof NatsError ? error.api_error?.err_code : undefined;
}

/** Whether a stream or consumer was missing. */
export function isStreamOrConsumerMissing(error: unknown): boolean {
  const code = jetStreamApiErrorCode(error);
  return code === STREAM_NOT_FOUND || code === CONSUMER_NOT_FOUND;
}

/**
 * Creates streams and durables, and corrects their configuration. A service may create its own stream and durables only;
 * a consumer of a stream that does not exist yet waits. Source: ADR 0026.
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
      await this.correctConfiguration(wanted.name, findConfigDrift(config, wanted), () =>
        manager.streams.update(wanted.name, wanted),
      );
    } catch (error) {
      if (jetStreamApiErrorCode(error) !== STREAM_NOT_FOUND) throw error;
      await createUnlessNameInUse(() => manager.streams.add(wanted));
      this.logger.info({ stream: wanted.name }, 'a stream was created');
    }
  }

  /** Creates a durable or corrects it. Errors: NatsError when the stream is missing. */
  async reconcileConsumer(connection: NatsConnection, durable: string, event: EventDefinition): Promise<void> {
    const manager = await connection.jetstreamManager({ checkAPI: false });
    const stream = streamNameOf(event.service);
    const wanted = consumerConfig(durable, event);
    try {
      const { config } = await manager.consumers.info(stream, durable);
      await this.correctConsumer(manager, stream, config, wanted);
    } catch (error) {
      if (jetStreamApiErrorCode(error) !== CONSUMER_NOT_FOUND) throw error;
      await createUnlessNameInUse(() => manager.consumers.add(stream, wanted));
      this.logger.info({ stream, durable }, 'a durable consumer was created');
    }
  }

  /**
   * Recreates a durable, so that it reads from another moment on. If another process creates it in between, it reads
   * everything in the stream. Errors: NatsError when the stream is missing.
   */
  async restartConsumer(
    connection: NatsConnection,
    durable: string,
    event: EventDefinition,
    from: Date | 'now',
  ): Promise<void> {
    const manager = await connection.jetstreamManager({ checkAPI: false });
    const stream = streamNameOf(event.service);
    try {
      await manager.consumers.delete(stream, durable);
    } catch (error) {
      if (jetStreamApiErrorCode(error) !== CONSUMER_NOT_FOUND) throw error;
    }
    await createUnlessNameInUse(() => manager.consumers.add(stream, consumerConfig(durable, event, from)));
  }

  private async correctConsumer(
    manager: JetStreamManager,
    stream: string,
    config: ConsumerConfig,
    wanted: Partial<ConsumerConfig> & { durable_name: string },
  ): Promise<void> {
    // The start of reading was set when the durable was created.
    const { durable_name: durable, deliver_policy: _, ...changing } = wanted;
    await this.correctConfiguration(durable, findConfigDrift(config, changing), () =>
      manager.consumers.update(stream, durable, changing),
    );
  }

  private async correctConfiguration(
    name: string,
    drift: Record<string, unknown>,
    update: () => Promise<unknown>,
  ): Promise<void> {
    if (Object.keys(drift).length === 0) return;
    this.logger.warn({ name, drift }, 'the configuration differs; correcting it');
    try {
      await update();
    } catch (error) {
      // A setting that the bus cannot change in place is left to an operator; events flow meanwhile.
      this.logger.error({ name, drift, err: error }, 'the configuration cannot be corrected');
    }
  }
}

async function createUnlessNameInUse(create: () => Promise<unknown>): Promise<void> {
  try {
    await create();
  } catch (error) {
    if (!NAME_IN_USE.has(jetStreamApiErrorCode(error) ?? 0)) throw error;
  }
}

/** Wanted fields whose values differ, with their current values. */
function findConfigDrift(current: object, wanted: object): Record<string, unknown> {
  const now = current as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(wanted)
      .filter(([name, value]) => JSON.stringify(now[name]) !== JSON.stringify(value))
      .map(([name]) => [name, now[name]]),
  );
}
