import { backoffMs } from '@rookery/kernel';
import type { SendMailOptions } from 'nodemailer';
import type { MailerSettings } from './mailer.config';

/** An e-mail that may be sent now. */
export interface DueMail {
  readonly id: number;
  readonly attempts: number;
  readonly created_at: Date;
  readonly address: string;
  /** Message-ID with angle brackets. It is stable, so that mail systems recognize a duplicate. */
  readonly messageId: string;
  readonly compose: () => SendMailOptions;
  /** Checks again right before it is sent, since much may have changed. Errors: thrown if this cannot be decided now. */
  readonly isStillDue: () => Promise<boolean>;
  /** Only for a combined e-mail. Returns the ids of the rows that it covers, as checked last. */
  readonly coveredIds?: () => readonly number[];
  /** W3C header of the span that queued it; null or absent when nothing is traced. */
  readonly traceparent?: string | null;
  /** Whether it is sent to a suspect address too: it asks to confirm the address. */
  readonly asksToConfirm?: boolean;
}

/** State of a queued e-mail; `gathered` when it is part of a combined e-mail. */
export type MailState = 'queued' | 'sent' | 'failed' | 'dropped' | 'gathered';

/**
 * Result for one e-mail. `delayMs` applies only to a retry. `untried` is set if the result does not count as an
 * attempt.
 */
export interface MailOutcome {
  readonly id: number;
  readonly state: MailState;
  readonly reply: string | null;
  readonly messageId: string | null;
  readonly delayMs: number;
  readonly untried?: true;
  /** Only for a combined e-mail: ids of the rows that it covers. */
  readonly coveredIds?: readonly number[];
}

/** A queue that the mailer empties. */
export interface MailSource {
  /** Whether the queue may hold due e-mails; one query, for a poll without a nudge. */
  isDue(): Promise<boolean>;
  /**
   * Takes a batch of `count` rows. `mails` are the e-mails that may be sent. Errors: thrown if this cannot be decided
   * now.
   */
  takeMails(): Promise<{ readonly count: number; readonly mails: readonly DueMail[] }>;
  /** Writes outcomes into the queue. */
  settleMails(outcomes: readonly MailOutcome[]): Promise<void>;
  /** Measures the queue for metrics; counts up to 10,000. */
  measureQueue(): Promise<QueueLength>;
}

/** Length of a queue. `oldestSeconds` is the age of the e-mail that waits longest. */
export interface QueueLength {
  readonly queue: string;
  readonly count: number;
  readonly oldestSeconds: number;
}
export const MAIL_SOURCES: unique symbol = Symbol('MailSources');

/**
 * Returns an e-mail to the queue at once without counting an attempt. With a reply (the server is away) it fails once it
 * is older than `giveUpMs`.
 */
export function untriedOutcome(
  mail: Pick<DueMail, 'id' | 'created_at'>,
  reply: string | null,
  { giveUpMs }: MailerSettings,
): MailOutcome {
  const isOver = reply !== null && Date.now() - mail.created_at.getTime() >= giveUpMs;
  return { id: mail.id, state: isOver ? 'failed' : 'queued', reply, messageId: null, delayMs: 0, untried: true };
}

/** Schedules a retry with exponential backoff; fails once the e-mail is older than `giveUpMs`. Source: ADR 0082. */
export function retryOutcome(
  mail: Pick<DueMail, 'id' | 'attempts' | 'created_at'>,
  reply: string | null,
  { giveUpMs, retryFirstMs, retryMostMs }: MailerSettings,
): MailOutcome {
  const isOver = Date.now() - mail.created_at.getTime() >= giveUpMs;
  const delayMs = backoffMs(mail.attempts, { first: retryFirstMs, most: retryMostMs });
  return { id: mail.id, state: isOver ? 'failed' : 'queued', reply, messageId: null, delayMs };
}
