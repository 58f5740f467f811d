import { Module } from '@nestjs/common';
import { Attaches, Owns } from '@rookery/persistence';
import { NotesModule } from '../../talk/notes/notes.module';
import { ResourceMilestoneEvent } from './assigning/milestone-event.entity';
import { MilestoneNoteablesQueries } from './milestone-noteables.queries';
import { MilestonePromotionService } from './milestone-promotion.service';
import { Milestone } from './milestone.entity';
import { MilestonesConsumer } from './milestones.consumer';
import {
  GroupMilestonesController,
  MilestonePromotionController,
  ProjectMilestonesController,
} from './milestones.controller';
import { MilestonesQueries } from './milestones.queries';
import { MilestonesService } from './milestones.service';
import { attachedMilestoneEvents, attachedMilestones } from './milestone-removal';

/** Milestones of projects and groups, and the history of their use on noteables. */
@Owns(Milestone, ResourceMilestoneEvent)
@Attaches(attachedMilestoneEvents, attachedMilestones)
@Module({
  imports: [NotesModule],
  controllers: [
    GroupMilestonesController,
    MilestonePromotionController,
    MilestonesConsumer,
    ProjectMilestonesController,
  ],
  providers: [MilestoneNoteablesQueries, MilestonePromotionService, MilestonesQueries, MilestonesService],
  exports: [MilestoneNoteablesQueries],
})
export class MilestonesModule {}
