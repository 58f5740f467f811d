import { Inject, Injectable } from '@nestjs/common';
import { Directory } from '@rookery/directory';
import { Database, prepared, Work } from '@rookery/persistence';
import type { Prepared } from '@rookery/persistence';
import { reachedSql } from '../noteables/reach-sql';
import { NoteableKinds, parentSql } from '../noteables/noteable-kinds';
import type { NoteableKind } from '../noteables/noteable-kinds';
import { MAIL_IDENTITY } from './mailer/mail-identity';
import type { MailIdentity } from './mailer/mail-identity';
import { Judgement } from './mailer/judgement';
import type { Due } from './mailer/judgement';
import type { DueMail, MailOutcome, MailSource, Waiting } from './mailer/mail-source';
import { MailTable } from './mailer/mail-table';
import { mailerSettings } from './mailer/mailer.config';
import type { MailerSettings } from './mailer/mailer.config';
import { bodyOf, composeMail, messageIdOf } from './composing/compose-mail';
import type { MailBody, MailJob } from './composing/compose-mail';
import { templateOf } from './composing/mail-templates';
import { recipientSql, wantedSql } from './recipient-sql';

const table = new MailTable('mails', 'update mails m set');
const names = (key: string): string =>
  `array(select named.username from jsonb_array_elements_text(m.details -> '${key}') listed (user_id)
    join directory_users named on named.id = listed.user_id::bigint order by named.id)`;

const labelsSql = ({ parent }: NoteableKind): string =>
  `array(select l.title from jsonb_array_elements_text(m.details -> 'labels') listed (label_id)
    join labels l on l.id = listed.label_id::bigint
      and ${reachedSql('l', { project: parent === 'project' ? 'a.project_id' : null, above: 'a.traversal_ids' })}
    order by l.title)`;

/** What may still be told of one kind to whom it was queued for. */
function dueSql(kind: NoteableKind): string {
  const column = (name: string | null, type: string): string => (name === null ? `null::${type}` : `i.${name}`);
  return `select m.id, m.source_event_id as event_id, m.recipient_id, m.template, m.reason, m.attempts, m.created_at,
     u.notification_email as address, actor.name as actor_name, actor.username as actor_username,
     ${parentSql(kind)} as parent_id, a.name as parent_name, a.full_path as parent_path, m.noteable_type, i.id as noteable_id,
     i.${kind.shownId} as shown_id, i.title, i.description, ${column(kind.stateColumn, 'text')} as state,
     ${column(kind.confidentialColumn, 'boolean')} as confidential, m.note_id, n.body as note_body,
     ${names('added')} as added, ${names('removed')} as removed, ${labelsSql(kind)} as labels
   ${stillDueSql(kind)}`;
}

/** The mails of one kind that their recipients may get. Labels that do not count there any more are not told. */
function stillDueSql(kind: NoteableKind): string {
  const person = recipientSql(kind, { userId: 'm.recipient_id', note: 'm.note_id' });
  return `from mails m join ${kind.table} i on i.id = m.noteable_id left join notes n on n.id = m.note_id
   join directory_users actor on actor.id = m.actor_id
   ${person.joins}
   where m.id = any($1::bigint[]) and m.noteable_type = '${kind.type}' and ${person.where}
     and (m.template <> '${templateOf(kind, 'relabelled')}' or cardinality(${labelsSql(kind)}) > 0)
     and ${wantedSql(kind, { isMeant: `m.reason in ('assigned', 'mentioned', 'subscribed')`, isNamed: `m.reason = 'mentioned'` })}`;
}

type DueRow = Omit<MailJob, 'kind'> & { readonly noteable_type: string };

/**
 * The queue of e-mails about things and notes, shared by all processes.
 * Source: reference reliability 2.7; ADR 0082.
 */
@Injectable()
export class MailQueue implements MailSource {
  /** $1 ids. */
  private readonly load: Prepared;
  /** $1 ids. */
  private readonly due: Prepared;

  constructor(
    private readonly work: Work,
    private readonly database: Database,
    private readonly directory: Directory,
    private readonly kinds: NoteableKinds,
    @Inject(mailerSettings.token) private readonly settings: MailerSettings,
    @Inject(MAIL_IDENTITY) private readonly identity: MailIdentity,
  ) {
    this.load = prepared('mails_load', `${kinds.all.map(dueSql).join(' union all ')} order by id`);
    const due = kinds.all.map((kind) => `select m.id, u.notification_email as address ${stillDueSql(kind)}`);
    this.due = prepared('mails_due', due.join(' union all '));
  }

  /**
   * Takes due e-mails for the time of the lease. What its recipient may no longer get is dropped here; what is too much
   * for them at once waits. Errors: Unavailable while the copy of the directory is too old to decide.
   */
  async take(): Promise<{ readonly count: number; readonly mails: readonly DueMail[] }> {
    return table.taking(this.work, async (tx, batch) => {
      const claimed = await table.claim(tx, batch, this.settings);
      if (claimed.length === 0) return { count: 0, mails: [] };
      await this.directory.settled(tx);
      const allowed = await table.allowed(tx, claimed, this.settings);
      const judgedAt = performance.now();
      const due = await tx.prepared<DueRow>(this.load, [allowed]);
      const jobs = due.map((row) => ({ ...row, kind: this.kinds.of(row.noteable_type)! }));
      const present = new Set(jobs.map((job) => job.id));
      const gone = allowed.filter((id) => !present.has(id));
      await table.drop(tx, gone);
      return { count: claimed.length, mails: this.mailsOf(jobs, judgedAt) };
    });
  }

  settle(outcomes: readonly MailOutcome[]): Promise<void> {
    return table.settle(this.database, outcomes);
  }

  waiting(): Promise<Waiting> {
    return table.waiting(this.database);
  }

  /** Errors: Unavailable while the copy of the directory is too old to decide. */
  private async stillDue(ids: readonly number[]): Promise<Due[]> {
    await this.directory.settled();
    return this.database.prepared<Due>(this.due, [ids]);
  }

  /** The text of an event is rendered once for all who hear the same of it: some are named in it, others follow a label. */
  private mailsOf(jobs: readonly MailJob[], judgedAt: number): DueMail[] {
    const { identity } = this;
    const judgement = new Judgement(jobs, judgedAt, (ids) => this.stillDue(ids));
    const bodies = new Map<string, MailBody>();
    const bodyFor = (job: MailJob): MailBody => {
      const told = `${job.event_id} ${job.template}`;
      const body = bodies.get(told) ?? bodyOf(job);
      bodies.set(told, body);
      return body;
    };
    return jobs.map((job) => ({
      id: job.id,
      attempts: job.attempts,
      created_at: job.created_at,
      address: job.address,
      messageId: messageIdOf(job, identity),
      compose: () => composeMail(job, bodyFor(job), identity),
      isStillDue: () => judgement.isDue(job),
    }));
  }
}
