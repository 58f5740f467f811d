import { Inject, Injectable } from '@nestjs/common';
import { Directory } from '@rookery/directory';
import { Database, prepareStatement, Work } from '@rookery/persistence';
import type { PreparedStatement, Tx } from '@rookery/persistence';
import { NoteableKinds } from '../../base/noteables/noteable-kinds';
import { MAIL_IDENTITY, deriveMessageId } from './mailer/mail-identity';
import type { MailIdentity } from './mailer/mail-identity';
import { CHECK_VALID_MS, DueMailChecker } from './mailer/due-mail-checker';
import type { DueRecipient } from './mailer/due-mail-checker';
import type { DueMail, MailOutcome, MailSource, QueueLength } from './mailer/mail-source';
import { MailTable, withMailTraceparents } from './mailer/mail-table';
import type { ClaimedMail } from './mailer/mail-table';
import { mailerSettings } from './mailer/mailer.config';
import type { MailerSettings } from './mailer/mailer.config';
import { renderNoteableMailBody, composeNoteableMail, createMessageId } from './composing/compose-mail';
import type { MailBody, MailJob } from './composing/compose-mail';
import { composeCombined } from './composing/compose-combined';
import { isCombinedMail } from './composing/mail-templates';
import { selectSendableNoteableMailsSql, sendableMailsSql } from './due-sql';
import { CombinedMails } from './combining/combined-mails';
import type { CombinedMailJob, QueuedMessage } from './combining/combined-mails';

type DueRow = Omit<MailJob, 'kind'> & { readonly noteable_type: string };

/**
 * Queue of e-mails about noteables and notes, shared by all processes.
 * Source: reference reliability 2.7; ADR 0082.
 */
@Injectable()
export class NoteableMailQueue implements MailSource {
  /** Loads e-mails with all facts. $1 ids, $2 for each the note to select if the row covers several, or null. */
  private readonly load: PreparedStatement;
  /** Selects the e-mails that are still due. $1 ids. */
  private readonly due: PreparedStatement;
  private readonly combined: CombinedMails;
  private readonly table = new MailTable('mails', 'update mails m set');

  constructor(
    private readonly work: Work,
    private readonly database: Database,
    private readonly directory: Directory,
    private readonly kinds: NoteableKinds,
    @Inject(mailerSettings.token) private readonly settings: MailerSettings,
    @Inject(MAIL_IDENTITY) private readonly identity: MailIdentity,
  ) {
    this.load = prepareStatement(
      'mails_load',
      `${kinds.all.map(selectSendableNoteableMailsSql).join(' union all ')} order by place`,
    );
    const due = kinds.all.map((kind) => `select m.id, u.notification_email as address ${sendableMailsSql(kind)}`);
    this.due = prepareStatement('mails_due', due.join(' union all '));
    this.combined = new CombinedMails(kinds, (through, messages) => this.loadJobs(through, messages));
  }

  /**
   * Takes due e-mails under a lease. Drops e-mails that their recipients may no longer get, and postpones those above the
   * allowance of a recipient. Errors: Unavailable while the copy of the directory is too old to decide.
   */
  async takeMails(): Promise<{ readonly count: number; readonly mails: readonly DueMail[] }> {
    const swept = await this.table.postponeBlocked(this.work, this.settings);
    const taken = await this.table.takeBatch(this.work, async (tx, batch) => {
      const claimed = await this.table.claimMails(tx, batch, this.settings);
      if (claimed.length === 0) return { count: 0, mails: [] };
      await this.directory.assertCurrent(tx);
      const allowed = await this.table.postponeExcess(tx, claimed, this.settings);
      const toSend = await this.combined.gatherMails(tx, batch, allowed, this.settings);
      return {
        count: claimed.length,
        mails: withMailTraceparents(await this.loadDueAndDropOthers(tx, toSend), toSend),
      };
    });
    return { ...taken, count: taken.count + swept };
  }

  isDue(): Promise<boolean> {
    return this.table.isDue(this.database);
  }

  async settleMails(outcomes: readonly MailOutcome[]): Promise<void> {
    await this.combined.dropUncovered(this.database, outcomes);
    await this.table.settleMails(this.database, outcomes);
  }

