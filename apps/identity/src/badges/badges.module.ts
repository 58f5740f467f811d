import { Module } from '@nestjs/common';
import { Owns } from '@rookery/persistence';
import { DirectoryModule } from '../directory/directory.module';
import { BadgeRendering } from './badge-rendering';
import { Badge } from './badge.entity';
import { GroupBadgesController, ProjectBadgesController } from './badges.controller';
import { CollaborationClient } from './collaboration-client';

/** Linked images that groups and projects show. */
@Owns(Badge)
@Module({
  imports: [DirectoryModule],
  controllers: [ProjectBadgesController, GroupBadgesController],
  providers: [BadgeRendering, CollaborationClient],
})
export class BadgesModule {}
