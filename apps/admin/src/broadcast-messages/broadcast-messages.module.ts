import { Module } from '@nestjs/common';
import { FeaturesModule } from '../features/features.module';
import { BroadcastMessagesController } from './broadcast-messages.controller';
import { DisplayedMessagesService } from './displayed-messages.service';

/** Texts that everybody sees for a while, written by administrators. */
@Module({
  imports: [FeaturesModule],
  controllers: [BroadcastMessagesController],
  providers: [DisplayedMessagesService],
})
export class BroadcastMessagesModule {}
