import { prepared } from '@rookery/persistence';
import type { Prepared, RowOf, Tx } from '@rookery/persistence';
import type { NoteableKinds } from '../../../base/noteables/noteable-kinds';
import { TOLD_TEXTS } from '../composing/compose-gathered';
import type { Gathered, MailAuthor } from '../composing/compose-gathered';
import type { MailJob } from '../composing/compose-mail';
import { gatheredOf } from '../composing/mail-templates';
import type { Mail } from '../mail.entity';
import type { ClaimedMail } from '../mailer/mail-table';
import type { MailOutcome } from '../mailer/mail-source';
import type { MailerSettings } from '../mailer/mailer.config';
import { MOST_GATHERED, tellsSql, threadOf } from '../mailer/turns';
import { gatheredDueSql } from '../due-sql';

/** A row of the queue, or one of several notes that it tells of. */
export type OneTold = RowOf<Mail, 'id' | 'noteId'>;

/**
 * One of several that its recipient may be told, and what is the same of all: the e-mail that tells of them. Shape: `place`
 * is that among the notes of its row.
 */
interface ToldRow extends OneTold, RowOf<Mail, 'template' | 'recipientId' | 'reason' | 'attempts' | 'createdAt'> {
  readonly place: number;
  readonly gathered_into: number;
  readonly event_id: string;
  readonly address: string;
  readonly actor_id: number;
  readonly actor_name: string;
  readonly actor_username: string;
}

/** An e-mail of several that may be sent now. Shape: `told` are ids of the rows that it tells of. */
export interface GatheredJob
  extends Gathered, Pick<ToldRow, 'event_id' | 'template' | 'recipient_id' | 'attempts' | 'created_at' | 'address'> {
  readonly id: number;
  readonly told: readonly number[];
}

/**
 * $1 taken now, $2-$5 their threads and what e-mails of several are called there, $6 batch, $7 lease in ms, $8 of how many
 * those tell that were taken. All that was put off in a thread and never left the queue becomes one e-mail, named after the
 * newest.
 */
const gather = prepared(
  'mails_gather',
  `with thread as (
     select * from unnest($2::bigint[], $3::text[], $4::bigint[], $5::text[])
       as t (recipient_id, noteable_type, noteable_id, template)
   ), more as materialized (
     select free.id from mails free where free.id = any(array(
       select waiting.id from thread w cross join lateral (
         select oldest.id, sum(oldest.tells) over (order by oldest.allowed_at, oldest.id) as count from (
           select q.id, q.allowed_at, ${tellsSql('q')} as tells from mails q
           where q.recipient_id = w.recipient_id and q.noteable_id = w.noteable_id and q.noteable_type = w.noteable_type
             and q.state = 'queued' and q.claim is null and q.allowed_at is not null and q.template <> w.template
           order by q.allowed_at, q.id limit ${MOST_GATHERED}) oldest) waiting
       where waiting.count <= greatest(1, ${MOST_GATHERED} - $8::integer)))
       and free.state || '' = 'queued' and free.claim is null for update skip locked
   ), member as materialized (
     select m.* from mails m where m.id = any($1::bigint[]) or m.id = any(array(select id from more))
   ), made as (
     insert into mails (source_event_id, recipient_id, template, actor_id, project_id, noteable_type, noteable_id,
       created_at, allowed_at, attempts, claim, next_attempt_at)
     select (array_agg(m.source_event_id order by m.id desc))[1], t.recipient_id, t.template,
       (array_agg(m.actor_id order by m.id desc))[1], (array_agg(m.project_id order by m.id desc))[1], t.noteable_type,
       t.noteable_id, min(m.created_at), now(), 1, $6::uuid, now() + $7::integer * interval '1 millisecond'
     from thread t join member m using (recipient_id, noteable_type, noteable_id)
     group by t.recipient_id, t.noteable_type, t.noteable_id, t.template having count(*) > 1
     returning id, recipient_id, noteable_type, noteable_id, template
   ), gathered as (
     update mails m set state = 'gathered', gathered_into = made.id, attempts = 0, claim = null
     from member join made using (recipient_id, noteable_type, noteable_id) where m.id = member.id
   )
   select id, recipient_id, noteable_type, noteable_id, template, 1 as tells, false as is_fresh, false as is_put_off from made`,
);
/** $1 e-mails of several, $2 what they tell of. */
const leaveOut = prepared(
  'mails_leave_out',
  `update mails m set state = 'dropped'
   where m.gathered_into = any($1::bigint[]) and m.state = 'gathered' and m.id <> all($2::bigint[])`,
);

