import { prepareStatement } from '@rookery/persistence';
import type { PreparedStatement, RowOf, Tx } from '@rookery/persistence';
import type { NoteableKinds } from '../../../base/noteables/noteable-kinds';
import { SHOWN_TEXTS } from '../composing/compose-combined';
import type { CombinedMail, MailAuthor } from '../composing/compose-combined';
import type { MailJob } from '../composing/compose-mail';
import { combinedMailTemplate } from '../composing/mail-templates';
import type { Mail } from '../mail.entity';
import type { ClaimedMail } from '../mailer/mail-table';
import type { MailOutcome } from '../mailer/mail-source';
import type { MailerSettings } from '../mailer/mailer.config';
import { GATHERED_LIMIT, mailMessageCountSql, threadKey } from '../mailer/allowances';
import { selectSendableMessagesOfCombinedMailsSql } from '../due-sql';

/** A message to send: a row of the queue, or one of several notes that the row covers. */
export type QueuedMessage = RowOf<Mail, 'id' | 'noteId'>;

/**
 * A message that the recipient of a combined e-mail may read, with facts of the combined e-mail, which are the same for
 * all its messages. `place` is the position among the notes of its row.
 */
interface CoveredMessageRow
  extends QueuedMessage, RowOf<Mail, 'template' | 'recipientId' | 'reason' | 'isWatching' | 'attempts' | 'createdAt'> {
  readonly place: number;
  readonly gathered_into: number;
  readonly event_id: string;
  readonly address: string;
  readonly actor_id: number;
  readonly actor_name: string;
  readonly actor_username: string;
}

/** A combined e-mail that may be sent now. `coveredIds` are the ids of the rows that it covers. */
export interface CombinedMailJob
  extends
    CombinedMail,
    Pick<CoveredMessageRow, 'event_id' | 'template' | 'recipient_id' | 'attempts' | 'created_at' | 'address'> {
  readonly id: number;
  readonly coveredIds: readonly number[];
}

/**
 * Combines all e-mails of a thread that were postponed and never taken, together with those taken now. The combined e-mail
 * gets the event of the newest. $1 ids taken now, $2-$5 their threads and templates of combined e-mails, $6 batch, $7 lease
 * in ms, $8 number of messages that were taken.
 */
const gatherThreadMails = prepareStatement(
  'mails_gather',
  `with thread as (
     select * from unnest($2::bigint[], $3::text[], $4::bigint[], $5::text[])
       as t (recipient_id, noteable_type, noteable_id, template)
   ), more as materialized (
     select free.id from mails free where free.id = any(array(
       select waiting.id from thread w cross join lateral (
         select oldest.id, sum(oldest.tells) over (order by oldest.allowed_at, oldest.id) as count from (
           select q.id, q.allowed_at, ${mailMessageCountSql('q')} as tells from mails q
           where q.recipient_id = w.recipient_id and q.noteable_id = w.noteable_id and q.noteable_type = w.noteable_type
             and q.state = 'queued' and q.claim is null and q.allowed_at is not null and q.template <> w.template
           order by q.allowed_at, q.id limit ${GATHERED_LIMIT}) oldest) waiting
       where waiting.count <= greatest(1, ${GATHERED_LIMIT} - $8::integer)))
       and free.state || '' = 'queued' and free.claim is null for update skip locked
   ), member as materialized (
     select m.* from mails m where m.id = any($1::bigint[]) or m.id = any(array(select id from more))
   ), made as (
     insert into mails (source_event_id, recipient_id, template, actor_id, project_id, noteable_type, noteable_id,
       created_at, allowed_at, attempts, claim, next_attempt_at, traceparent)
     select (array_agg(m.source_event_id order by m.id desc))[1], t.recipient_id, t.template,
       (array_agg(m.actor_id order by m.id desc))[1], (array_agg(m.project_id order by m.id desc))[1], t.noteable_type,
       t.noteable_id, min(m.created_at), now(), 1, $6::uuid, now() + $7::integer * interval '1 millisecond',
       (array_agg(m.traceparent order by m.id desc))[1]
     from thread t join member m using (recipient_id, noteable_type, noteable_id)
     group by t.recipient_id, t.noteable_type, t.noteable_id, t.template having count(*) > 1
     returning id, recipient_id, noteable_type, noteable_id, template, traceparent
   ), gathered as (
     update mails m set state = 'gathered', gathered_into = made.id, attempts = 0, claim = null
     from member join made using (recipient_id, noteable_type, noteable_id) where m.id = member.id
   )
   select id, recipient_id, noteable_type, noteable_id, template, 1 as tells, false as is_fresh, false as is_put_off, traceparent
   from made`,
);
/** Drops rows that a combined e-mail does not cover any more. $1 ids of combined e-mails, $2 ids of covered rows. */
const dropUncovered = prepareStatement(
  'mails_leave_out',
  `update mails m set state = 'dropped'
   where m.gathered_into = any($1::bigint[]) and m.state = 'gathered' and m.id <> all($2::bigint[])`,
);

