import { bool, choice, instant, int, list, nullable, presenter, text } from '@rookery/api-v4';
import type { Clock } from '@rookery/kernel';
import { CLOCK } from '@rookery/kernel';
import type { BroadcastMessage } from './broadcast-message.entity';
import { BROADCAST_TYPES, THEMES } from './broadcast-message.entity';

/** Source: requirements 3 §2 Broadcast message. */
export const broadcastMessagePresenter = presenter<BroadcastMessage>('BroadcastMessage')
  .load((_messages, ctx) => ({ now: ctx.get<Clock>(CLOCK).now() }))
  .fields({
    id: [int, (message) => message.id],
    message: [text, (message) => message.message],
    starts_at: [instant, (message) => message.startsAt],
    ends_at: [instant, (message) => message.endsAt],
    font: [nullable(text), (message) => message.font],
    target_access_levels: [list(int), (message) => message.targetAccessLevels],
    target_path: [nullable(text), (message) => message.targetPath],
    broadcast_type: [choice(...BROADCAST_TYPES), (message) => message.broadcastType],
    theme: [choice(...THEMES), (message) => message.theme],
    dismissable: [bool, (message) => message.dismissable],
    active: [bool, (message, { now }) => message.isActive(now)],
  });
