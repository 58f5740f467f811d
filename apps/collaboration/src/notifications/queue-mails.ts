import { Inject, Injectable } from '@nestjs/common';
import { prepared } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { perKind, projectIdSql } from '../noteables/noteable-kinds';
import type { NoteableKind } from '../noteables/noteable-kinds';
import { Mailer } from './mailer/mailer';
import { mailerSettings } from './mailer/mailer.config';
import type { MailerSettings } from './mailer/mailer.config';
import { templateOf } from './composing/mail-templates';
import type { MailReason, MailTemplate } from './composing/mail-templates';
import { recipientSql, wantedSql } from './recipient-sql';
import { saidSql } from '../noteables/subscribed-sql';

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

const RANK = `case c.reason when 'assigned' then 2 when 'mentioned' then 4 when 'subscribed' then 5 else 6 end`;

/**
 * $1-$7 notices, $8-$10 those who are named. One row a person: the strongest reason wins. Assignees are told as such.
 * Whoever asked not to be told is told by their name alone.
 */
const queue = perKind((kind) => {
  const person = recipientSql(kind, { userId: 'c.user_id', note: 'e.note_id' });
  const assigned = kind.assignees
    ? `union all select e.event_id, s.user_id, 'assigned', false
       from e cross join lateral ${kind.assignees.ofSql('e.noteable_id')} s where e.tells_participants`
    : '';
  return prepared(
    `${kind.table}_mails_queue`,
    `with e as (
     select * from unnest($1::uuid[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::boolean[], $7::jsonb[])
       as e (event_id, template, actor_id, noteable_id, note_id, tells_participants, details)
   ), candidate as (
     select named.event_id, named.user_id, named.reason, true as is_meant
       from unnest($8::uuid[], $9::bigint[], $10::text[]) as named (event_id, user_id, reason)
     ${assigned}
     union all select e.event_id, i.author_id, null, false
       from e join ${kind.table} i on i.id = e.noteable_id where e.tells_participants
     union all select e.event_id, p.user_id, null, false from e
       join participants p on p.noteable_id = e.noteable_id and p.noteable_type = '${kind.type}' where e.tells_participants
     union all select e.event_id, s.user_id, 'subscribed', false from e join subscriptions s
       on s.noteable_id = e.noteable_id and s.noteable_type = '${kind.type}' and s.subscribed where e.tells_participants
   ), chosen as (
     select c.event_id, c.user_id, bool_or(c.is_meant) as is_meant,
       coalesce(bool_or(c.reason = 'mentioned'), false) as is_named,
       (array_agg(c.reason order by ${RANK}))[1] as reason
     from candidate c group by c.event_id, c.user_id
   )
   insert into mails (source_event_id, recipient_id, template, actor_id, project_id, noteable_type, noteable_id, note_id,
     reason, details)
   select e.event_id, u.id, e.template, e.actor_id, ${projectIdSql(kind)}, '${kind.type}', i.id, e.note_id,
     case when ${saidSql(kind.type, 'i.id', 'u.id')} is false then 'mentioned' else c.reason end, e.details
   from e join chosen c on c.event_id = e.event_id and c.user_id <> e.actor_id
   join ${kind.table} i on i.id = e.noteable_id left join notes n on n.id = e.note_id
   ${person.joins}
   where ${person.where} and ${wantedSql(kind, { isMeant: 'c.is_meant', isNamed: 'c.is_named' })}
     and not exists (select 1 from mails told where told.source_event_id = e.event_id and told.recipient_id = u.id)
   order by u.id
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
    const people = notices.flatMap(({ eventId, to }) => to.map((one) => ({ eventId, ...one })));
    const queued = await tx.prepared(queue(kind), [
      column('eventId'),
      notices.map(({ told }) => templateOf(kind, told)),
      column('actorId'),
      column('noteableId'),
      column('noteId'),
      column('tellsParticipants'),
      notices.map((notice) => JSON.stringify(notice.details ?? {})),
      people.map((one) => one.eventId),
      people.map((one) => one.userId),
      people.map((one) => one.reason),
    ]);
    if (queued.length > 0) tx.afterCommit(() => this.mailer.nudge());
  }
}
