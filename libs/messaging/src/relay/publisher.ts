import type { ServiceName } from '@rookery/contracts';
import type { Metrics } from '@rookery/platform';
import { headers, NatsError } from 'nats';
import type { NatsConnection, StoredMsg } from 'nats';
import { envelopeText } from '../consuming/envelope';
import type { OutboxRow } from '../consuming/envelope';
import { streamNameOf } from '../bus/streams';

/** Units: milliseconds. */
const PUBLISH_TIMEOUT_MS = 2000;
const NO_SUCH_MESSAGE = 10_037;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Publishes rows of the outbox to the stream of its service. */
export class Publisher {
  private readonly stream;

  constructor(
    private readonly connection: NatsConnection,
    private readonly service: ServiceName,
    private readonly duplicates: ReturnType<Metrics['counter']>,
  ) {
    this.stream = connection.jetstream({ timeout: PUBLISH_TIMEOUT_MS });
  }

  /** Publishes an event. Resolves when the stream has stored it. Errors: thrown if it may not be stored. */
  async publishRow(row: OutboxRow): Promise<void> {
    const id = createMessageId(row);
    const { duplicate, seq } = await this.sendMessage(row, id);
    if (!duplicate) return;
    this.duplicates.inc();
    // The stream recognizes message ids for ten minutes, even of messages that it no longer holds.
    if ((await this.findMessage(seq))?.header.get('Nats-Msg-Id') === id) return;
    await this.sendMessage(row, `${row.event_id}.${Date.now()}`);
  }

  private sendMessage(row: OutboxRow, msgID: string): Promise<{ readonly duplicate: boolean; readonly seq: number }> {
    const fields = headers();
    fields.set('Content-Type', 'application/cloudevents+json');
    if (row.traceparent !== null) fields.set('traceparent', row.traceparent);
    return this.stream.publish(row.subject, envelopeText(row, `/rookery/${this.service}`), {
      msgID,
      // Without it, a missing stream would look like a message without subscribers.
      expect: { streamName: streamNameOf(this.service) },
      headers: fields,
    });
  }

  private async findMessage(seq: number): Promise<StoredMsg | null> {
    return findStoredMessage(this.connection, this.service, { seq });
  }
}

/** The newest message in the stream of a service; null when there is none. Units: `at` in epoch milliseconds. */
export async function readLastMessage(
  connection: NatsConnection,
  service: ServiceName,
): Promise<{ readonly eventId: string; readonly at: number } | null> {
  const message = await findStoredMessage(connection, service, { last_by_subj: `${service}.>` });
  const id = message?.header.get('Nats-Msg-Id').split('.')[0];
  // A message that is not one of our events is ignored.
  return message && UUID.test(id ?? '') ? { eventId: id as string, at: message.time.getTime() } : null;
}

/** Gives an event that is sent again another message id. */
function createMessageId({ event_id, generation }: OutboxRow): string {
  return generation === 0 ? event_id : `${event_id}.${generation}`;
}

async function findStoredMessage(
  connection: NatsConnection,
  service: ServiceName,
  query: { readonly seq: number } | { readonly last_by_subj: string },
): Promise<StoredMsg | null> {
  const manager = await connection.jetstreamManager({ checkAPI: false, timeout: PUBLISH_TIMEOUT_MS });
  try {
    return await manager.streams.getMessage(streamNameOf(service), query);
  } catch (error) {
    if (error instanceof NatsError && error.api_error?.err_code === NO_SUCH_MESSAGE) return null;
    throw error;
  }
}
