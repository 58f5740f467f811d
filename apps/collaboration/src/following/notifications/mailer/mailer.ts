import { Inject, Injectable } from '@nestjs/common';
import { backoffMs } from '@rookery/kernel';
import { LOGGER, Metrics, Pace } from '@rookery/platform';
import type { Logger } from '@rookery/platform';
import { SuspectMailAddresses } from '../../notification-settings/suspect-addresses';
import { MAIL_SOURCES, retryOutcome, untriedOutcome } from './mail-source';
import type { DueMail, MailOutcome, MailSource, QueueLength } from './mail-source';
import { inMailSpan } from './mail-span';
import { isEmailAddress } from './mail-text';
import { mailerSettings } from './mailer.config';
import type { MailerSettings } from './mailer.config';
import { OutcomeWriter } from './outcome-writer';
import { SmtpClient } from './smtp-client';
import type { SmtpAnswer } from './smtp-client';

/** Buckets up to the age at which e-mails are given up. Units: seconds. */
const DELAYS = [0.1, 0.5, 1, 5, 15, 30, 60, 300, 900, 1800, 3600, 14_400, 43_200, 86_400, 172_800];
const AWAY = 'not tried: the mail server is away';
const SUSPECT = 'not tried: its address was refused too often';
/** First wait for a server that is away; doubled up to `retryFirstMs`. Units: ms. */
const AWAY_MS = 1000;
/** Poll interval for queues that have been empty for a while. Units: ms. */
const CALM_MS = 5000;

/**
 * Sends the e-mails of the queues in the worker role, a batch of each queue in turn. The commit that queues an e-mail
 * wakes the mailer, which otherwise polls. Any number of processes may run a mailer, because a queue gives each e-mail
 * to one of them. A mailer sends at most `connections` e-mails at a time, and fewer to a server that accepts fewer
 * connections. It writes outcomes soon and together.
 * Source: reference reliability 2.7; docs/performance.md 2; ADR 0082.
 */
@Injectable()
export class Mailer {
  private readonly sent;
  private readonly delay;
  private readonly pace: Pace;
  private client: SmtpClient | null = null;
  private running: Promise<void> | null = null;
  private isStopping = false;
  private isNudged = false;
  /** Whether the last sleep ended by a nudge, and not by the timer. */
  private wasNudged = false;
  private isAway = false;
  private awayInRow = 0;
  private wake: (() => void) | null = null;
  /** E-mails that are sent at a time: fewer than `connections` while the server accepts fewer connections. */
  private width: number;

  constructor(
    @Inject(MAIL_SOURCES) private readonly sources: readonly MailSource[],
    @Inject(mailerSettings.token) private readonly settings: MailerSettings,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(Metrics) metrics: Metrics,
    private readonly suspects: SuspectMailAddresses,
  ) {
    this.pace = new Pace(settings.pollMs, CALM_MS);
    this.width = settings.connections;
    this.sent = metrics.counter('rookery_mails_total', 'E-mails by the outcome of an attempt.', ['outcome']);
    this.delay = metrics.histogram(
      'rookery_mail_delay_seconds',
      'Time from queueing an e-mail to its acceptance by the mail server.',
      [],
      DELAYS,
    );
    metrics.gauge('rookery_mails_waiting', 'Queued e-mails; counted up to 10,000.', ['queue'], (gauge) =>
      this.measureQueue((one) => gauge.set({ queue: one.queue }, one.count)),
    );
    metrics.gauge('rookery_mail_oldest_seconds', 'Age of the oldest queued e-mail.', ['queue'], (gauge) =>
      this.measureQueue((one) => gauge.set({ queue: one.queue }, one.oldestSeconds)),
    );
  }

  start(): void {
    if (!this.settings.isEnabled) return;
    this.client = new SmtpClient(this.settings);
    this.running ??= this.runSendLoop(this.client);
  }

  /** Wakes the mailer because a queue has new e-mails. */
  nudge(): void {
    this.pace.recordWork();
    this.isNudged = true;
    this.wake?.();
  }

  /** Finishes messages in flight; those that the server stalls wait for the end of their lease. Units: milliseconds. */
  async stop(graceMs: number): Promise<void> {
    this.isStopping = true;
    this.wake?.();
    const end = setTimeout(() => this.client?.close(true), graceMs);
    await this.running;
    clearTimeout(end);
    this.client?.close(false);
  }

  private async measureQueue(show: (waiting: QueueLength) => void): Promise<void> {
    for (const source of this.sources) show(await source.measureQueue());
  }

  private async runSendLoop(client: SmtpClient): Promise<void> {
    let hasMore = true;
    while (!this.isStopping) {
      const isKnownDue = this.wasNudged || hasMore;
      hasMore = false;
      // Less than a full batch empties a queue; another look would cost one transaction a queue for each single e-mail.
      this.isAway = false;
      for (const source of this.sources) {
        if ((await this.sendBatchFrom(source, client, isKnownDue)) >= this.settings.batchCount) hasMore = true;
      }
      if (this.isAway) await this.waitForServer();
      else if (!hasMore) await this.sleepUntilNudged(this.pace.restMs);
    }
  }

  /** Returns the number of e-mails taken; 0 also when the queue fails, so that other queues go on. */
  private async sendBatchFrom(source: MailSource, client: SmtpClient, isKnownDue: boolean): Promise<number> {
    if (this.isStopping) return 0;
    try {
      if (!isKnownDue && !(await source.isDue())) return 0;
      this.pace.recordWork();
      const { count, mails } = await source.takeMails();
      await this.sendMails(client, source, mails);
      return count;
    } catch (error) {
      this.logger.warn({ err: error }, 'e-mails wait');
      return 0;
    }
  }

