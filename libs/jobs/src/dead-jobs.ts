import { Injectable } from '@nestjs/common';
import { DeadLetters, Work } from '@rookery/persistence';
import type { LetterRow, Tx } from '@rookery/persistence';
import type { Logger } from '@rookery/platform';
import { JobHandlers } from './job-handlers';
import { JobRecords } from './job-records';
import { isJobSuperseded, putIntoQueue, removeQueuedJob, listExhaustedJobs } from './queue';

/** The fields of a queued job that are needed when it ends. */
export interface EndedJob {
  readonly id: number;
  readonly name: string;
  readonly key: string | null;
  readonly attempts: number;
}

/** Turns jobs without a try left into dead letters, which an operator replays or discards. Source: ADR 0160. */
@Injectable()
export class DeadJobs {
  constructor(
    private readonly work: Work,
    private readonly records: JobRecords,
    private readonly letters: DeadLetters,
    private readonly handlers: JobHandlers,
  ) {}

  async buryJob(tx: Tx, job: EndedJob, body: string, error: unknown): Promise<void> {
    const key = job.key ?? String(job.id);
    await this.letters.buryJob(tx, { job: job.name, key, jobId: job.id, body, attempts: job.attempts }, error);
    await this.records.settleJob(job.id, 'dead', tx);
  }

  /** Buries jobs whose worker died during their last try. Returns their names. */
  async buryUsedUp(): Promise<string[]> {
    return this.work.run(async (tx) => {
      const names: string[] = [];
      for (const row of await listExhaustedJobs(tx)) {
        const superseded = this.isKeyedJob(row.task_identifier) && (await isJobSuperseded(tx, row.id));
        const body = await removeQueuedJob(tx, row.id);
        if (body === null) continue;
        if (superseded) {
          await this.records.settleJob(row.id, 'cancelled', tx);
          continue;
        }
        const job = { id: row.id, name: row.task_identifier, key: row.key, attempts: row.attempts };
        await this.buryJob(tx, job, body, row.last_error ?? 'its worker died');
        names.push(job.name);
      }
      return names;
    });
  }

  /** Puts jobs that an operator replays back into the queue, with all their tries. */
  async replayLetters(logger: Logger, isStopping: () => boolean): Promise<void> {
    await this.letters.replayLetters({
      kind: 'job',
      isStopping,
      use: (tx, letter) => this.reviveJob(tx, letter),
      onOutcome: ({ id, ...outcome }) => {
        if ('failed' in outcome) logger.warn({ deadLetterId: id, err: outcome.failed }, 'a job could not be replayed');
        else logger.info({ deadLetterId: id }, 'a dead job was put back into the queue');
      },
    });
  }

  private async reviveJob(tx: Tx, letter: LetterRow): Promise<void> {
    const { definition } = this.handlers.requireHandler(letter.effect);
    const queuedId = await putIntoQueue(tx, definition, JSON.parse(letter.body));
    await this.records.reviveRecord(tx, Number(letter.headers['job_id']), queuedId);
  }

  private isKeyedJob(name: string): boolean {
    return this.handlers.allHandlers().get(name)?.definition.isKeyed ?? false;
  }
}
