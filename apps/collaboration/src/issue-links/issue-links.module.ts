import { Module } from '@nestjs/common';
import { IssueLinksController } from './issue-links.controller';
import { IssueLinksQueries } from './issue-links.queries';
import { IssueLinksService } from './issue-links.service';

/** Which issues belong together, and which block which. */
@Module({
  controllers: [IssueLinksController],
  providers: [IssueLinksQueries, IssueLinksService],
})
export class IssueLinksModule {}
