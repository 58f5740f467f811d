import { Module } from '@nestjs/common';
import { droppedWithGroups } from '@rookery/directory';
import { Owns } from '@rookery/persistence';
import { ResourceMilestoneEvent } from './assigning/milestone-event.entity';
import { MilestonePromotionService } from './milestone-promotion.service';
import { Milestone } from './milestone.entity';
import { MilestonesConsumer } from './milestones.consumer';
import {
  GroupMilestonesController,
  MilestonePromotionController,
  ProjectMilestonesController,
} from './milestones.controller';
import { MilestonesQueries } from './milestones.queries';
import { milestones, MilestonesService } from './milestones.service';

/** Goals with dates of projects and groups, and which thing had which. */
@Owns(Milestone, ResourceMilestoneEvent)
@Module({
  controllers: [
    GroupMilestonesController,
    MilestonePromotionController,
    MilestonesConsumer,
    ProjectMilestonesController,
    droppedWithGroups(milestones, 'drop-milestones'),
  ],
  providers: [MilestonePromotionService, MilestonesQueries, MilestonesService],
})
export class MilestonesModule {}
