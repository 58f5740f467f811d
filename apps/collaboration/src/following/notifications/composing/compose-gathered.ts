import { escapeHtml } from '@rookery/kernel';
import type { SendMailOptions } from 'nodemailer';
import type { MailIdentity } from '../mailer/mail-identity';
import { htmlOf, manyLines, oneLine } from '../mailer/mail-text';
import { becauseOf, bodyOf, composeMail, letterOf, saidIn, what, who } from './compose-mail';
import type { MailBody, MailJob } from './compose-mail';
import { MAIL_REASONS } from './mail-templates';
import type { MailReason } from './mail-templates';

/** How many of the newest are told with their texts. */
export const TOLD_TEXTS = 5;
/** Of each text. Units: UTF-16 code units. */
const TEXT_LENGTH = 2000;
const NAMED_AUTHORS = 10;

/** Somebody who wrote or did some of what an e-mail tells of. */
export interface MailAuthor {
  readonly actor_name: string;
  readonly actor_username: string;
  readonly count: number;
}

/** What one e-mail tells of several. Shape: `newest` in the order in which they came, never empty; busiest author first. */
export interface Gathered {
  readonly newest: readonly MailJob[];
  readonly count: number;
  readonly authors: readonly MailAuthor[];
  readonly reasons: readonly (MailReason | null)[];
}

/**
 * One e-mail of all that waited for one person in one thread: how many, by whom, the newest texts, one link. Of what is
 * left alone is told as of any other. Source: reference work-tracking 8.7.
 */
export function composeGathered(gathered: Gathered, messageId: string, identity: MailIdentity): SendMailOptions {
  const { newest, count, authors, reasons } = gathered;
  const last = newest.at(-1)!;
  if (count === 1) return composeMail(last, bodyOf(last), identity, messageId);
  const reason = MAIL_REASONS.find((one) => reasons.includes(one)) ?? null;
  const others = authors.length - 1;
  const sender = others === 0 ? who(authors[0]!) : `${who(last)} and ${others === 1 ? 'another' : `${others} others`}`;
  const letter = {
    about: { ...last, reason },
    sender,
    messageId,
    body: bodyOfAll(gathered),
    because: becauseOf(reason),
  };
  const mail = letterOf(letter, identity);
  // It is of no single note.
  const { [`${identity.headerPrefix}-Note-ID`]: _, ...headers } = mail.headers as Record<string, string>;
  return { ...mail, headers };
}

function bodyOfAll({ newest, count, authors }: Gathered): MailBody {
  const last = newest.at(-1)!;
  const title = oneLine(last.title);
  const lead = `${count} messages about ${what(last)}`;
  const named = authors.slice(0, NAMED_AUTHORS).map((author) => `${who(author)}: ${author.count}`);
  const unnamed = authors.length - named.length;
  const by = `By ${named.join(', ')}${unnamed > 0 ? ` and ${unnamed} more` : ''}.`;
  const shown = newest.length < count ? `The newest ${newest.length}:` : 'In the order in which they came:';
  const said = newest.map((job) => {
    const { lead: happened, text } = saidIn(job);
    return { happened, text: manyLines(shortened(text)).trim() };
  });
  const texts = said.map(({ happened, text }) => (text === '' ? happened : `${happened}:\n\n${text}`));
  const pieces = said.map(
    ({ happened, text }) => `<hr><p>${escapeHtml(happened)}</p>${text === '' ? '' : htmlOf(text)}`,
  );
  return {
    text: [`${lead}: ${title}`, `${by}\n${shown}`, ...texts].join('\n\n'),
    html: `<p>${escapeHtml(lead)}: <strong>${escapeHtml(title)}</strong></p><p>${escapeHtml(by)} ${shown}</p>${pieces.join('')}`,
  };
}

function shortened(text: string): string {
  return text.length > TEXT_LENGTH ? `${text.slice(0, TEXT_LENGTH)} …` : text;
}
