import type { NatsConnection } from 'nats';
import { HISTORY } from '@rookery/persistence';
import type { Effect } from '../consuming/effects';
import { readLastMessage } from './publisher';
import type { RelayParts } from './relay';
import { republishEvents } from './republish.command';
import { durableNameOf, isStreamOrConsumerMissing } from '../bus/streams';

const DAY_MS = 86_400_000;
/** Overlap before the end of the restored state: as long as effects are tried. Units: ms. */
const BEFORE_MS = 3_600_000;
/** Precision with which the end of a restored state is known. Units: ms. */
const RECORD_EVERY_MS = 30_000;

interface HistoryRow {
  readonly history: string;
  readonly now: string;
  readonly seen_at: Date | null;
  readonly answered: string | null;
  readonly last_event_at: Date | null;
}

/**
 * Recovery of events after a restore of the service's database: the service republishes its latest events, and consumes
 * again the events that others have published since. Inboxes absorb events that had their effect. Its own events of the
 * lost history are skipped, because they refer to deleted rows, whose ids are given out again.
 * Source: docs/reference/reliability.md 2.6.
 */
export class DatabaseRestoreRecovery {
  private recordedAt = 0;

  constructor(private readonly parts: RelayParts) {}

  /**
   * Compares the database's history with the last recorded one, and looks for the stream's last message in the outbox: a
   * message that the outbox lacks belongs to another history. Called by the leader, before it publishes.
   */
  async checkHistory(connection: NatsConnection, effects: readonly Effect[]): Promise<void> {
    const { database, service, settings, logger } = this.parts;
    const [kept] = await database.query<HistoryRow>(
      `select h.history, ${HISTORY} as now, h.seen_at, h.answered, (select max(occurred_at) from outbox) as last_event_at
       from database_history h`,
    );
    if (!kept) throw new Error('database_history has no row');
    const last = await readLastMessage(connection, service);
    const since = Date.now() - (settings.outboxRetentionDays - 1) * DAY_MS;
    const isForeign =
      last !== null && last.at > since && last.eventId !== kept.answered && !(await this.isInOutbox(last.eventId));
    const isOther = kept.history !== '' && kept.history !== kept.now;
    if (isForeign || isOther) {
      const end = kept.seen_at ?? kept.last_event_at;
      const from = new Date((end?.getTime() ?? 0) - BEFORE_MS);
      await this.restartConsumersFrom(connection, effects, from);
      const lastPublished = kept.last_event_at ?? from;
      const count = await republishEvents(database, {
        from: new Date(lastPublished.getTime() - BEFORE_MS),
        to: null,
        types: null,
      });
      logger.warn(
        { lastEventId: last?.eventId, count, from },
        'the database was restored: events are published and consumed again',
      );
    }
    await database.query(
      `update database_history set history = $1, seen_at = now(), answered = coalesce($2, answered)`,
      [kept.now, isForeign ? last.eventId : null],
    );
    this.recordedAt = Date.now();
  }

  /**
   * Stores the present time in the database, at most once in `RECORD_EVERY_MS`. In a restored database it is the time up to
   * which the restored state reaches.
   */
  async recordTime(): Promise<void> {
    if (Date.now() - this.recordedAt < RECORD_EVERY_MS) return;
    this.recordedAt = Date.now();
    await this.parts.database.query('update database_history set seen_at = now()');
  }

  private async restartConsumersFrom(
    connection: NatsConnection,
    effects: readonly Effect[],
    from: Date,
  ): Promise<void> {
    const { streams, service } = this.parts;
    for (const { name, definition } of effects) {
      const isOwn = definition.service === service;
      const durable = durableNameOf(service, name, definition);
      try {
        await streams.restartConsumer(connection, durable, definition, isOwn ? 'now' : from);
      } catch (error) {
        // If that stream does not exist yet, its service creates it, and then all of it is read.
        if (!isStreamOrConsumerMissing(error)) throw error;
      }
    }
  }

  private async isInOutbox(eventId: string): Promise<boolean> {
    return (await this.parts.database.query('select 1 from outbox where event_id = $1', [eventId])).length > 0;
  }
}
