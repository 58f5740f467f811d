import { Test } from '@nestjs/testing';
import type { TestingModule } from '@nestjs/testing';
import type { ServiceName } from '@rookery/contracts';
import { PlatformModule, platformSettings, readSettings } from '@rookery/platform';
import { testDatabase } from '@rookery/testing';
import type { MigrationClass } from '../../src';
import { Database, databaseSettingsFor, PersistenceModule, plumbingMigrations, Work } from '../../src';

export interface TestService {
  readonly module: TestingModule;
  readonly database: Database;
  readonly work: Work;
  readonly url: string;
  outbox(): Promise<{ id: number; subject: string; aggregate_id: number; payload: Record<string, unknown> }[]>;
  stop(): Promise<void>;
}

/** Starts the modules as a service imports them, on a database of its own. */
export async function startService(o: {
  readonly service?: ServiceName;
  readonly entities?: (new () => object)[];
  readonly migrations?: readonly MigrationClass[];
  readonly settings?: Readonly<Record<string, string>>;
  /** Returns the address by which the service reaches its database, given the real one. */
  readonly urlFor?: (url: string) => Promise<string>;
}): Promise<TestService> {
  const service = o.service ?? 'collaboration';
  const migrations = [...plumbingMigrations, ...(o.migrations ?? [])];
  const test = await testDatabase(service, migrations);
  const definition = databaseSettingsFor(service);
  const values = readSettings([platformSettings, definition], {
    [`DATABASE_URL_${service.toUpperCase()}`]: (await o.urlFor?.(test.url)) ?? test.url,
    ROOKERY_INTERNAL_KEYS: `k1/gateway/admin:${Buffer.alloc(32, 9).toString('base64')}`,
    ROOKERY_CONTEXT_KEYS: `k:${Buffer.alloc(32, 1).toString('base64')}`,
    LOG_LEVEL: 'silent',
    ...o.settings,
  });
  const settings = values.get(definition.token) as never;
  const module = await Test.createTestingModule({
    imports: [
      PlatformModule.forRoot({ service, values }),
      PersistenceModule.forRoot({ service, entities: o.entities ?? [], settings, migrations }),
    ],
  }).compile();
  await module.init();
  const database = module.get(Database);
  return {
    module,
    database,
    work: module.get(Work),
    url: test.url,
    outbox: () => database.query('select id, subject, aggregate_id, payload from outbox order by id'),
    stop: async () => {
      await module.close();
      await test.drop();
    },
  };
}
