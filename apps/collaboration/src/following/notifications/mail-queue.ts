import { Inject, Injectable } from '@nestjs/common';
import { Directory } from '@rookery/directory';
import { Database, prepared, Work } from '@rookery/persistence';
import type { Prepared, Tx } from '@rookery/persistence';
import { NoteableKinds } from '../../base/noteables/noteable-kinds';
import { MAIL_IDENTITY, messageIdFor } from './mailer/mail-identity';
import type { MailIdentity } from './mailer/mail-identity';
import { JUDGED_MS, Judgement } from './mailer/judgement';
import type { Due } from './mailer/judgement';
import type { DueMail, MailOutcome, MailSource, Waiting } from './mailer/mail-source';
import { MailTable } from './mailer/mail-table';
import type { ClaimedMail } from './mailer/mail-table';
import { mailerSettings } from './mailer/mailer.config';
import type { MailerSettings } from './mailer/mailer.config';
import { bodyOf, composeMail, messageIdOf } from './composing/compose-mail';
import type { MailBody, MailJob } from './composing/compose-mail';
import { composeGathered } from './composing/compose-gathered';
import { isOfSeveral } from './composing/mail-templates';
import { dueSql, stillDueSql } from './due-sql';
import { GatheredMails } from './gathering/gathered-mails';
import type { GatheredJob, OneTold } from './gathering/gathered-mails';

type DueRow = Omit<MailJob, 'kind'> & { readonly noteable_type: string };

/**
 * The queue of e-mails about things and notes, shared by all processes.
 * Source: reference reliability 2.7; ADR 0082.
 */
@Injectable()
export class MailQueue implements MailSource {
  /** $1 ids, $2 beside each the note that is meant of several, or null. */
  private readonly load: Prepared;
  /** $1 ids. */
  private readonly due: Prepared;
  private readonly gathered: GatheredMails;
  private readonly table = new MailTable('mails', 'update mails m set');

  constructor(
    private readonly work: Work,
    private readonly database: Database,
    private readonly directory: Directory,
    private readonly kinds: NoteableKinds,
    @Inject(mailerSettings.token) private readonly settings: MailerSettings,
    @Inject(MAIL_IDENTITY) private readonly identity: MailIdentity,
  ) {
    this.load = prepared('mails_load', `${kinds.all.map(dueSql).join(' union all ')} order by place`);
    const due = kinds.all.map((kind) => `select m.id, u.notification_email as address ${stillDueSql(kind)}`);
    this.due = prepared('mails_due', due.join(' union all '));
    this.gathered = new GatheredMails(kinds, (through, told) => this.loaded(through, told));
  }

  /**
   * Takes due e-mails for the time of the lease. What its recipient may no longer get is dropped here; what is too much
   * for them at once waits. Errors: Unavailable while the copy of the directory is too old to decide.
   */
  async take(): Promise<{ readonly count: number; readonly mails: readonly DueMail[] }> {
    const swept = await this.table.sweep(this.work, this.settings);
    const taken = await this.table.taking(this.work, async (tx, batch) => {
      const claimed = await this.table.claim(tx, batch, this.settings);
      if (claimed.length === 0) return { count: 0, mails: [] };
      await this.directory.settled(tx);
      const allowed = await this.table.allowed(tx, claimed, this.settings);
      const going = await this.gathered.gather(tx, batch, allowed, this.settings);
      return { count: claimed.length, mails: await this.judged(tx, going) };
    });
    return { ...taken, count: taken.count + swept };
  }

  isDue(): Promise<boolean> {
    return this.table.isDue(this.database);
  }

  async settle(outcomes: readonly MailOutcome[]): Promise<void> {
    await this.gathered.leaveOut(this.database, outcomes);
    await this.table.settle(this.database, outcomes);
  }

  waiting(): Promise<Waiting> {
    return this.table.waiting(this.database);
  }

  /** Drops what its recipient may not get any more. */
  private async judged(tx: Tx, going: readonly ClaimedMail[]): Promise<DueMail[]> {
    const judgedAt = performance.now();
    const several = going.filter((mail) => isOfSeveral(mail)).map((mail) => mail.id);
    const single = going.filter((mail) => !isOfSeveral(mail)).map((mail) => mail.id);
    const gathered = await this.gathered.judged(tx, several);
    const jobs = await this.loaded(
      tx,
      single.sort((a, b) => a - b).map((id) => ({ id, note_id: null })),
    );
    const present = new Set([...jobs.map((job) => job.id), ...gathered.keys()]);
    const gone = going.filter((mail) => !present.has(mail.id)).map((mail) => mail.id);
    const dropped = gone.filter((id) => several.includes(id));
    await this.gathered.leaveOut(
      tx,
      dropped.map((id) => ({ id, state: 'dropped', reply: null, messageId: null, delayMs: 0, told: [] })),
    );
    await this.table.drop(tx, gone);
    return [...this.mailsOf(jobs, judgedAt), ...[...gathered.values()].map((job) => this.gatheredMail(job, judgedAt))];
  }

  /** Shape: in their order; what may not be told is missing. */
  private async loaded(through: Pick<Tx, 'prepared'>, told: readonly OneTold[]): Promise<MailJob[]> {
    if (told.length === 0) return [];
    const values = [told.map((one) => one.id), told.map((one) => one.note_id)];
    const rows = await through.prepared<DueRow>(this.load, values);
    return rows.map((row) => ({ ...row, kind: this.kinds.of(row.noteable_type)! }));
  }

  /** Errors: Unavailable while the copy of the directory is too old to decide. */
  private async stillDue(ids: readonly number[]): Promise<Due[]> {
    await this.directory.settled();
    return this.database.prepared<Due>(this.due, [ids]);
  }

  /** The text of an event is rendered once for all who hear the same of it: some are named in it, others follow a label. */
  private mailsOf(jobs: readonly MailJob[], judgedAt: number): DueMail[] {
    const { identity } = this;
    const judgement = new Judgement(jobs, judgedAt, (ids) => this.stillDue(ids));
    const bodies = new Map<string, MailBody>();
    const bodyFor = (job: MailJob): MailBody => {
      const told = `${job.event_id} ${job.template}`;
      const body = bodies.get(told) ?? bodyOf(job);
      bodies.set(told, body);
      return body;
    };
    return jobs.map((job) => ({
      id: job.id,
      attempts: job.attempts,
      created_at: job.created_at,
      address: job.address,
      messageId: messageIdOf(job, identity),
      compose: () => composeMail(job, bodyFor(job), identity),
      isStillDue: () => judgement.isDue(job),
    }));
  }

  /** Judged as one: whatever of it may not be told any more is left out, and is not counted. */
  private gatheredMail(taken: GatheredJob, judgedAt: number): DueMail {
    const { id, attempts, created_at, address } = taken;
    const messageId = messageIdFor(taken, this.identity);
    let job: GatheredJob | undefined = taken;
    let madeAt = judgedAt;
    return {
      id,
      attempts,
      created_at,
      address,
      messageId,
      compose: () => composeGathered(job!, messageId, this.identity),
      told: () => job?.told ?? [],
      isStillDue: async () => {
        if (performance.now() - madeAt > JUDGED_MS) {
          madeAt = performance.now();
          await this.directory.settled();
          job = (await this.gathered.judged(this.database, [id])).get(id);
        }
        if (job !== undefined && job.address !== address) throw new Error('its recipient has another address now');
        return job !== undefined;
      },
    };
  }
}
