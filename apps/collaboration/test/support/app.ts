import type { Role } from '@rookery/kernel';
import type { Database } from '@rookery/persistence';
import { startSeeded } from '@rookery/testing';
import type { DirectorySeed, SeededService, SeededUser } from '@rookery/testing';
import { collaborationSettings } from '../../src/collaboration.config';
import { CollaborationModule } from '../../src/collaboration.module';
import { migrations } from '../../src/database';
import type { NoteableKind } from '../../src/base/noteables/noteable-kinds';

/** Shape: `kinds` are known besides those of the service. */
export function startCollaboration(
  env: Readonly<Record<string, string>> = {},
  kinds: readonly NoteableKind[] = [],
): Promise<SeededService> {
  return startSeeded({
    service: 'collaboration',
    module: { forRoot: (values) => CollaborationModule.forRoot(values, kinds) },
    settings: collaborationSettings,
    migrations,
    env,
  });
}

export const ROLES = ['guest', 'planner', 'reporter', 'developer', 'maintainer', 'owner'] as const satisfies Role[];

/** One person for each role in the project or group, an administrator, a signed-in stranger and an external one. */
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

/** Outbox events of a subject, oldest first. */
export async function eventsOf(database: Database, subject: string): Promise<Record<string, unknown>[]> {
  const rows = await database.query<{ payload: Record<string, unknown> }>(
    `select payload from outbox where subject = $1 order by id`,
    [subject],
  );
  return rows.map((row) => row.payload);
}
