import { randomUUID } from 'node:crypto';
import { CommitInDoubt } from '@rookery/kernel';
import { prepareStatement } from '@rookery/persistence';
import type { Database, PreparedStatement, Tx, Work } from '@rookery/persistence';
import type { DueMail, MailOutcome, QueueLength } from './mail-source';
import type { MailerSettings } from './mailer.config';
import {
  mailAllowanceSql,
  chargeAllowances,
  mailMessageCountSql,
  refilledMailAllowanceSql,
  threadKey,
} from './allowances';
import type { QueuedMail } from './allowances';

/**
 * Time for which a batch whose commit is in doubt is released again and again. PostgreSQL works at a commit whose client is
 * gone for a shorter time. Units: ms.
 */
const DOUBT_MS = 30_000;

/** Number of e-mails that one sweep postpones at most, and the interval of sweeps in milliseconds. */
const SWEEP_COUNT = 2000;
const SWEEP_MS = 5000;

/**
 * An e-mail taken from the queue under a lease. `is_fresh` is true if the allowance of its recipient was not charged
 * for it yet. `is_put_off` is true if it was postponed and its turn has come.
 */
export interface ClaimedMail extends QueuedMail {
  readonly template: string;
  readonly traceparent: string | null;
  readonly is_fresh: boolean;
  readonly is_put_off: boolean;
}

/** Gives due e-mails the spans that queued them. Most estates have no spans, and their e-mails stay as they are. */
export function withMailTraceparents(mails: readonly DueMail[], taken: readonly ClaimedMail[]): readonly DueMail[] {
  const spans = new Map(taken.flatMap(({ id, traceparent }) => (traceparent === null ? [] : [[id, traceparent]])));
  return spans.size === 0 ? mails : mails.map((mail) => ({ ...mail, traceparent: spans.get(mail.id) ?? null }));
}

type ClaimSettings = Pick<MailerSettings, 'leaseMs' | 'batchCount' | 'perMinute'>;

/**
 * Operations on the columns that every table of queued e-mails has: taking under a lease, allowances of recipients (one
 * for all queues) and outcomes. Source: reference reliability 2.7; ADR 0082.
 */
export class MailTable {
  private readonly isDueStatement: PreparedStatement;
  private readonly claimStatement: PreparedStatement;
  private readonly sweepStatement: PreparedStatement;
  private readonly postponeStatement: PreparedStatement;
  private readonly settleStatement: PreparedStatement;
  private readonly releaseStatement: PreparedStatement;
  /** Batches whose commit is in doubt because its answer was lost, with the time until which each is released. */
  private readonly batchesInDoubt = new Map<string, number>();
  private sweptAt = -SWEEP_MS;