  measureQueue(): Promise<QueueLength> {
    return this.table.measureQueue(this.database);
  }

  /** Returns the e-mails that their recipients may get and drops the others. */
  private async loadDueAndDropOthers(tx: Tx, claimed: readonly ClaimedMail[]): Promise<DueMail[]> {
    const checkedAt = performance.now();
    const combined = claimed.filter((mail) => isCombinedMail(mail)).map((mail) => mail.id);
    const single = claimed.filter((mail) => !isCombinedMail(mail)).map((mail) => mail.id);
    const combinedJobs = await this.combined.loadDue(tx, combined);
    const jobs = await this.loadJobs(
      tx,
      single.sort((a, b) => a - b).map((id) => ({ id, note_id: null })),
    );
    const present = new Set([...jobs.map((job) => job.id), ...combinedJobs.keys()]);
    const gone = claimed.filter((mail) => !present.has(mail.id)).map((mail) => mail.id);
    const dropped = gone.filter((id) => combined.includes(id));
    await this.combined.dropUncovered(
      tx,
      dropped.map((id) => ({ id, state: 'dropped', reply: null, messageId: null, delayMs: 0, coveredIds: [] })),
    );
    await this.table.dropMails(tx, gone);
    const combinedMails = [...combinedJobs.values()].map((job) => this.createCombinedMail(job, checkedAt));
    return [...this.createSingleMails(jobs, checkedAt), ...combinedMails];
  }

  /** Loads messages in the given order; messages that their recipients may not get are missing. */
  private async loadJobs(through: Pick<Tx, 'prepared'>, messages: readonly QueuedMessage[]): Promise<MailJob[]> {
    if (messages.length === 0) return [];
    const values = [messages.map((one) => one.id), messages.map((one) => one.note_id)];
    const rows = await through.prepared<DueRow>(this.load, values);
    return rows.map((row) => ({ ...row, kind: this.kinds.kindOfType(row.noteable_type)! }));
  }

  /** Selects the e-mails that are still due. Errors: Unavailable while the copy of the directory is too old to decide. */
  private async findStillDue(ids: readonly number[]): Promise<DueRecipient[]> {
    await this.directory.assertCurrent();
    return this.database.prepared<DueRecipient>(this.due, [ids]);
  }

  /** Makes e-mails of one message each. The text of an event is rendered once for each template, not for each recipient. */
  private createSingleMails(jobs: readonly MailJob[], checkedAt: number): DueMail[] {
    const { identity } = this;
    const check = new DueMailChecker(jobs, checkedAt, (ids) => this.findStillDue(ids));
    const bodies = new Map<string, MailBody>();
    const bodyFor = (job: MailJob): MailBody => {
      const key = `${job.event_id} ${job.template}`;
      const body = bodies.get(key) ?? renderNoteableMailBody(job);
      bodies.set(key, body);
      return body;
    };
    return jobs.map((job) => ({
      id: job.id,
      attempts: job.attempts,
      created_at: job.created_at,
      address: job.address,
      messageId: createMessageId(job, identity),
      compose: () => composeNoteableMail(job, bodyFor(job), identity),
      isStillDue: () => check.isDue(job),
    }));
  }

  /** Makes a combined e-mail. Messages that its recipient may no longer read are left out and not counted. */
  private createCombinedMail(taken: CombinedMailJob, takenAt: number): DueMail {
    const { id, attempts, created_at, address } = taken;
    const messageId = deriveMessageId(taken, this.identity);
    let job: CombinedMailJob | undefined = taken;
    let checkedAt = takenAt;
    return {
      id,
      attempts,
      created_at,
      address,
      messageId,
      compose: () => composeCombined(job!, messageId, this.identity),
      coveredIds: () => job?.coveredIds ?? [],
      isStillDue: async () => {
        if (performance.now() - checkedAt > CHECK_VALID_MS) {
          checkedAt = performance.now();
          await this.directory.assertCurrent();
          job = (await this.combined.loadDue(this.database, [id])).get(id);
        }
        if (job !== undefined && job.address !== address) throw new Error('its recipient has another address now');
        return job !== undefined;
      },
    };
  }
}
