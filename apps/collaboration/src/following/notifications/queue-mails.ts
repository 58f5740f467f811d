import { Inject, Injectable } from '@nestjs/common';
import { prepared } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { perKind, projectIdSql } from '../../base/noteables/noteable-kinds';
import type { NoteableKind } from '../../base/noteables/noteable-kinds';
import { Mailer } from './mailer/mailer';
import { mailerSettings } from './mailer/mailer.config';
import type { MailerSettings } from './mailer/mailer.config';
import { MAIL_REASONS, templateOf } from './composing/mail-templates';
import type { MailReason, MailTemplate } from './composing/mail-templates';
import { refilledSql } from './mailer/turns';
import { byIdSql } from './by-id-sql';
import { recipientSql, wantedSql, wishesSql } from './recipient-sql';

/** Something to tell. */
export interface Notice {
  readonly eventId: string;
  readonly told: MailTemplate;
  readonly actorId: number;
  readonly noteableId: number;
  readonly noteId: number | null;
  /** Whether all who take part in the thing are told, or only those who are named here. */
  readonly tellsParticipants: boolean;
  readonly to: readonly { readonly userId: number; readonly reason: MailReason | null }[];
  /** Ids only. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** A reason by its place, and back: the strongest of several is the least. */
const RANKED = MAIL_REASONS.map((reason) => `'${reason}'`).join(', ');
const NO_REASON = MAIL_REASONS.length + 1;
const rankOf = (reason: MailReason): number => MAIL_REASONS.indexOf(reason) + 1;

/** A number in SQL: how many more the person `u` may get now, less what waits and nobody looked at yet. */
const ROOM = `(greatest(0, floor(coalesce((select least($11::float8, ${refilledSql('$12')}) from mail_allowances a
    where a.recipient_id = u.id), $11::float8))
  - (select count(*) from (select 1 from mails q where q.recipient_id = u.id and q.state = 'queued' and q.allowed_at is null
    limit ceil($11::float8)::bigint) waiting)))`;

/**
 * $1-$7 notices, $8-$10 those who are named, by the place of the notice. One row a person and notice: the strongest reason
 * wins. Assignees are told as such. Whoever asked not to be told is told by their name alone. Of many notices about one
 * thing, who takes part in it is judged once.
 *
 * $11 how many somebody may get at once, $12 how many more a second. Of whom as many wait already, the rest would leave as
 * one e-mail a thread: of its notes one row tells.
 */
const queue = perKind((kind) => {
  const person = recipientSql(kind, { userId: 'who.user_id' });
  const { said, level } = wishesSql(kind);
  const isMeant = 'named.user_id is not null';
  const isNamed = 'coalesce(named.is_named, false)';
  // Null for who is not told of it.
  const rank = 'least(named.rank, case when e.tells_participants then may.rank end)';
  const assigned = kind.assignees
    ? `union all select s.user_id, ${rankOf('assigned')} from ${kind.assignees.ofSql('t.noteable_id')} s`
    : '';
  return prepared(
    `${kind.table}_mails_queue`,
    `with e as materialized (
     select e.*, n.id is not null as has_note, coalesce(n.internal, false) as is_internal
     from unnest($1::uuid[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::boolean[], $7::jsonb[])
       with ordinality as e (event_id, template, actor_id, noteable_id, note_id, tells_participants, details, number)
     ${byIdSql('notes', 'n', 'e.note_id', '', 'left join')}
   ), named as materialized (
     select named.number, named.user_id, bool_or(named.reason is not distinct from 'mentioned') as is_named,
       min(coalesce(array_position(array[${RANKED}], named.reason), ${NO_REASON})) as rank
     from unnest($8::bigint[], $9::bigint[], $10::text[]) as named (number, user_id, reason)
     group by named.number, named.user_id
   ), thing as materialized (
     select e.noteable_id, bool_or(e.tells_participants) as tells, count(*) > 1 as has_several
     from e group by e.noteable_id
   ), taking as (
     select t.noteable_id, of_it.user_id, of_it.rank from thing t cross join lateral (
       select i.author_id as user_id, ${NO_REASON} as rank from ${kind.table} i where i.id = t.noteable_id
       ${assigned}
       union all select p.user_id, ${NO_REASON} from participants p
         where p.noteable_id = t.noteable_id and p.noteable_type = '${kind.type}'
       union all select s.user_id, ${rankOf('subscribed')} from subscriptions s
         where s.noteable_id = t.noteable_id and s.noteable_type = '${kind.type}' and s.subscribed
       offset 0) of_it
     where t.tells
     union all select e.noteable_id, named.user_id, null from named join e on e.number = named.number
   ), may as materialized (
     select i.id as noteable_id, u.id as user_id, who.rank, ${projectIdSql(kind)} as project_id, a.reads_internal,
       ${said} as said, ${level} as level, case when thing.has_several then ${ROOM} end as room
     from (select noteable_id, user_id, min(rank) as rank from taking group by noteable_id, user_id) who
     join thing on thing.noteable_id = who.noteable_id
     ${byIdSql(kind.table, 'i', 'who.noteable_id')}
     ${person.joins}
     where ${person.where}
   ), told as materialized (
     select e.number, e.note_id, may.noteable_id, may.user_id, may.project_id, may.room,
       case when may.said is false then ${rankOf('mentioned')} else ${rank} end as rank,
       row_number() over (partition by may.user_id order by e.number) as place
     from may join e on e.noteable_id = may.noteable_id and e.actor_id <> may.user_id
     left join named on named.number = e.number and named.user_id = may.user_id
     where ${rank} is not null
       and (e.note_id is null or (e.has_note and (not e.is_internal or may.reads_internal)))
       and ${wantedSql({ said: 'may.said', level: 'may.level' }, { isMeant, isNamed })}
       and (e.note_id is not null or not exists (select 1 from mails before
         where before.source_event_id = e.event_id and before.recipient_id = may.user_id))
   )
   insert into mails (source_event_id, recipient_id, template, actor_id, project_id, noteable_type, noteable_id, note_id,
     reason, details, note_ids)
   select e.event_id, row.user_id, e.template, e.actor_id, row.project_id, '${kind.type}', e.noteable_id, e.note_id,
     (array[${RANKED}])[row.rank], e.details, row.note_ids
   from (
     select t.user_id, t.project_id, t.rank, max(t.number) as number,
       case when count(*) > 1 then array_agg(t.note_id order by t.number) end as note_ids
     from told t
     group by t.user_id, t.noteable_id, t.project_id, t.rank,
       case when t.note_id is not null and t.place > t.room then 0 else t.number end
   ) row join e on e.number = row.number
   order by row.user_id, row.number
   on conflict do nothing
   returning 1`,
  );
});

/** Writes the queue. Source: reference work-tracking 8.2-8.4; ADR 0082. */
@Injectable()
export class QueueMails {
  constructor(
    private readonly mailer: Mailer,
    @Inject(mailerSettings.token) private readonly settings: MailerSettings,
  ) {}

  /** Wakes the mailer of this process once the rows are committed. */
  async queue(tx: Tx, kind: NoteableKind, notices: readonly Notice[]): Promise<void> {
    if (notices.length === 0 || !this.settings.isEnabled) return;
    const column = <K extends keyof Notice>(key: K): Notice[K][] => notices.map((notice) => notice[key]);
    const people = notices.flatMap(({ to }, index) => to.map((one) => ({ number: index + 1, ...one })));
    const queued = await tx.prepared(queue(kind), [
      column('eventId'),
      notices.map(({ told }) => templateOf(kind, told)),
      column('actorId'),
      column('noteableId'),
      column('noteId'),
      column('tellsParticipants'),
      notices.map((notice) => JSON.stringify(notice.details ?? {})),
      people.map((one) => one.number),
      people.map((one) => one.userId),
      people.map((one) => one.reason),
      this.settings.burst,
      this.settings.perMinute / 60,
    ]);
    if (queued.length > 0) tx.afterCommit(() => this.mailer.nudge());
  }
}
