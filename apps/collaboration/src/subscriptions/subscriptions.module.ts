import { Module } from '@nestjs/common';
import { NotesModule } from '../notes/notes.module';
import { ParticipantsQueries } from './participants.queries';
import { SubscriptionRemovalConsumer } from './subscription-removal.consumer';
import { SubscriptionsService } from './subscriptions.service';

/** Who follows things of every kind, and who takes part in them. */
@Module({
  imports: [NotesModule],
  controllers: [SubscriptionRemovalConsumer],
  providers: [ParticipantsQueries, SubscriptionsService],
  exports: [ParticipantsQueries, SubscriptionsService],
})
export class SubscriptionsModule {}
