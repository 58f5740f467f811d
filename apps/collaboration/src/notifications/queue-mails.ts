import { Inject, Injectable } from '@nestjs/common';
import { prepared } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { Mailer } from '../mailer/mailer';
import { mailerSettings } from '../mailer/mailer.config';
import type { MailerSettings } from '../mailer/mailer.config';
import type { MailReason, MailTemplate } from './mail-templates';
import { levelSuitsSql, recipientSql } from './recipient-sql';

/** Something to tell. */
export interface Notice {
  readonly eventId: string;
  readonly template: MailTemplate;
  readonly actorId: number;
  readonly issueId: number;
  readonly noteId: number | null;
  /** Whether all who take part in the issue are told, or only those who are named here. */
  readonly tellsParticipants: boolean;
  readonly told: readonly { readonly userId: number; readonly reason: MailReason | null }[];
  /** Ids only. */
  readonly details?: Readonly<Record<string, unknown>>;
}

const person = recipientSql({ userId: 'c.user_id', note: 'e.note_id' });
const RANK = `case c.reason when 'assigned' then 2 when 'mentioned' then 4 else 6 end`;

/**
 * $1-$7 notices, $8-$10 those who are named. One row a person: the strongest reason wins. Assignees are told as such.
 */
const queue = prepared(
  'mails_queue',
  `with e as (
     select * from unnest($1::uuid[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::boolean[], $7::jsonb[])
       as e (event_id, template, actor_id, issue_id, note_id, tells_participants, details)
   ), candidate as (
     select named.event_id, named.user_id, named.reason, true as is_meant
       from unnest($8::uuid[], $9::bigint[], $10::text[]) as named (event_id, user_id, reason)
     union all select e.event_id, s.user_id, 'assigned', false
       from e join issue_assignees s on s.issue_id = e.issue_id where e.tells_participants
     union all select e.event_id, i.author_id, null, false
       from e join issues i on i.id = e.issue_id where e.tells_participants
     union all select e.event_id, p.user_id, null, false
       from e join participants p on p.noteable_id = e.issue_id and p.noteable_type = 'Issue' where e.tells_participants
   ), chosen as (
     select c.event_id, c.user_id, bool_or(c.is_meant) as is_meant,
       (array_agg(c.reason order by ${RANK}))[1] as reason
     from candidate c group by c.event_id, c.user_id
   )
   insert into mails (source_event_id, recipient_id, template, actor_id, project_id, noteable_type, noteable_id, note_id,
     reason, details)
   select e.event_id, u.id, e.template, e.actor_id, i.project_id, 'Issue', i.id, e.note_id, c.reason, e.details
   from e join chosen c on c.event_id = e.event_id and c.user_id <> e.actor_id
   join issues i on i.id = e.issue_id left join notes n on n.id = e.note_id
   ${person.joins}
   where ${person.where} and ${levelSuitsSql('c.is_meant')}
   order by u.id
   on conflict do nothing
   returning 1`,
);

/** Writes the queue. Source: reference work-tracking 8.2-8.4; ADR 0082. */
@Injectable()
export class QueueMails {
  constructor(
    private readonly mailer: Mailer,
    @Inject(mailerSettings.token) private readonly settings: MailerSettings,
  ) {}

  /** Wakes the mailer of this process once the rows are committed. */
  async queue(tx: Tx, notices: readonly Notice[]): Promise<void> {
    if (notices.length === 0 || !this.settings.isEnabled) return;
    const column = <K extends keyof Notice>(key: K): Notice[K][] => notices.map((notice) => notice[key]);
    const told = notices.flatMap(({ eventId, told }) => told.map((one) => ({ eventId, ...one })));
    const queued = await tx.prepared(queue, [
      column('eventId'),
      column('template'),
      column('actorId'),
      column('issueId'),
      column('noteId'),
      column('tellsParticipants'),
      notices.map((notice) => JSON.stringify(notice.details ?? {})),
      told.map((one) => one.eventId),
      told.map((one) => one.userId),
      told.map((one) => one.reason),
    ]);
    if (queued.length > 0) tx.afterCommit(() => this.mailer.nudge());
  }
}
