import { messagingSettings } from '@rookery/messaging';
import { Database, databaseSettingsFor } from '@rookery/persistence';
import { DirectorySeed, startTestApp, testDatabase } from '@rookery/testing';
import type { SeededUser, TestApp } from '@rookery/testing';
import type { DirectoryProject } from '@rookery/contracts';
import type { Role } from '@rookery/kernel';
import { collaborationSettings } from '../../src/collaboration.config';
import { CollaborationModule } from '../../src/collaboration.module';
import { migrations } from '../../src/database';

/** The service over its own database and a seeded directory. */
export interface Collaboration {
  readonly app: TestApp;
  readonly seed: DirectorySeed;
  readonly database: Database;
  readonly databaseUrl: string;
  close(): Promise<void>;
}

export async function startCollaboration(env: Readonly<Record<string, string>> = {}): Promise<Collaboration> {
  const { url, drop } = await testDatabase('collaboration', migrations);
  const app = await startTestApp({
    service: 'collaboration',
    module: CollaborationModule,
    settings: [databaseSettingsFor('collaboration'), messagingSettings, ...collaborationSettings],
    databaseUrl: url,
    // Many requests at once on a busy machine may wait longer for a connection than a client should.
    env: { DATABASE_POOL_WAIT_MS: '10000', ...env },
  });
  const seed = await DirectorySeed.open(url);
  return {
    app,
    seed,
    database: app.get(Database),
    databaseUrl: url,
    close: async () => {
      await app.close();
      await seed.close();
      await drop();
      // Whatever was asked, nothing failed inside.
      const failures = app.logs.filter((line) => line['level'] === 'error' || line['level'] === 50);
      if (failures.length > 0) throw new Error(JSON.stringify(failures.slice(0, 3)));
    },
  };
}

export const ROLES = ['guest', 'planner', 'reporter', 'developer', 'maintainer', 'owner'] as const satisfies Role[];

/** One person for each role in the project, an administrator, a signed-in stranger and an external one. */
export type Cast = Record<(typeof ROLES)[number] | 'admin' | 'stranger' | 'external', SeededUser>;

export async function castOf(seed: DirectorySeed, project: DirectoryProject): Promise<Cast> {
  const cast: Partial<Cast> = {
    admin: await seed.user({ admin: true }),
    stranger: await seed.user(),
    external: await seed.user({ external: true }),
  };
  for (const role of ROLES) {
    cast[role] = await seed.user();
    await seed.member(cast[role], project, role);
  }
  return cast as Cast;
}

/** Outbox events of a subject, oldest first. */
export async function eventsOf(database: Database, subject: string): Promise<Record<string, unknown>[]> {
  const rows = await database.query<{ payload: Record<string, unknown> }>(
    `select payload from outbox where subject = $1 order by id`,
    [subject],
  );
  return rows.map((row) => row.payload);
}
