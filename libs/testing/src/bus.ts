import { randomUUID } from 'node:crypto';
import type { DomainEvent } from '@rookery/contracts';
import type { JetStreamStrategy } from '@rookery/messaging';
import type { Database } from '@rookery/persistence';
import type { NatsConnection } from 'nats';

/**
 * Sends what another service would have sent; the same id again is the same event again. Answers the id.
 * The stream is made in place of the service that publishes to it; without a message id the bus lets duplicates pass.
 */
export async function publishEvent(
  bus: NatsConnection,
  { definition, aggregateId, actorId, seen, data }: DomainEvent,
  { id = randomUUID(), at = new Date() }: { readonly id?: string; readonly at?: Date } = {},
): Promise<string> {
  const envelope = {
    specversion: '1.0',
    id,
    source: `/rookery/${definition.service}`,
    type: definition.type,
    subject: definition.subject,
    time: at.toISOString(),
    datacontenttype: 'application/json',
    aggregatetype: definition.noun,
    aggregateid: aggregateId,
    actorid: actorId,
    ...(seen ? { directoryversion: seen.version, directoryepoch: seen.epoch } : {}),
    data,
  };
  const manager = await bus.jetstreamManager();
  const stream = { name: definition.service.toUpperCase(), subjects: [`${definition.service}.>`] };
  await manager.streams.add(stream).catch(() => undefined);
  await bus.jetstream().publish(definition.subject, JSON.stringify(envelope));
  return id;
}

/**
 * Has everything that was emitted and sent had its effects? A stream whose durables are not all there yet may hold
 * events that no consumer has counted.
 */
export async function haveAllEffects(
  bus: NatsConnection,
  database: Database,
  { handled }: Pick<JetStreamStrategy, 'handled'>,
): Promise<boolean> {
  const [row] = await database.query<{ waits: boolean }>(
    'select exists (select 1 from outbox where published_at is null) as waits',
  );
  if (row?.waits !== false) return false;
  const manager = await bus.jetstreamManager();
  for (const { config } of await manager.streams.list().next()) {
    const wanted = handled.filter(({ definition }) => definition.service.toUpperCase() === config.name).length;
    let found = 0;
    const consumers = manager.consumers.list(config.name);
    for (let page = await consumers.next(); page.length > 0; page = await consumers.next()) {
      if (page.some((one) => one.num_pending + one.num_ack_pending > 0)) return false;
      found += page.length;
    }
    if (found < wanted) return false;
  }
  return true;
}

/**
 * Waits for a condition: by time and never by a number of tries, which a quick machine has used up before the other side
 * begins. Units: milliseconds.
 */
export async function until(
  condition: () => Promise<boolean> | boolean,
  what = condition.toString(),
  ms = 15_000,
): Promise<void> {
  const end = Date.now() + ms;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`${what} did not come about within ${ms} ms`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
