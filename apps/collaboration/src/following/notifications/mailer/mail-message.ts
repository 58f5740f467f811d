import type { SendMailOptions } from 'nodemailer';
import type { MailIdentity } from './mail-identity';
import { htmlMail } from './mail-layout';
import type { MailLayout } from './mail-layout';

/** Parts of an e-mail that its composer decides. All texts are cleaned and of one line, but for `text`. */
interface MailParts {
  /** A confirmed address of the recipient. */
  readonly address: string;
  /** Name of the sender; default none. */
  readonly sender?: string;
  /** Name of the address for replies. */
  readonly replyName: string;
  readonly subject: string;
  readonly text: string;
  readonly layout: MailLayout;
  readonly messageId: string;
  readonly headers: SendMailOptions['headers'];
}

/**
 * Returns an e-mail for the mail library. Addresses are objects, so that no name can add one, and the library reads neither
 * files nor URLs for it. Source: reference reliability 2.7.
 */
export function mailMessage(
  { address, sender = '', replyName, subject, text, layout, messageId, headers }: MailParts,
  identity: MailIdentity,
): SendMailOptions {
  return {
    from: { name: sender, address: identity.from },
    to: { name: '', address },
    replyTo: { name: replyName, address: identity.replyTo },
    envelope: { from: identity.from, to: [address] },
    subject,
    text,
    html: htmlMail(layout),
    messageId,
    headers,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

/** Joins the parts of a subject that are not empty. */
export function subjectLine(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join(' | ');
}
