import { escapeHtml } from '@rookery/kernel';
import type { RowOf } from '@rookery/persistence';
import type { SendMailOptions } from 'nodemailer';
import type { NoteableKind } from '../../../base/noteables/noteable-kinds';
import type { ShownAs } from '../../../base/noteables/references.shape';
import { hostOf, messageIdFor, messageIdOfNote } from '../mailer/mail-identity';
import type { MailIdentity } from '../mailer/mail-identity';
import { htmlOf, manyLines, oneLine } from '../mailer/mail-text';
import type { Mail } from '../mail.entity';
import { toldBy } from './mail-templates';
import type { MailReason, MailTemplate } from './mail-templates';

/** An e-mail that may be sent now, and all that it tells. */
export interface MailJob extends RowOf<
  Mail,
  'id' | 'recipientId' | 'template' | 'reason' | 'attempts' | 'createdAt' | 'noteableId' | 'noteId'
> {
  readonly kind: Pick<NoteableKind, 'type' | 'noun' | 'word' | 'parent' | keyof ShownAs>;
  readonly event_id: string;
  readonly address: string;
  readonly actor_name: string;
  readonly actor_username: string;
  /** The project or group that it lies in, as the kind says. */
  readonly parent_id: number;
  readonly parent_name: string;
  readonly parent_path: string;
  /** The number that people know it by. */
  readonly shown_id: number;
  readonly title: string;
  readonly description: string | null;
  /** Null for kinds that are never closed, and for kinds of which nothing is confidential. */
  readonly state: string | null;
  readonly confidential: boolean | null;
  readonly note_body: string | null;
  /** Of a new assignment: names without the at sign. */
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Names of new labels. */
  readonly labels: readonly string[];
}

/** The text of an e-mail, the same for all who get it. */
export interface MailBody {
  readonly text: string;
  readonly html: string;
}

const BECAUSE: Readonly<Record<MailReason, string>> = {
  own_activity: 'because you asked to hear of your own activity',
  assigned: 'because you are assigned',
  review_requested: 'because your review was requested',
  mentioned: 'because you were mentioned',
  subscribed: 'because you subscribed',
};

const LEAD: Readonly<Record<MailTemplate, (job: MailJob) => string>> = {
  created: (job) => `${who(job)} created ${what(job)}`,
  closed: (job) => `${who(job)} closed ${what(job)}`,
  reopened: (job) => `${who(job)} reopened ${what(job)}`,
  moved: (job) => `${who(job)} moved ${what(job)} to another project`,
  cloned: (job) => `${who(job)} cloned ${what(job)}`,
  reassigned: (job) => `${who(job)} changed the assignees of ${what(job)}${changeOf(job)}`,
  relabelled: (job) => `${who(job)} added ${labelsOf(job)} to ${what(job)}`,
  mentioned: (job) => `${who(job)} mentioned you in ${what(job)}`,
  note_created: (job) => `${who(job)} commented on ${what(job)}`,
};

/** What tells one e-mail about a thing from another. Shape: `to` and `reason` of the recipient, `link` to what is told. */
export interface Letter {
  readonly about: MailJob;
  readonly sender: string;
  readonly messageId: string;
  readonly body: MailBody;
  readonly because: string;
}

/** An e-mail as it goes to the mail server. Source: reference work-tracking 8.5; reference reliability 2.7. */
export function composeMail(
  job: MailJob,
  body: MailBody,
  identity: MailIdentity,
  messageId = messageIdOf(job, identity),
): SendMailOptions {
  return letterOf({ about: job, sender: who(job), messageId, body, because: becauseOf(job.reason) }, identity);
}

/**
 * Addresses are objects and come from confirmed rows only; every text is cleaned before the library sees it.
 * Source: reference work-tracking 8.5; reference reliability 2.7.
 */
