import { createHmac } from 'node:crypto';
import type { ContextSigningKeys, platformSettings, SettingsOf } from '@rookery/platform';
import { deriveUnsubscribeLinkKeys } from '../../subscriptions/unsubscribing/unsubscribe-key';
import { toCleanMailLine } from './mail-text';
import type { MailerSettings } from './mailer.config';

/** Sender facts that all e-mails of an instance share. */
export interface MailIdentity {
  /** Without a trailing slash. */
  readonly externalUrl: string;
  readonly from: string;
  readonly replyTo: string;
  readonly headerPrefix: string;
  readonly subjectSuffix: string;
  /** Key of the HMAC in Message-IDs. */
  readonly secret: Buffer;
  /** Key of the links that unsubscribe. */
  readonly unsubscribeSecret: Buffer;
}

/** Injection token of the MailIdentity. */
export const MAIL_IDENTITY: unique symbol = Symbol('MailIdentity');

export function createMailIdentity(
  settings: MailerSettings,
  platform: SettingsOf<typeof platformSettings>,
  keys: ContextSigningKeys,
): MailIdentity {
  const { hostname } = new URL(platform.externalUrl);
  return {
    externalUrl: platform.externalUrl.replace(/\/+$/, ''),
    from: settings.from ?? `rookery@${hostname}`,
    replyTo: settings.replyTo ?? `noreply@${hostname}`,
    headerPrefix: settings.headerPrefix,
    subjectSuffix: settings.subjectSuffix,
    secret: keys.deriveKeys('rookery message ids', 'collaboration')[0],
    unsubscribeSecret: deriveUnsubscribeLinkKeys(keys)[0],
  };
}

export function extractHost({ externalUrl }: Pick<MailIdentity, 'externalUrl'>): string {
  return new URL(externalUrl).hostname;
}

/** Returns the value of `List-Id` for a project or group. `path` is its full path. */
export function createListIdHeader(path: string, host: string): string {
  const list = [...path.split('/')].reverse().map((part) => part.replace(/[^A-Za-z0-9_-]/g, '-'));
  return `${toCleanMailLine(path).replace(/[<>]/g, '')} <${list.join('.').slice(0, 200)}.${host}>`;
}

/** Returns a Message-ID with angle brackets, which is stable for a row of a queue and cannot be guessed. */
export function deriveMessageId(
  mail: { readonly event_id: string; readonly recipient_id: number; readonly template: string },
  identity: MailIdentity,
): string {
  const triple = `${mail.event_id}:${mail.recipient_id}:${mail.template}`;
  return `<${computeHmacWithMailSecret(triple, identity).slice(0, 40)}@${extractHost(identity)}>`;
}

/**
 * Returns the Message-ID of a comment's e-mail with angle brackets, the same for all recipients. The id of the comment
 * does not suffice: after a restore of the database another comment gets the same id, and mail systems would drop its
 * e-mail as a duplicate.
 */
export function messageIdOfNote(
  { note_id, event_id }: { readonly note_id: number | null; readonly event_id: string },
  identity: MailIdentity,
): string {
  return `<note_${note_id}.${computeHmacWithMailSecret(event_id, identity).slice(0, 20)}@${extractHost(identity)}>`;
}

function computeHmacWithMailSecret(text: string, { secret }: MailIdentity): string {
  return createHmac('sha256', secret).update(text).digest('hex');
}
