import { Injectable } from '@nestjs/common';
import { Directory } from '@rookery/directory';
import { Job } from '@rookery/jobs';
import type { JobRun } from '@rookery/jobs';
import { statement, Work } from '@rookery/persistence';
import type { RowOf, Tx } from '@rookery/persistence';
import type { ProjectMailFanOut } from './place-mail.entity';
import { queueProjectMails, ProjectOrGroupMailEnqueuer } from './project-or-group-mail-enqueuer';

const lockFanOut = statement<{ id: number }, RowOf<ProjectMailFanOut, Exclude<keyof ProjectMailFanOut, 'id'>>>(
  'place_mail_fan_outs_take',
  `select source_event_id, template, project_id, actor_id, coalesce(responsible_id, actor_id) as responsible_id, subject_id,
     after_user_id
   from place_mail_fan_outs where id = :id::bigint for update`,
);
const advanceFanOut = statement<{ id: number; after: number }, never>(
  'place_mail_fan_outs_advance',
  'update place_mail_fan_outs set after_user_id = :after::bigint where id = :id::bigint',
);
const deleteFanOut = statement<{ id: number }, never>(
  'place_mail_fan_outs_finish',
  'delete from place_mail_fan_outs where id = :id::bigint',
);

/**
 * Queues e-mails about a project for all users who want them, some hundred users in a transaction, which also stores the
 * position: a repeated run continues there. Source: ADR 0082.
 */
@Injectable()
export class ProjectMailsJob {
  constructor(
    private readonly work: Work,
    private readonly mails: ProjectOrGroupMailEnqueuer,
    private readonly directory: Directory,
  ) {}

  @Job(queueProjectMails)
  async run({ params, signal }: Pick<JobRun<typeof queueProjectMails>, 'params' | 'signal'>): Promise<void> {
    while (await this.work.run((tx) => this.queueNextBatch(tx, params.fan_out_id))) signal.throwIfAborted();
  }

  /** Returns whether there may be more. */
  private async queueNextBatch(tx: Tx, fanOutId: number): Promise<boolean> {
    const [row] = await tx.run(lockFanOut, { id: fanOutId });
    if (!row) return false;
    await this.directory.assertCurrent(tx);
    const notice = {
      ...{ eventId: row.source_event_id, template: row.template, projectId: row.project_id, groupId: null },
      ...{ actorId: row.actor_id, responsibleId: row.responsible_id, subjectId: row.subject_id },
    };
    const after = await this.mails.queueNextBatch(tx, row.template, notice, row.after_user_id);
    if (after === null) await tx.run(deleteFanOut, { id: fanOutId });
    else await tx.run(advanceFanOut, { id: fanOutId, after });
    return after !== null;
  }
}
