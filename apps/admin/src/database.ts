import { directoryMigrations } from '@rookery/directory';
import type { MigrationClass } from '@rookery/persistence';
import { ApplicationSetting } from './application-settings/application-setting.entity';
import { BroadcastMessage } from './broadcast-messages/broadcast-message.entity';
import { FeatureFlagsClient } from './feature-flags-clients/feature-flags-client.entity';
import { UserList } from './feature-flags-user-lists/user-list.entity';
import { FeatureFlagScope, FeatureFlagStrategy } from './feature-flags/feature-flag-strategy.entity';
import { FeatureFlag } from './feature-flags/feature-flag.entity';
import { Feature } from './features/feature.entity';
import { InstanceVersion } from './instance/instance-version.entity';
import { License } from './licenses/license.entity';
import { CreateBroadcastMessages1767225600000 } from './migrations/1767225600000-create-broadcast-messages';
import { CreateFeatureFlags1767225600100 } from './migrations/1767225600100-create-feature-flags';
import { CreateInstanceFeatures1767225600200 } from './migrations/1767225600200-create-instance-features';
import { CreateApplicationSettings1767225600300 } from './migrations/1767225600300-create-application-settings';
import { NameUnlimitedPeopleById1767225600400 } from './migrations/1767225600400-name-unlimited-people-by-id';
import { CreateLicenses1767225600500 } from './migrations/1767225600500-create-licenses';
import { CreatePlanLimits1767225600600 } from './migrations/1767225600600-create-plan-limits';
import { PlanLimit } from './plan-limits/plan-limit.entity';

export const entities = [
  ApplicationSetting,
  BroadcastMessage,
  FeatureFlagsClient,
  UserList,
  FeatureFlag,
  FeatureFlagStrategy,
  FeatureFlagScope,
  InstanceVersion,
  Feature,
  PlanLimit,
  License,
];

export const migrations: readonly MigrationClass[] = [
  ...directoryMigrations,
  CreateBroadcastMessages1767225600000,
  CreateFeatureFlags1767225600100,
  CreateInstanceFeatures1767225600200,
  CreateApplicationSettings1767225600300,
  NameUnlimitedPeopleById1767225600400,
  CreateLicenses1767225600500,
  CreatePlanLimits1767225600600,
];
