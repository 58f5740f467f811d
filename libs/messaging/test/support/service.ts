import type { Type } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import type { INestMicroservice } from '@nestjs/common';
import { noteDeleted } from '@rookery/contracts';
import type { DomainEvent, PayloadOf, ServiceName } from '@rookery/contracts';
import { Database, databaseSettingsFor, PersistenceModule, plumbingMigrations, Work } from '@rookery/persistence';
import type { MigrationClass } from '@rookery/persistence';
import { PlatformModule, platformSettings, readSettings } from '@rookery/platform';
import { testDatabase } from '@rookery/testing';
import type { TestDatabase } from '@rookery/testing';
import { FaultPoints, JetStreamStrategy, MessagingModule, messagingSettings, Relay } from '../../src';
import { Broker } from '../../src/bus/broker';
import { Replayer } from '../../src/relay/replayer';

/** Marks that the effects of these tests leave; only the inbox prevents two rows for one event. */
class CreateMarks1790000000010 {
  async up(runner: { query(sql: string): Promise<unknown> }): Promise<void> {
    await runner.query(`create table marks (id bigint generated always as identity primary key, effect text not null,
      note_id bigint not null, batch int not null, at timestamptz not null default clock_timestamp())`);
  }
}
export const migrations = [...plumbingMigrations, CreateMarks1790000000010 as unknown as MigrationClass];
export const newDatabase = (): Promise<TestDatabase> => testDatabase('messaging', migrations);

export interface TestProcess {
  readonly database: Database;
  readonly work: Work;
  readonly relay: Relay;
  readonly broker: Broker;
  readonly faults: FaultPoints;
  readonly get: <T>(token: Type<T>) => T;
  start(parts?: { relay?: boolean; consumers?: boolean; replayer?: boolean }): Promise<void>;
  stop(): Promise<void>;
  emit(...ids: number[]): Promise<void>;
  marks(effect?: string): Promise<number[]>;
  count(table: string, where?: string): Promise<number>;
}

/** One process of a service with its modules and consumers; several may share a database and a bus. */
export async function newProcess(o: {
  readonly databaseUrl: string;
  readonly natsUrl: string;
  readonly consumers?: Type[];
  readonly service?: ServiceName;
  readonly settings?: Readonly<Record<string, string>>;
}): Promise<TestProcess> {
  const service = o.service ?? 'collaboration';
  const definition = databaseSettingsFor(service);
  const values = readSettings([platformSettings, definition, messagingSettings], {
    [`DATABASE_URL_${service.toUpperCase()}`]: o.databaseUrl,
    NATS_URL: o.natsUrl,
    ROOKERY_INTERNAL_KEYS: `k1/gateway/admin:${Buffer.alloc(32, 9).toString('base64')}`,
    ROOKERY_CONTEXT_KEYS: `k:${Buffer.alloc(32, 1).toString('base64')}`,
    LOG_LEVEL: process.env['TEST_LOG_LEVEL'] ?? 'silent',
    CONSUMER_RETRY_DELAYS_MS: '20,20,20,20,20,20,20',
    DEAD_LETTER_POLL_MS: '50',
    ...o.settings,
  });
  const module = await Test.createTestingModule({
    imports: [
      PlatformModule.forRoot({ service, values }),
      PersistenceModule.forRoot({ service, entities: [], settings: values.get(definition.token) as never }),
      MessagingModule.forRoot({ service }),
    ],
    controllers: o.consumers ?? [],
  }).compile();
  const strategy = module.get(JetStreamStrategy);
  const app: INestMicroservice = module.createNestMicroservice({ strategy, logger: false });
  await app.init();
  const [database, work, broker] = [module.get(Database), module.get(Work), module.get(Broker)];
  const [relay, replayer] = [module.get(Relay), module.get(Replayer)];
  const count = async (table: string, where = 'true') =>
    (await database.query<{ n: number }>(`select count(*)::int as n from ${table} where ${where}`))[0]!.n;
  return {
    database,
    work,
    relay,
    broker,
    faults: module.get(FaultPoints),
    get: (token) => module.get(token),
    start: async (parts = {}) => {
      broker.start();
      if (parts.relay ?? true) relay.start(strategy.handled);
      if (parts.consumers ?? true) await app.listen();
      if (parts.replayer ?? true) replayer.start(strategy.handled);
    },
    stop: async () => {
      await Promise.all([strategy.close(), replayer.stop(), relay.stop()]);
      await broker.stop();
      await app.close();
    },
    emit: (...ids) =>
      work.run(async (tx) => {
        for (const id of ids) tx.emit(note(id));
      }),
    marks: async (effect = 'mark-notes') =>
      (
        await database.query<{ note_id: number }>('select note_id from marks where effect = $1 order by note_id', [
          effect,
        ])
      ).map((row) => row.note_id),
    count,
  };
}

export function note(id: number): DomainEvent<PayloadOf<typeof noteDeleted>> {
  const data = {
    note_id: id,
    noteable_type: 'Issue' as const,
    noteable_id: 1,
    noteable_iid: 1,
    project_id: 1,
    group_id: null,
    author_id: 7,
    internal: false,
  };
  return noteDeleted.of({ aggregateId: id, actorId: 7, data });
}

export const range = (count: number, first = 1): number[] => Array.from({ length: count }, (_, index) => first + index);
