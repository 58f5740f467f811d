import { Module } from '@nestjs/common';
import { declareAttachedTable, Attaches, Owns } from '@rookery/persistence';
import { FeatureFlagsClient } from './feature-flags-client.entity';
import { FeatureFlagsClientsController } from './feature-flags-clients.controller';
import { FeatureFlagsClientsService } from './feature-flags-clients.service';

const attachedClients = declareAttachedTable({
  table: 'feature_flags_clients',
  project: { column: 'project_id', because: 'flags, lists and clients are removed in this order (`flagsOfProjects`)' },
});

/** Tokens by which applications fetch the feature flags of a project. */
@Owns(FeatureFlagsClient)
@Attaches(attachedClients)
@Module({
  controllers: [FeatureFlagsClientsController],
  providers: [FeatureFlagsClientsService],
  exports: [FeatureFlagsClientsService],
})
export class FeatureFlagsClientsModule {}
