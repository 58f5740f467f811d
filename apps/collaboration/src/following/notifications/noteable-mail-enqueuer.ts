import { Inject, Injectable } from '@nestjs/common';
import { Jobs } from '@rookery/jobs';
import { activeTraceparent, prepareStatement, statement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { cachePerNoteableKind, projectIdSql } from '../../base/noteables/noteable-kinds';
import type { NoteableKind } from '../../base/noteables/noteable-kinds';
import { Mailer } from './mailer/mailer';
import { mailerSettings } from './mailer/mailer.config';
import type { MailerSettings } from './mailer/mailer.config';
import { MAIL_REASONS, templateReachesWatchersSql, storedTemplate } from './composing/mail-templates';
import type { MailReason, MailTemplate } from './composing/mail-templates';
import { refilledMailAllowanceSql } from './mailer/allowances';
import { joinByIdSql } from './by-id-sql';
import {
  mailPreferenceColumnsSql,
  mailPreferenceSqlOfRow,
  mailPreferenceSql,
  noteableMailRecipientSql,
  isMailWantedSql,
} from './recipient-sql';
import { queueWatcherMails } from './watching/queue-watcher-mails';
import { findWatchers, WATCHERS_LIMIT } from './watching/watchers';
import type { WatchersOfPlace } from './watching/watchers';

/** Messages to queue about one event of a noteable. */
export interface Notice {
  readonly eventId: string;
  readonly template: MailTemplate;
  readonly actorId: number;
  readonly noteableId: number;
  readonly noteId: number | null;
  /** Whether all participants of the noteable get it, or only the users in `to`. */
  readonly isForParticipants: boolean;
  readonly to: readonly { readonly userId: number; readonly reason: MailReason | null }[];
  /** Whether the actor gets it too. */
  readonly isForActor?: boolean;
  /** Ids and counts only. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Ranks of reasons: the strongest one is the least. */
const RANKED = MAIL_REASONS.map((reason) => `'${reason}'`).join(', ');
const NO_REASON = MAIL_REASONS.length + 1;
const reasonRank = (reason: MailReason): number => MAIL_REASONS.indexOf(reason) + 1;

/** A number in SQL: e-mails that the user `u` may still get now, minus waiting ones that were not charged yet. */
const ROOM = `(greatest(0, floor(coalesce((select least($11::float8, ${refilledMailAllowanceSql('$12')}) from mail_allowances a
    where a.recipient_id = u.id), $11::float8))
  - (select count(*) from (select 1 from mails q where q.recipient_id = u.id and q.state = 'queued' and q.allowed_at is null
    limit ceil($11::float8)::bigint) waiting)))`;

/**
 * Inserts e-mails into the queue. $1-$7 notices, $8-$10 the users in `to` by position of the notice. A user gets one row of
 * a notice, with the strongest reason; assignees get the reason `assigned`. Users who unsubscribed get it only if they are
 * mentioned. Participants are checked once for all notices about one noteable.
 *
 * $11 burst and $12 rate per second of the allowance. Notes beyond a user's allowance would later become one combined
 * e-mail for each thread, so one row covers them from the beginning.
 *
 * $16 whether the actor of each notice gets it too.
 *
 * $13, $14 noteables and users who watch their places; $15 whether these alone get the notices, because the others, among
 * them users who do both, have them already.
 */
const insertMailRows = cachePerNoteableKind((kind) => {
  const recipient = noteableMailRecipientSql(kind, { userId: 'candidate.user_id' });
  const preference = mailPreferenceSql(kind);
  const isMeant = 'named.user_id is not null';
  const isNamed = 'coalesce(named.is_named, false)';
  // Null for users who do not get the message.
  const rank = 'least(named.rank, case when e.to_participants then recipient.rank end)';
  const wanted = { isOwn: `${rank} is not null`, isMeant, isNamed, template: 'e.template' };
  const sets = [['assigned', kind.assignees] as const, ['review_requested', kind.reviewers] as const];
  const assigned = sets
    .flatMap(([reason, people]) =>
      people ? [`union all select s.user_id, ${reasonRank(reason)} from ${people.ofSql('t.noteable_id')} s`] : [],
    )
    .join(' ');
  return prepareStatement(
    `${kind.table}_mails_queue`,
    `with e as materialized (
     select e.*, n.id is not null as has_note, coalesce(n.internal, false) as is_internal
     from unnest($1::uuid[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::boolean[], $7::jsonb[], $16::boolean[])
       with ordinality as e (event_id, template, actor_id, noteable_id, note_id, to_participants, details, to_actor, number)
     ${joinByIdSql('notes', 'n', 'e.note_id', '', 'left join')}
   ), named as materialized (
     select named.number, named.user_id, bool_or(named.reason is not distinct from 'mentioned') as is_named,
       min(coalesce(array_position(array[${RANKED}], named.reason), ${NO_REASON})) as rank
     from unnest($8::bigint[], $9::bigint[], $10::text[]) as named (number, user_id, reason)
     group by named.number, named.user_id
   ), target as materialized (
     select e.noteable_id, bool_or(e.to_participants) as to_participants, count(*) > 1 as has_several
     from e group by e.noteable_id
   ), candidates as (
     select t.noteable_id, of_it.user_id, of_it.rank, false as is_watcher from target t cross join lateral (
       select i.author_id as user_id, ${NO_REASON} as rank from ${kind.table} i where i.id = t.noteable_id
       ${assigned}
       union all select p.user_id, ${NO_REASON} from participants p
         where p.noteable_id = t.noteable_id and p.noteable_type = '${kind.type}'
       union all select s.user_id, ${reasonRank('subscribed')} from subscriptions s
         where s.noteable_id = t.noteable_id and s.noteable_type = '${kind.type}' and s.subscribed
       offset 0) of_it
     where t.to_participants and not $15::boolean
     union all select e.noteable_id, named.user_id, null, false from named join e on e.number = named.number
     union all select watcher.noteable_id, watcher.user_id, null, true
       from unnest($13::bigint[], $14::bigint[]) as watcher (noteable_id, user_id)
   ), recipient as materialized (
     select i.id as noteable_id, u.id as user_id, candidate.rank, candidate.is_watcher, ${projectIdSql(kind)} as project_id,
       a.reads_internal, ${mailPreferenceColumnsSql(preference)}, case when target.has_several then ${ROOM} end as room
     from (select noteable_id, user_id, min(rank) as rank, bool_or(is_watcher) as is_watcher
       from candidates group by noteable_id, user_id) candidate
     join target on target.noteable_id = candidate.noteable_id
     ${joinByIdSql(kind.table, 'i', 'candidate.noteable_id')}
     ${recipient.joins}
     ${preference.joins}
     where ${recipient.where} and (not $15::boolean or not exists (
       select 1 from e sent join mails before on before.source_event_id = sent.event_id and before.recipient_id = u.id
       where sent.noteable_id = i.id))
   ), notified as materialized (
     select e.number, e.note_id, recipient.noteable_id, recipient.user_id, recipient.project_id, recipient.room,
       case when recipient.subscribed is false then ${reasonRank('mentioned')} else coalesce(${rank}, ${NO_REASON}) end as rank,
       ${rank} is null as is_watching,
       row_number() over (partition by recipient.user_id order by e.number) as place
     from recipient join e on e.noteable_id = recipient.noteable_id and (e.to_actor or e.actor_id <> recipient.user_id)
     left join named on named.number = e.number and named.user_id = recipient.user_id
     where (${rank} is not null or (recipient.is_watcher and ${templateReachesWatchersSql(kind, 'e.template')}))
       and (e.note_id is null or (e.has_note and (not e.is_internal or recipient.reads_internal)))
       and ${isMailWantedSql(kind, mailPreferenceSqlOfRow('recipient'), wanted)}
       and (e.note_id is not null or not exists (select 1 from mails before
         where before.source_event_id = e.event_id and before.recipient_id = recipient.user_id))
   )
   insert into mails (source_event_id, recipient_id, template, actor_id, project_id, noteable_type, noteable_id, note_id,
     reason, details, note_ids, is_watching, traceparent)
   select e.event_id, row.user_id, e.template, e.actor_id, row.project_id, '${kind.type}', e.noteable_id, e.note_id,
     (array[${RANKED}])[row.rank], e.details, row.note_ids, row.is_watching, $17::text
   from (
     select t.user_id, t.project_id, t.rank, t.is_watching, max(t.number) as number,
       case when count(*) > 1 then array_agg(t.note_id order by t.number) end as note_ids
     from notified t
     group by t.user_id, t.noteable_id, t.project_id, t.rank, t.is_watching,
       case when t.note_id is not null and t.place > t.room then 0 else t.number end
   ) row join e on e.number = row.number
   order by row.user_id, row.number
   on conflict do nothing
   returning 1`,
  );
});

const storeFanOut = statement<{ type: string; notices: string; after: number }, { id: number }>(
  'mail_fan_outs_store',
  `insert into mail_fan_outs (noteable_type, notices, after_user_id)
   values (:type::text, :notices::jsonb, :after::bigint) returning id`,
);

/** Queues e-mails about noteables and notes. Source: reference work-tracking 8.2-8.4; ADR 0082. */
@Injectable()
export class NoteableMailEnqueuer {
  constructor(
    private readonly mailer: Mailer,
    private readonly jobs: Jobs,
    @Inject(mailerSettings.token) private readonly settings: MailerSettings,
  ) {}

  /** Wakes the mailer of this process once the rows are committed. A job notifies users who watch a popular place. */
  async queueMails(tx: Tx, kind: NoteableKind, notices: readonly Notice[]): Promise<void> {
    if (notices.length === 0 || !this.settings.isEnabled) return;
    const watching = await findWatchers(tx, kind, notices);
    await this.insertMails(tx, kind, notices, watching, false);
    for (const place of watching) {
      if (place.user_ids.length < WATCHERS_LIMIT) continue;
      const ofPlace = notices.filter(({ noteableId }) => place.noteable_ids.includes(noteableId));
      const rest = JSON.stringify(ofPlace.map((notice) => ({ ...notice, to: [] })));
      const [row] = await tx.run(storeFanOut, { type: kind.type, notices: rest, after: place.user_ids.at(-1)! });
      await this.jobs.enqueue(tx, queueWatcherMails, { fan_out_id: row!.id });
    }
  }

  /**
   * Queues e-mails for the next users who watch the place of the notices. Users with ids up to `after` are already
   * served. Returns the id of the last user, or null if there are no more.
   */
  async queueForWatchers(
    tx: Tx,
    kind: NoteableKind,
    notices: readonly Notice[],
    after: number,
  ): Promise<number | null> {
    if (!this.settings.isEnabled) return null;
    const watching = await findWatchers(tx, kind, notices, after);
    if (watching.length > 0) await this.insertMails(tx, kind, notices, watching, true);
    const last = watching.find((place) => place.user_ids.length === WATCHERS_LIMIT);
    return last?.user_ids.at(-1) ?? null;
  }

  private async insertMails(
    tx: Tx,
    kind: NoteableKind,
    notices: readonly Notice[],
    watching: readonly WatchersOfPlace[],
    forWatchersOnly: boolean,
  ): Promise<void> {
    const column = <K extends keyof Notice>(key: K): Notice[K][] => notices.map((notice) => notice[key]);
    const people = notices.flatMap(({ to }, index) => to.map((one) => ({ number: index + 1, ...one })));
    const watchers = watching.flatMap(({ noteable_ids: noteables, user_ids: users }) =>
      noteables.flatMap((noteableId) => users.map((userId) => ({ noteableId, userId }))),
    );
    const queued = await tx.prepared(insertMailRows(kind), [
      column('eventId'),
      notices.map((notice) => storedTemplate(kind, notice.template)),
      column('actorId'),
      column('noteableId'),
      column('noteId'),
      column('isForParticipants'),
      notices.map((notice) => JSON.stringify(notice.details ?? {})),
      people.map((one) => one.number),
      people.map((one) => one.userId),
      people.map((one) => one.reason),
      this.settings.burst,
      this.settings.perMinute / 60,
      watchers.map((one) => one.noteableId),
      watchers.map((one) => one.userId),
      forWatchersOnly,
      notices.map((notice) => notice.isForActor ?? false),
      activeTraceparent(),
    ]);
    if (queued.length > 0) tx.afterCommit(() => this.mailer.nudge());
  }
}
