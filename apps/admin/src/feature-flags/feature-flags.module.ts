import { Module } from '@nestjs/common';
import { createDeleteWithProjectController } from '@rookery/directory';
import { declareAttachedTable, Attaches, Owns } from '@rookery/persistence';
import { dropFeatureFlagsClients } from '../feature-flags-clients/feature-flags-clients.service';
import { FeatureFlagsClientsModule } from '../feature-flags-clients/feature-flags-clients.module';
import { userLists } from '../feature-flags-user-lists/user-lists.service';
import { FeatureFlagScope, FeatureFlagStrategy } from './feature-flag-strategy.entity';
import { FeatureFlag } from './feature-flag.entity';
import { FeatureFlagsController } from './feature-flags.controller';
import { featureFlags, FeatureFlagsService } from './feature-flags.service';
import { UnleashController } from './unleash/unleash.controller';

/** Deletes the feature flags of deleted projects. User lists are deleted after the strategies that refer to them. */
const flagsOfProjects: Parameters<typeof createDeleteWithProjectController>[0] = {
  async drop(tx, kind, projectIds) {
    await featureFlags.drop(tx, kind, projectIds);
    await userLists.drop(tx, kind, projectIds);
    await dropFeatureFlagsClients(tx, projectIds);
  },
};

const attachedFlags = declareAttachedTable({
  table: 'feature_flags',
  project: { column: 'project_id', because: 'flags, lists and clients are removed in this order (`flagsOfProjects`)' },
});

/** Feature flags of projects: features of an application that can be switched on for some of its users. */
@Owns(FeatureFlag, FeatureFlagScope, FeatureFlagStrategy)
@Attaches(attachedFlags)
@Module({
  imports: [FeatureFlagsClientsModule],
  controllers: [
    FeatureFlagsController,
    UnleashController,
    createDeleteWithProjectController(flagsOfProjects, 'drop-feature-flags'),
  ],
  providers: [FeatureFlagsService],
})
export class FeatureFlagsModule {}
