import { directoryMigrations } from '@rookery/directory';
import type { MigrationClass } from '@rookery/persistence';

/** The import service owns its database and outbox. It has no tables of its own before its first route. */
export const migrations: readonly MigrationClass[] = [...directoryMigrations];
