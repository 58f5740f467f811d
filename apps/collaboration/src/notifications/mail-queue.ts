import { Inject, Injectable } from '@nestjs/common';
import { Directory } from '@rookery/directory';
import { Database, prepared, Work } from '@rookery/persistence';
import { platformSettings } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';
import { mailIdentityOf } from '../mailer/mail-identity';
import type { MailIdentity } from '../mailer/mail-identity';
import type { DueMail, MailOutcome, MailSource } from '../mailer/mail-source';
import { MailTable } from '../mailer/mail-table';
import { mailerSettings } from '../mailer/mailer.config';
import type { MailerSettings } from '../mailer/mailer.config';
import { bodyOf, composeMail, messageIdOf } from './compose-mail';
import type { MailBody, MailJob } from './compose-mail';
import { levelSuitsSql, recipientSql } from './recipient-sql';

const table = new MailTable('mails');
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

/** The queue of e-mails about issues and notes, shared by all processes. Source: reliability-and-security 2.7; ADR 0082, 0083. */
@Injectable()
export class MailQueue implements MailSource {
  private readonly identity: MailIdentity;

  constructor(
    private readonly work: Work,
    private readonly database: Database,
    private readonly directory: Directory,
    @Inject(mailerSettings.token) private readonly settings: MailerSettings,
    @Inject(platformSettings.token) platform: SettingsOf<typeof platformSettings>,
  ) {
    this.identity = mailIdentityOf(settings, platform);
  }

  /**
   * Takes due e-mails for the time of the lease. What its recipient may no longer get is dropped here; what is too much
   * for him at once waits. Errors: Unavailable while the copy of the directory is too old to decide.
   */
  async take(): Promise<{ readonly count: number; readonly mails: readonly DueMail[] }> {
    return this.work.run(async (tx) => {
      const claimed = await table.claim(tx, this.settings);
      if (claimed.length === 0) return { count: 0, mails: [] };
      await this.directory.settled(tx);
      const allowed = await table.allowed(tx, claimed, this.settings);
      const jobs = await tx.prepared<MailJob>(load, [allowed]);
      const present = new Set(jobs.map((job) => job.id));
      const gone = allowed.filter((id) => !present.has(id));
      await table.drop(tx, gone);
      return { count: claimed.length, mails: this.mailsOf(jobs) };
    });
  }

  settle(outcomes: readonly MailOutcome[]): Promise<void> {
    return table.settle(this.database, outcomes);
  }

  /** The text of an event is rendered once for all who hear of it. */
  private mailsOf(jobs: readonly MailJob[]): DueMail[] {
    const { identity } = this;
    const bodies = new Map<string, MailBody>();
    const bodyFor = (job: MailJob): MailBody => {
      const body = bodies.get(job.event_id) ?? bodyOf(job);
      bodies.set(job.event_id, body);
      return body;
    };
    return jobs.map((job) => ({
      id: job.id,
      attempts: job.attempts,
      created_at: job.created_at,
      address: job.address,
      messageId: messageIdOf(job, identity),
      compose: () => composeMail(job, bodyFor(job), identity),
    }));
  }
}
