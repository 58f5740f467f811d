import { Module } from '@nestjs/common';
import { NamedPeople } from './named-people';
import { QuickActionsService } from './quick-actions/quick-actions.service';

/** What Markdown says: the people and groups that it names, the boxes of its lists, and what it asks to be done. */
@Module({ providers: [NamedPeople, QuickActionsService], exports: [NamedPeople, QuickActionsService] })
export class MentionsModule {}
