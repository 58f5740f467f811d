import { isSpanContextValid, trace } from '@opentelemetry/api';
import { problemsOf } from '@rookery/contracts';
import type { DomainEvent, ServiceName } from '@rookery/contracts';
import { uuidv7 } from 'uuidv7';
import type { Tx } from './work';
import { prepareStatement } from '../sql/prepared';

/** Units: bytes of the payload as JSON. Source: reference reliability 2.1. */
const MAX_PAYLOAD_BYTES = 64 * 1024;

const COLUMNS =
  'event_id, aggregate_type, aggregate_id, subject, type, occurred_at, actor_id, traceparent, payload, directory_version, directory_epoch';

/** Nearly every unit emits one event, and plain values cost half as much as arrays on both sides. */
const insertOne = prepareStatement(
  'outbox_insert_one',
  `insert into outbox (${COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
);
const insertMany = prepareStatement(
  'outbox_insert_many',
  `insert into outbox (${COLUMNS}) select * from unnest($1::uuid[], $2::text[], $3::bigint[], $4::text[], $5::text[],
     $6::timestamptz[], $7::bigint[], $8::text[], $9::jsonb[], $10::bigint[], $11::text[])`,
);

export interface OutboxRow {
  readonly eventId: string;
  readonly event: DomainEvent;
  readonly payload: string;
  readonly occurredAt: Date;
  readonly traceparent: string | null;
}

/**
 * Creates the row of an event, and refuses an event that may not leave this service.
 * Errors: a plain Error for another service's event, a payload that violates its schema, or one over 64 KiB.
 */
export function outboxRow(service: ServiceName, event: DomainEvent, occurredAt: Date): OutboxRow {
  const { definition } = event;
  if (definition.service !== service) throw new Error(`${service} may not publish ${definition.subject}`);
  const problems = problemsOf(definition.schema, event.data);
  if (problems.length > 0) throw new Error(`${definition.subject} breaks its contract: ${problems.join(', ')}`);
  const payload = JSON.stringify(event.data);
  if (Buffer.byteLength(payload) > MAX_PAYLOAD_BYTES) {
    throw new Error(`${definition.subject} is larger than ${MAX_PAYLOAD_BYTES} bytes`);
  }
  return { eventId: uuidv7(), event, payload, occurredAt, traceparent: activeTraceparent() };
}

/** Writes the rows of one unit of work in one statement, in the order in which they were emitted. */
export async function writeOutbox(tx: Tx, rows: readonly OutboxRow[]): Promise<void> {
  const values = rows.map(outboxInsertValues);
  const [first] = values;
  if (first === undefined) return;
  if (values.length === 1) await tx.prepared(insertOne, first);
  else
    await tx.prepared(
      insertMany,
      Array.from(first, (_, column) => values.map((row) => row[column])),
    );
}

/** In the order of COLUMNS. */
function outboxInsertValues(row: OutboxRow): unknown[] {
  const { definition, aggregateId, actorId, seen } = row.event;
  const { noun, subject, type } = definition;
  const occurredAt = row.occurredAt.toISOString();
  const head = [row.eventId, noun, aggregateId, subject, type, occurredAt, actorId, row.traceparent];
  return [...head, row.payload, seen?.version ?? null, seen?.epoch ?? null];
}

/** The W3C header of the running span; null when nothing is traced. */
export function activeTraceparent(): string | null {
  const context = trace.getActiveSpan()?.spanContext();
  if (!context || !isSpanContextValid(context)) return null;
  return `00-${context.traceId}-${context.spanId}-${context.traceFlags.toString(16).padStart(2, '0')}`;
}
