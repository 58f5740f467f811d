import { Module } from '@nestjs/common';
import { Owns } from '@rookery/persistence';
import { MentionsModule } from '../../talk/mentions/mentions.module';
import { NotesModule } from '../../talk/notes/notes.module';
import { ParticipantsQueries } from './participants.queries';
import { SubscriptionActions } from './subscription-actions';
import { SubscriptionRemovalConsumer } from './subscription-removal.consumer';
import { Subscription } from './subscription.entity';
import { SubscriptionsService } from './subscriptions.service';

/** Who follows things of every kind, and who takes part in them. */
@Owns(Subscription)
@Module({
  imports: [MentionsModule, NotesModule],
  controllers: [SubscriptionRemovalConsumer],
  providers: [ParticipantsQueries, SubscriptionActions, SubscriptionsService],
  exports: [ParticipantsQueries, SubscriptionsService],
})
export class SubscriptionsModule {}
