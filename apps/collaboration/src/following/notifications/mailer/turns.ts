import { prepared } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import type { MailerSettings } from './mailer.config';

/** As many as one e-mail tells of at most. */
export const MOST_GATHERED = 1000;

/** Something queued. Shape: the thing is null where each e-mail goes by itself; `tells` of how many notes or changes. */
export interface QueuedMail {
  readonly id: number;
  readonly tells: number;
  readonly recipient_id: number;
  readonly noteable_type: string | null;
  readonly noteable_id: number | null;
}

/** $1 recipients, one for each mail, $2 burst, $3 mails a second. Takes as many from each, and answers what they had. */
const take = prepared(
  'mails_allow',
  `with wanted as (select recipient_id, count(*)::integer as count from unnest($1::bigint[]) recipient_id group by 1),
   known as (
     select a.recipient_id, least($2::float8, a.tokens + extract(epoch from now() - a.refilled_at) * $3::float8) as tokens
     from mail_allowances a join wanted using (recipient_id) order by a.recipient_id for update of a
   ), given as (
     select w.recipient_id, w.count, coalesce(k.tokens, $2::float8) as tokens from wanted w left join known k using (recipient_id)
   ), kept as (
     insert into mail_allowances (recipient_id, tokens, refilled_at)
     select recipient_id, tokens - count, now() from given order by recipient_id
     on conflict (recipient_id) do update set tokens = excluded.tokens, refilled_at = excluded.refilled_at
   )
   select recipient_id, tokens from given`,
);
const giveBack = prepared(
  'mails_give_back',
  `update mail_allowances a set tokens = a.tokens + g.count
   from unnest($1::bigint[], $2::float8[]) as g (recipient_id, count) where a.recipient_id = g.recipient_id`,
);
const ofThread = `q.recipient_id = w.recipient_id and q.noteable_id = w.noteable_id and q.noteable_type = w.noteable_type
  and q.state = 'queued' and q.claim is null and q.allowed_at is not null`;
/** A number in SQL: of how many notes or changes a row of `mails` tells. Shape: `row` is its alias. */
export const tellsSql = (row: string): string => `coalesce(cardinality(${row}.note_ids), 1)`;
/** $1-$3 threads. The last turn that was given for each, while it is to come. */
const given = prepared(
  'mails_turns',
  `select w.number::integer, extract(epoch from latest.allowed_at - now())::float8 * 1000 as delay,
     (select sum(waiting.tells)::integer from (select ${tellsSql('q')} as tells from mails q where ${ofThread} and q.allowed_at = latest.allowed_at
       limit ${MOST_GATHERED}) waiting) as count
   from unnest($1::bigint[], $2::text[], $3::bigint[]) with ordinality as w (recipient_id, noteable_type, noteable_id, number)
   cross join lateral (select q.allowed_at from mails q where ${ofThread} order by q.allowed_at desc limit 1) latest
   where latest.allowed_at > now()`,
);

/** A number in SQL: the allowance `a` (mail_allowances) by now, however much that is. Shape: `perSecond` is a parameter. */
export function refilledSql(perSecond: string): string {
  return `a.tokens + extract(epoch from now() - a.refilled_at) * ${perSecond}::float8`;
}

/** A number in SQL: whether a recipient may get an e-mail now, which is at least 1. Shape: as above. */
export function allowanceSql(recipientId: string, perSecond: string): string {
  return `coalesce((select ${refilledSql(perSecond)} from mail_allowances a where a.recipient_id = ${recipientId}), 1)`;
}

/** Null where each e-mail goes by itself. */
export function threadOf({ recipient_id, noteable_type, noteable_id }: QueuedMail): string | null {
  return noteable_id === null ? null : `${recipient_id} ${noteable_type} ${noteable_id}`;
}

/**
 * Units: ms from now. Shape: `lagMs` behind its turn it is looked at itself, in case that the first of its thread, which
 * takes it along, did not.
 */
export interface PutOff {
  readonly id: number;
  readonly delayMs: number;
  readonly lagMs: number;
}
/** Longer than taking takes. */
const LAG_MS = 30_000;

interface Turn {
  readonly delayMs: number;
  /** How many more it may have. */
  room: number;
}

/**
 * Takes the allowance of the recipients for e-mails that were not looked at before. Those above it are given a turn, as
 * far ahead as it grows until then: one for all of a thread. So each is touched once more, when it may go.
 * Shape: in the order of the queue; `mayGo` unless all are put off. Answers those that are. Source: ADR 0082.
 */
export async function takeTurns(
  tx: Tx,
  queued: readonly QueuedMail[],
  { burst, perMinute }: Pick<MailerSettings, 'burst' | 'perMinute'>,
  mayGo: boolean,
): Promise<PutOff[]> {
  const perSecond = perMinute / 60;
  const byRecipient = new Map<number, QueuedMail[]>();
  for (const mail of queued) {
    const known = byRecipient.get(mail.recipient_id);
    if (known) known.push(mail);
    else byRecipient.set(mail.recipient_id, [mail]);
  }
  const recipients = queued.map((mail) => mail.recipient_id);
  const had = await tx.prepared<{ recipient_id: number; tokens: number }>(take, [recipients, burst, perSecond]);
  const over = had.flatMap(({ recipient_id, tokens }) => {
    const mails = byRecipient.get(recipient_id)!;
    const now = mayGo ? Math.min(mails.length, Math.max(0, Math.floor(tokens))) : 0;
    return now < mails.length ? [{ recipient_id, left: tokens - now, mails: mails.slice(now) }] : [];
  });
  if (over.length === 0) return [];
  const turns = await turnsOf(
    tx,
    over.flatMap(({ mails }) => mails),
  );
  const back: number[] = [];
  const later: PutOff[] = [];
  for (const { left, mails } of over) {
    let count = 0;
    for (const mail of mails) {
      const thread = threadOf(mail);
      let turn = thread === null ? undefined : turns.get(thread);
      const isFirst = turn === undefined || turn.room < mail.tells;
      if (turn === undefined || turn.room < mail.tells) {
        count += 1;
        turn = { delayMs: Math.max(0, Math.ceil(((count - left) / perSecond) * 1000)), room: MOST_GATHERED };
        if (thread !== null) turns.set(thread, turn);
      }
      turn.room -= mail.tells;
      later.push({ id: mail.id, delayMs: turn.delayMs, lagMs: isFirst ? 0 : LAG_MS });
    }
    back.push(mails.length - count);
  }
  await tx.prepared(giveBack, [over.map((one) => one.recipient_id), back]);
  return later;
}

async function turnsOf(tx: Tx, mails: readonly QueuedMail[]): Promise<Map<string, Turn>> {
  const threads = [...new Map(mails.flatMap((mail) => (mail.noteable_id === null ? [] : [[threadOf(mail)!, mail]])))];
  if (threads.length === 0) return new Map();
  const rows = await tx.prepared<{ number: number; delay: number; count: number }>(given, [
    threads.map(([, mail]) => mail.recipient_id),
    threads.map(([, mail]) => mail.noteable_type),
    threads.map(([, mail]) => mail.noteable_id),
  ]);
  return new Map(
    rows.map(({ number, delay, count }) => [threads[number - 1]![0], { delayMs: delay, room: MOST_GATHERED - count }]),
  );
}
