import { directoryMigrations } from '@rookery/directory';
import { instanceMigrations } from '@rookery/instance';
import type { MigrationClass } from '@rookery/persistence';
import { CreateProtectionRules1767225600000 } from './migrations/1767225600000-create-protection-rules';
import { ProtectionRule } from './protection-rules/protection-rule.entity';

export const entities = [ProtectionRule];

export const migrations: readonly MigrationClass[] = [
  ...directoryMigrations,
  ...instanceMigrations,
  CreateProtectionRules1767225600000,
];
