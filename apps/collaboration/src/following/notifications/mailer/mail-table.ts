import { randomUUID } from 'node:crypto';
import { InDoubt } from '@rookery/kernel';
import { prepared } from '@rookery/persistence';
import type { Database, Prepared, Tx, Work } from '@rookery/persistence';
import type { MailOutcome, Waiting } from './mail-source';
import type { MailerSettings } from './mailer.config';
import { allowanceSql, refilledSql, takeTurns, tellsSql, threadOf } from './turns';
import type { QueuedMail } from './turns';

/** Longer than a server works at a commit whose client is gone. Units: ms. */
const DOUBT_MS = 30_000;

/** Units: e-mails that are put off at once, and milliseconds between looks for such. */
const SWEEP_COUNT = 2000;
const SWEEP_MS = 5000;

/**
 * Taken from the queue for the time of the lease. Shape: `is_fresh` when its recipient's allowance was not asked for yet,
 * `is_put_off` when its turn has come.
 */
export interface ClaimedMail extends QueuedMail {
  readonly template: string;
  readonly is_fresh: boolean;
  readonly is_put_off: boolean;
}

type ClaimSettings = Pick<MailerSettings, 'leaseMs' | 'batchCount' | 'perMinute'>;

/**
 * The columns that every queue of e-mails has, and what is done with them: taking under a lease, the allowance of a
 * recipient (one for all queues), and outcomes. Source: reference reliability 2.7; ADR 0082.
 */
export class MailTable {
  private readonly looking: Prepared;
  private readonly claiming: Prepared;
  private readonly sweeping: Prepared;
  private readonly postponing: Prepared;
  private readonly settling: Prepared;
  private readonly releasing: Prepared;
  /** Batches that may be taken or not, since the answer to the commit was lost; until when that is looked at. */
  private readonly doubted = new Map<string, number>();
  private sweptAt = -SWEEP_MS;

