import { problemsOf } from '@rookery/contracts';
import type { Envelope, EventDefinition } from '@rookery/contracts';
import type { DeliveredWith } from './consume';

/** A row of the outbox as the relay reads it. `payload` is JSON text that nobody needs to parse on the way. */
export interface OutboxRow {
  readonly id: number;
  readonly event_id: string;
  readonly aggregate_type: string;
  readonly aggregate_id: number;
  readonly subject: string;
  readonly type: string;
  readonly occurred_at: Date;
  readonly actor_id: number | null;
  readonly traceparent: string | null;
  readonly payload: string;
}

/** The CloudEvents envelope of a row. Source: architecture 4. */
export function envelopeText(row: OutboxRow, source: string): string {
  const head: Omit<Envelope, 'data'> = {
    specversion: '1.0',
    id: row.event_id,
    source,
    type: row.type,
    subject: row.subject,
    time: row.occurred_at.toISOString(),
    datacontenttype: 'application/json',
    aggregatetype: row.aggregate_type,
    aggregateid: row.aggregate_id,
    actorid: row.actor_id,
    ...(row.traceparent === null ? {} : { traceparent: row.traceparent }),
  };
  return `${JSON.stringify(head).slice(0, -1)},"data":${row.payload}}`;
}

export type Decoded =
  | { readonly outcome: 'event'; readonly event: DeliveredWith<unknown> }
  /** Another event than the one that was subscribed to: nobody asked for it. */
  | { readonly outcome: 'foreign'; readonly type: string }
  | { readonly outcome: 'unreadable'; readonly reason: 'undecodable' | 'unknown_version'; readonly problem: string };

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Reads a message against the contract of the subject. Source: reliability-and-security 2.4, 2.5. */
export function decode(body: string, definition: EventDefinition): Decoded {
  const envelope = parsed(body);
  if (!envelope) return { outcome: 'unreadable', reason: 'undecodable', problem: 'the body is not a JSON object' };
  const { type } = envelope;
  if (typeof type !== 'string') return { outcome: 'unreadable', reason: 'undecodable', problem: 'type is missing' };
  if (type !== definition.type) {
    const [noun, major] = splitMajor(type);
    if (noun !== splitMajor(definition.type)[0] || major === null) return { outcome: 'foreign', type };
    return { outcome: 'unreadable', reason: 'unknown_version', problem: `${type} is not ${definition.type}` };
  }
  const problems = problemsOfEnvelope(envelope, definition);
  if (problems.length > 0) return { outcome: 'unreadable', reason: 'undecodable', problem: problems.join(', ') };
  const { id, time, aggregateid: aggregateId, actorid: actorId = null, data } = envelope;
  return { outcome: 'event', event: { id, time, aggregateId, actorId, data } as DeliveredWith<unknown> };
}

function parsed(body: string): Partial<Envelope> | null {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

/** `rookery.collaboration.note.created.v2` -> its name and its major version. */
function splitMajor(type: string): [string, number | null] {
  const found = /^(.*)\.v(\d+)$/.exec(type);
  return found ? [found[1] ?? '', Number(found[2])] : [type, null];
}

function problemsOfEnvelope(envelope: Partial<Envelope>, definition: EventDefinition): string[] {
  const problems: string[] = [];
  if (envelope.specversion !== '1.0') problems.push('specversion is not 1.0');
  if (typeof envelope.id !== 'string' || !UUID.test(envelope.id)) problems.push('id is not a UUID');
  if (typeof envelope.time !== 'string' || Number.isNaN(Date.parse(envelope.time))) problems.push('time is no instant');
  if (!Number.isSafeInteger(envelope.aggregateid)) problems.push('aggregateid is not an integer');
  return [...problems, ...problemsOf(definition.schema, envelope.data)];
}
