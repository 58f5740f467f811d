import type { Directory } from '@rookery/directory';
import type { Database, DeclaredStatement, Work } from '@rookery/persistence';
import type { SendMailOptions } from 'nodemailer';
import { DueMailChecker } from './due-mail-checker';
import type { DueRecipient } from './due-mail-checker';
import { deriveMessageId } from './mail-identity';
import type { MailIdentity } from './mail-identity';
import type { DueMail, MailOutcome, MailSource, QueueLength } from './mail-source';
import { MailTable, withMailTraceparents } from './mail-table';
import type { MailerSettings } from './mailer.config';

/** An e-mail that may be sent now. */
interface CheckedMail extends DueRecipient {
  readonly attempts: number;
  readonly created_at: Date;
  readonly event_id: string;
  readonly recipient_id: number;
  readonly template: string;
}

/** Parts that differ between queues. `due` returns e-mails that are still due, with all facts of their texts. */
interface CheckedQueue<Job> {
  readonly table: MailTable;
  readonly due: DeclaredStatement<{ ids: readonly number[] }, Job>;
  compose(job: Job, messageId: string): SendMailOptions;
}

/** Services that the queues share. */
export interface QueueServices {
  readonly work: Work;
  readonly database: Database;
  readonly directory: Directory;
  readonly settings: MailerSettings;
  readonly identity: MailIdentity;
}

/**
 * A queue of e-mails that are sent one by one. One statement decides which of them are due, from the copy of the directory
 * at that moment. Source: ADR 0082; ADR 0171.
 */
export abstract class CheckedMailQueue<Job extends CheckedMail> implements MailSource {
  protected constructor(
    private readonly services: QueueServices,
    private readonly queue: CheckedQueue<Job>,
  ) {}

  /** Takes a batch. Errors: Unavailable while the copy of the directory is too old to decide. */
  async takeMails(): Promise<{ readonly count: number; readonly mails: readonly DueMail[] }> {
    const { work, settings, directory } = this.services;
    const { table, due } = this.queue;
    const swept = await table.postponeBlocked(work, settings);
    const {
      count,
      jobs,
      checkedAt,
      claimed: taken,
    } = await table.takeBatch(work, async (tx, batch) => {
      const claimed = await table.claimMails(tx, batch, settings);
      if (claimed.length === 0) return { count: 0, jobs: [], checkedAt: 0, claimed };
      await directory.assertCurrent(tx);
      const allowed = await table.postponeExcess(tx, claimed, settings);
      const at = performance.now();
      const found = await tx.run(due, { ids: allowed.map(({ id }) => id) });
      const present = new Set(found.map(({ id }) => id));
      await table.dropMails(
        tx,
        allowed.flatMap(({ id }) => (present.has(id) ? [] : [id])),
      );
      return { count: claimed.length, jobs: found, checkedAt: at, claimed };
    });
    const check = new DueMailChecker(jobs, checkedAt, (ids) => this.findStillDue(ids));
    const mails = jobs.map((job) => this.createDueMail(job, check));
    return { count: count + swept, mails: withMailTraceparents(mails, taken) };
  }

  isDue(): Promise<boolean> {
    return this.queue.table.isDue(this.services.database);
  }

  settleMails(outcomes: readonly MailOutcome[]): Promise<void> {
    return this.queue.table.settleMails(this.services.database, outcomes);
  }

  measureQueue(): Promise<QueueLength> {
    return this.queue.table.measureQueue(this.services.database);
  }

  private async findStillDue(ids: readonly number[]): Promise<readonly Job[]> {
    await this.services.directory.assertCurrent();
    return this.services.database.run(this.queue.due, { ids });
  }

  private createDueMail(job: Job, check: DueMailChecker): DueMail {
    const { id, attempts, created_at, address } = job;
    const messageId = deriveMessageId(job, this.services.identity);
    const compose = () => this.queue.compose(job, messageId);
    return { id, attempts, created_at, address, messageId, compose, isStillDue: () => check.isDue(job) };
  }
}
