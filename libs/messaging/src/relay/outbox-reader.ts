import type { Database } from '@rookery/persistence';
import type { Client } from 'pg';
import type { OutboxRow } from '../consuming/envelope';

/** Arbitrary lock number that only relays use; the database belongs to one service. */
const RELAY_LOCK = 7_316_420_002;
/** Longest run of one statement. Units: ms. */
const STATEMENT_MS = 5000;
/** Units: rows that one pruning step reads. */
const PRUNE_CHUNK = 1000;

/**
 * Timeouts that end leadership when the leader fails: the server closes a session that is idle for too long, or does not
 * read its answers. A leader queries at least every 3 s, and waits at most 5 s between two failed tries.
 */
const LEASE = `set idle_session_timeout = '6s'; set tcp_user_timeout = '6s';
  set tcp_keepalives_idle = 3; set tcp_keepalives_interval = 1; set tcp_keepalives_count = 3`;

/**
 * Uses one generic plan for each statement. It is made while the outbox is small, and must use the indexes nevertheless.
 */
const PLANS = 'set plan_cache_mode = force_generic_plan; set enable_seqscan = off';

/**
 * The relay's own connection, which holds its leadership: a session lock that is released with the connection. It works
 * as a lease: a leader that hangs or is cut off silently loses it within 6 s, and gives up unanswered statements itself.
 * Source: docs/reference/reliability.md 2.2; ADR 0026.
 */
export class OutboxReader {
  private isLost = false;

  private constructor(private readonly client: Client) {
    client.on('end', () => (this.isLost = true));
    client.on('error', () => (this.isLost = true));
  }

  /** Becomes the leader; null when another process is. Errors: those of a database that is down. */
  static async tryToLead(database: Database, name: string): Promise<OutboxReader | null> {
    const client = await database.openConnection(name, STATEMENT_MS);
    try {
      // A mark lost in a server crash only republishes an event that the bus recognizes, so the commit need not wait for the disk.
      await client.query(`set synchronous_commit = off; ${PLANS}; ${LEASE}`);
      const { rows } = await client.query<{ leads: boolean }>('select pg_try_advisory_lock($1) as leads', [RELAY_LOCK]);
      if (rows[0]?.leads) return new OutboxReader(client);
    } catch (error) {
      await client.end().catch(() => undefined);
      throw error;
    }
    await client.end().catch(() => undefined);
    return null;
  }

  get isLeader(): boolean {
    return !this.isLost;
  }

  /**
   * Marks rows as published and reads the next unpublished ones, by state and in id order: a row whose transaction
   * commits late is simply seen later. One round trip.
   */
  async markAndRead(published: readonly number[], limit: number): Promise<OutboxRow[]> {
    const { rows } = await this.client.query<OutboxRow>({
      name: `outbox_next_${limit}`,
      text: `with marked as (update outbox set published_at = now(), last_error = null where id = any($1::bigint[]))
        select id, event_id, aggregate_type, aggregate_id, subject, type, occurred_at, actor_id, traceparent,
          payload::text as payload, directory_version, directory_epoch, generation
        from outbox where published_at is null and id <> all($1::bigint[]) order by id limit ${limit}`,
      values: [published],
    });
    return rows;
  }

  async noteFailures(ids: readonly number[], error: string): Promise<void> {
    await this.client.query('update outbox set attempts = attempts + 1, last_error = $2 where id = any($1::bigint[])', [
      ids,
      error.slice(0, 500),
    ]);
  }

  /** Deletes a chunk of rows past their retention. Returns whether there may be more. Units: days. */
  async pruneRows(outboxDays: number, inboxDays: number): Promise<boolean> {
    // Only the head of the table is read, because ids grow with time; so published_at needs no index.
    const outbox = await this.client.query(
      `delete from outbox where id in (
         select id from (select id, published_at from outbox order by id limit ${PRUNE_CHUNK}) head
         where published_at < now() - make_interval(days => $1))`,
      [outboxDays],
    );
    const inbox = await this.client.query(
      `delete from inbox where ctid = any(array(
         select ctid from inbox where received_at < now() - make_interval(days => $1) limit ${PRUNE_CHUNK}))`,
      [inboxDays],
    );
    // Results of idempotent writes are kept for a day. The secret of an answer is deleted much earlier than its row.
    await this.client.query(
      `update idempotency_keys set answer = null where ctid = any(array(
         select ctid from idempotency_keys where answer is not null and answer_until < now() limit ${PRUNE_CHUNK}))`,
    );
    const keys = await this.client.query(
      `delete from idempotency_keys where ctid = any(array(
         select ctid from idempotency_keys where created_at < now() - interval '1 day' limit ${PRUNE_CHUNK}))`,
    );
    return [outbox, inbox, keys].some(({ rowCount }) => rowCount === PRUNE_CHUNK);
  }

  async release(): Promise<void> {
    this.isLost = true;
    await this.client.end().catch(() => undefined);
  }
}
