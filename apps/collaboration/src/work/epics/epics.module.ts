import { Module } from '@nestjs/common';
import { Owns } from '@rookery/persistence';
import { AwardEmojiModule } from '../../talk/award-emoji/award-emoji.module';
import { IssuesModule } from '../issues/issues.module';
import { MentionsModule } from '../../talk/mentions/mentions.module';
import { NotesModule } from '../../talk/notes/notes.module';
import { ResourceEventsModule } from '../../base/resource-events/resource-events.module';
import { SubscriptionsModule } from '../../following/subscriptions/subscriptions.module';
import { TodosModule } from '../../following/todos/todos.module';
import { ChildEpicsController } from './children/child-epics.controller';
import { ChildEpicsQueries } from './children/child-epics.queries';
import { ChildEpicsService } from './children/child-epics.service';
import { EpicTreeSeparationConsumer } from './children/epic-moves.consumer';
import { EpicParentsService } from './children/epic-parents.service';
import { EpicTreeQuickActions } from './children/epic-tree-quick-actions';
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
} from './epic-discussions.controller';
import { EpicsController } from './epics.controller';
import { EpicsQueries } from './epics.queries';
import { EpicsService } from './epics.service';
import { EpicIssue } from './issues/epic-issue.entity';
import { EpicIssueQuickActions } from './issues/epic-issue-quick-actions';
import { EpicIssuesController } from './issues/epic-issues.controller';
import { EpicIssuesQueries } from './issues/epic-issues.queries';
import { EpicIssuesService } from './issues/epic-issues.service';
import { EpicQuickActionsService } from './quick-actions/epic-quick-actions.service';
import { EpicQuickActions } from './quick-actions/epic-quick-actions';

/** Epics with their issues and child epics, and the routes of their notes, awards and events. */
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
    ChildEpicsController,
    EpicTreeSeparationConsumer,
    EpicAwardEmojiController,
    EpicNoteAwardEmojiController,
    EpicLabelEventsController,
    EpicMarkingController,
    EpicStateEventsController,
    EpicNotesController,
    EpicDiscussionsController,
    EpicSubscriptionsController,
  ],
  providers: [
    ChildEpicsQueries,
    ChildEpicsService,
    EpicQuickActionsService,
    EpicQuickActions,
    EpicIssueQuickActions,
    EpicIssuesQueries,
    EpicIssuesService,
    EpicParentsService,
    EpicTreeQuickActions,
    EpicsQueries,
    EpicsService,
  ],
})
export class EpicsModule {}
