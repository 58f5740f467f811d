import { randomUUID } from 'node:crypto';
import type { DomainEvent } from '@rookery/contracts';
import type { PrivateNats } from '@rookery/testing';
import { connect } from 'nats';
import { until } from './worker';

/** Sends what another service would have sent; the same id again is the same event again. Answers the id. */
export async function publish(
  nats: PrivateNats,
  { definition, aggregateId, actorId, data }: DomainEvent,
  id: string = randomUUID(),
): Promise<string> {
  const envelope = {
    specversion: '1.0',
    id,
    source: `/rookery/${definition.service}`,
    type: definition.type,
    subject: definition.subject,
    time: new Date().toISOString(),
    datacontenttype: 'application/json',
    aggregatetype: definition.noun,
    aggregateid: aggregateId,
    actorid: actorId,
    data,
  };
  const bus = await connect({ servers: nats.url });
  try {
    // The worker makes the streams that it reads, but in its own time. Without a message id the bus lets duplicates pass.
    const stream = definition.service.toUpperCase();
    const manager = await bus.jetstreamManager();
    await until(async () => (await manager.streams.names().next()).includes(stream), `the stream ${stream}`);
    await bus.jetstream().publish(definition.subject, JSON.stringify(envelope));
  } finally {
    await bus.close();
  }
  return id;
}
