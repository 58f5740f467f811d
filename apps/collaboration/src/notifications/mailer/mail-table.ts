import { randomUUID } from 'node:crypto';
import { InDoubt } from '@rookery/kernel';
import { prepared } from '@rookery/persistence';
import type { Database, Prepared, RowOf, Tx, Work } from '@rookery/persistence';
import type { Mail } from '../mail.entity';
import type { MailOutcome, Waiting } from './mail-source';
import type { MailerSettings } from './mailer.config';

/** Longer than a server works at a commit whose client is gone. Units: ms. */
const DOUBT_MS = 30_000;

/** Taken from the queue for the time of the lease. */
export type ClaimedMail = RowOf<Mail, 'id' | 'recipientId'>;

/** $1 recipients, one for each mail, $2 burst, $3 mails a second. Answers how many each may get now. */
const allow = prepared(
  'mails_allow',
  `with wanted as (select recipient_id, count(*)::integer as count from unnest($1::bigint[]) recipient_id group by 1),
   known as (
     select a.recipient_id, least($2::float8, a.tokens + extract(epoch from now() - a.refilled_at) * $3::float8) as tokens
     from mail_allowances a join wanted using (recipient_id) order by a.recipient_id for update of a
   ), given as (
     select w.recipient_id, coalesce(k.tokens, $2::float8) as tokens,
       least(w.count, floor(coalesce(k.tokens, $2::float8)))::integer as count
     from wanted w left join known k using (recipient_id)
   ), kept as (
     insert into mail_allowances (recipient_id, tokens, refilled_at) select recipient_id, tokens - count, now() from given
     on conflict (recipient_id) do update set tokens = excluded.tokens, refilled_at = excluded.refilled_at
   )
   select recipient_id, count from given`,
);

/**
 * The columns that every queue of e-mails has, and what is done with them: taking under a lease, the allowance of a
 * recipient (one for all queues), and outcomes. Source: reference reliability 2.7; ADR 0082.
 */
export class MailTable {
  private readonly claiming: Prepared;
  private readonly postponing: Prepared;
  private readonly settling: Prepared;
  private readonly releasing: Prepared;
  /** Batches that may be taken or not, since the answer to the commit was lost; until when that is looked at. */
  private readonly doubted = new Map<string, number>();

  /** Shape: `update` is how a write begins, with the alias `m`. */
  constructor(
    private readonly table: 'mails' | 'account_mails',
    update: `update ${string} m set`,
  ) {
    // $1 lease in ms, $2 how many, $3 the batch. A mail that is taken is not due again before its lease ends.
    this.claiming = prepared(
      `${table}_claim`,
      `${update} attempts = m.attempts + 1, claim = $3, next_attempt_at = now() + $1::integer * interval '1 millisecond'
       where m.id in (select id from ${table} where state = 'queued' and next_attempt_at <= now()
         order by next_attempt_at, id limit $2::integer for update skip locked)
       returning m.id, m.recipient_id`,
    );
    this.postponing = prepared(
      `${table}_postpone`,
      `${update} attempts = m.attempts - 1, claim = null, next_attempt_at = now() + p.delay * interval '1 millisecond'
       from unnest($1::bigint[], $2::integer[]) as p (id, delay) where m.id = p.id`,
    );
    // $1 batches.
    this.releasing = prepared(
      `${table}_release`,
      `${update} attempts = m.attempts - 1, claim = null, next_attempt_at = now()
       where m.state = 'queued' and m.next_attempt_at > now() and m.claim = any($1::uuid[])`,
    );
    this.settling = prepared(
      `${table}_settle`,
      `${update} state = o.state, attempts = m.attempts - o.untried, smtp_reply = left(o.reply, 1000),
         message_id = coalesce(o.message_id, m.message_id), sent_at = case when o.state = 'sent' then now() end,
         next_attempt_at = now() + o.delay * interval '1 millisecond'
       from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::integer[], $6::integer[])
         as o (id, state, reply, message_id, delay, untried)
       where m.id = o.id and m.state = 'queued'`,
    );
  }

  /**
   * Runs what takes e-mails from the queue as one unit of work. A batch whose answer was lost is given back by the next
   * one: whoever does not know what they took would otherwise keep it until the end of the lease.
   * Errors: those of the unit of work.
   */
  async taking<T>(work: Work, take: (tx: Tx, batch: string) => Promise<T>): Promise<T> {
    const batch = randomUUID();
    try {
      return await work.run(async (tx) => {
        await this.release(tx);
        return take(tx, batch);
      });
    } catch (error) {
      if (error instanceof InDoubt) this.doubted.set(batch, Date.now() + DOUBT_MS);
      throw error;
    }
  }

  claim(tx: Tx, batch: string, { leaseMs, batchCount }: MailerSettings): Promise<ClaimedMail[]> {
    return tx.prepared<ClaimedMail>(this.claiming, [leaseMs, batchCount, batch]);
  }

  /** Again and again for a while: the commit may have been under way still. */
  private async release(tx: Tx): Promise<void> {
    if (this.doubted.size === 0) return;
    const batches = [...this.doubted.keys()];
    await tx.prepared(this.releasing, [batches]);
    const now = Date.now();
    tx.afterCommit(() => {
      for (const batch of batches) if ((this.doubted.get(batch) ?? 0) < now) this.doubted.delete(batch);
    });
  }

  /** The ids of those that their recipients may get at once; the others are put off. */
  async allowed(
    tx: Tx,
    claimed: readonly ClaimedMail[],
    { burst, perMinute }: Pick<MailerSettings, 'burst' | 'perMinute'>,
  ): Promise<number[]> {
    const recipients = claimed.map((one) => one.recipient_id);
    const rows = await tx.prepared<{ recipient_id: number; count: number }>(allow, [recipients, burst, perMinute / 60]);
    const left = new Map(rows.map((row) => [row.recipient_id, row.count]));
    const now: number[] = [];
    const later: number[] = [];
    const delays: number[] = [];
    for (const { id, recipient_id } of [...claimed].sort((a, b) => a.id - b.id)) {
      const count = left.get(recipient_id) ?? 0;
      left.set(recipient_id, count - 1);
      if (count > 0) now.push(id);
      else {
        later.push(id);
        // One after another, as the allowance grows: all at once would be taken in vain again and again.
        delays.push((1 - count) * Math.ceil(60_000 / perMinute));
      }
    }
    if (later.length > 0) await tx.prepared(this.postponing, [later, delays]);
    return now;
  }

  async settle(through: Pick<Tx, 'prepared'>, outcomes: readonly MailOutcome[]): Promise<void> {
    if (outcomes.length === 0) return;
    await through.prepared(this.settling, [
      outcomes.map((one) => one.id),
      outcomes.map((one) => one.state),
      outcomes.map((one) => one.reply),
      outcomes.map((one) => one.messageId),
      outcomes.map((one) => Math.round(one.delayMs)),
      outcomes.map((one) => (one.untried ? 1 : 0)),
    ]);
  }

  async waiting(database: Database): Promise<Waiting> {
    const [row] = await database.query<Waiting>(
      `select count(*)::int as count, coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as "oldestSeconds"
       from (select created_at from ${this.table} where state = 'queued' order by next_attempt_at, id limit 10000) waiting`,
    );
    return { ...(row as Waiting), queue: this.table };
  }

  /** They are not to be sent any more. */
  drop(through: Pick<Tx, 'prepared'>, ids: readonly number[]): Promise<void> {
    return this.settle(
      through,
      ids.map((id) => ({ id, state: 'dropped', reply: null, messageId: null, delayMs: 0 })),
    );
  }
}
