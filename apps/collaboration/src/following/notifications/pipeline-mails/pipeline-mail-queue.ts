import { Inject, Injectable } from '@nestjs/common';
import { Directory } from '@rookery/directory';
import { Database, statement, Work } from '@rookery/persistence';
import { DueCheck } from '../mailer/due-check';
import { MAIL_IDENTITY, messageIdFor } from '../mailer/mail-identity';
import type { MailIdentity } from '../mailer/mail-identity';
import type { DueMail, MailOutcome, MailSource, Waiting } from '../mailer/mail-source';
import { MailTable } from '../mailer/mail-table';
import { mailerSettings } from '../mailer/mailer.config';
import type { MailerSettings } from '../mailer/mailer.config';
import { composePipelineMail } from './compose-pipeline-mail';
import type { PipelineMailJob } from './compose-pipeline-mail';
import { wantedPipelineMailsSql } from './pipeline-recipient-sql';

/** E-mails that are still due, with all facts of their texts. */
const due = statement<{ ids: readonly number[] }, PipelineMailJob>(
  'pipeline_mails_due',
  `select i.id, i.source_event_id as event_id, i.recipient_id, i.template, i.attempts, i.created_at, i.project_id,
     i.pipeline_id, i.pipeline_iid, i.ref, i.is_tag, i.sha, u.notification_email as address, a.name as project_name,
     a.full_path as project_path
   ${wantedPipelineMailsSql('(select m.* from pipeline_mails m where m.id = any(:ids::bigint[]) offset 0) i')}
   order by i.id`,
);

/** Queue of e-mails about finished pipelines, shared by all processes. Source: reference work-tracking 8.4; ADR 0082. */
@Injectable()
export class PipelineMailQueue implements MailSource {
  private readonly table = new MailTable('pipeline_mails', 'update pipeline_mails m set');

  constructor(
    private readonly work: Work,
    private readonly database: Database,
    private readonly directory: Directory,
    @Inject(mailerSettings.token) private readonly settings: MailerSettings,
    @Inject(MAIL_IDENTITY) private readonly identity: MailIdentity,
  ) {}

  /** Takes a batch. Errors: Unavailable while the copy of the directory is too old to decide. */
  async take(): Promise<{ readonly count: number; readonly mails: readonly DueMail[] }> {
    const swept = await this.table.sweep(this.work, this.settings);
    const { count, jobs, checkedAt } = await this.table.takeBatch(this.work, async (tx, batch) => {
      const claimed = await this.table.claim(tx, batch, this.settings);
      if (claimed.length === 0) return { count: 0, jobs: [], checkedAt: 0 };
      await this.directory.assertCurrent(tx);
      const allowed = await this.table.postponeExcess(tx, claimed, this.settings);
      const at = performance.now();
      const found = await tx.run(due, { ids: allowed.map(({ id }) => id) });
      const present = new Set(found.map(({ id }) => id));
      await this.table.drop(
        tx,
        allowed.flatMap(({ id }) => (present.has(id) ? [] : [id])),
      );
      return { count: claimed.length, jobs: found, checkedAt: at };
    });
    const check = new DueCheck(jobs, checkedAt, (ids) => this.stillDue(ids));
    return { count: count + swept, mails: jobs.map((job) => this.mailOf(job, check)) };
  }

  isDue(): Promise<boolean> {
    return this.table.isDue(this.database);
  }

  settle(outcomes: readonly MailOutcome[]): Promise<void> {
    return this.table.settle(this.database, outcomes);
  }

  waiting(): Promise<Waiting> {
    return this.table.waiting(this.database);
  }

  private async stillDue(ids: readonly number[]): Promise<readonly PipelineMailJob[]> {
    await this.directory.assertCurrent();
    return this.database.run(due, { ids });
  }

  private mailOf(job: PipelineMailJob, check: DueCheck): DueMail {
    const { id, attempts, created_at, address } = job;
    const messageId = messageIdFor(job, this.identity);
    const compose = () => composePipelineMail(job, messageId, this.identity);
    return { id, attempts, created_at, address, messageId, compose, isStillDue: () => check.isDue(job) };
  }
}
