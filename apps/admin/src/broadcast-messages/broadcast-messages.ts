import type { EventDefinition } from '@rookery/contracts';
import { broadcastMessageCreated, broadcastMessageDeleted, broadcastMessageUpdated } from '@rookery/contracts';
import { defineCollection } from '@rookery/persistence';
import { BroadcastMessage } from './broadcast-message.entity';

const messageEventBuilder =
  (event: EventDefinition & Pick<typeof broadcastMessageCreated, 'of'>) =>
  (message: BroadcastMessage, actorId: number | null) =>
    event.of({ aggregateId: message.id, actorId, data: { broadcast_message_id: message.id } });

/** Newest first. */
export const broadcastMessages = defineCollection(BroadcastMessage, {
  order: { id: 'DESC' },
  bytes: 'octet_length(row.message)',
  created: messageEventBuilder(broadcastMessageCreated),
  changed: messageEventBuilder(broadcastMessageUpdated),
  removed: messageEventBuilder(broadcastMessageDeleted),
});
