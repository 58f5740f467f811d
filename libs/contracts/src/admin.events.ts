import { defineEvent } from './event';
import { int, object } from './schema';

const message = object({ broadcast_message_id: int });

export const broadcastMessageCreated = defineEvent(
  'admin.broadcast_message.created.v1',
  'An administrator wrote a broadcast message.',
  message,
);
export const broadcastMessageUpdated = defineEvent(
  'admin.broadcast_message.updated.v1',
  'A broadcast message changed.',
  message,
);
export const broadcastMessageDeleted = defineEvent(
  'admin.broadcast_message.deleted.v1',
  'A broadcast message was deleted.',
  message,
);
