import { Module } from '@nestjs/common';
import { Owns } from '@rookery/persistence';
import { BroadcastMessage } from './broadcast-message.entity';
import { BroadcastMessagesController } from './broadcast-messages.controller';

/** Texts that everybody sees for a while, written by administrators. */
@Owns(BroadcastMessage)
@Module({ controllers: [BroadcastMessagesController] })
export class BroadcastMessagesModule {}
