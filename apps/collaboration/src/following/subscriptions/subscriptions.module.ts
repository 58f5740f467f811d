import { Module } from '@nestjs/common';
import { Attaches, Owns } from '@rookery/persistence';
import { MentionsModule } from '../../talk/mentions/mentions.module';
import { NotesModule } from '../../talk/notes/notes.module';
import { ParticipantsQueries } from './participants.queries';
import { SubscriptionQuickActions } from './subscription-quick-actions';
import { Subscription } from './subscription.entity';
import { SubscriptionsService } from './subscriptions.service';
import { attachedSubscriptions } from './subscription-removal';
import { UnsubscribeController } from './unsubscribing/unsubscribe.controller';
import { UnsubscribeService } from './unsubscribing/unsubscribe.service';

/** Subscriptions and participants of noteables of every kind. */
@Owns(Subscription)
@Attaches(attachedSubscriptions)
@Module({
  imports: [MentionsModule, NotesModule],
  controllers: [UnsubscribeController],
  providers: [ParticipantsQueries, SubscriptionQuickActions, SubscriptionsService, UnsubscribeService],
  exports: [ParticipantsQueries, SubscriptionsService],
})
export class SubscriptionsModule {}
