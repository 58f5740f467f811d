import { Module } from '@nestjs/common';
import { Owns } from '@rookery/persistence';
import { MentionsModule } from '../../talk/mentions/mentions.module';
import { IssueLinkQuickActions } from './issue-link-quick-actions';
import { IssueLink } from './issue-link.entity';
import { IssueLinksController } from './issue-links.controller';
import { IssueLinksQueries } from './issue-links.queries';
import { IssueLinksService } from './issue-links.service';

/** Links between issues: relations and blockers. */
@Owns(IssueLink)
@Module({
  imports: [MentionsModule],
  controllers: [IssueLinksController],
  providers: [IssueLinkQuickActions, IssueLinksQueries, IssueLinksService],
})
export class IssueLinksModule {}