/**
 * Combines e-mails that waited for one recipient in one thread, and loads combined e-mails.
 * Source: ADR 0082; reference work-tracking 8.7.
 */
export class CombinedMails {
  /** $1 ids of combined e-mails. */
  private readonly due: PreparedStatement;

  /** `load` returns the full facts of messages that may be sent, in their order. */
  constructor(
    private readonly kinds: NoteableKinds,
    private readonly load: (
      through: Pick<Tx, 'prepared'>,
      messages: readonly QueuedMessage[],
    ) => Promise<readonly MailJob[]>,
  ) {
    this.due = prepareStatement(
      'mails_gathered_due',
      kinds.all.map(selectSendableMessagesOfCombinedMailsSql).join(' union all '),
    );
  }

  /**
   * Replaces the e-mails of a thread by one combined e-mail. Returns the e-mails that may be sent: the combined ones,
   * and the taken ones that they do not replace.
   */
  async gatherMails(
    tx: Tx,
    batch: string,
    taken: readonly ClaimedMail[],
    settings: MailerSettings,
  ): Promise<ClaimedMail[]> {
    const threads = new Map(taken.filter((mail) => mail.is_put_off).map((mail) => [threadKey(mail)!, mail]));
    if (threads.size === 0) return [...taken];
    const isMember = (mail: ClaimedMail): boolean =>
      (mail.is_put_off || mail.is_fresh) && threads.has(threadKey(mail) ?? '');
    const of = [...threads.values()];
    const members = taken.filter(isMember);
    const made = await tx.prepared<ClaimedMail>(gatherThreadMails, [
      members.map((mail) => mail.id),
      of.map((mail) => mail.recipient_id),
      of.map((mail) => mail.noteable_type),
      of.map((mail) => mail.noteable_id),
      of.map((mail) => combinedMailTemplate(this.kinds.kindOfType(mail.noteable_type!)!)),
      batch,
      settings.leaseMs,
      members.reduce((sum, mail) => sum + mail.tells, 0),
    ]);
    const gone = new Set(made.map((mail) => threadKey(mail)));
    return [...taken.filter((mail) => !isMember(mail) || !gone.has(threadKey(mail))), ...made];
  }

  /**
   * Loads combined e-mails by id. One without an entry has no message that may be sent. Errors: a plain Error when it
   * changes between the two queries.
   */
  async loadDue(through: Pick<Tx, 'prepared'>, ids: readonly number[]): Promise<ReadonlyMap<number, CombinedMailJob>> {
    if (ids.length === 0) return new Map();
    const rows = await through.prepared<CoveredMessageRow>(this.due, [ids]);
    const byMail = new Map<number, CoveredMessageRow[]>();
    for (const row of rows) {
      const known = byMail.get(row.gathered_into);
      if (known) known.push(row);
      else byMail.set(row.gathered_into, [row]);
    }
    for (const covered of byMail.values()) covered.sort((a, b) => a.id - b.id || a.place - b.place);
    const newest = [...byMail.values()].flatMap((covered) => covered.slice(-SHOWN_TEXTS));
    const jobs = await this.load(through, newest);
    return new Map([...byMail].map(([id, covered]) => [id, createCombinedJob(id, covered, jobs)]));
  }

  /** Drops rows that were not covered. Must run before the outcomes of the combined e-mails are written. */
  async dropUncovered(through: Pick<Tx, 'prepared'>, outcomes: readonly MailOutcome[]): Promise<void> {
    const done = outcomes.filter((one) => one.coveredIds !== undefined && one.state !== 'queued');
    if (done.length === 0) return;
    await through.prepared(dropUncovered, [done.map((one) => one.id), done.flatMap((one) => [...one.coveredIds!])]);
  }
}

/** Builds the job of a combined e-mail. `rows` are in chronological order. */
function createCombinedJob(id: number, rows: readonly CoveredMessageRow[], jobs: readonly MailJob[]): CombinedMailJob {
  const coveredIds = new Set(rows.map((row) => row.id));
  const newest = jobs.filter((job) => coveredIds.has(job.id));
  if (newest.length === 0) throw new Error('the messages of the e-mail changed while they were loaded');
  const { event_id, template, recipient_id, attempts, created_at, address } = rows[0]!;
  const facts = { event_id, template, recipient_id, attempts, created_at, address };
  return {
    ...facts,
    id,
    coveredIds: [...coveredIds],
    newest,
    count: rows.length,
    authors: countMessagesByAuthor(rows),
    reasons: rows.map((row) => row.reason),
    isWatching: rows.every((row) => row.is_watching),
  };
}

function countMessagesByAuthor(rows: readonly CoveredMessageRow[]): MailAuthor[] {
  const byId = new Map<number, MailAuthor>();
  for (const { actor_id, actor_name, actor_username } of rows)
    byId.set(actor_id, { actor_name, actor_username, count: (byId.get(actor_id)?.count ?? 0) + 1 });
  return [...byId.values()].sort((a, b) => b.count - a.count);
}
