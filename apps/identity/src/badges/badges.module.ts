import { Module } from '@nestjs/common';
import { DirectoryModule } from '../directory/directory.module';
import { BadgeRendering } from './badge-rendering';
import { GroupBadgesController, ProjectBadgesController } from './badges.controller';
import { CollaborationClient } from './collaboration-client';

/** Linked pictures that groups and projects show. */
@Module({
  imports: [DirectoryModule],
  controllers: [ProjectBadgesController, GroupBadgesController],
  providers: [BadgeRendering, CollaborationClient],
})
export class BadgesModule {}
