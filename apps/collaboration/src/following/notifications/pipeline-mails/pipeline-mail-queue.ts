import { Inject, Injectable } from '@nestjs/common';
import { Directory } from '@rookery/directory';
import { Database, statement, Work } from '@rookery/persistence';
import { CheckedMailQueue } from '../mailer/checked-mails';
import { MAIL_IDENTITY } from '../mailer/mail-identity';
import type { MailIdentity } from '../mailer/mail-identity';
import { MailTable } from '../mailer/mail-table';
import { mailerSettings } from '../mailer/mailer.config';
import type { MailerSettings } from '../mailer/mailer.config';
import { composePipelineMail } from './compose-pipeline-mail';
import type { PipelineMailJob } from './compose-pipeline-mail';
import { wantedPipelineMailsSql } from './pipeline-recipient-sql';

/** E-mails that are still due, with all facts of their texts. */
const selectDueMails = statement<{ ids: readonly number[] }, PipelineMailJob>(
  'pipeline_mails_due',
  `select i.id, i.source_event_id as event_id, i.recipient_id, i.template, i.attempts, i.created_at, i.project_id,
     i.pipeline_id, i.pipeline_iid, i.ref, i.is_tag, i.sha, u.notification_email as address, a.name as project_name,
     a.full_path as project_path
   ${wantedPipelineMailsSql('(select m.* from pipeline_mails m where m.id = any(:ids::bigint[]) offset 0) i')}
   order by i.id`,
);

/** Queue of e-mails about finished pipelines, shared by all processes. Source: reference work-tracking 8.4; ADR 0082. */
@Injectable()
export class PipelineMailQueue extends CheckedMailQueue<PipelineMailJob> {
  constructor(
    work: Work,
    database: Database,
    directory: Directory,
    @Inject(mailerSettings.token) settings: MailerSettings,
    @Inject(MAIL_IDENTITY) identity: MailIdentity,
  ) {
    const table = new MailTable('pipeline_mails', 'update pipeline_mails m set');
    const compose = (job: PipelineMailJob, messageId: string) => composePipelineMail(job, messageId, identity);
    super({ work, database, directory, settings, identity }, { table, due: selectDueMails, compose });
  }
}
