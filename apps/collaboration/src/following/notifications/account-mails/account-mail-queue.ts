import { Inject, Injectable } from '@nestjs/common';
import type { AccountMailFacts } from '@rookery/contracts';
import { IdentityClient, isRefusedByIdentity } from '@rookery/directory';
import { Database, prepareStatement, Work } from '@rookery/persistence';
import type { RowOf } from '@rookery/persistence';
import { MAIL_IDENTITY, deriveMessageId } from '../mailer/mail-identity';
import type { MailIdentity } from '../mailer/mail-identity';
import { retryOutcome } from '../mailer/mail-source';
import type { DueMail, MailOutcome, MailSource, QueueLength } from '../mailer/mail-source';
import { MailTable, withMailTraceparents } from '../mailer/mail-table';
import { mailerSettings } from '../mailer/mailer.config';
import type { MailerSettings } from '../mailer/mailer.config';
import type { AccountMail } from './account-mail.entity';
import { composeAccountMail } from './compose-account-mail';

type AccountMailJob = { readonly event_id: AccountMail['sourceEventId'] } & RowOf<
  AccountMail,
  'id' | 'recipientId' | 'template' | 'subjectId' | 'leftOut' | 'attempts' | 'createdAt'
>;

/** An e-mail with its facts. `facts` is null if the e-mail is no longer due. */
interface MailWithFacts {
  readonly job: AccountMailJob;
  readonly facts: AccountMailFacts | null;
}

/** $1 ids. */
const loadMails = prepareStatement(
  'account_mails_load',
  `select id, source_event_id as event_id, recipient_id, template, subject_id, left_out, attempts, created_at
   from account_mails where id = any($1::bigint[]) order by id`,
);

/**
 * Queue of e-mails about accounts, shared by all processes. Address, link and texts are requested from identity when an
 * e-mail is sent: the queue holds no address and no secret. Source: reference work-tracking 8.6; ADR 0082.
 */
@Injectable()
export class AccountMailQueue implements MailSource {
  private readonly table = new MailTable('account_mails', 'update account_mails m set');

  constructor(
    private readonly work: Work,
    private readonly database: Database,
    private readonly identity: IdentityClient,
    @Inject(mailerSettings.token) private readonly settings: MailerSettings,
    @Inject(MAIL_IDENTITY) private readonly sender: MailIdentity,
  ) {}

  /** Takes a batch. Errors: Unavailable while identity is away; the taken e-mails are retried. */
  async takeMails(): Promise<{ readonly count: number; readonly mails: readonly DueMail[] }> {
    const swept = await this.table.postponeBlocked(this.work, this.settings);
    const {
      count,
      jobs,
      claimed: taken,
    } = await this.table.takeBatch(this.work, async (tx, batch) => {
      const claimed = await this.table.claimMails(tx, batch, this.settings);
      if (claimed.length === 0) return { count: 0, jobs: [], claimed };
      const allowed = await this.table.postponeExcess(tx, claimed, this.settings);
      const due = await tx.prepared<AccountMailJob>(loadMails, [allowed.map((mail) => mail.id)]);
      return { count: claimed.length, jobs: due, claimed };
    });
    if (jobs.length === 0) return { count: count + swept, mails: [] };
    const answered = await this.requestFacts(jobs);
    const gone = answered.filter(({ facts }) => facts === null);
    await this.table.dropMails(
      this.database,
      gone.map(({ job }) => job.id),
    );
    const mails = answered.flatMap(({ job, facts }) => (facts ? [this.createDueMail(job, facts)] : []));
    return { count: count + swept, mails: withMailTraceparents(mails, taken) };
  }

  isDue(): Promise<boolean> {
    return this.table.isDue(this.database);
  }

  settleMails(outcomes: readonly MailOutcome[]): Promise<void> {
    return this.table.settleMails(this.database, outcomes);
  }

  measureQueue(): Promise<QueueLength> {
    return this.table.measureQueue(this.database);
  }

  /**
   * Requests the facts from identity, outside of any transaction, so that no lock is held while identity works. The
   * result lacks the e-mails that are retried later.
   */
  private async requestFacts(jobs: readonly AccountMailJob[]): Promise<readonly MailWithFacts[]> {
    try {
      return await this.requestFactsInBatch(jobs);
    } catch (error) {
      await this.settleMails(jobs.map((job) => retryOutcome(job, 'not tried: identity is away', this.settings)));
      throw error;
    }
  }

  /** During an update, an identity of the previous release refuses a whole batch for one template that it does not know. */
  private async requestFactsInBatch(jobs: readonly AccountMailJob[]): Promise<readonly MailWithFacts[]> {
    try {
      const { mails } = await this.identity.accountMails(jobs.map(toAccountMailFactsRequest));
      return jobs.map((job, index) => ({ job, facts: mails[index] ?? null }));
    } catch (error) {
      if (jobs.length === 1 || !isRefusedByIdentity(error)) throw error;
      return this.requestFactsOneByOne(jobs);
    }
  }

  /** Requests the facts one by one. Only the e-mails that identity refuses are retried later. */
  private async requestFactsOneByOne(jobs: readonly AccountMailJob[]): Promise<readonly MailWithFacts[]> {
    const answered: MailWithFacts[] = [];
    const refused: AccountMailJob[] = [];
    for (const job of jobs) {
      try {
        answered.push(...(await this.requestFactsInBatch([job])));
      } catch (error) {
        if (!isRefusedByIdentity(error)) throw error;
        refused.push(job);
      }
    }
    await this.settleMails(refused.map((job) => retryOutcome(job, 'not tried: identity refuses it', this.settings)));
    return answered;
  }

  private createDueMail(job: AccountMailJob, facts: AccountMailFacts): DueMail {
    const { id, attempts, created_at, template } = job;
    const messageId = deriveMessageId(job, this.sender);
    const leftOut = job.left_out ?? [];
    const today = new Date().toISOString().slice(0, 10);
    const compose = () => composeAccountMail(template, { ...facts, today, leftOut }, messageId, this.sender);
    const isStillDue = async (): Promise<boolean> => {
      const [now] = (await this.identity.accountMails([toAccountMailFactsRequest(job)])).mails;
      const isElsewhere = now && (now.address !== facts.address || now.link !== facts.link);
      if (isElsewhere) throw new Error('its recipient has another address or link now');
      return Boolean(now);
    };
    const asksToConfirm = template === 'email_confirmation';
    return { id, attempts, created_at, address: facts.address, messageId, compose, isStillDue, asksToConfirm };
  }
}

function toAccountMailFactsRequest({ template, recipient_id, subject_id }: AccountMailJob) {
  return { template, recipient_id, subject_id };
}
