import { Module } from '@nestjs/common';
import { Owns } from '@rookery/persistence';
import { AwardEmojiModule } from '../award-emoji/award-emoji.module';
import { IssuesModule } from '../issues/issues.module';
import { MentionsModule } from '../mentions/mentions.module';
import { NotesModule } from '../notes/notes.module';
import { ResourceEventsModule } from '../resource-events/resource-events.module';
import { SubscriptionsModule } from '../subscriptions/subscriptions.module';
import { TodosModule } from '../todos/todos.module';
import { Epic } from './epic.entity';
import {
  EpicAwardEmojiController,
  EpicDiscussionsController,
  EpicLabelEventsController,
  EpicMarkingController,
  EpicNoteAwardEmojiController,
  EpicNotesController,
  EpicStateEventsController,
  EpicSubscriptionsController,
} from './epic-talk.controller';
import { EpicsController } from './epics.controller';
import { EpicsQueries } from './epics.queries';
import { EpicsService } from './epics.service';
import { EpicIssue } from './issues/epic-issue.entity';
import { EpicIssueActions } from './issues/epic-issue-actions';
import { EpicIssuesController } from './issues/epic-issues.controller';
import { EpicIssuesQueries } from './issues/epic-issues.queries';
import { EpicIssuesService } from './issues/epic-issues.service';

/** Goals of groups that issues of many projects serve, which issues these are, and the routes of their notes. */
@Owns(Epic, EpicIssue)
@Module({
  imports: [
    AwardEmojiModule,
    IssuesModule,
    MentionsModule,
    NotesModule,
    ResourceEventsModule,
    SubscriptionsModule,
    TodosModule,
  ],
  controllers: [
    EpicsController,
    EpicIssuesController,
    EpicAwardEmojiController,
    EpicNoteAwardEmojiController,
    EpicLabelEventsController,
    EpicMarkingController,
    EpicStateEventsController,
    EpicNotesController,
    EpicDiscussionsController,
    EpicSubscriptionsController,
  ],
  providers: [EpicIssueActions, EpicIssuesQueries, EpicIssuesService, EpicsQueries, EpicsService],
})
export class EpicsModule {}
