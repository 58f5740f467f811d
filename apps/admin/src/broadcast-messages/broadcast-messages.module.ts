import { Module } from '@nestjs/common';
import { BroadcastMessagesController } from './broadcast-messages.controller';

/** Texts that everybody sees for a while, written by administrators. */
@Module({ controllers: [BroadcastMessagesController] })
export class BroadcastMessagesModule {}
