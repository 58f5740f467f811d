import { Inject, Injectable } from '@nestjs/common';
import { Directory } from '@rookery/directory';
import { Database, statement, Work } from '@rookery/persistence';
import { CheckedMailQueue } from '../mailer/checked-mails';
import { readsCodeSql } from '../../../base/noteables/access-sql';
import { MAIL_IDENTITY } from '../mailer/mail-identity';
import type { MailIdentity } from '../mailer/mail-identity';
import { TEXT_LIMIT } from '../mailer/mail-text';
import { MailTable } from '../mailer/mail-table';
import { mailerSettings } from '../mailer/mailer.config';
import type { MailerSettings } from '../mailer/mailer.config';
import { composeProjectOrGroupMail } from './compose-project-or-group-mail';
import type { ProjectOrGroupMailJob } from './compose-project-or-group-mail';
import { wantedProjectOrGroupMailsSql } from './project-or-group-recipient-sql';

const ROWS = '(select m.* from place_mails m where m.id = any(:ids::bigint[]) offset 0) i';
/** The name and the tag of a release are part of the code. Source: reference repositories 7.2. */
const READS_CODE = readsCodeSql('i.project_id', 'a');
const selectDueProjectOrGroupMailsSql = (
  parent: 'project' | 'group',
): string => `select i.id, i.source_event_id as event_id, i.recipient_id, i.template,
     i.attempts, i.created_at, i.project_id, i.group_id, u.notification_email as address, a.name as place_name,
     a.full_path as place_path, actor.name as actor_name, actor.username as actor_username,
     requester.name as requester_name, requester.username as requester_username, m.access_level,
     m.expires_on::text as expires_on, case when ${READS_CODE} then release.tag end as tag,
     case when ${READS_CODE} then release.name else 'Release-' || release.id end as release_name,
     left(release.description, ${TEXT_LIMIT + 1}) as release_description
   ${wantedProjectOrGroupMailsSql(parent, ROWS)}`;

/** E-mails that are still due, with all facts of their texts. */
const selectDueMails = statement<{ ids: readonly number[] }, ProjectOrGroupMailJob>(
  'place_mails_due',
  `${selectDueProjectOrGroupMailsSql('project')} union all ${selectDueProjectOrGroupMailsSql('group')} order by id`,
);

/** Queue of e-mails about projects, groups and memberships, shared by all processes. Source: ADR 0082. */
@Injectable()
export class ProjectOrGroupMailQueue extends CheckedMailQueue<ProjectOrGroupMailJob> {
  constructor(
    work: Work,
    database: Database,
    directory: Directory,
    @Inject(mailerSettings.token) settings: MailerSettings,
    @Inject(MAIL_IDENTITY) identity: MailIdentity,
  ) {
    const table = new MailTable('place_mails', 'update place_mails m set');
    const compose = (job: ProjectOrGroupMailJob, messageId: string) =>
      composeProjectOrGroupMail(job, messageId, identity);
    super({ work, database, directory, settings, identity }, { table, due: selectDueMails, compose });
  }
}
