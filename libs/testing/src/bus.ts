import { randomUUID } from 'node:crypto';
import type { DomainEvent } from '@rookery/contracts';
import type { JetStreamStrategy } from '@rookery/messaging';
import type { Database } from '@rookery/persistence';
import { headers } from 'nats';
import type { NatsConnection } from 'nats';

/** `traceparent` is the W3C header of the span of the request. */
interface EventOptions {
  readonly id?: string;
  readonly at?: Date;
  readonly traceparent?: string;
}

/**
 * Publishes an event as another service would; a repeated id is the same event again. Returns the id. The stream is
 * created in place of the service that publishes to it; without a message id the bus accepts duplicates.
 */
export async function publishEvent(
  bus: NatsConnection,
  { definition, aggregateId, actorId, seen, data }: DomainEvent,
  { id = randomUUID(), at = new Date(), traceparent }: EventOptions = {},
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
    ...(traceparent ? { traceparent } : {}),
    ...(seen ? { directoryversion: seen.version, directoryepoch: seen.epoch } : {}),
    data,
  };
  const manager = await bus.jetstreamManager({ timeout: 50_000 });
  const stream = { name: definition.service.toUpperCase(), subjects: [`${definition.service}.>`] };
  await manager.streams.add(stream).catch(() => undefined);
  const fields = headers();
  if (traceparent) fields.set('traceparent', traceparent);
  await bus
    .jetstream({ timeout: 50_000 })
    .publish(definition.subject, JSON.stringify(envelope), traceparent ? { headers: fields } : {});
  return id;
}

/** Number of database queries between two queries of the bus, while the database still has work. */
const DATABASE_QUERIES = 10;

/**
 * Returns a function that waits until all emitted and published events have had their effects; it may be called
 * repeatedly. Only the bus has the whole state, and a query of it lists every durable, which costs more than most
 * effects; so the database is queried first. It does not have events of other services, nor events without effect or
 * dead letter: therefore the bus is queried now and then all the same. A stream without all its durables may have
 * events that no consumer has counted. An effect that ended during the query may have emitted something, so the outbox
 * is read before and after.
 */
export function effectsWaiter(
  bus: NatsConnection,
  database: Database,
  { handled }: Pick<JetStreamStrategy, 'handled'>,
): () => Promise<void> {
  let settled = 0;
  return async () => {
    let queries = 0;
    await until(async () => {
      const { waits, last, is_done } = await readOutboxState(database, handled, settled);
      queries += 1;
      if (waits || !(is_done || queries % DATABASE_QUERIES === 0) || !(await areConsumersIdle(bus, handled)))
        return false;
      const now = await readOutboxState(database, handled, last);
      if (now.waits || now.last !== last) return false;
      settled = last;
      return true;
    }, 'all effects');
  };
}

interface OutboxState {
  /** Whether events wait to be published. */
  readonly waits: boolean;
  /** The id of the newest event, 0 when there is none. */
  readonly last: number;
  /** Whether every event after `settled` has had each effect, or failed in it. */
  readonly is_done: boolean;
}

async function readOutboxState(
  database: Database,
  handled: JetStreamStrategy['handled'],
  settled: number,
): Promise<OutboxState> {
  const [row] = await database.query<OutboxState>(
    `select exists (select 1 from outbox where published_at is null) as waits,
       (select coalesce(max(id), 0) from outbox) as last,
       not exists (
         select 1 from outbox o join unnest($1::text[], $2::text[]) wanted (effect, subject) on wanted.subject = o.subject
         where o.id > $3::bigint
           and not exists (select 1 from inbox i where i.effect = wanted.effect and i.event_id = o.event_id)
           and not exists (select 1 from dead_letters d where d.effect = wanted.effect and d.event_id = o.event_id)
       ) as is_done`,
    [handled.map(({ name }) => name), handled.map(({ definition }) => definition.subject), settled],
  );
  return row!;
}

/** Whether all consumers have received and finished all events. */
async function areConsumersIdle(bus: NatsConnection, handled: JetStreamStrategy['handled']): Promise<boolean> {
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
 * Waits for a condition, limited by time: a fast machine would use up a number of tries before the other side begins.
 * Units: milliseconds.
 */
export async function until(
  condition: () => Promise<boolean> | boolean,
  what = condition.toString(),
  ms = 50_000,
): Promise<void> {
  for (const end = Date.now() + ms; ;) {
    // Read before the condition: it counts if it came true in time, however long its evaluation takes.
    const isLast = Date.now() > end;
    if (await condition()) return;
    if (isLast) throw new Error(`${what} did not happen within ${ms} ms`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
