import { Module } from '@nestjs/common';
import { Owns } from '@rookery/persistence';
import { Epic } from './epic.entity';
import { EpicsConsumer } from './epics.consumer';
import { EpicsController } from './epics.controller';
import { EpicsQueries } from './epics.queries';
import { EpicsService } from './epics.service';

/** Goals of groups that issues of many projects serve. */
@Owns(Epic)
@Module({
  controllers: [EpicsConsumer, EpicsController],
  providers: [EpicsQueries, EpicsService],
})
export class EpicsModule {}
