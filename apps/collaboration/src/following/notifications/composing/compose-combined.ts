import { escapeHtml } from '@rookery/kernel';
import type { SendMailOptions } from 'nodemailer';
import type { MailIdentity } from '../mailer/mail-identity';
import { renderMailMarkdown, toCleanMailText, toCleanMailLine } from '../mailer/mail-text';
import {
  actorName,
  renderNoteableMailBody,
  composeNoteableMail,
  explainReason,
  toMailOptions,
  renderMailLeadAndText,
  formatNoteableReference,
} from './compose-mail';
import type { MailBody, MailJob } from './compose-mail';
import { MAIL_REASONS } from './mail-templates';
import type { MailReason } from './mail-templates';

/** Number of the newest messages that are shown with their texts. */
export const SHOWN_TEXTS = 5;
/** Longest part of each text that is shown. Units: UTF-16 code units. */
const TEXT_LENGTH = 2000;
const NAMED_AUTHORS = 10;

/** Author of some messages of a combined e-mail. */
export interface MailAuthor {
  readonly actor_name: string;
  readonly actor_username: string;
  readonly count: number;
}

/**
 * Several messages in one e-mail. `newest` is in chronological order and never empty. `authors` starts with the busiest
 * one.
 */
export interface CombinedMail {
  readonly newest: readonly MailJob[];
  readonly count: number;
  readonly authors: readonly MailAuthor[];
  readonly reasons: readonly (MailReason | null)[];
  /** Whether the recipient gets all of them only because they watch the project or group. */
  readonly isWatching: boolean;
}

/**
 * Composes one e-mail for all messages of one thread that waited for one user: their number, authors, newest texts and one
 * link. A single message is composed as any other. Source: reference work-tracking 8.7.
 */
export function composeCombined(gathered: CombinedMail, messageId: string, identity: MailIdentity): SendMailOptions {
  const { newest, count, authors, reasons, isWatching } = gathered;
  const last = newest.at(-1)!;
  if (count === 1) return composeNoteableMail(last, renderNoteableMailBody(last), identity, messageId);
  const reason = MAIL_REASONS.find((one) => reasons.includes(one)) ?? null;
  const others = authors.length - 1;
  const sender =
    others === 0 ? actorName(authors[0]!) : `${actorName(last)} and ${others === 1 ? 'another' : `${others} others`}`;
  const letter = {
    about: { ...last, reason },
    sender,
    messageId,
    body: composeCombinedBody(gathered),
    because: explainReason(reason, isWatching),
  };
  const mail = toMailOptions(letter, identity);
  // A combined e-mail belongs to no single note.
  const { [`${identity.headerPrefix}-Note-ID`]: _, ...headers } = mail.headers as Record<string, string>;
  return { ...mail, headers };
}

function composeCombinedBody({ newest, count, authors }: CombinedMail): MailBody {
  const last = newest.at(-1)!;
  const title = toCleanMailLine(last.title);
  const lead = `${count} messages about ${formatNoteableReference(last)}`;
  const named = authors.slice(0, NAMED_AUTHORS).map((author) => `${actorName(author)}: ${author.count}`);
  const unnamed = authors.length - named.length;
  const by = `By ${named.join(', ')}${unnamed > 0 ? ` and ${unnamed} more` : ''}.`;
  const order = newest.length < count ? `The newest ${newest.length}:` : 'In the order in which they came:';
  const messages = newest.map((job) => {
    const message = renderMailLeadAndText(job);
    return { lead: message.lead, text: toCleanMailText(shortenText(message.text)).trim() };
  });
  const texts = messages.map((one) => (one.text === '' ? one.lead : `${one.lead}:\n\n${one.text}`));
  const pieces = messages.map(
    (one) => `<hr><p>${escapeHtml(one.lead)}</p>${one.text === '' ? '' : renderMailMarkdown(one.text)}`,
  );
  return {
    text: [`${lead}: ${title}`, `${by}\n${order}`, ...texts].join('\n\n'),
    html: `<p>${escapeHtml(lead)}: <strong>${escapeHtml(title)}</strong></p><p>${escapeHtml(by)} ${order}</p>${pieces.join('')}`,
  };
}

function shortenText(text: string): string {
  return text.length > TEXT_LENGTH ? `${text.slice(0, TEXT_LENGTH)} …` : text;
}
