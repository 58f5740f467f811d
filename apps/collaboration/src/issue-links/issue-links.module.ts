import { Module } from '@nestjs/common';
import { Owns } from '@rookery/persistence';
import { IssueLink } from './issue-link.entity';
import { IssueLinksController } from './issue-links.controller';
import { IssueLinksQueries } from './issue-links.queries';
import { IssueLinksService } from './issue-links.service';

/** Which issues belong together, and which block which. */
@Owns(IssueLink)
@Module({
  controllers: [IssueLinksController],
  providers: [IssueLinksQueries, IssueLinksService],
})
export class IssueLinksModule {}
