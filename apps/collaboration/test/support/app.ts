import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Role } from '@rookery/kernel';
import type { Database } from '@rookery/persistence';
import { startSeededService } from '@rookery/testing';
import type { DirectorySeed, SeededService, SeededUser } from '@rookery/testing';
import { collaborationSettings } from '../../src/collaboration.config';
import { CollaborationModule } from '../../src/collaboration.module';
import { migrations } from '../../src/database';
import type { NoteableKind } from '../../src/base/noteables/noteable-kinds';

/** Starts the service with a seedable directory. `kinds` are additional noteable kinds. */
export async function startCollaboration(
  env: Readonly<Record<string, string>> = {},
  kinds: readonly NoteableKind[] = [],
): Promise<SeededService> {
  const repositories = mkdtempSync(join(tmpdir(), 'rookery-repositories-'));
  const service = await startSeededService({
    service: 'collaboration',
    module: { forRoot: (values) => CollaborationModule.forRoot(values, kinds) },
    settings: collaborationSettings,
    migrations,
    env: { ROOKERY_REPOSITORIES: repositories, ...env },
  });
  const close = async (): Promise<void> => {
    await service.close();
    rmSync(repositories, { recursive: true, force: true });
  };
  return { ...service, close };
}

export const ROLES = ['guest', 'planner', 'reporter', 'developer', 'maintainer', 'owner'] as const satisfies Role[];

/** Users of a test: one for each role in the project or group, an administrator, a non-member and an external user. */
export type Cast = Record<(typeof ROLES)[number] | 'admin' | 'stranger' | 'external', SeededUser>;

export async function castOf(seed: DirectorySeed, place: Parameters<DirectorySeed['member']>[1]): Promise<Cast> {
  const cast: Partial<Cast> = {
    admin: await seed.user({ admin: true }),
    stranger: await seed.user(),
    external: await seed.user({ external: true }),
  };
  for (const role of ROLES) {
    cast[role] = await seed.user();
    await seed.member(cast[role], place, role);
  }
  return cast as Cast;
}

/** Returns the payloads of a subject's outbox events, oldest first. */
export async function eventsOf(database: Database, subject: string): Promise<Record<string, unknown>[]> {
  const rows = await database.query<{ payload: Record<string, unknown> }>(
    `select payload from outbox where subject = $1 order by id`,
    [subject],
  );
  return rows.map((row) => row.payload);
}
