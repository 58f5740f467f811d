import { Inject, Injectable } from '@nestjs/common';
import { Directory } from '@rookery/directory';
import { Database, keptPlansSql, prepared, Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import type { MailReason, MailTemplate } from './mail-templates';
import { mailerSettings } from './mailer.config';
import type { MailerSettings } from './mailer.config';
import { levelSuitsSql, recipientSql } from './recipient-sql';

/** An e-mail that may be sent now, and all that it tells. */
export interface MailJob {
  readonly id: number;
  readonly event_id: string;
  readonly recipient_id: number;
  readonly template: MailTemplate;
  readonly reason: MailReason | null;
  readonly attempts: number;
  readonly created_at: Date;
  readonly address: string;
  readonly actor_name: string;
  readonly actor_username: string;
  readonly project_id: number;
  readonly project_name: string;
  readonly project_path: string;
  readonly issue_id: number;
  readonly issue_iid: number;
  readonly title: string;
  readonly description: string | null;
  readonly state: string;
  readonly confidential: boolean;
  readonly note_id: number | null;
  readonly note_body: string | null;
  /** Of a new assignment: names without the at sign. */
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** What became of one. Shape: `delayMs` only where it is tried again. */
export interface MailOutcome {
  readonly id: number;
  readonly state: 'sent' | 'failed' | 'dropped' | 'queued';
  readonly reply: string | null;
  readonly messageId: string | null;
  readonly delayMs: number;
}

/** $1 lease in ms, $2 how many. A mail that is taken is not due again before its lease ends. */
const claim = prepared(
  'mails_claim',
  `update mails set attempts = attempts + 1, next_attempt_at = now() + $1::integer * interval '1 millisecond'
   from ${keptPlansSql} where id in (select id from mails where state = 'queued' and next_attempt_at <= now()
     order by next_attempt_at, id limit $2::integer for update skip locked)
   returning id, recipient_id`,
);

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
const postpone = prepared(
  'mails_postpone',
  `update mails m set attempts = attempts - 1, next_attempt_at = now() + p.delay * interval '1 millisecond'
   from unnest($1::bigint[], $2::integer[]) as p (id, delay) where m.id = p.id`,
);

const person = recipientSql({ userId: 'm.recipient_id', note: 'm.note_id' });
const names = (key: string): string =>
  `array(select named.username from jsonb_array_elements_text(m.details -> '${key}') listed (user_id)
    join directory_users named on named.id = listed.user_id::bigint order by named.id)`;

/** $1 ids. Only what may still be told to whom it was queued for. */
const load = prepared(
  'mails_load',
  `select m.id, m.source_event_id as event_id, m.recipient_id, m.template, m.reason, m.attempts, m.created_at,
     u.notification_email as address, actor.name as actor_name, actor.username as actor_username,
     a.project_id, a.name as project_name, a.full_path as project_path, i.id as issue_id, i.iid as issue_iid, i.title,
     i.description, i.state, i.confidential, m.note_id, n.body as note_body,
     ${names('added')} as added, ${names('removed')} as removed
   from mails m join issues i on i.id = m.noteable_id left join notes n on n.id = m.note_id
   join directory_users actor on actor.id = m.actor_id
   ${person.joins}
   where m.id = any($1::bigint[]) and ${person.where} and ${levelSuitsSql(`m.reason in ('assigned', 'mentioned')`)}
   order by m.id`,
);

const settle = prepared(
  'mails_settle',
  `update mails m set state = o.state, smtp_reply = left(o.reply, 1000), message_id = coalesce(o.message_id, m.message_id),
     sent_at = case when o.state = 'sent' then now() end,
     next_attempt_at = now() + o.delay * interval '1 millisecond'
   from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::integer[]) as o (id, state, reply, message_id, delay)
   where m.id = o.id and m.state = 'queued'`,
);

/** The queue of e-mails, shared by all processes. Source: reliability-and-security 2.7; ADR 0082, 0083. */
@Injectable()
export class MailQueue {
  constructor(
    private readonly work: Work,
    private readonly database: Database,
    private readonly directory: Directory,
    @Inject(mailerSettings.token) private readonly settings: MailerSettings,
  ) {}

  /**
   * Takes due e-mails for the time of the lease. What its recipient may no longer get is dropped here; what is too much
   * for him at once waits. Shape: how many were taken from the queue, and those that may be sent.
   * Errors: Unavailable while the copy of the directory is too old to decide.
   */
  async take(): Promise<{ readonly count: number; readonly jobs: readonly MailJob[] }> {
    const { batchCount, leaseMs } = this.settings;
    return this.work.run(async (tx) => {
      const claimed = await tx.prepared<{ id: number; recipient_id: number }>(claim, [leaseMs, batchCount]);
      if (claimed.length === 0) return { count: 0, jobs: [] };
      await this.directory.settled(tx);
      const allowed = await this.allowed(tx, claimed);
      const jobs = await tx.prepared<MailJob>(load, [allowed]);
      const present = new Set(jobs.map((job) => job.id));
      const gone = allowed.filter((id) => !present.has(id));
      await store(
        tx,
        gone.map((id) => ({ id, state: 'dropped', reply: null, messageId: null, delayMs: 0 })),
      );
      return { count: claimed.length, jobs };
    });
  }

  async settle(outcomes: readonly MailOutcome[]): Promise<void> {
    await store(this.database, outcomes);
  }

  private async allowed(tx: Tx, claimed: readonly { id: number; recipient_id: number }[]): Promise<number[]> {
    const { burst, perMinute } = this.settings;
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
    if (later.length > 0) await tx.prepared(postpone, [later, delays]);
    return now;
  }
}

async function store(through: Pick<Tx, 'prepared'>, outcomes: readonly MailOutcome[]): Promise<void> {
  if (outcomes.length === 0) return;
  await through.prepared(settle, [
    outcomes.map((one) => one.id),
    outcomes.map((one) => one.state),
    outcomes.map((one) => one.reply),
    outcomes.map((one) => one.messageId),
    outcomes.map((one) => Math.round(one.delayMs)),
  ]);
}
