import { Module } from '@nestjs/common';
import { droppedWithProjects } from '@rookery/directory';
import { attachedTo, Attaches, Owns } from '@rookery/persistence';
import { dropFeatureFlagsClients } from '../feature-flags-clients/feature-flags-clients.service';
import { FeatureFlagsClientsModule } from '../feature-flags-clients/feature-flags-clients.module';
import { userLists } from '../feature-flags-user-lists/user-lists.service';
import { FeatureFlagScope, FeatureFlagStrategy } from './feature-flag-strategy.entity';
import { FeatureFlag } from './feature-flag.entity';
import { FeatureFlagsController } from './feature-flags.controller';
import { featureFlags, FeatureFlagsService } from './feature-flags.service';
import { UnleashController } from './unleash/unleash.controller';

/** Lists go after the strategies that have them. */
export const flagsOfProjects: Parameters<typeof droppedWithProjects>[0] = {
  async drop(tx, kind, projectIds) {
    await featureFlags.drop(tx, kind, projectIds);
    await userLists.drop(tx, kind, projectIds);
    await dropFeatureFlagsClients(tx, projectIds);
  },
};

export const attachedFlags = attachedTo({
  table: 'feature_flags',
  project: { column: 'project_id', because: 'flags, lists and clients are removed in this order (`flagsOfProjects`)' },
});

/** Things of an application that are switched on for some of its users, project by project. */
@Owns(FeatureFlag, FeatureFlagScope, FeatureFlagStrategy)
@Attaches(attachedFlags)
@Module({
  imports: [FeatureFlagsClientsModule],
  controllers: [FeatureFlagsController, UnleashController, droppedWithProjects(flagsOfProjects, 'drop-feature-flags')],
  providers: [FeatureFlagsService],
})
export class FeatureFlagsModule {}
