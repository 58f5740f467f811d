import { Module } from '@nestjs/common';
import { Owns } from '@rookery/persistence';
import { BroadcastMessage } from './broadcast-message.entity';
import { FeaturesModule } from '../features/features.module';
import { BroadcastMessagesController } from './broadcast-messages.controller';
import { DisplayedMessagesService } from './displayed-messages.service';

/** Messages that administrators show to all users for a limited time. */
@Owns(BroadcastMessage)
@Module({
  imports: [FeaturesModule],
  controllers: [BroadcastMessagesController],
  providers: [DisplayedMessagesService],
})
export class BroadcastMessagesModule {}
