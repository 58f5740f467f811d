import { directoryMigrations } from '@rookery/directory';
import type { MigrationClass } from '@rookery/persistence';

/** The import service owns its database and outbox; tables of its own come with its first route. */
export const migrations: readonly MigrationClass[] = [...directoryMigrations];
