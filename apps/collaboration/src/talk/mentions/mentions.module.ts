import { Module } from '@nestjs/common';
import { UserMentions } from './user-mentions';
import { QuickActionsService } from './quick-actions/quick-actions.service';

/** Parsing of Markdown texts: mentions of users and groups, references, tasks and quick actions. */
@Module({ providers: [UserMentions, QuickActionsService], exports: [UserMentions, QuickActionsService] })
export class MentionsModule {}
