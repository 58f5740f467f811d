import { Module } from '@nestjs/common';
import { Database, HeadWatch, Owns } from '@rookery/persistence';
import { ShutdownOrder } from '@rookery/platform';
import { InstanceVersion } from './instance-version.entity';
import { InstanceController } from './instance.controller';
import { INSTANCE_HEAD, InstanceService } from './instance.service';

/** How soon commits of other replicas are seen: what is set is in force everywhere within a second. Units: ms. */
const LOOKS = { busyMs: 500, calmMs: 900 };

/** What administrators set for the whole instance, as the other services copy it. */
@Owns(InstanceVersion)
@Module({
  controllers: [InstanceController],
  providers: [
    {
      provide: HeadWatch,
      inject: [Database, ShutdownOrder],
      useFactory: (database: Database, shutdown: ShutdownOrder) =>
        new HeadWatch(database, shutdown, INSTANCE_HEAD, LOOKS),
    },
    InstanceService,
  ],
  exports: [InstanceService],
})
export class InstanceModule {}
