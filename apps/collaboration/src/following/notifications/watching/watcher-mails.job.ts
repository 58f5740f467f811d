import { Injectable } from '@nestjs/common';
import { Directory } from '@rookery/directory';
import { Job } from '@rookery/jobs';
import type { JobRun } from '@rookery/jobs';
import { statement, Work } from '@rookery/persistence';
import type { RowOf, Tx } from '@rookery/persistence';
import { NoteableKinds } from '../../../base/noteables/noteable-kinds';
import { NoteableMailEnqueuer } from '../noteable-mail-enqueuer';
import type { MailFanOut } from './mail-fan-out.entity';
import { queueWatcherMails } from './queue-watcher-mails';

const lockFanOut = statement<{ id: number }, RowOf<MailFanOut, 'noteableType' | 'notices' | 'afterUserId'>>(
  'mail_fan_outs_take',
  'select noteable_type, notices, after_user_id from mail_fan_outs where id = :id::bigint for update',
);
const advanceFanOut = statement<{ id: number; after: number }, never>(
  'mail_fan_outs_advance',
  'update mail_fan_outs set after_user_id = :after::bigint where id = :id::bigint',
);
const deleteFanOut = statement<{ id: number }, never>(
  'mail_fan_outs_finish',
  'delete from mail_fan_outs where id = :id::bigint',
);

/**
 * Queues e-mails for all users who watch a place, some hundred in a transaction, which also stores the position: a
 * repeated run continues there. Source: ADR 0082.
 */
@Injectable()
export class WatcherMailsJob {
  constructor(
    private readonly work: Work,
    private readonly mails: NoteableMailEnqueuer,
    private readonly kinds: NoteableKinds,
    private readonly directory: Directory,
  ) {}

  @Job(queueWatcherMails)
  async run({ params, signal }: Pick<JobRun<typeof queueWatcherMails>, 'params' | 'signal'>): Promise<void> {
    while (await this.work.run((tx) => this.queueNextBatch(tx, params.fan_out_id))) signal.throwIfAborted();
  }

  /** Returns whether there may be more. */
  private async queueNextBatch(tx: Tx, fanOutId: number): Promise<boolean> {
    const [row] = await tx.run(lockFanOut, { id: fanOutId });
    if (!row) return false;
    await this.directory.assertCurrent(tx);
    const after = await this.mails.queueForWatchers(
      tx,
      this.kinds.kindOfType(row.noteable_type)!,
      row.notices,
      row.after_user_id,
    );
    if (after === null) await tx.run(deleteFanOut, { id: fanOutId });
    else await tx.run(advanceFanOut, { id: fanOutId, after });
    return after !== null;
  }
}
