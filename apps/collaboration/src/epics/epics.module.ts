import { Module } from '@nestjs/common';
import { Owns } from '@rookery/persistence';
import { AwardEmojiModule } from '../award-emoji/award-emoji.module';
import { NotesModule } from '../notes/notes.module';
import { ResourceEventsModule } from '../resource-events/resource-events.module';
import { SubscriptionsModule } from '../subscriptions/subscriptions.module';
import { Epic } from './epic.entity';
import {
  EpicAwardEmojiController,
  EpicDiscussionsController,
  EpicLabelEventsController,
  EpicNoteAwardEmojiController,
  EpicNotesController,
  EpicStateEventsController,
  EpicSubscriptionsController,
} from './epic-talk.controller';
import { EpicsController } from './epics.controller';
import { EpicsQueries } from './epics.queries';
import { EpicsService } from './epics.service';

/** Goals of groups that issues of many projects serve, and the routes of their notes. */
@Owns(Epic)
@Module({
  imports: [AwardEmojiModule, NotesModule, ResourceEventsModule, SubscriptionsModule],
  controllers: [
    EpicsController,
    EpicAwardEmojiController,
    EpicNoteAwardEmojiController,
    EpicLabelEventsController,
    EpicStateEventsController,
    EpicNotesController,
    EpicDiscussionsController,
    EpicSubscriptionsController,
  ],
  providers: [EpicsQueries, EpicsService],
})
export class EpicsModule {}
