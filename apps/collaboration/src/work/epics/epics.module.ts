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
import { EpicMovesConsumer } from './children/epic-moves.consumer';
import { EpicParentsService } from './children/epic-parents.service';
import { EpicTreeActions } from './children/epic-tree-actions';
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
import { CommandedEpicsService } from './quick-actions/commanded-epics.service';
import { EpicActions } from './quick-actions/epic-actions';

/** Goals of groups that issues of many projects serve, which issues and which other epics these are, and the routes of their notes. */
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
    EpicMovesConsumer,
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
    CommandedEpicsService,
    EpicActions,
    EpicIssueActions,
    EpicIssuesQueries,
    EpicIssuesService,
    EpicParentsService,
    EpicTreeActions,
    EpicsQueries,
    EpicsService,
  ],
})
export class EpicsModule {}
