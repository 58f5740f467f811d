import { Module } from '@nestjs/common';
import { Database, HeadWatch, Owns } from '@rookery/persistence';
import { ShutdownOrder } from '@rookery/platform';
import { InstanceConfigVersion } from './instance-version.entity';
import { InstanceConfigController } from './instance.controller';
import { INSTANCE_HEAD, InstanceConfigService } from './instance.service';

/**
 * Intervals at which commits of other replicas are detected, so that a change is in force everywhere within a second.
 * Units: ms.
 */
const POLL_INTERVALS = { busyMs: 500, calmMs: 900 };

/** Features and settings of the whole instance, as the other services copy them. */
@Owns(InstanceConfigVersion)
@Module({
  controllers: [InstanceConfigController],
  providers: [
    {
      provide: HeadWatch,
      inject: [Database, ShutdownOrder],
      useFactory: (database: Database, shutdown: ShutdownOrder) =>
        new HeadWatch(database, shutdown, INSTANCE_HEAD, POLL_INTERVALS),
    },
    InstanceConfigService,
  ],
  exports: [InstanceConfigService],
})
export class InstanceConfigModule {}
