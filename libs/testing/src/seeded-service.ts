import type { ServiceName } from '@rookery/contracts';
import { applicationSettings } from '@rookery/instance';
import { jobSettings } from '@rookery/jobs';
import { messagingSettings } from '@rookery/messaging';
import { Database, databaseSettingsFor } from '@rookery/persistence';
import type { MigrationClass } from '@rookery/persistence';
import { startTestApp } from './app';
import type { TestApp, TestAppOptions } from './app';
import { testDatabase } from './database';
import { DirectorySeed } from './directory-seed';

/** A service over a database of its own and a seeded directory. */
export interface SeededService {
  readonly app: TestApp;
  readonly seed: DirectorySeed;
  readonly database: Database;
  readonly databaseUrl: string;
  /** Starts the same service again over the same database with other settings; its caller closes it. */
  again(env: Readonly<Record<string, string>>): Promise<TestApp>;
  /** Closes the service. Errors: a plain Error when the service logged an error meanwhile. */
  close(): Promise<void>;
}

interface SeededOptions extends Omit<TestAppOptions, 'databaseUrl'> {
  readonly service: ServiceName;
  readonly migrations: readonly MigrationClass[];
}

/**
 * Starts a service with a database and a seeded directory. `settings` are those of the service itself, without those of
 * database, events, jobs and instance.
 */
export async function startSeededService({
  migrations,
  settings = [],
  ...options
}: SeededOptions): Promise<SeededService> {
  const { url, drop } = await testDatabase(options.service, migrations);
  const own: TestAppOptions = {
    ...options,
    settings: [databaseSettingsFor(options.service), messagingSettings, jobSettings, applicationSettings, ...settings],
    databaseUrl: url,
  };
  const app = await startTestApp(own);
  const seed = await DirectorySeed.open(url);
  return {
    app,
    seed,
    database: app.get(Database),
    databaseUrl: url,
    again: (env) => startTestApp({ ...own, env: { ...own.env, ...env } }),
    close: async () => {
      await app.close();
      await seed.close();
      await drop();
      const failures = app.logs.filter((line) => line['level'] === 'error' || line['level'] === 50);
      if (failures.length > 0) throw new Error(JSON.stringify(failures.slice(0, 3)));
    },
  };
}
