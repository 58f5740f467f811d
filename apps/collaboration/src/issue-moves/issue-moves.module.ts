import { Module } from '@nestjs/common';
import { IssuesModule } from '../issues/issues.module';
import { IssueMovesController } from './issue-moves.controller';
import { IssueMovesService } from './issue-moves.service';

/** Issues that go to other projects, with what other wings keep of them. */
@Module({
  imports: [IssuesModule],
  controllers: [IssueMovesController],
  providers: [IssueMovesService],
})
export class IssueMovesModule {}
