import type { DomainEvent } from '@rookery/contracts';
import { applicationSettings } from '@rookery/instance';
import { jobSettings, withJobs } from '@rookery/jobs';
import { eventWorker, JetStreamStrategy, messagingSettings } from '@rookery/messaging';
import { Database, databaseSettingsFor } from '@rookery/persistence';
import { createLogger, LOGGER, platformSettings, readSettings, ShutdownOrder } from '@rookery/platform';
import type { BootContext, SettingsDefinition } from '@rookery/platform';
import { effectsWaiter, publishEvent, testInternalKeys } from '@rookery/testing';
import type { PrivateNats } from '@rookery/testing';
import { connect } from 'nats';
import { bootstrapSettings } from '../../src/bootstrap/bootstrap.config';
import { identitySettings } from '../../src/identity.config';
import { IdentityModule } from '../../src/identity.module';

/** The worker role over the database of identity under test, on a bus of its own. */
export interface Worker {
  readonly logs: readonly Readonly<Record<string, unknown>>[];
  /** Publishes an event of another service. The same id is the same event again. */
  publish(event: DomainEvent, o?: { readonly id?: string; readonly at?: Date }): Promise<string>;
  /** Resolves when every event has been handled. */
  drained(): Promise<void>;
  stop(): Promise<void>;
}

export async function startWorker(o: { readonly databaseUrl: string; readonly nats: PrivateNats }): Promise<Worker> {
  const values = readSettings(
    [
      platformSettings,
      databaseSettingsFor('identity'),
      messagingSettings,
      jobSettings,
      applicationSettings,
      identitySettings,
      bootstrapSettings,
    ],
    {
      DATABASE_URL_IDENTITY: o.databaseUrl,
      NATS_URL: o.nats.url,
      ROOKERY_INTERNAL_KEYS: testInternalKeys('identity'),
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
  const settings = (definition: SettingsDefinition) => values.get(definition.token);
  const context = { nestLogger: false, shutdown, settings, rootModule: async () => IdentityModule.forRoot(values) };
  const worker = withJobs(eventWorker);
  const app = await worker.create(context as unknown as BootContext);
  await worker.start(app, context as unknown as BootContext);
  const bus = await connect({ servers: o.nats.url, maxReconnectAttempts: -1, reconnectTimeWait: 50 });
  const database = app.get(Database);
  const strategy = app.get(JetStreamStrategy);
  return {
    logs,
    publish: (event, sent) => publishEvent(bus, event, sent),
    drained: effectsWaiter(bus, database, strategy),
    stop: async () => {
      await bus.close();
      await shutdown.runAll();
      await app.close();
    },
  };
}
