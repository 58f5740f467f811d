import { directoryMigrations } from '@rookery/directory';
import { jobMigrations } from '@rookery/jobs';
import type { MigrationClass } from '@rookery/persistence';
import * as own from './migrations.generated';

export const migrations: readonly MigrationClass[] = [...directoryMigrations, ...jobMigrations, ...Object.values(own)];
