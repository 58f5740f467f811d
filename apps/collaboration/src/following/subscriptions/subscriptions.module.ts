import { Module } from '@nestjs/common';
import { Attaches, Owns } from '@rookery/persistence';
import { MentionsModule } from '../../talk/mentions/mentions.module';
import { NotesModule } from '../../talk/notes/notes.module';
import { ParticipantsQueries } from './participants.queries';
import { SubscriptionActions } from './subscription-actions';
import { Subscription } from './subscription.entity';
import { SubscriptionsService } from './subscriptions.service';
import { attachedSubscriptions } from './subscription-removal';

/** Who follows things of every kind, and who takes part in them. */
@Owns(Subscription)
@Attaches(attachedSubscriptions)
@Module({
  imports: [MentionsModule, NotesModule],
  providers: [ParticipantsQueries, SubscriptionActions, SubscriptionsService],
  exports: [ParticipantsQueries, SubscriptionsService],
})
export class SubscriptionsModule {}
