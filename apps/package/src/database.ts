import { directoryMigrations } from '@rookery/directory';
import type { MigrationClass } from '@rookery/persistence';
import { CreateProtectionRules1767225600000 } from './migrations/1767225600000-create-protection-rules';
import { ProtectionRule } from './protection-rules/protection-rule.entity';

export const entities = [ProtectionRule];

export const migrations: readonly MigrationClass[] = [...directoryMigrations, CreateProtectionRules1767225600000];
