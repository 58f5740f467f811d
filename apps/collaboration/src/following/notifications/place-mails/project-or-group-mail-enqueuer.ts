import { Inject, Injectable } from '@nestjs/common';
import { int, object } from '@rookery/contracts';
import { defineJob, Jobs } from '@rookery/jobs';
import { activeTraceparent, statement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { accessRequestReceiversSql } from '../../todos/access-request-receivers';
import { joinByIdSql } from '../by-id-sql';
import { Mailer } from '../mailer/mailer';
import { mailerSettings } from '../mailer/mailer.config';
import type { MailerSettings } from '../mailer/mailer.config';
import { possibleMembersSql } from '../watching/watchers';
import { LIMITED_TEMPLATES } from './place-mail-templates';
import type { ProjectOrGroupNotice, ProjectMailTemplate } from './place-mail-templates';
import { wantedProjectOrGroupMailsSql } from './project-or-group-recipient-sql';

/**
 * Queues e-mails about a project for all users who want them. `fan_out_id` is the id of a row of `place_mail_fan_outs`.
 */
export const queueProjectMails = defineJob('queue-project-mails', object({ fan_out_id: int }));

/** Number of possible recipients that one transaction considers. */
const BATCH = 500;

interface NoticeParams {
  readonly event: string;
  readonly template: string;
  readonly project: number | null;
  readonly group: number | null;
  readonly actor: number | null;
  readonly responsible: number | null;
  readonly subject: number | null;
}
type QueueParams = NoticeParams & { readonly traceparent: string | null };
type BatchParams = QueueParams & { readonly after: number };

/** The notice as a row for each recipient. `recipients` is a subquery with the column `user_id`. */
const noticeRowsSql = (
  recipients: string,
): string => `(select :event::uuid as source_event_id, one.user_id as recipient_id,
     :template::text as template, :project::bigint as project_id, :group::bigint as group_id, :actor::bigint as actor_id,
     :responsible::bigint as responsible_id, :subject::bigint as subject_id from ${recipients} one offset 0) i`;
const INSERT = `insert into place_mails (source_event_id, recipient_id, template, project_id, group_id, actor_id,
     responsible_id, subject_id, traceparent)
   select i.source_event_id, i.recipient_id, i.template, i.project_id, i.group_id, i.actor_id, i.responsible_id,
     i.subject_id, :traceparent::text`;
/**
 * The user who acted gets no e-mail. A waiting e-mail covers later events of the same kind, since its text has the facts of
 * the time when it is sent.
 */
const OTHERS = `and i.recipient_id is distinct from i.actor_id and not exists (
     select 1 from place_mails waiting where waiting.recipient_id = i.recipient_id and waiting.template = i.template
       and waiting.state = 'queued' and waiting.claim is null
       and (waiting.project_id, waiting.group_id, waiting.subject_id)
         is not distinct from (i.project_id, i.group_id, i.subject_id))
   on conflict do nothing returning 1 as queued`;

/**
 * Boolean SQL: whether the user is responsible for fewer than `most` e-mails of this hour that meet the condition. E-mails
 * of bots count for the user who created them, because users can create any number of bots.
 */
const isBelowHourlyMailLimitSql = (user: string, most: string, condition: string): string => `(select count(*) from (
     select from place_mails caused where caused.responsible_id = ${user} and ${condition}
       and caused.created_at > now() - interval '1 hour' limit ${most}) counted) < ${most}`;

const LIMITED = LIMITED_TEMPLATES.map((template) => `'${template}'`).join(', ');
/**
 * Boolean SQL: whether the actor may cause one more e-mail of a limited kind in this hour. Users can add any other user to a
 * group of theirs, so the allowance of each recipient alone would permit e-mails to all of them.
 */
const WITHIN_LIMIT = `(i.template not in (${LIMITED}) or actor.admin
     or ${isBelowHourlyMailLimitSql('i.responsible_id', ':most::integer', `caused.template in (${LIMITED})`)})`;

const declareMailQueueStatement = (parent: 'project' | 'group', name: string, recipients: string) =>
  statement<QueueParams & { readonly user: number; readonly most: number }, { readonly queued: number }>(
    `place_mails_queue_${name}_of_${parent}s`,
    `${INSERT} ${wantedProjectOrGroupMailsSql(parent, noticeRowsSql(recipients))} and ${WITHIN_LIMIT} ${OTHERS}`,
  );
const declareProjectAndGroupQueueStatements = (name: string, recipients: (parent: 'project' | 'group') => string) => ({
  project: declareMailQueueStatement('project', name, recipients('project')),
  group: declareMailQueueStatement('group', name, recipients('group')),
});

const queueForUser = declareProjectAndGroupQueueStatements('user', () => '(select :user::bigint as user_id)');
/** Queues e-mails for the users who may approve the access request of `user`. */
const queueForReceivers = declareProjectAndGroupQueueStatements(
  'receivers',
  (parent) => `(select receiver.user_id from ${
    parent === 'project'
      ? `${'directory_projects p join directory_namespaces home on home.id = p.namespace_id'}`
      : 'directory_namespaces home left join directory_projects p on false'
  }
     cross join lateral ${accessRequestReceiversSql(':user::bigint')} receiver
     where ${parent === 'project' ? 'p.id = :project::bigint' : 'home.id = :group::bigint'})`,
);

/** Subqueries for the users who may want a notice of the project, with the column `user_id`. */
const POSSIBLE = {
  new_release: `select s.user_id from notification_settings s
     where s.level = 'custom' and (s.switches ->> 'new_release')::boolean
       and ((s.source_type = 'project' and s.source_id = p.id) or (s.source_type = 'global' and s.source_id = 0)
         or (s.source_type = 'namespace' and s.source_id = any(home.traversal_ids)))`,
  moved_project: possibleMembersSql({ parent: 'project' }),
} as const satisfies Readonly<Record<ProjectMailTemplate, string>>;

/** Moves and renamings by one user in an hour that send e-mails. Each may reach thousands of members. */
const MOST_MOVES = 20;
/** E-mails about moves that one user causes in an hour. The first move of the hour may send more. */
const MOST_MOVE_MAILS = 5_000;
const IS_BY_ADMIN = 'exists (select from directory_users u where u.id = :actor::bigint and u.admin)';
/**
 * Boolean SQL: whether the next recipients of a notice get e-mails. The first move of an hour, which has the oldest e-mail,
 * reaches all members: they need the new address, and a user moves few large projects in an hour.
 */
const MAY_CONTINUE = {
  new_release: 'true',
  moved_project: `(${IS_BY_ADMIN}
     or ${isBelowHourlyMailLimitSql(':responsible::bigint', String(MOST_MOVE_MAILS), `caused.template = 'moved_project'`)}
     or :event::uuid = (select oldest.source_event_id from place_mails oldest
       where oldest.responsible_id = :responsible::bigint and oldest.template = 'moved_project'
         and oldest.created_at > now() - interval '1 hour'
       order by oldest.created_at, oldest.source_event_id limit 1))`,
} as const satisfies Readonly<Record<ProjectMailTemplate, string>>;
const declareProjectMailBatchStatement = (template: ProjectMailTemplate) =>
  statement<BatchParams, { readonly last: number | null; readonly queued: number }>(
    `place_mails_queue_${template}`,
    `with possible as materialized (
     select distinct one.user_id from directory_projects p ${joinByIdSql('directory_namespaces', 'home', 'p.namespace_id')}
     cross join lateral (${POSSIBLE[template]}) one
     where p.id = :project::bigint and one.user_id > :after::bigint and ${MAY_CONTINUE[template]}
     order by one.user_id limit ${BATCH}
   ), queued as (${INSERT} ${wantedProjectOrGroupMailsSql('project', noticeRowsSql('possible'))} ${OTHERS})
   select (select max(user_id) from possible having count(*) = ${BATCH}) as last, (select count(*) from queued) as queued`,
  );
const steps = {
  new_release: declareProjectMailBatchStatement('new_release'),
  moved_project: declareProjectMailBatchStatement('moved_project'),
};

/** Events of moves by the user and their bots whose e-mails are queued or will be. */
const MOVES = `select waiting.source_event_id from place_mail_fan_outs waiting
     where waiting.responsible_id = :responsible::bigint and waiting.template = 'moved_project'
   union select caused.source_event_id from place_mails caused where caused.responsible_id = :responsible::bigint
     and caused.template = 'moved_project' and caused.created_at > now() - interval '1 hour'`;
/** Returns no row beyond the limit of the responsible user. */
const storeFanOut = statement<NoticeParams, { readonly id: number }>(
  'place_mail_fan_outs_store',
  `insert into place_mail_fan_outs (source_event_id, template, project_id, actor_id, responsible_id, subject_id)
   select :event::uuid, :template::text, :project::bigint, :actor::bigint, :responsible::bigint, :subject::bigint
   where :group::bigint is null
     and (:template::text <> 'moved_project' or ${IS_BY_ADMIN}
       or (select count(*) from (${MOVES}) moves) < ${MOST_MOVES})
   returning id`,
);

/** Queues e-mails about projects, groups and memberships. Source: reference work-tracking 8.4, 8.9; ADR 0082. */
@Injectable()
export class ProjectOrGroupMailEnqueuer {
  constructor(
    private readonly mailer: Mailer,
    private readonly jobs: Jobs,
    @Inject(mailerSettings.token) private readonly settings: MailerSettings,
  ) {}

  /** Queues an e-mail for one user, within the limit of the actor. */
  async forUser(tx: Tx, notice: ProjectOrGroupNotice, userId: number): Promise<void> {
    await this.queueWithStatements(tx, notice, queueForUser, userId);
  }

  /** Queues e-mails for the users who may approve the request of a user, within the limit of the actor. */
  async forApprovers(tx: Tx, notice: ProjectOrGroupNotice, requesterId: number): Promise<void> {
    await this.queueWithStatements(tx, notice, queueForReceivers, requesterId);
  }

  /**
   * Lets a job queue e-mails for all users who want them, within the limit of the actor. The notice must be about a
   * project.
   */
  async forAll(tx: Tx, notice: ProjectOrGroupNotice): Promise<void> {
    if (!this.settings.isEnabled) return;
    const [row] = await tx.run(storeFanOut, noticeParams(notice));
    if (row) await this.jobs.enqueue(tx, queueProjectMails, { fan_out_id: row.id });
  }

  /**
   * Queues e-mails for the next users who may want a notice of a project. Users with ids up to `after` are already
   * served. Returns the id of the last user, or null if there are no more.
   */
  async queueNextBatch(
    tx: Tx,
    template: ProjectMailTemplate,
    notice: ProjectOrGroupNotice,
    after: number,
  ): Promise<number | null> {
    if (!this.settings.isEnabled) return null;
    const [step] = await tx.run(steps[template], { ...noticeParams(notice), after, traceparent: activeTraceparent() });
    this.wakeMailerAfterCommit(tx, step!.queued);
    return step!.last;
  }

  private async queueWithStatements(
    tx: Tx,
    notice: ProjectOrGroupNotice,
    statements: ReturnType<typeof declareProjectAndGroupQueueStatements>,
    user: number,
  ): Promise<void> {
    if (!this.settings.isEnabled) return;
    const parent = notice.projectId === null ? 'group' : 'project';
    const most = this.settings.perActorAndHour;
    const traceparent = activeTraceparent();
    const queued = await tx.run(statements[parent], { ...noticeParams(notice), user, most, traceparent });
    this.wakeMailerAfterCommit(tx, queued.length);
  }

  private wakeMailerAfterCommit(tx: Tx, queued: number): void {
    if (queued > 0) tx.afterCommit(() => this.mailer.nudge());
  }
}

function noticeParams(notice: ProjectOrGroupNotice): NoticeParams {
  return {
    ...{ event: notice.eventId, template: notice.template, project: notice.projectId, group: notice.groupId },
    ...{ actor: notice.actorId, responsible: notice.responsibleId, subject: notice.subjectId },
  };
}
