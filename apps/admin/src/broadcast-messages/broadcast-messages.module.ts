import { Module } from '@nestjs/common';
import { Owns } from '@rookery/persistence';
import { BroadcastMessage } from './broadcast-message.entity';
import { FeaturesModule } from '../features/features.module';
import { BroadcastMessagesController } from './broadcast-messages.controller';
import { DisplayedMessagesService } from './displayed-messages.service';

/** Texts that everybody sees for a while, written by administrators. */
@Owns(BroadcastMessage)
@Module({
  imports: [FeaturesModule],
  controllers: [BroadcastMessagesController],
  providers: [DisplayedMessagesService],
})
export class BroadcastMessagesModule {}
