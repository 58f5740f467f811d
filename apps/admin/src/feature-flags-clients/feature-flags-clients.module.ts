import { Module } from '@nestjs/common';
import { Owns } from '@rookery/persistence';
import { FeatureFlagsClient } from './feature-flags-client.entity';
import { FeatureFlagsClientsController } from './feature-flags-clients.controller';
import { FeatureFlagsClientsService } from './feature-flags-clients.service';

/** Tokens by which applications fetch the feature flags of a project. */
@Owns(FeatureFlagsClient)
@Module({
  controllers: [FeatureFlagsClientsController],
  providers: [FeatureFlagsClientsService],
  exports: [FeatureFlagsClientsService],
})
export class FeatureFlagsClientsModule {}
