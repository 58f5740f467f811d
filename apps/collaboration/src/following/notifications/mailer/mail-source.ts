import type { SendMailOptions } from 'nodemailer';
import type { MailerSettings } from './mailer.config';

/** An e-mail that may be sent now. */
export interface DueMail {
  readonly id: number;
  readonly attempts: number;
  readonly created_at: Date;
  readonly address: string;
  /** Stable, so that a copy sent twice is known as one. Shape: with angle brackets. */
  readonly messageId: string;
  readonly compose: () => SendMailOptions;
  /**
   * Asked right before it leaves: since it was taken, much may have changed. Errors: when it cannot be decided now.
   */
  readonly isStillDue: () => Promise<boolean>;
  /** Of an e-mail of several: those that it tells of, as judged last. */
  readonly told?: () => readonly number[];
}

/** What became of an e-mail so far; `gathered` when another one tells of it together with others. */
export type MailState = 'queued' | 'sent' | 'failed' | 'dropped' | 'gathered';

/** What became of one. Shape: `delayMs` only where it is tried again; `untried` when that was no try. */
export interface MailOutcome {
  readonly id: number;
  readonly state: MailState;
  readonly reply: string | null;
  readonly messageId: string | null;
  readonly delayMs: number;
  readonly untried?: true;
  /** Of an e-mail of several: those that it tells of. */
  readonly told?: readonly number[];
}

/** A queue that the mailer empties. */
export interface MailSource {
  /** Whether there may be something to take: one look, for when nobody said that there is. */
  isDue(): Promise<boolean>;
  /** Shape: how many were taken from the queue, and those that may be sent. Errors: when nothing can be decided now. */
  take(): Promise<{ readonly count: number; readonly mails: readonly DueMail[] }>;
  settle(outcomes: readonly MailOutcome[]): Promise<void>;
  /** What waits to be sent, counted up to 10,000. */
  waiting(): Promise<Waiting>;
}

/** Shape: `oldestSeconds` of the one that waits longest. */
export interface Waiting {
  readonly queue: string;
  readonly count: number;
  readonly oldestSeconds: number;
}
export const MAIL_SOURCES: unique symbol = Symbol('MailSources');

/**
 * Not tried, by no fault of its own: it comes back at once, with as many tries as before. What has waited
 * for too long for a server that is away is given up.
 */
export function untried(
  mail: Pick<DueMail, 'id' | 'created_at'>,
  reply: string | null,
  { giveUpMs }: MailerSettings,
): MailOutcome {
  const isOver = reply !== null && Date.now() - mail.created_at.getTime() >= giveUpMs;
  return { id: mail.id, state: isOver ? 'failed' : 'queued', reply, messageId: null, delayMs: 0, untried: true };
}

/** Tried again later and later, until it is given up. Source: ADR 0082. */
export function again(
  mail: Pick<DueMail, 'id' | 'attempts' | 'created_at'>,
  reply: string | null,
  { giveUpMs, retryFirstMs, retryMostMs }: MailerSettings,
): MailOutcome {
  const isOver = Date.now() - mail.created_at.getTime() >= giveUpMs;
  const delayMs = Math.min(retryMostMs, retryFirstMs * 2 ** Math.min(mail.attempts - 1, 30));
  return { id: mail.id, state: isOver ? 'failed' : 'queued', reply, messageId: null, delayMs };
}