/** What waited for one person in one thread, as one e-mail. Source: ADR 0082; reference work-tracking 8.7. */
export class GatheredMails {
  /** $1 ids of e-mails of several. */
  private readonly due: Prepared;

  /** Shape: `load` answers in full what may be told of some, in their order. */
  constructor(
    private readonly kinds: NoteableKinds,
    private readonly load: (through: Pick<Tx, 'prepared'>, told: readonly OneTold[]) => Promise<readonly MailJob[]>,
  ) {
    this.due = prepared('mails_gathered_due', kinds.all.map(gatheredDueSql).join(' union all '));
  }

  /** Shape: all that was taken and may go; answers that with those that became one as one. */
  async gather(tx: Tx, batch: string, going: readonly ClaimedMail[], settings: MailerSettings): Promise<ClaimedMail[]> {
    const threads = new Map(going.filter((mail) => mail.is_put_off).map((mail) => [threadOf(mail)!, mail]));
    if (threads.size === 0) return [...going];
    const isMember = (mail: ClaimedMail): boolean =>
      (mail.is_put_off || mail.is_fresh) && threads.has(threadOf(mail) ?? '');
    const of = [...threads.values()];
    const members = going.filter(isMember);
    const made = await tx.prepared<ClaimedMail>(gather, [
      members.map((mail) => mail.id),
      of.map((mail) => mail.recipient_id),
      of.map((mail) => mail.noteable_type),
      of.map((mail) => mail.noteable_id),
      of.map((mail) => gatheredOf(this.kinds.of(mail.noteable_type!)!)),
      batch,
      settings.leaseMs,
      members.reduce((sum, mail) => sum + mail.tells, 0),
    ]);
    const gone = new Set(made.map((mail) => threadOf(mail)));
    return [...going.filter((mail) => !isMember(mail) || !gone.has(threadOf(mail))), ...made];
  }

  /** What may be told now. Without an entry: nothing of it. Errors: a plain Error when it changes meanwhile. */
  async judged(through: Pick<Tx, 'prepared'>, ids: readonly number[]): Promise<ReadonlyMap<number, GatheredJob>> {
    if (ids.length === 0) return new Map();
    const rows = await through.prepared<ToldRow>(this.due, [ids]);
    const byMail = new Map<number, ToldRow[]>();
    for (const row of rows) {
      const known = byMail.get(row.gathered_into);
      if (known) known.push(row);
      else byMail.set(row.gathered_into, [row]);
    }
    for (const told of byMail.values()) told.sort((a, b) => a.id - b.id || a.place - b.place);
    const newest = [...byMail.values()].flatMap((told) => told.slice(-TOLD_TEXTS));
    const jobs = await this.load(through, newest);
    return new Map([...byMail].map(([id, told]) => [id, jobOf(id, told, jobs)]));
  }

  /** Before the e-mails themselves are marked: what they did not tell is dropped. */
  async leaveOut(through: Pick<Tx, 'prepared'>, outcomes: readonly MailOutcome[]): Promise<void> {
    const done = outcomes.filter((one) => one.told !== undefined && one.state !== 'queued');
    if (done.length === 0) return;
    await through.prepared(leaveOut, [done.map((one) => one.id), done.flatMap((one) => [...one.told!])]);
  }
}

/** Shape: rows in the order in which they came. */
function jobOf(id: number, rows: readonly ToldRow[], jobs: readonly MailJob[]): GatheredJob {
  const told = new Set(rows.map((row) => row.id));
  const newest = jobs.filter((job) => told.has(job.id));
  if (newest.length === 0) throw new Error('what is told changes at this moment');
  const { event_id, template, recipient_id, attempts, created_at, address } = rows[0]!;
  const facts = { event_id, template, recipient_id, attempts, created_at, address };
  return {
    ...facts,
    id,
    told: [...told],
    newest,
    count: rows.length,
    authors: authorsOf(rows),
    reasons: rows.map((row) => row.reason),
  };
}

function authorsOf(rows: readonly ToldRow[]): MailAuthor[] {
  const byId = new Map<number, MailAuthor>();
  for (const { actor_id, actor_name, actor_username } of rows)
    byId.set(actor_id, { actor_name, actor_username, count: (byId.get(actor_id)?.count ?? 0) + 1 });
  return [...byId.values()].sort((a, b) => b.count - a.count);
}