  /** Shape: `update` is how a write begins, with the alias `m`. */
  constructor(
    private readonly table: 'mails' | 'account_mails',
    update: `update ${string} m set`,
  ) {
    const due = `q.state = 'queued' and q.next_attempt_at <= now()`;
    const thread =
      table === 'mails'
        ? {
            of: `m.noteable_type, m.noteable_id, ${tellsSql('m')} as tells`,
            isGathering: `picked.template like '%\\_gathered'`,
          }
        : { of: 'null::text as noteable_type, null::bigint as noteable_id, 1 as tells', isGathering: 'false' };
    this.looking = prepared(
      `${table}_look`,
      `select coalesce((select min(q.next_attempt_at) from ${table} q where q.state = 'queued') <= now(), false) as is_due`,
    );
    // $1 lease in ms, $2 how many, $3 the batch, $4 mails a second. A mail that is taken is not due again before its lease
    // ends. Of whoever gets no more now, only that is taken whose turn has come.
    this.claiming = prepared(
      `${table}_claim`,
      `with picked as materialized (
         select q.id, q.template, q.allowed_at, q.claim from ${table} q
         where ${due} and (q.allowed_at is not null or ${allowanceSql('q.recipient_id', '$4')} >= 1)
         order by q.next_attempt_at, q.id limit $2::integer for update skip locked)
       ${update} attempts = m.attempts + 1, claim = $3, next_attempt_at = now() + $1::integer * interval '1 millisecond',
         allowed_at = coalesce(m.allowed_at, now())
       from picked where m.id = picked.id
       returning m.id, m.recipient_id, m.template, ${thread.of}, picked.allowed_at is null as is_fresh,
         (picked.allowed_at is not null and picked.claim is null and not ${thread.isGathering}) as is_put_off`,
    );
    // $1 mails a second. By recipient: in the order of the queue, all that waits would be gone over each time. They are locked
    // by their key; by an index of what waits, all of it would be read. Whoever may get one gets the first first, by a claim.
    this.sweeping = prepared(
      `${table}_sweep`,
      `select m.id, m.recipient_id, ${thread.of} from ${table} m
       where m.state || '' = 'queued' and m.allowed_at is null and m.id = any(array(
         select late.id from mail_allowances a cross join lateral (
           select q.id from ${table} q where q.recipient_id = a.recipient_id and ${due} and q.allowed_at is null
           order by q.next_attempt_at, q.id limit ${SWEEP_COUNT}) late
         where ${refilledSql('$1')} < 1 limit ${SWEEP_COUNT}))
       for update of m skip locked`,
    );
    this.postponing = prepared(
      `${table}_postpone`,
      `${update} attempts = m.attempts - (m.claim is not null)::integer, claim = null,
         allowed_at = now() + p.delay * interval '1 millisecond',
         next_attempt_at = now() + (p.delay + p.lag) * interval '1 millisecond'
       from unnest($1::bigint[], $2::float8[], $3::integer[]) as p (id, delay, lag) where m.id = p.id`,
    );
    // $1 batches. The claim stays: without one it would look like what was put off, and be gathered.
    this.releasing = prepared(
      `${table}_release`,
      `${update} attempts = m.attempts - 1, next_attempt_at = now()
       where m.state = 'queued' and m.next_attempt_at > now() and m.claim = any($1::uuid[])`,
    );
    // The state is read as an expression: by its index, all that waits would be read for a few that are done.
    this.settling = prepared(
      `${table}_settle`,
      `${update} state = o.state, attempts = m.attempts - o.untried, smtp_reply = left(o.reply, 1000),
         message_id = coalesce(o.message_id, m.message_id), sent_at = case when o.state = 'sent' then now() end,
         next_attempt_at = now() + o.delay * interval '1 millisecond'
       from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::integer[], $6::integer[])
         as o (id, state, reply, message_id, delay, untried)
       where m.id = o.id and m.state || '' = 'queued'`,
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

  /** Whether there may be something to take. */
  async isDue(through: Pick<Tx, 'run'>): Promise<boolean> {
    const [row] = await through.run<{ is_due: boolean }>({ ...this.looking, values: [] });
    return row!.is_due || this.doubted.size > 0;
  }

  /**
   * Puts off what waits for people who may get no more now, so that it is passed by from then on. Answers how many,
   * while there may be more.
   */
  async sweep(work: Work, settings: MailerSettings): Promise<number> {
    const now = performance.now();
    if (now - this.sweptAt < SWEEP_MS) return 0;
    const count = await work.run(async (tx) => {
      const held = await tx.prepared<QueuedMail>(this.sweeping, [settings.perMinute / 60]);
      await this.putOff(tx, held, settings, false);
      return held.length;
    });
    if (count < SWEEP_COUNT) this.sweptAt = now;
    return count < SWEEP_COUNT ? 0 : count;
  }

  claim(through: Pick<Tx, 'run'>, batch: string, settings: ClaimSettings): Promise<ClaimedMail[]> {
    const { leaseMs, batchCount, perMinute } = settings;
    return through.run<ClaimedMail>({ ...this.claiming, values: [leaseMs, batchCount, batch, perMinute / 60] });
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

  /** Those that their recipients may get now; the others are put off. What is new in a thread goes with its turn. */
  async allowed(tx: Tx, claimed: readonly ClaimedMail[], settings: MailerSettings): Promise<ClaimedMail[]> {
    const going = new Set(claimed.filter((mail) => mail.is_put_off).flatMap((mail) => threadOf(mail) ?? []));
    const fresh = claimed.filter((mail) => mail.is_fresh && !going.has(threadOf(mail) ?? ''));
    const later = new Set(await this.putOff(tx, fresh, settings, true));
    // Whoever was at the end of their allowance may have more that waits.
    if (later.size > 0) this.sweptAt = -SWEEP_MS;
    return claimed.filter((mail) => !later.has(mail.id));
  }

  /** Answers the ids of those that are. */
  private async putOff(tx: Tx, mails: readonly QueuedMail[], settings: MailerSettings, mayGo: boolean) {
    if (mails.length === 0) return [];
    const inOrder = [...mails].sort((a, b) => a.id - b.id);
    const later = await takeTurns(tx, inOrder, settings, mayGo);
    const ids = later.map((one) => one.id);
    if (ids.length === 0) return [];
    await tx.prepared(this.postponing, [ids, later.map((one) => one.delayMs), later.map((one) => one.lagMs)]);
    return ids;
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
