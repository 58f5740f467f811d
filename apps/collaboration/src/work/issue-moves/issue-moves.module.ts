import { Module } from '@nestjs/common';
import { IssuesModule } from '../issues/issues.module';
import { MentionsModule } from '../../talk/mentions/mentions.module';
import { IssueMoveQuickActions } from './issue-move-quick-actions';
import { IssueMovesController } from './issue-moves.controller';
import { IssueMovesService } from './issue-moves.service';

/** Moving and cloning issues, with the rows that other wings keep for them. */
@Module({
  imports: [IssuesModule, MentionsModule],
  controllers: [IssueMovesController],
  providers: [IssueMoveQuickActions, IssueMovesService],
})
export class IssueMovesModule {}
