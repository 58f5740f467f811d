import { Inject, Injectable } from '@nestjs/common';
import { LOGGER, Metrics, platformSettings } from '@rookery/platform';
import type { Logger, SettingsOf } from '@rookery/platform';
import { bodyOf, composeMail, messageIdOf } from './compose-mail';
import type { MailBody, MailIdentity } from './compose-mail';
import { MailQueue } from './mail-queue';
import type { MailJob, MailOutcome } from './mail-queue';
import { isAddress } from './mail-text';
import { mailerSettings } from './mailer.config';
import type { MailerSettings } from './mailer.config';
import { SmtpClient } from './smtp-client';
import type { SmtpAnswer } from './smtp-client';

/** How long a known outcome waits for others. Units: ms. */
const GATHER_MS = 20;

/**
 * Sends what the queue holds, in the worker role. Woken by the commit that queued something, else it looks now and
 * then. Any number of processes may run one: the queue gives each e-mail to one of them.
 * Shape: at most `connections` at a time; an outcome is written 20 ms after it is known at the latest, together with
 * those that came meanwhile. Source: reliability-and-security 2.7; performance P7; ADR 0082, 0083.
 */
@Injectable()
export class Mailer {
  private readonly identity: MailIdentity;
  private readonly sent;
  private readonly delay;
  private client: SmtpClient | null = null;
  private running: Promise<void> | null = null;
  private isStopping = false;
  private isNudged = false;
  private wake: (() => void) | null = null;
  private writing: Promise<void> = Promise.resolve();
  private isSending = false;
  private writeNow: (() => void) | null = null;
  private readonly outcomes: MailOutcome[] = [];

  constructor(
    private readonly queue: MailQueue,
    @Inject(mailerSettings.token) private readonly settings: MailerSettings,
    @Inject(platformSettings.token) platform: SettingsOf<typeof platformSettings>,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(Metrics) metrics: Metrics,
  ) {
    const { hostname } = new URL(platform.externalUrl);
    this.identity = {
      externalUrl: platform.externalUrl.replace(/\/+$/, ''),
      from: settings.from ?? `rookery@${hostname}`,
      replyTo: settings.replyTo ?? `noreply@${hostname}`,
      headerPrefix: settings.headerPrefix,
      subjectSuffix: settings.subjectSuffix,
      secret: platform.internalSecret,
    };
    this.sent = metrics.counter('rookery_mails_total', 'E-mails by what became of a try.', ['outcome']);
    this.delay = metrics.histogram('rookery_mail_delay_seconds', 'From the queue to the mail server.');
  }

  start(): void {
    if (!this.settings.isEnabled) return;
    this.client = new SmtpClient(this.settings);
    this.running ??= this.run(this.client);
  }

  /** There is something new in the queue. */
  nudge(): void {
    this.isNudged = true;
    this.wake?.();
  }

  /** What is being sent is finished; what the server stalls is left to its lease. Units: milliseconds. */
  async stop(graceMs: number): Promise<void> {
    this.isStopping = true;
    this.wake?.();
    const end = setTimeout(() => this.client?.close(true), graceMs);
    await this.running;
    clearTimeout(end);
    this.client?.close(false);
  }

  private async run(client: SmtpClient): Promise<void> {
    while (!this.isStopping) {
      let count = 0;
      try {
        const taken = await this.queue.take();
        count = taken.count;
        await this.send(client, taken.jobs);
      } catch (error) {
        this.logger.warn({ err: error }, 'e-mails wait');
        count = 0;
      }
      if (count === 0) await this.sleep();
    }
  }

  private async send(client: SmtpClient, jobs: readonly MailJob[]): Promise<void> {
    const until = Date.now() + this.settings.leaseMs / 2;
    const bodies = new Map<string, MailBody>();
    const waiting = [...jobs];
    let isAway = false;
    const worker = async (): Promise<void> => {
      for (let job = waiting.shift(); job; job = waiting.shift()) {
        // Not begun: it may be taken again at once, or after the usual delay when nobody answers.
        if (this.isStopping || isAway || Date.now() > until) {
          this.record(this.again(job, isAway ? 'not tried: the mail server is away' : null, isAway));
          continue;
        }
        const answer = await this.attempt(client, job, bodies);
        if (answer.outcome === 'away') isAway = true;
        this.record(this.outcomeOf(job, answer));
      }
    };
    this.isSending = true;
    await Promise.all(Array.from({ length: Math.min(this.settings.connections, jobs.length) }, worker));
    this.isSending = false;
    this.writeNow?.();
    await this.writing;
  }

  /** An e-mail that cannot be made is nobody else's trouble. */
  private async attempt(client: SmtpClient, job: MailJob, bodies: Map<string, MailBody>): Promise<SmtpAnswer> {
    if (!isAddress(job.address)) return { outcome: 'refused', reply: 'not an address' };
    try {
      const body = bodies.get(job.event_id) ?? bodyOf(job);
      bodies.set(job.event_id, body);
      return await client.send(composeMail(job, body, this.identity));
    } catch (error) {
      return { outcome: 'refused', reply: `not made: ${String(error)}` };
    }
  }

  private outcomeOf(job: MailJob, { outcome, reply }: SmtpAnswer): MailOutcome {
    this.sent.inc({ outcome });
    const messageId = messageIdOf(job, this.identity);
    if (outcome === 'accepted') {
      this.delay.observe((Date.now() - job.created_at.getTime()) / 1000);
      return { id: job.id, state: 'sent', reply, messageId, delayMs: 0 };
    }
    this.logger.warn({ mailId: job.id, attempts: job.attempts, outcome, reply }, 'an e-mail was not taken');
    if (outcome === 'refused') return { id: job.id, state: 'failed', reply, messageId, delayMs: 0 };
    return this.again(job, reply, true);
  }

  private again(job: MailJob, reply: string | null, isFailure: boolean): MailOutcome {
    const { giveUpMs, retryFirstMs, retryMostMs } = this.settings;
    const isOver = isFailure && Date.now() - job.created_at.getTime() >= giveUpMs;
    const delayMs = isFailure ? Math.min(retryMostMs, retryFirstMs * 2 ** Math.min(job.attempts - 1, 30)) : 0;
    return { id: job.id, state: isOver ? 'failed' : 'queued', reply, messageId: null, delayMs };
  }

  /** Written with what comes in the next moments or while the last are being written: a commit costs more than the rest. */
  private record(outcome: MailOutcome): void {
    this.outcomes.push(outcome);
    if (this.outcomes.length === 1) this.writing = this.writing.then(() => this.gather()).then(() => this.write());
  }

  private async gather(): Promise<void> {
    if (!this.isSending) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, GATHER_MS);
      this.writeNow = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.writeNow = null;
  }

  private async write(): Promise<void> {
    const batch = this.outcomes.splice(0);
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await this.queue.settle(batch);
      } catch (error) {
        this.logger.error({ err: error, count: batch.length }, 'outcomes of e-mails could not be written');
        if (this.isStopping || attempt >= 100) return;
        await new Promise((resolve) => setTimeout(resolve, Math.min(5000, 100 * 2 ** attempt)));
      }
    }
  }

  private async sleep(): Promise<void> {
    if (!this.isNudged && !this.isStopping) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, this.settings.pollMs);
        this.wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.wake = null;
    this.isNudged = false;
  }
}