export function letterOf({ about, sender, messageId, body, because }: Letter, identity: MailIdentity): SendMailOptions {
  const host = hostOf(identity);
  const url = linkTo(about, identity);
  const footer = `You get this e-mail ${because}.`;
  const thread = `<${about.kind.noun}_${about.noteable_id}@${host}>`;
  const isFirst = messageId === thread;
  return {
    from: { name: oneLine(sender, 300), address: identity.from },
    to: { name: '', address: about.address },
    replyTo: { name: oneLine(about.parent_path, 200), address: identity.replyTo },
    envelope: { from: identity.from, to: [about.address] },
    subject: `${isFirst ? '' : 'Re: '}${subjectOf(about, identity)}`,
    text: `${body.text}\n\n-- \n${footer}\n${url}\n`,
    html: `${body.html}<hr><p style="font-size:small;color:#666">${footer} <a href="${escapeHtml(url)}">View it</a>.</p>`,
    messageId,
    ...(isFirst ? {} : { inReplyTo: thread, references: thread }),
    headers: headersOf(about, identity, host),
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

export function becauseOf(reason: MailReason | null): string {
  return reason ? BECAUSE[reason] : 'because you take part in it';
}

/** What happened, in a line, and the text that came with it. */
export function saidIn(job: MailJob): { readonly lead: string; readonly text: string } {
  const template = toldBy(job.kind, job.template);
  const told = job.note_id !== null ? job.note_body : tellsText(template) ? job.description : null;
  return { lead: oneLine(LEAD[template](job), 2000), text: told ?? '' };
}

/** Rendered once for all recipients of an event. */
export function bodyOf(job: MailJob): MailBody {
  const { lead, text: told } = saidIn(job);
  const title = oneLine(job.title);
  const text = manyLines(told).trim();
  return {
    text: [`${lead}: ${title}`, ...(text === '' ? [] : [text])].join('\n\n'),
    html: `<p>${escapeHtml(lead)}: <strong>${escapeHtml(title)}</strong></p>${text === '' ? '' : htmlOf(text)}`,
  };
}

/** Stable, so that a copy sent twice is known as one. Shape: with angle brackets. */
export function messageIdOf(job: MailJob, identity: MailIdentity): string {
  const host = hostOf(identity);
  const told = toldBy(job.kind, job.template);
  if (told === 'created') return `<${job.kind.noun}_${job.noteable_id}@${host}>`;
  if (told === 'note_created') return messageIdOfNote(job, identity);
  return messageIdFor(job, identity);
}

function headersOf(job: MailJob, { headerPrefix }: MailIdentity, host: string): Record<string, string> {
  const { type, parent } = job.kind;
  const place = parent === 'project' ? 'Project' : 'Group';
  const own: Record<string, string> = {
    [place]: job.parent_name,
    [`${place}-Id`]: String(job.parent_id),
    [`${place}-Path`]: job.parent_path,
    [`${type}-ID`]: String(job.noteable_id),
    ...(job.kind.shownId === 'iid' ? { [`${type}-IID`]: String(job.shown_id) } : {}),
    ...(job.state === null ? {} : { [`${type}-State`]: job.state }),
    ...(job.confidential === null ? {} : { [`Confidential${type}`]: String(job.confidential) }),
    ...(job.note_id === null ? {} : { 'Note-ID': String(job.note_id) }),
    ...(job.reason === null ? {} : { NotificationReason: job.reason }),
  };
  const list = [...job.parent_path.split('/')].reverse().map((part) => part.replace(/[^A-Za-z0-9_-]/g, '-'));
  return {
    ...Object.fromEntries(Object.entries(own).map(([name, value]) => [`${headerPrefix}-${name}`, oneLine(value)])),
    'List-Id': `${oneLine(job.parent_path).replace(/[<>]/g, '')} <${list.join('.').slice(0, 200)}.${host}>`,
    'Auto-Submitted': 'auto-generated',
    'X-Auto-Response-Suppress': 'All',
  };
}

function subjectOf(job: MailJob, { subjectSuffix }: MailIdentity): string {
  const parts = [
    oneLine(job.parent_name),
    `${oneLine(job.title)} (${job.kind.sigil}${job.shown_id})`,
    oneLine(subjectSuffix),
  ];
  return parts.filter((part) => part !== '').join(' | ');
}

function linkTo({ kind, shown_id, note_id, parent_path }: MailJob, { externalUrl }: MailIdentity): string {
  const path = oneLine(parent_path).split('/').map(encodeURIComponent).join('/');
  const place = kind.parent === 'group' ? `groups/${path}` : path;
  return `${externalUrl}/${place}${kind.webPath}${shown_id}${note_id === null ? '' : `#note_${note_id}`}`;
}

function tellsText(template: MailTemplate): boolean {
  return template === 'created' || template === 'mentioned';
}

export function who(job: Pick<MailJob, 'actor_name' | 'actor_username'>): string {
  return `${oneLine(job.actor_name, 200)} (@${job.actor_username})`;
}

/** With its reference: `issue #7`. */
export function what({ kind, shown_id }: MailJob): string {
  return `${kind.word} ${kind.sigil}${shown_id}`;
}

function labelsOf({ labels }: MailJob): string {
  const names = labels.map((name) => `~"${oneLine(name, 255)}"`).join(', ');
  return labels.length === 1 ? `the label ${names}` : `the labels ${names}`;
}

function changeOf({ added, removed }: MailJob): string {
  const people = (names: readonly string[]): string => names.map((name) => `@${name}`).join(', ');
  const parts = [
    ...(added.length > 0 ? [`added ${people(added)}`] : []),
    ...(removed.length > 0 ? [`removed ${people(removed)}`] : []),
  ];
  return parts.length > 0 ? ` (${parts.join('; ')})` : '';
}
