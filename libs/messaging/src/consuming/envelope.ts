import { problemsOf } from '@rookery/contracts';
import type { Envelope, EventDefinition, DirectoryPosition } from '@rookery/contracts';
import type { Letter, OutboxEntry, RowOf } from '@rookery/persistence';
import type { JsMsg } from 'nats';
import type { DeliveredWith } from './consume';

/** A row of the outbox as the relay reads it. `payload` is JSON text, which the relay does not parse. */
export interface OutboxRow extends RowOf<
  OutboxEntry,
  | 'id'
  | 'eventId'
  | 'aggregateType'
  | 'aggregateId'
  | 'subject'
  | 'type'
  | 'occurredAt'
  | 'actorId'
  | 'traceparent'
  | 'directoryVersion'
  | 'directoryEpoch'
  | 'generation'
> {
  readonly payload: string;
}

/** The CloudEvents envelope of a row. Source: docs/architecture.md 3. */
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
    ...(row.directory_version === null || row.directory_epoch === null
      ? {}
      : { directoryversion: row.directory_version, directoryepoch: row.directory_epoch }),
    ...(row.traceparent === null ? {} : { traceparent: row.traceparent }),
  };
  return `${JSON.stringify(head).slice(0, -1)},"data":${row.payload}}`;
}

export type DecodedMessage =
  | { readonly outcome: 'event'; readonly event: DeliveredWith<unknown> }
  /** Another event than the subscribed one; it is ignored. */
  | { readonly outcome: 'foreign'; readonly type: string }
  | { readonly outcome: 'unreadable'; readonly reason: 'undecodable' | 'unknown_version'; readonly problem: string };

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Reads a message against the contract of the subject. Source: reference reliability 2.4, 2.5. */
export function decodeEvent(body: string, definition: EventDefinition): DecodedMessage {
  const envelope = parseEnvelope(body);
  if (!envelope) return { outcome: 'unreadable', reason: 'undecodable', problem: 'the body is not a JSON object' };
  const { type } = envelope;
  if (typeof type !== 'string') return { outcome: 'unreadable', reason: 'undecodable', problem: 'type is missing' };
  if (type !== definition.type) {
    const [noun, major] = splitEventTypeVersion(type);
    if (noun !== splitEventTypeVersion(definition.type)[0] || major === null) return { outcome: 'foreign', type };
    return { outcome: 'unreadable', reason: 'unknown_version', problem: `${type} is not ${definition.type}` };
  }
  const problems = findEnvelopeProblems(envelope, definition);
  if (problems.length > 0) return { outcome: 'unreadable', reason: 'undecodable', problem: problems.join(', ') };
  const { id, time, aggregateid: aggregateId, actorid: actorId = null, data } = envelope;
  const facts = { id, time, aggregateType: definition.noun, aggregateId, actorId, data };
  return { outcome: 'event', event: { ...facts, ...readSeenPosition(envelope) } as DeliveredWith<unknown> };
}

/** Older events have no directory version. */
function readSeenPosition({ directoryversion: version, directoryepoch: epoch }: Partial<Envelope>): {
  readonly seen?: DirectoryPosition;
} {
  return version === undefined || epoch === undefined ? {} : { seen: { version, epoch } };
}

function parseEnvelope(body: string): Partial<Envelope> | null {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

/** `rookery.collaboration.note.created.v2` -> its name and its major version. */
function splitEventTypeVersion(type: string): [string, number | null] {
  const found = /^(.*)\.v(\d+)$/.exec(type);
  return found ? [found[1] ?? '', Number(found[2])] : [type, null];
}

function findEnvelopeProblems(envelope: Partial<Envelope>, definition: EventDefinition): string[] {
  const problems: string[] = [];
  if (envelope.specversion !== '1.0') problems.push('specversion is not 1.0');
  if (typeof envelope.id !== 'string' || !UUID.test(envelope.id)) problems.push('id is not a UUID');
  if (typeof envelope.time !== 'string' || Number.isNaN(Date.parse(envelope.time))) problems.push('time is no instant');
  if (!Number.isSafeInteger(envelope.aggregateid)) problems.push('aggregateid is not an integer');
  const { directoryversion: version, directoryepoch: epoch } = envelope;
  if (version !== undefined && !Number.isSafeInteger(version)) problems.push('directoryversion is not an integer');
  if (epoch !== undefined && typeof epoch !== 'string') problems.push('directoryepoch is not a text');
  return [...problems, ...problemsOf(definition.schema, envelope.data)];
}

/** An unreadable message in the form of an event, so that an operator can replay it. */
export function toLetter(effect: string, message: JsMsg, eventId: string | null): Letter {
  const names = message.headers?.keys() ?? [];
  return {
    effect,
    eventId,
    subject: message.subject,
    headers: Object.fromEntries(names.map((name) => [name, message.headers?.get(name) ?? ''])),
    body: message.string(),
  };
}
