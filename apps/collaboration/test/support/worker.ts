import { Database, databaseSettingsFor } from '@rookery/persistence';
import { messagingSettings } from '@rookery/messaging';
import { createLogger, LOGGER, platformSettings, readSettings, ShutdownOrder } from '@rookery/platform';
import type { BootContext } from '@rookery/platform';
import type { PrivateNats } from '@rookery/testing';
import { TEST_INTERNAL_SECRET } from '@rookery/testing';
import { connect } from 'nats';
import type { NatsConnection } from 'nats';
import { collaborationSettings } from '../../src/collaboration.config';
import { collaborationWorker } from '../../src/collaboration.worker';
import { CollaborationModule } from '../../src/collaboration.module';

/** The worker role over the database of a service under test, on a bus of its own. */
export interface Worker {
  readonly logs: readonly Readonly<Record<string, unknown>>[];
  get<T>(token: abstract new (...args: never[]) => T): T;
  /** Resolves when every event has had its effects. */
  drained(): Promise<void>;
  stop(): Promise<void>;
}

export async function startWorker(o: {
  readonly databaseUrl: string;
  readonly nats: PrivateNats;
  readonly env?: Readonly<Record<string, string>>;
}): Promise<Worker> {
  const values = readSettings(
    [platformSettings, databaseSettingsFor('collaboration'), messagingSettings, ...collaborationSettings],
    {
      DATABASE_URL_COLLABORATION: o.databaseUrl,
      NATS_URL: o.nats.url,
      ROOKERY_INTERNAL_SECRET: TEST_INTERNAL_SECRET,
      ROOKERY_CONTEXT_KEYS: `test:${Buffer.alloc(32, 1).toString('base64')}`,
      CONSUMER_RETRY_DELAYS_MS: '20,20,20,20,20,20,20',
      OUTBOX_POLL_MS: '20',
      ...o.env,
    },
  );
  const logs: Record<string, unknown>[] = [];
  const write = (line: string): void => void logs.push(JSON.parse(line) as Record<string, unknown>);
  const logger = createLogger({ service: 'collaboration', level: 'info' }, { write });
  values.set(LOGGER, logger);
  const shutdown = new ShutdownOrder(logger);
  const context = { nestLogger: false, shutdown, rootModule: async () => CollaborationModule.forRoot(values) };
  const app = await collaborationWorker.create(context as unknown as BootContext);
  await collaborationWorker.start(app, context as unknown as BootContext);
  const bus = await connect({ servers: o.nats.url, maxReconnectAttempts: -1, reconnectTimeWait: 50 });
  const database = app.get(Database);
  return {
    logs,
    get: (token) => app.get(token, { strict: false }),
    drained: () => until(async () => (await isPublished(database)) && (await isHandled(bus)), 'all effects'),
    stop: async () => {
      await bus.close();
      await shutdown.run();
      await app.close();
    },
  };
}

async function isPublished(database: Database): Promise<boolean> {
  const [row] = await database.query<{ waits: boolean }>(
    'select exists (select 1 from outbox where published_at is null) as waits',
  );
  return row?.waits === false;
}

async function isHandled(bus: NatsConnection): Promise<boolean> {
  const manager = await bus.jetstreamManager();
  const streams = await manager.streams.list().next();
  for (const { config } of streams) {
    const consumers = manager.consumers.list(config.name);
    for (let page = await consumers.next(); page.length > 0; page = await consumers.next()) {
      if (page.some((one) => one.num_pending + one.num_ack_pending > 0)) return false;
    }
  }
  return true;
}

/** Waits for a condition. Units: milliseconds. */
export async function until(condition: () => Promise<boolean> | boolean, what: string, ms = 15_000): Promise<void> {
  const end = Date.now() + ms;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`${what} did not come about within ${ms} ms`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
