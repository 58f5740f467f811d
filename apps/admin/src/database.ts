import { directoryMigrations } from '@rookery/directory';
import type { MigrationClass } from '@rookery/persistence';
import * as own from './migrations.generated';

export const migrations: readonly MigrationClass[] = [...directoryMigrations, ...Object.values(own)];
