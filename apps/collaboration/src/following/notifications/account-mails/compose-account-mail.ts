import type { AccountMailFacts, AccountMailTemplate } from '@rookery/contracts';
import { escapeHtml } from '@rookery/kernel';
import type { SendMailOptions } from 'nodemailer';
import type { LeftOutSnippet } from './account-mail.entity';
import { extractHost } from '../mailer/mail-identity';
import type { MailIdentity } from '../mailer/mail-identity';
import { mailMessage, subjectLine } from '../mailer/mail-message';
import { toCleanMailLine } from '../mailer/mail-text';

/** Content of an e-mail. */
interface AccountMailContent {
  readonly subject: string;
  readonly paragraphs: readonly string[];
  /** Text of the button that opens the link. */
  readonly label?: string;
}
type AccountMailContentFacts = AccountMailFacts & {
  readonly today: string;
  readonly leftOut?: readonly LeftOutSnippet[];
};

const ACCOUNT_MAIL_CONTENTS: Readonly<
  Record<AccountMailTemplate, (facts: AccountMailContentFacts, host: string) => AccountMailContent>
> = {
  // The recipient may not know this instance, so the text contains nothing that the user who entered the address wrote.
  email_confirmation: ({ link }, host) => ({
    subject: 'Confirm your e-mail address',
    paragraphs: [
      `Somebody gave this address for an account at ${host}. To confirm that it is yours, open this link within three days:`,
      link ?? '',
      'If you know nothing of it, you need not do anything: the address will not be used.',
    ],
    label: 'Confirm the address',
  }),
  email_added: ({ added }, host) => ({
    subject: 'An e-mail address was added to your account',
    paragraphs: [
      `The address ${toCleanMailLine(added ?? '', 255)} was added to your account at ${host}.`,
      'If you did not expect that, remove the address, and ask your administrator to look at your account.',
    ],
  }),
  token_created: (facts, host) => ({
    subject: 'You have a new access token',
    paragraphs: [
      `The access token ${describeAccessToken(facts)} was made for your account at ${host}${facts.token?.expires_on ? `. It ends on ${facts.token.expires_on}` : ''}.`,
      'If you did not expect that, revoke it, and ask your administrator to look at your account.',
    ],
  }),
  token_expires: (facts) => ({
    subject: `An access token ${describeAccessTokenExpiry(facts)}`,
    paragraphs: [
      `The access token ${describeAccessToken(facts)} ${describeAccessTokenExpiry(facts)} (${facts.token?.expires_on ?? ''}). Programs that use it are refused from then on.`,
      'Rotate it, or make a new one, if it is still needed.',
    ],
  }),
  token_rotated: (facts) => ({
    subject: 'An access token was rotated',
    paragraphs: [
      `The access token ${describeAccessToken(facts)} was replaced by a new one${facts.token?.expires_on ? `, which ends on ${facts.token.expires_on}` : ''}. The former one does not work any more.`,
      'If that was not meant to happen, revoke the new one.',
    ],
  }),
  dependency_list_exported: ({ link }) => ({
    subject: 'Your dependency list is ready',
    paragraphs: [
      'The dependency list that you exported can be downloaded here, with a token of yours:',
      link ?? '',
      'It will be deleted after seven days.',
    ],
    label: 'Download the list',
  }),
  gists_left_out: ({ leftOut = [] }) => ({
    subject: 'Some gists were not imported',
    paragraphs: [
      'These gists could not be imported as snippets of yours:',
      ...leftOut.map(({ name, reason }) => `${toCleanMailLine(name, 255)}: ${toCleanMailLine(reason, 255)}`),
    ],
  }),
};

/**
 * Composes an e-mail about a user's account for the mail server. `today` is a day (UTC). Source: reference
 * identity-and-import 4.5, 5; reference reliability 2.7; reference work-tracking 8.6.
 */
export function composeAccountMail(
  template: AccountMailTemplate,
  facts: AccountMailContentFacts,
  messageId: string,
  identity: MailIdentity,
): SendMailOptions {
  const host = extractHost(identity);
  const { subject, paragraphs, label = 'View it' } = ACCOUNT_MAIL_CONTENTS[template](facts, host);
  const title = subjectLine(subject, toCleanMailLine(identity.subjectSuffix));
  const isConfirmation = template === 'email_confirmation';
  const because = isConfirmation ? 'an account names this address' : `you have an account at ${host}`;
  const footer = `You get this e-mail because ${because}.`;
  const message = {
    address: facts.address,
    replyName: '',
    subject: title,
    text: `${paragraphs.join('\n\n')}\n\n-- \n${footer}\n`,
    layout: {
      ...{ title, place: host, footer: escapeHtml(footer) },
      content: paragraphs
        .filter((paragraph) => paragraph !== facts.link)
        .map((paragraph) => `<p>${escapeHtml(paragraph)}</p>`)
        .join(''),
      action: facts.link !== null && paragraphs.includes(facts.link) ? { label, url: facts.link } : null,
    },
    messageId,
    headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
  };
  return mailMessage(message, identity);
}

function describeAccessToken({ token }: AccountMailContentFacts): string {
  const of = token?.of ? ` of the ${token.of.kind} ${toCleanMailLine(token.of.path, 255)}` : '';
  return `"${toCleanMailLine(token?.name ?? '', 255)}"${of}`;
}

/** Describes the expiry relative to the day of sending, which may be days after queueing. */
function describeAccessTokenExpiry({ token, today }: AccountMailContentFacts): string {
  const days = Math.round((Date.parse(token?.expires_on ?? today) - Date.parse(today)) / 86_400_000);
  if (days <= 0) return 'has expired';
  return days === 1 ? 'expires tomorrow' : `expires in ${days} days`;
}
