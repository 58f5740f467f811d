import { Module } from '@nestjs/common';
import { IssuesModule } from '../issues/issues.module';
import { MentionsModule } from '../../talk/mentions/mentions.module';
import { IssueMoveActions } from './issue-move-actions';
import { IssueMovesController } from './issue-moves.controller';
import { IssueMovesService } from './issue-moves.service';

/** Moving and cloning issues, with the rows that other wings keep for them. */
@Module({
  imports: [IssuesModule, MentionsModule],
  controllers: [IssueMovesController],
  providers: [IssueMoveActions, IssueMovesService],
})
export class IssueMovesModule {}
