import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '@rookery/platform';
import { connect, Events } from 'nats';
import type { ConnectionOptions, NatsConnection } from 'nats';

/** Units: milliseconds. */
const CONNECT_TIMEOUT_MS = 2000;
const RETRY_MS = 500;

/** Prefix of the subjects on which the bus replies to a service. */
export function replySubjectPrefix(service: string): string {
  return `_INBOX_${service}`;
}

/**
 * The connection to NATS. The process starts without waiting for the bus; code that needs the bus waits here. `start`
 * returns at once. The connection is retried forever, and a failure is logged once until the bus is back.
 */
export class Broker {
  private connection: NatsConnection | null = null;
  private isLinked = false;
  private linkCount = 0;
  private readonly waiting = new Set<(connection: NatsConnection) => void>();
  private readonly stopping = new AbortController();
  private running: Promise<void> | null = null;

  constructor(
    private readonly address: Partial<ConnectionOptions>,
    private readonly service: string,
    private readonly logger: Logger,
  ) {}

  start(): void {
    this.running ??= this.keepConnected();
  }

  /** Whether the link is up now. */
  get isConnected(): boolean {
    return this.isLinked;
  }

  /** Number of times the link came up. After a new link the bus may have lost its streams. */
  get links(): number {
    return this.linkCount;
  }

  /** Resolves as soon as the link is up. Errors: the signal's reason when it is aborted first. */
  async waitForConnection(signal: AbortSignal): Promise<NatsConnection> {
    signal.throwIfAborted();
    if (this.connection && this.isLinked) return this.connection;
    return new Promise((resolve, reject) => {
      const found = (connection: NatsConnection): void => {
        signal.removeEventListener('abort', aborted);
        resolve(connection);
      };
      const aborted = (): void => {
        this.waiting.delete(found);
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', aborted, { once: true });
      this.waiting.add(found);
    });
  }

  /** Sends what is buffered (acknowledgements) and closes. */
  async stop(): Promise<void> {
    this.stopping.abort();
    const { connection } = this;
    if (connection && !connection.isClosed()) {
      // Flushing waits for the server; a server that is down is not waited for.
      if (this.isLinked) await Promise.race([connection.flush().catch(() => undefined), pause(500)]);
      await connection.close();
    }
    await this.running;
  }

  private async keepConnected(): Promise<void> {
    let isSilent = false;
    while (!this.stopping.signal.aborted) {
      try {
        const connection = await connect({
          ...this.address,
          name: `rookery-${this.service}`,
          // Each service has its own reply prefix: its account on the bus may read that prefix only.
          inboxPrefix: replySubjectPrefix(this.service),
          timeout: CONNECT_TIMEOUT_MS,
          // The client would otherwise capture a stack trace for each published event, in case it fails.
          noAsyncTraces: true,
          maxReconnectAttempts: -1,
          reconnectTimeWait: 250,
          reconnectJitter: 250,
          pingInterval: 10_000,
          maxPingOut: 2,
        });
        isSilent = false;
        if (this.stopping.signal.aborted) return await connection.close();
        this.useConnection(connection);
        const error = await connection.closed();
        this.isLinked = false;
        if (error) this.logger.warn({ err: error }, 'the message bus closed the connection');
      } catch (error) {
        if (!isSilent) this.logger.warn({ err: error }, 'the message bus cannot be reached; retrying');
        isSilent = true;
      }
      await pause(RETRY_MS, undefined, { signal: this.stopping.signal }).catch(() => undefined);
    }
  }

  private useConnection(connection: NatsConnection): void {
    this.connection = connection;
    this.markLinked();
    void this.watchConnectionStatus(connection);
  }

  private async watchConnectionStatus(connection: NatsConnection): Promise<void> {
    for await (const status of connection.status()) {
      if (status.type === Events.Disconnect) {
        this.isLinked = false;
        this.logger.warn({}, 'the message bus is away');
      } else if (status.type === Events.Reconnect) {
        this.logger.info({}, 'the message bus is back');
        this.markLinked();
      }
    }
  }

  private markLinked(): void {
    this.isLinked = true;
    this.linkCount += 1;
    for (const found of [...this.waiting]) {
      this.waiting.delete(found);
      if (this.connection) found(this.connection);
    }
  }
}
