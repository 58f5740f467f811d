import type { DomainEvent } from '@rookery/contracts';
import { publishEvent } from '@rookery/testing';
import type { PrivateNats } from '@rookery/testing';
import { connect } from 'nats';

/** Publishes an event like `publishEvent`, over its own connection. */
export async function publish(nats: PrivateNats, event: DomainEvent, id?: string, at?: Date): Promise<string> {
  const bus = await connect({ servers: nats.url });
  try {
    return await publishEvent(bus, event, { ...(id && { id }), ...(at && { at }) });
  } finally {
    await bus.close();
  }
}
