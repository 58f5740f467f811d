import { Module } from '@nestjs/common';
import { Owns } from '@rookery/persistence';
import { InstanceConfigModule } from '../instance/instance.module';
import { FeatureActors } from './feature-actors';
import { Feature } from './feature.entity';
import { FeaturesController } from './features.controller';
import { FeaturesService } from './features.service';

/** Features of the instance that administrators switch on and off, for all or for some. */
@Owns(Feature)
@Module({
  imports: [InstanceConfigModule],
  controllers: [FeaturesController],
  providers: [FeatureActors, FeaturesService],
  exports: [FeaturesService],
})
export class FeaturesModule {}