  /** `update` is the beginning of each write, with the alias `m`. */
  constructor(
    private readonly table: 'mails' | 'account_mails' | 'pipeline_mails' | 'place_mails',
    update: `update ${string} m set`,
  ) {
    const due = `q.state = 'queued' and q.next_attempt_at <= now()`;
    const thread =
      table === 'mails'
        ? {
            columns: `m.noteable_type, m.noteable_id, ${mailMessageCountSql('m')} as tells`,
            isCombined: `picked.template like '%\\_gathered'`,
          }
        : { columns: 'null::text as noteable_type, null::bigint as noteable_id, 1 as tells', isCombined: 'false' };
    this.isDueStatement = prepareStatement(
      `${table}_look`,
      `select coalesce((select min(q.next_attempt_at) from ${table} q where q.state = 'queued') <= now(), false) as is_due`,
    );
    // $1 lease in ms, $2 limit, $3 batch id, $4 e-mails per second. A taken e-mail is not due again before its lease ends.
    // For recipients without allowance, only e-mails whose turn has come are taken.
    this.claimStatement = prepareStatement(
      `${table}_claim`,
      `with picked as materialized (
         select q.id, q.template, q.allowed_at, q.claim from ${table} q
         where ${due} and (q.allowed_at is not null or ${mailAllowanceSql('q.recipient_id', '$4')} >= 1)
         order by q.next_attempt_at, q.id limit $2::integer for update skip locked)
       ${update} attempts = m.attempts + 1, claim = $3, next_attempt_at = now() + $1::integer * interval '1 millisecond',
         allowed_at = coalesce(m.allowed_at, now())
       from picked where m.id = picked.id
       returning m.id, m.recipient_id, m.template, m.traceparent, ${thread.columns}, picked.allowed_at is null as is_fresh,
         (picked.allowed_at is not null and picked.claim is null and not ${thread.isCombined}) as is_put_off`,
    );
    // $1 e-mails per second. Rows are found by recipient: in the order of the queue, each sweep would read all waiting
    // rows. They are locked by primary key: the index of waiting rows would read all of them. Recipients with allowance
    // left are skipped: a claim takes their oldest e-mail first.
    this.sweepStatement = prepareStatement(
      `${table}_sweep`,
      `select m.id, m.recipient_id, ${thread.columns} from ${table} m
       where m.state || '' = 'queued' and m.allowed_at is null and m.id = any(array(
         select late.id from mail_allowances a cross join lateral (
           select q.id from ${table} q where q.recipient_id = a.recipient_id and ${due} and q.allowed_at is null
           order by q.next_attempt_at, q.id limit ${SWEEP_COUNT}) late
         where ${refilledMailAllowanceSql('$1')} < 1 limit ${SWEEP_COUNT}))
       for update of m skip locked`,
    );
    this.postponeStatement = prepareStatement(
      `${table}_postpone`,
      `${update} attempts = m.attempts - (m.claim is not null)::integer, claim = null,
         allowed_at = now() + p.delay * interval '1 millisecond',
         next_attempt_at = now() + (p.delay + p.lag) * interval '1 millisecond'
       from unnest($1::bigint[], $2::float8[], $3::integer[]) as p (id, delay, lag) where m.id = p.id`,
    );
    // $1 batches. The claim is kept: a row without one counts as postponed and would become part of a combined e-mail.
    this.releaseStatement = prepareStatement(
      `${table}_release`,
      `${update} attempts = m.attempts - 1, next_attempt_at = now()
       where m.state = 'queued' and m.next_attempt_at > now() and m.claim = any($1::uuid[])`,
    );
    // The state is compared as an expression: its index would read all waiting rows for the few that are settled.
    this.settleStatement = prepareStatement(
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
   * Takes a batch of e-mails in one unit of work. If the answer to the commit was lost, the next batch releases this one,
   * which would otherwise wait for the end of its lease. Errors: those of the unit of work.
   */
  async takeBatch<T>(work: Work, take: (tx: Tx, batch: string) => Promise<T>): Promise<T> {
    const batch = randomUUID();
    try {
      return await work.run(async (tx) => {
        await this.releaseBatchesInDoubt(tx);
        return take(tx, batch);
      });
    } catch (error) {
      if (error instanceof CommitInDoubt) this.batchesInDoubt.set(batch, Date.now() + DOUBT_MS);
      throw error;
    }
  }

  /** Whether the table may hold due e-mails. */
  async isDue(through: Pick<Tx, 'run'>): Promise<boolean> {
    const [row] = await through.run<{ is_due: boolean }>({ ...this.isDueStatement, values: [] });
    return row!.is_due || this.batchesInDoubt.size > 0;
  }

  /**
   * Postpones e-mails of recipients without allowance, so that claims skip them from then on. Returns their number if
   * there may be more, else 0.
   */
  async postponeBlocked(work: Work, settings: MailerSettings): Promise<number> {
    const now = performance.now();
    if (now - this.sweptAt < SWEEP_MS) return 0;
    const count = await work.run(async (tx) => {
      const held = await tx.prepared<QueuedMail>(this.sweepStatement, [settings.perMinute / 60]);
      await this.chargeAndPostponeExcess(tx, held, settings, false);
      return held.length;
    });
    if (count < SWEEP_COUNT) this.sweptAt = now;
    return count < SWEEP_COUNT ? 0 : count;
  }

  claimMails(through: Pick<Tx, 'run'>, batch: string, settings: ClaimSettings): Promise<ClaimedMail[]> {
    const { leaseMs, batchCount, perMinute } = settings;
    return through.run<ClaimedMail>({ ...this.claimStatement, values: [leaseMs, batchCount, batch, perMinute / 60] });
  }

  /** Releases batches in doubt, repeatedly for `DOUBT_MS`: their commit may still be in progress. */
  private async releaseBatchesInDoubt(tx: Tx): Promise<void> {
    if (this.batchesInDoubt.size === 0) return;
    const batches = [...this.batchesInDoubt.keys()];
    await tx.prepared(this.releaseStatement, [batches]);
    const now = Date.now();
    tx.afterCommit(() => {
      for (const batch of batches) if ((this.batchesInDoubt.get(batch) ?? 0) < now) this.batchesInDoubt.delete(batch);
    });
  }

  /**
   * Returns the claimed e-mails that their recipients may get now and postpones the others. A new e-mail joins the turn of
   * its thread.
   */
  async postponeExcess(tx: Tx, claimed: readonly ClaimedMail[], settings: MailerSettings): Promise<ClaimedMail[]> {
    const going = new Set(claimed.filter((mail) => mail.is_put_off).flatMap((mail) => threadKey(mail) ?? []));
    const fresh = claimed.filter((mail) => mail.is_fresh && !going.has(threadKey(mail) ?? ''));
    const later = new Set(await this.chargeAndPostponeExcess(tx, fresh, settings, true));
    // A recipient whose allowance is used up may have more waiting e-mails.
    if (later.size > 0) this.sweptAt = -SWEEP_MS;
    return claimed.filter((mail) => !later.has(mail.id));
  }

  /** Charges allowances and postpones the excess. Returns the ids of the postponed e-mails. */
  private async chargeAndPostponeExcess(
    tx: Tx,
    mails: readonly QueuedMail[],
    settings: MailerSettings,
    canSend: boolean,
  ) {
    if (mails.length === 0) return [];
    const inOrder = [...mails].sort((a, b) => a.id - b.id);
    const later = await chargeAllowances(tx, inOrder, settings, canSend);
    const ids = later.map((one) => one.id);
    if (ids.length === 0) return [];
    await tx.prepared(this.postponeStatement, [ids, later.map((one) => one.delayMs), later.map((one) => one.lagMs)]);
    return ids;
  }

  async settleMails(through: Pick<Tx, 'prepared'>, outcomes: readonly MailOutcome[]): Promise<void> {
    if (outcomes.length === 0) return;
    await through.prepared(this.settleStatement, [
      outcomes.map((one) => one.id),
      outcomes.map((one) => one.state),
      outcomes.map((one) => one.reply),
      outcomes.map((one) => one.messageId),
      outcomes.map((one) => Math.round(one.delayMs)),
      outcomes.map((one) => (one.untried ? 1 : 0)),
    ]);
  }

  /** Counts the queued e-mails, up to 10,000, and measures the age of the oldest. */
  async measureQueue(database: Database): Promise<QueueLength> {
    const [row] = await database.query<QueueLength>(
      `select count(*)::int as count, coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as "oldestSeconds"
       from (select created_at from ${this.table} where state = 'queued' order by next_attempt_at, id limit 10000) waiting`,
    );
    return { ...(row as QueueLength), queue: this.table };
  }

  /** Marks e-mails as dropped: they will not be sent. */
  dropMails(through: Pick<Tx, 'prepared'>, ids: readonly number[]): Promise<void> {
    return this.settleMails(
      through,
      ids.map((id) => ({ id, state: 'dropped', reply: null, messageId: null, delayMs: 0 })),
    );
  }
}
