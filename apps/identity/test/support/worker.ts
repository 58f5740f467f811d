import { randomUUID } from 'node:crypto';
import type { DomainEvent } from '@rookery/contracts';
import { eventWorker, messagingSettings } from '@rookery/messaging';
import { Database, databaseSettingsFor } from '@rookery/persistence';
import { createLogger, LOGGER, platformSettings, readSettings, ShutdownOrder } from '@rookery/platform';
import type { BootContext } from '@rookery/platform';
import { TEST_INTERNAL_SECRET } from '@rookery/testing';
import type { PrivateNats } from '@rookery/testing';
import { connect } from 'nats';
import type { NatsConnection } from 'nats';
import { bootstrapSettings } from '../../src/bootstrap/bootstrap.config';
import { identitySettings } from '../../src/identity.config';
import { IdentityModule } from '../../src/identity.module';

/** The worker role over the database of identity under test, on a bus of its own. */
export interface Worker {
  readonly logs: readonly Readonly<Record<string, unknown>>[];
  /** Sends what another service would have sent; the same id again is the same event again. */
  publish(event: DomainEvent, o?: { readonly id?: string; readonly at?: Date }): Promise<string>;
  /** Resolves when every event has had its effects. */
  drained(): Promise<void>;
  stop(): Promise<void>;
}

export async function startWorker(o: { readonly databaseUrl: string; readonly nats: PrivateNats }): Promise<Worker> {
  const values = readSettings(
    [platformSettings, databaseSettingsFor('identity'), messagingSettings, identitySettings, bootstrapSettings],
    {
      DATABASE_URL_IDENTITY: o.databaseUrl,
      NATS_URL: o.nats.url,
      ROOKERY_INTERNAL_SECRET: TEST_INTERNAL_SECRET,
      ROOKERY_CONTEXT_KEYS: `test:${Buffer.alloc(32, 1).toString('base64')}`,
      CONSUMER_RETRY_DELAYS_MS: '20,20,20,20,20,20,20',
      OUTBOX_POLL_MS: '20',
    },
  );
  const logs: Record<string, unknown>[] = [];
  const write = (line: string): void => void logs.push(JSON.parse(line) as Record<string, unknown>);
  const logger = createLogger({ service: 'identity', level: 'info' }, { write });
  values.set(LOGGER, logger);
  const shutdown = new ShutdownOrder(logger);
  const context = { nestLogger: false, shutdown, rootModule: async () => IdentityModule.forRoot(values) };
  const app = await eventWorker.create(context as unknown as BootContext);
  await eventWorker.start(app, context as unknown as BootContext);
  const bus = await connect({ servers: o.nats.url, maxReconnectAttempts: -1, reconnectTimeWait: 50 });
  const database = app.get(Database);
  return {
    logs,
    publish: (event, sent) => publish(bus, event, sent),
    drained: () => until(async () => (await isPublished(database)) && (await isHandled(bus)), 'all effects'),
    stop: async () => {
      await bus.close();
      await shutdown.run();
      await app.close();
    },
  };
}

async function publish(
  bus: NatsConnection,
  { definition, aggregateId, actorId, data }: DomainEvent,
  { id = randomUUID(), at = new Date() }: { readonly id?: string; readonly at?: Date } = {},
): Promise<string> {
  const envelope = {
    specversion: '1.0',
    id,
    source: `/rookery/${definition.service}`,
    type: definition.type,
    subject: definition.subject,
    time: at.toISOString(),
    datacontenttype: 'application/json',
    aggregatetype: definition.noun,
    aggregateid: aggregateId,
    actorid: actorId,
    data,
  };
  // The worker makes the streams that it reads, but in its own time. Without a message id the bus lets duplicates pass.
  const stream = definition.service.toUpperCase();
  const manager = await bus.jetstreamManager();
  await until(async () => (await manager.streams.names().next()).includes(stream), `the stream ${stream}`);
  await bus.jetstream().publish(definition.subject, JSON.stringify(envelope));
  return id;
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
async function until(condition: () => Promise<boolean> | boolean, what: string, ms = 15_000): Promise<void> {
  const end = Date.now() + ms;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`${what} did not come about within ${ms} ms`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