  private async sendMails(client: SmtpClient, source: MailSource, mails: readonly DueMail[]): Promise<void> {
    const until = Date.now() + this.settings.leaseMs / 2;
    const outcomes = new OutcomeWriter(source, this.logger, () => this.isStopping);
    const record = (mail: DueMail, outcome: MailOutcome): void =>
      outcomes.recordOutcome(mail.coveredIds ? { ...outcome, coveredIds: mail.coveredIds() } : outcome);
    const refused = await this.suspects.findRefused(mails.map(({ address }) => address));
    const waiting = [...mails];
    const width = Math.min(this.width, mails.length);
    let active = width;
    const worker = async (): Promise<void> => {
      for (let mail = waiting.shift(); mail; mail = waiting.shift()) {
        if (this.isStopping || this.isAway || Date.now() > until) {
          record(mail, untriedOutcome(mail, this.isAway ? AWAY : null, this.settings));
          continue;
        }
        const isHeld = refused.isSuspect(mail.address) && !mail.asksToConfirm;
        const held = (await this.outcomeUnlessDue(mail)) ?? (isHeld ? this.recordDropped(mail, SUSPECT) : null);
        if (held) {
          record(mail, held);
          continue;
        }
        const answer = await this.sendMail(client, mail);
        if (answer.outcome === 'busy' && active > 1) {
          // The others have connections, and send this one too.
          this.width = Math.max(1, Math.min(this.width, width) - 1);
          waiting.unshift(mail);
          break;
        }
        if (answer.outcome === 'away' || answer.outcome === 'busy') this.isAway = true;
        else this.awayInRow = 0;
        await this.countRefusal(mail, answer, refused.isKnown(mail.address));
        record(mail, this.recordAnswer(mail, answer));
      }
      active -= 1;
    };
    await Promise.all(Array.from({ length: width }, worker));
    // The server may accept more connections by now.
    if (this.width === width && mails.length > width) this.width = Math.min(width + 1, this.settings.connections);
    await outcomes.end();
  }

  /**
   * Checks an e-mail again once a connection is free, since it may have waited long; null when it may be sent.
   * Source: reference work-tracking 8.5; ADR 0171.
   */
  private async outcomeUnlessDue(mail: DueMail): Promise<MailOutcome | null> {
    try {
      if (await mail.isStillDue()) return null;
    } catch (error) {
      this.logger.warn({ err: error, mailId: mail.id }, 'an e-mail waits: whether it is still due cannot be decided');
      return untriedOutcome(mail, null, this.settings);
    }
    return this.recordDropped(mail, null);
  }

  private recordDropped({ id }: DueMail, reply: string | null): MailOutcome {
    this.sent.inc({ outcome: 'dropped' });
    return { id, state: 'dropped', reply, messageId: null, delayMs: 0 };
  }

  /** Counts refusals of an address, and forgets them once it accepts an e-mail. A failure costs one count. */
  private async countRefusal(
    mail: DueMail,
    { outcome, isAddressRefusal }: SmtpAnswer,
    isKnown: boolean,
  ): Promise<void> {
    try {
      if (outcome === 'accepted' && isKnown) await this.suspects.clearAddress(mail.address);
      // A user may enter another person's address. Refused requests to confirm it must not make it suspect for its owner.
      if (isAddressRefusal && !mail.asksToConfirm && (await this.suspects.countRefusal(mail.address)))
        this.logger.warn({ mailId: mail.id }, 'the address of an e-mail is suspect and gets no more e-mails');
    } catch (error) {
      this.logger.warn({ err: error, mailId: mail.id }, 'the answer for an address could not be counted');
    }
  }

  /** Sends an e-mail. One that cannot be composed fails alone. */
  private async sendMail(client: SmtpClient, mail: DueMail): Promise<SmtpAnswer> {
    if (!isEmailAddress(mail.address)) return { outcome: 'refused', reply: 'not an address' };
    try {
      return await inMailSpan(mail.traceparent ?? null, () => client.sendMail(mail.compose()));
    } catch (error) {
      return { outcome: 'refused', reply: `not made: ${String(error)}` };
    }
  }

  private recordAnswer(mail: DueMail, { outcome, reply }: SmtpAnswer): MailOutcome {
    this.sent.inc({ outcome });
    const { id, messageId } = mail;
    if (outcome === 'accepted') {
      this.delay.observe((Date.now() - mail.created_at.getTime()) / 1000);
      return { id, state: 'sent', reply, messageId, delayMs: 0 };
    }
    if (outcome === 'away' || outcome === 'busy') {
      this.logger.warn({ reply }, 'the mail server is away');
      return untriedOutcome(mail, `${AWAY}: ${reply}`, this.settings);
    }
    this.logger.warn(
      { mailId: id, attempts: mail.attempts, outcome, reply },
      'the mail server did not accept an e-mail',
    );
    if (outcome === 'refused') return { id, state: 'failed', reply, messageId, delayMs: 0 };
    return retryOutcome(mail, reply, this.settings);
  }

  /** Waits with exponential backoff. New e-mails do not end the wait: they would each try the server that is away. */
  private async waitForServer(): Promise<void> {
    this.awayInRow += 1;
    const most = backoffMs(this.awayInRow, { first: AWAY_MS, most: this.settings.retryFirstMs });
    for (const end = Date.now() + most; Date.now() < end && !this.isStopping;)
      await this.sleepUntilNudged(Math.min(end - Date.now(), this.settings.pollMs));
  }

  private async sleepUntilNudged(ms: number): Promise<void> {
    if (!this.isNudged && !this.isStopping) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.wake = null;
    this.wasNudged = this.isNudged;
    this.isNudged = false;
  }
}
