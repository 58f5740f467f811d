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
  const manager = await bus.jetstreamManager({ timeout: 50_000 });
  const stream = { name: definition.service.toUpperCase(), subjects: [`${definition.service}.>`] };
  await manager.streams.add(stream).catch(() => undefined);
  await bus.jetstream({ timeout: 50_000 }).publish(definition.subject, JSON.stringify(envelope));
  return id;
}

/**
 * Has everything that was emitted and sent had its effects? A stream whose durables are not all there yet may hold
 * events that no consumer has counted. An effect that ended during the look may have emitted something, so the outbox
 * is looked at before and after it.
 */
export async function haveAllEffects(
  bus: NatsConnection,
  database: Database,
  { handled }: Pick<JetStreamStrategy, 'handled'>,
): Promise<boolean> {
  const emitted = await lastPublished(database);
  return emitted !== null && (await areIdle(bus, handled)) && (await lastPublished(database)) === emitted;
}

/** The id of the newest event, 0 when there is none; null while any waits to be published. */
async function lastPublished(database: Database): Promise<number | null> {
  const [row] = await database.query<{ waits: boolean; last: number }>(
    'select coalesce(bool_or(published_at is null), false) as waits, coalesce(max(id), 0) as last from outbox',
  );
  return row!.waits ? null : row!.last;
}

/** Is there nothing that a consumer has not been given, or has been given and not finished? */
async function areIdle(bus: NatsConnection, handled: JetStreamStrategy['handled']): Promise<boolean> {
  const manager = await bus.jetstreamManager({ timeout: 50_000 });
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
  ms = 50_000,
): Promise<void> {
  for (const end = Date.now() + ms; ;) {
    // Looked at before the condition is: what came about in time counts, however late the look at it ends.
    const isLast = Date.now() > end;
    if (await condition()) return;
    if (isLast) throw new Error(`${what} did not come about within ${ms} ms`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
