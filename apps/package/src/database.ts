import { directoryMigrations } from '@rookery/directory';
import { instanceMigrations } from '@rookery/instance';
import { jobMigrations } from '@rookery/jobs';
import type { MigrationClass } from '@rookery/persistence';
import * as own from './migrations.generated';

export const migrations: readonly MigrationClass[] = [
  ...directoryMigrations,
  ...instanceMigrations,
  ...jobMigrations,
  ...Object.values(own),
];
