import { directoryMigrations } from '@rookery/directory';
import type { MigrationClass } from '@rookery/persistence';
import { BroadcastMessage } from './broadcast-messages/broadcast-message.entity';
import { FeatureFlagsClient } from './feature-flags-clients/feature-flags-client.entity';
import { UserList } from './feature-flags-user-lists/user-list.entity';
import { FeatureFlagScope, FeatureFlagStrategy } from './feature-flags/feature-flag-strategy.entity';
import { FeatureFlag } from './feature-flags/feature-flag.entity';
import { CreateBroadcastMessages1767225600000 } from './migrations/1767225600000-create-broadcast-messages';
import { CreateFeatureFlags1767225600100 } from './migrations/1767225600100-create-feature-flags';

export const entities = [
  BroadcastMessage,
  FeatureFlagsClient,
  UserList,
  FeatureFlag,
  FeatureFlagStrategy,
  FeatureFlagScope,
];

export const migrations: readonly MigrationClass[] = [
  ...directoryMigrations,
  CreateBroadcastMessages1767225600000,
  CreateFeatureFlags1767225600100,
];
