import { createHmac } from 'node:crypto';
import type { ContextKeys, platformSettings, SettingsOf } from '@rookery/platform';
import type { MailerSettings } from './mailer.config';

/** What all e-mails of an instance have in common. */
export interface MailIdentity {
  /** Without a slash at its end. */
  readonly externalUrl: string;
  readonly from: string;
  readonly replyTo: string;
  readonly headerPrefix: string;
  readonly subjectSuffix: string;
  /** Keys the ids of messages that are named after nothing else. */
  readonly secret: Buffer;
}

/** Injection token of the MailIdentity. */
export const MAIL_IDENTITY: unique symbol = Symbol('MailIdentity');

export function mailIdentityOf(
  settings: MailerSettings,
  platform: SettingsOf<typeof platformSettings>,
  keys: ContextKeys,
): MailIdentity {
  const { hostname } = new URL(platform.externalUrl);
  return {
    externalUrl: platform.externalUrl.replace(/\/+$/, ''),
    from: settings.from ?? `rookery@${hostname}`,
    replyTo: settings.replyTo ?? `noreply@${hostname}`,
    headerPrefix: settings.headerPrefix,
    subjectSuffix: settings.subjectSuffix,
    secret: keys.madeFor('rookery message ids', 'collaboration')[0],
  };
}

export function hostOf({ externalUrl }: Pick<MailIdentity, 'externalUrl'>): string {
  return new URL(externalUrl).hostname;
}

/** The same for the same row of a queue, and nothing that others could guess. Shape: with angle brackets. */
export function messageIdFor(
  mail: { readonly event_id: string; readonly recipient_id: number; readonly template: string },
  identity: MailIdentity,
): string {
  const triple = `${mail.event_id}:${mail.recipient_id}:${mail.template}`;
  return `<${digest(triple, identity).slice(0, 40)}@${hostOf(identity)}>`;
}

/**
 * The same for all who are told of one comment. Its id alone would not do: after a database was restored, the id is given
 * to another comment, of which mail systems would then say that they have it. Shape: with angle brackets.
 */
export function messageIdOfNote(
  { note_id, event_id }: { readonly note_id: number | null; readonly event_id: string },
  identity: MailIdentity,
): string {
  return `<note_${note_id}.${digest(event_id, identity).slice(0, 20)}@${hostOf(identity)}>`;
}

function digest(text: string, { secret }: MailIdentity): string {
  return createHmac('sha256', secret).update(text).digest('hex');
}
