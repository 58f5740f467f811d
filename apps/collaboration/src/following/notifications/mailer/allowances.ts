import { prepareStatement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import type { MailerSettings } from './mailer.config';

/** Number of notes and changes that one combined e-mail covers at most. */
export const GATHERED_LIMIT = 1000;

/**
 * A queued e-mail. The noteable is null for e-mails that are never combined. `tells` is the number of notes or changes
 * that the e-mail covers.
 */
export interface QueuedMail {
  readonly id: number;
  readonly tells: number;
  readonly recipient_id: number;
  readonly noteable_type: string | null;
  readonly noteable_id: number | null;
}

/**
 * Takes one token for each e-mail and returns the tokens that its recipient had before. $1 recipients, one for each
 * e-mail; $2 burst; $3 e-mails per second.
 */
const takeTokens = prepareStatement(
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
const returnTokens = prepareStatement(
  'mails_give_back',
  `update mail_allowances a set tokens = a.tokens + g.count
   from unnest($1::bigint[], $2::float8[]) as g (recipient_id, count) where a.recipient_id = g.recipient_id`,
);
const isInThread = `q.recipient_id = w.recipient_id and q.noteable_id = w.noteable_id and q.noteable_type = w.noteable_type
  and q.state = 'queued' and q.claim is null and q.allowed_at is not null`;
/** A number in SQL: how many notes or changes a row of `mails` covers. `row` is its alias. */
export const mailMessageCountSql = (row: string): string => `coalesce(cardinality(${row}.note_ids), 1)`;
/** Reads the latest turn of each thread if it is in the future. $1-$3 threads. */
const latestTurns = prepareStatement(
  'mails_turns',
  `select w.number::integer, extract(epoch from latest.allowed_at - now())::float8 * 1000 as delay,
     (select sum(waiting.tells)::integer from (select ${mailMessageCountSql('q')} as tells from mails q where ${isInThread} and q.allowed_at = latest.allowed_at
       limit ${GATHERED_LIMIT}) waiting) as count
   from unnest($1::bigint[], $2::text[], $3::bigint[]) with ordinality as w (recipient_id, noteable_type, noteable_id, number)
   cross join lateral (select q.allowed_at from mails q where ${isInThread} order by q.allowed_at desc limit 1) latest
   where latest.allowed_at > now()`,
);

/**
 * SQL number: current tokens of the allowance `a` (mail_allowances), without an upper limit. `perSecond` is a
 * placeholder.
 */
export function refilledMailAllowanceSql(perSecond: string): string {
  return `a.tokens + extract(epoch from now() - a.refilled_at) * ${perSecond}::float8`;
}

/**
 * SQL number: tokens of a recipient; at least 1 if the recipient may get an e-mail now. `perSecond` is a placeholder.
 */
export function mailAllowanceSql(recipientId: string, perSecond: string): string {
  return `coalesce((select ${refilledMailAllowanceSql(perSecond)} from mail_allowances a where a.recipient_id = ${recipientId}), 1)`;
}

/** Returns the key of the thread (recipient and noteable) of an e-mail; null if it is never combined with others. */
export function threadKey({ recipient_id, noteable_type, noteable_id }: QueuedMail): string | null {
  return noteable_id === null ? null : `${recipient_id} ${noteable_type} ${noteable_id}`;
}

/**
 * An e-mail that waits for its turn. It becomes due on its own `lagMs` after its turn, in case that the first e-mail of
 * its thread did not include it. Units: ms from now.
 */
export interface PostponedMail {
  readonly id: number;
  readonly delayMs: number;
  readonly lagMs: number;
}
/** Longer than it takes to take a batch. */
const LAG_MS = 30_000;

/** Time at which postponed e-mails of one thread may be sent. */
interface PostponedMailTurn {
  readonly delayMs: number;
  /** Number of notes and changes that may still join. */
  room: number;
}

/**
 * Charges the allowances of recipients for e-mails that were not charged before. Each e-mail above the allowance gets a
 * turn, at the time when the allowance will have grown enough. E-mails of one thread share a turn. So a postponed
 * e-mail is next updated when it may be sent. `queued` is in the order of the queue. If `canSend` is false, all e-mails
 * are postponed. Returns the postponed e-mails. Source: ADR 0082.
 */
export async function chargeAllowances(
  tx: Tx,
  queued: readonly QueuedMail[],
  { burst, perMinute }: Pick<MailerSettings, 'burst' | 'perMinute'>,
  canSend: boolean,
): Promise<PostponedMail[]> {
  const perSecond = perMinute / 60;
  const byRecipient = new Map<number, QueuedMail[]>();
  for (const mail of queued) {
    const known = byRecipient.get(mail.recipient_id);
    if (known) known.push(mail);
    else byRecipient.set(mail.recipient_id, [mail]);
  }
  const recipients = queued.map((mail) => mail.recipient_id);
  const had = await tx.prepared<{ recipient_id: number; tokens: number }>(takeTokens, [recipients, burst, perSecond]);
  const over = had.flatMap(({ recipient_id, tokens }) => {
    const mails = byRecipient.get(recipient_id)!;
    const now = canSend ? Math.min(mails.length, Math.max(0, Math.floor(tokens))) : 0;
    return now < mails.length ? [{ recipient_id, left: tokens - now, mails: mails.slice(now) }] : [];
  });
  if (over.length === 0) return [];
  const turns = await findPostponedMailTurns(
    tx,
    over.flatMap(({ mails }) => mails),
  );
  const back: number[] = [];
  const later: PostponedMail[] = [];
  for (const { left, mails } of over) {
    let count = 0;
    for (const mail of mails) {
      const thread = threadKey(mail);
      let turn = thread === null ? undefined : turns.get(thread);
      const isFirst = turn === undefined || turn.room < mail.tells;
      if (turn === undefined || turn.room < mail.tells) {
        count += 1;
        turn = { delayMs: Math.max(0, Math.ceil(((count - left) / perSecond) * 1000)), room: GATHERED_LIMIT };
        if (thread !== null) turns.set(thread, turn);
      }
      turn.room -= mail.tells;
      later.push({ id: mail.id, delayMs: turn.delayMs, lagMs: isFirst ? 0 : LAG_MS });
    }
    back.push(mails.length - count);
  }
  await tx.prepared(returnTokens, [over.map((one) => one.recipient_id), back]);
  return later;
}

async function findPostponedMailTurns(tx: Tx, mails: readonly QueuedMail[]): Promise<Map<string, PostponedMailTurn>> {
  const threads = [...new Map(mails.flatMap((mail) => (mail.noteable_id === null ? [] : [[threadKey(mail)!, mail]])))];
  if (threads.length === 0) return new Map();
  const rows = await tx.prepared<{ number: number; delay: number; count: number }>(latestTurns, [
    threads.map(([, mail]) => mail.recipient_id),
    threads.map(([, mail]) => mail.noteable_type),
    threads.map(([, mail]) => mail.noteable_id),
  ]);
  return new Map(
    rows.map(({ number, delay, count }) => [threads[number - 1]![0], { delayMs: delay, room: GATHERED_LIMIT - count }]),
  );
}
