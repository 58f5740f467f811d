import { Database, databaseSettingsFor } from '@rookery/persistence';
import { jobSettings } from '@rookery/jobs';
import { JetStreamStrategy, messagingSettings } from '@rookery/messaging';
import { createLogger, LOGGER, platformSettings, readSettings, ShutdownOrder } from '@rookery/platform';
import type { BootContext, SettingsDefinition } from '@rookery/platform';
import type { PrivateNats } from '@rookery/testing';
import { effectsWaiter, testInternalKeys } from '@rookery/testing';
import { connect } from 'nats';
import { collaborationSettings } from '../../src/collaboration.config';
import { collaborationWorker } from '../../src/collaboration.worker';
import { CollaborationModule } from '../../src/collaboration.module';
import type { NoteableKind } from '../../src/base/noteables/noteable-kinds';

/** The worker role over the database of a service under test, on a bus of its own. */
export interface Worker {
  readonly logs: readonly Readonly<Record<string, unknown>>[];
  get<T>(token: abstract new (...args: never[]) => T): T;
  /** Resolves when all events have been handled. */
  drained(): Promise<void>;
  stop(): Promise<void>;
}

export async function startWorker(o: {
  readonly databaseUrl: string;
  readonly nats: PrivateNats;
  readonly env?: Readonly<Record<string, string>>;
  /** Additional noteable kinds. */
  readonly kinds?: readonly NoteableKind[];
}): Promise<Worker> {
  const values = readSettings(
    [platformSettings, databaseSettingsFor('collaboration'), messagingSettings, jobSettings, ...collaborationSettings],
    {
      DATABASE_URL_COLLABORATION: o.databaseUrl,
      NATS_URL: o.nats.url,
      ROOKERY_INTERNAL_KEYS: testInternalKeys('collaboration'),
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
  const rootModule = async () => CollaborationModule.forRoot(values, o.kinds);
  const settings = (definition: SettingsDefinition) => values.get(definition.token);
  const context = { nestLogger: false, shutdown, settings, rootModule };
  const app = await collaborationWorker.create(context as unknown as BootContext);
  await collaborationWorker.start(app, context as unknown as BootContext);
  const bus = await connect({ servers: o.nats.url, maxReconnectAttempts: -1, reconnectTimeWait: 50 });
  const database = app.get(Database);
  const strategy = app.get(JetStreamStrategy);
  return {
    logs,
    get: (token) => app.get(token, { strict: false }),
    drained: effectsWaiter(bus, database, strategy),
    stop: async () => {
      await bus.close();
      await shutdown.runAll();
      await app.close();
    },
  };
}
