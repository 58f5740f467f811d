import { Module } from '@nestjs/common';
import { IssuesModule } from '../issues/issues.module';
import { MentionsModule } from '../../talk/mentions/mentions.module';
import { IssueMoveActions } from './issue-move-actions';
import { IssueMovesController } from './issue-moves.controller';
import { IssueMovesService } from './issue-moves.service';

/** Issues that go to other projects, with what other wings keep of them. */
@Module({
  imports: [IssuesModule, MentionsModule],
  controllers: [IssueMovesController],
  providers: [IssueMoveActions, IssueMovesService],
})
export class IssueMovesModule {}
