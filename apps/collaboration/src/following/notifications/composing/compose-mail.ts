import { escapeHtml } from '@rookery/kernel';
import type { RowOf } from '@rookery/persistence';
import type { SendMailOptions } from 'nodemailer';
import type { NoteableKind } from '../../../base/noteables/noteable-kinds';
import type { ReferenceFormat } from '../../../base/noteables/references.shape';
import { createUnsubscribeLinkKey, unsubscribeUrl } from '../../subscriptions/unsubscribing/unsubscribe-key';
import { extractHost, createListIdHeader, deriveMessageId, messageIdOfNote } from '../mailer/mail-identity';
import type { MailIdentity } from '../mailer/mail-identity';
import { linkHtml, urlOfPath } from '../mailer/mail-layout';
import { mailMessage, subjectLine } from '../mailer/mail-message';
import { renderMailMarkdown, toCleanMailText, toCleanMailLine } from '../mailer/mail-text';
import type { Mail } from '../mail.entity';
import { parseTemplate } from './mail-templates';
import type { MailReason, MailTemplate } from './mail-templates';

/** An e-mail that may be sent now, with all facts of its text. */
export interface MailJob extends RowOf<
  Mail,
  'id' | 'recipientId' | 'template' | 'reason' | 'isWatching' | 'attempts' | 'createdAt' | 'noteableId' | 'noteId'
> {
  readonly kind: Pick<NoteableKind, 'type' | 'noun' | 'word' | 'parent' | keyof ReferenceFormat>;
  readonly event_id: string;
  readonly address: string;
  readonly actor_name: string;
  readonly actor_username: string;
  /** Project or group of the noteable, depending on its kind. */
  readonly parent_id: number;
  readonly parent_name: string;
  readonly parent_path: string;
  /** The number of the noteable that users see, or the sha of a commit. */
  readonly shown_id: string;
  readonly title: string;
  readonly description: string | null;
  /** Both are null for kinds without the column. */
  readonly state: string | null;
  readonly confidential: boolean | null;
  readonly note_body: string | null;
  /** Only for new assignees or reviewers: usernames without the at sign. */
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Titles of added labels. */
  readonly labels: readonly string[];
  /** Title of a new milestone; null if it was removed. */
  readonly milestone: string | null;
  /** Number of commits of a push. */
  readonly commits: number | null;
  /** Due date as `2026-11-30`; null without one. */
  readonly due_on: string | null;
}

/** Text of an e-mail, the same for all recipients. */
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
  created: (job) => `${actorName(job)} created ${formatNoteableReference(job)}`,
  closed: (job) => `${actorName(job)} closed ${formatNoteableReference(job)}`,
  reopened: (job) => `${actorName(job)} reopened ${formatNoteableReference(job)}`,
  merged: (job) => `${actorName(job)} merged ${formatNoteableReference(job)}`,
  approved: (job) => `${actorName(job)} approved ${formatNoteableReference(job)}`,
  unapproved: (job) => `${actorName(job)} withdrew the approval of ${formatNoteableReference(job)}`,
  moved: (job) => `${actorName(job)} moved ${formatNoteableReference(job)} to another project`,
  cloned: (job) => `${actorName(job)} cloned ${formatNoteableReference(job)}`,
  reassigned: (job) =>
    `${actorName(job)} changed the assignees of ${formatNoteableReference(job)}${describePeopleChange(job)}`,
  rereviewed: (job) =>
    `${actorName(job)} changed the reviewers of ${formatNoteableReference(job)}${describePeopleChange(job)}`,
  relabelled: (job) => `${actorName(job)} added ${describeLabels(job)} to ${formatNoteableReference(job)}`,
  milestoned: (job) => `${actorName(job)} ${describeMilestoneChange(job)} of ${formatNoteableReference(job)}`,
  pushed: (job) => `${actorName(job)} pushed ${describeCommitCount(job)} to ${formatNoteableReference(job)}`,
  ready: (job) => `${actorName(job)} marked ${formatNoteableReference(job)} as ready`,
  auto_merge_set: (job) => `${actorName(job)} set ${formatNoteableReference(job)} to be merged when all checks pass`,
  conflicting: (job) => `${capitalize(formatNoteableReference(job))} has conflicts and cannot be merged`,
  threads_resolved: (job) => `${actorName(job)} resolved all threads of ${formatNoteableReference(job)}`,
  due: (job) => `${capitalize(formatNoteableReference(job))} is due on ${job.due_on}`,
  mentioned: (job) => `${actorName(job)} mentioned you in ${formatNoteableReference(job)}`,
  note_created: (job) => `${actorName(job)} commented on ${formatNoteableReference(job)}`,
};

/** Variable parts of an e-mail about a noteable. `because` ends the footer sentence. */
export interface Letter {
  readonly about: MailJob;
  readonly sender: string;
  readonly messageId: string;
  readonly body: MailBody;
  readonly because: string;
}

/** Composes an e-mail for the mail server. Source: reference work-tracking 8.5; reference reliability 2.7. */
export function composeNoteableMail(
  job: MailJob,
  body: MailBody,
  identity: MailIdentity,
  messageId = createMessageId(job, identity),
): SendMailOptions {
  return toMailOptions(
    { about: job, sender: actorName(job), messageId, body, because: explainReason(job.reason, job.is_watching) },
    identity,
  );
}

/**
 * Composes the message. Addresses are objects and come from confirmed rows only; every text is cleaned before the library
 * gets it.
 * Source: reference work-tracking 8.5; reference reliability 2.7.
 */
export function toMailOptions(
  { about, sender, messageId, body, because }: Letter,
  identity: MailIdentity,
): SendMailOptions {
  const host = extractHost(identity);
  const url = noteableLink(about, identity);
  const unsubscribe = unsubscribeLink(about, identity);
  const { word } = about.kind;
  const footer = `You get this e-mail ${because}.`;
  const thread = `<${about.kind.noun}_${noteableIdOrCommitSha(about)}@${host}>`;
  const isFirst = messageId === thread;
  const message = {
    address: about.address,
    sender: toCleanMailLine(sender, 300),
    replyName: toCleanMailLine(about.parent_path, 200),
    subject: `${isFirst ? '' : 'Re: '}${composeSubject(about, identity)}`,
    text: `${body.text}\n\n-- \n${footer}\n${url}\nUnsubscribe from this ${word}, or see how to change your settings: ${unsubscribe}\n`,
    layout: {
      ...{ title: toCleanMailLine(about.title), place: toCleanMailLine(about.parent_path), content: body.html },
      action: { label: `View the ${about.note_id === null ? word : 'comment'}`, url },
      footer: `${escapeHtml(footer)} ${linkHtml(unsubscribe, `Unsubscribe from this ${word}, or see how to change your settings`)}.`,
    },
    messageId,
    headers: createHeaders(about, identity, host),
  };
  return { ...mailMessage(message, identity), ...(isFirst ? {} : { inReplyTo: thread, references: thread }) };
}

export function explainReason(reason: MailReason | null, isWatching: boolean): string {
  if (reason !== null) return BECAUSE[reason];
  return isWatching ? 'because of your notification settings' : 'because you take part in it';
}

/** Returns a line that describes the event, and the text of the note or noteable if it belongs to the message. */
export function renderMailLeadAndText(job: MailJob): { readonly lead: string; readonly text: string } {
  const template = parseTemplate(job.kind, job.template);
  const text = job.note_id !== null ? job.note_body : doesMailShowDescription(template) ? job.description : null;
  return { lead: toCleanMailLine(LEAD[template](job), 2000), text: text ?? '' };
}

/** Renders the body, once for all recipients of an event. */
export function renderNoteableMailBody(job: MailJob): MailBody {
  const message = renderMailLeadAndText(job);
  const { lead } = message;
  const title = toCleanMailLine(job.title);
  const text = toCleanMailText(message.text).trim();
  return {
    text: [`${lead}: ${title}`, ...(text === '' ? [] : [text])].join('\n\n'),
    html: `<p>${escapeHtml(lead)}: <strong>${escapeHtml(title)}</strong></p>${text === '' ? '' : renderMailMarkdown(text)}`,
  };
}

/** Returns a stable Message-ID with angle brackets, so that mail systems recognize a duplicate. */
export function createMessageId(job: MailJob, identity: MailIdentity): string {
  const host = extractHost(identity);
  const template = parseTemplate(job.kind, job.template);
  if (template === 'created') return `<${job.kind.noun}_${noteableIdOrCommitSha(job)}@${host}>`;
  if (template === 'note_created') return messageIdOfNote(job, identity);
  return deriveMessageId(job, identity);
}

function createHeaders(job: MailJob, identity: MailIdentity, host: string): Record<string, string> {
  const { headerPrefix } = identity;
  const { type, parent } = job.kind;
  const place = parent === 'project' ? 'Project' : 'Group';
  const own: Record<string, string> = {
    [place]: job.parent_name,
    [`${place}-Id`]: String(job.parent_id),
    [`${place}-Path`]: job.parent_path,
    [`${type}-ID`]: String(noteableIdOrCommitSha(job)),
    ...(job.kind.shownId === 'iid' ? { [`${type}-IID`]: job.shown_id } : {}),
    ...(job.state === null ? {} : { [`${type}-State`]: job.state }),
    ...(job.confidential === null ? {} : { [`Confidential${type}`]: String(job.confidential) }),
    ...(job.note_id === null ? {} : { 'Note-ID': String(job.note_id) }),
    ...(job.reason === null ? {} : { NotificationReason: job.reason }),
  };
  return {
    ...Object.fromEntries(
      Object.entries(own).map(([name, value]) => [`${headerPrefix}-${name}`, toCleanMailLine(value)]),
    ),
    'List-Id': createListIdHeader(job.parent_path, host),
    'List-Unsubscribe': `<${unsubscribeLink(job, identity)}>`,
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    'Auto-Submitted': 'auto-generated',
    'X-Auto-Response-Suppress': 'All',
  };
}

function composeSubject(job: MailJob, { subjectSuffix }: MailIdentity): string {
  const parts = [
    toCleanMailLine(job.parent_name),
    `${toCleanMailLine(job.title)} (${shortReference(job)})`,
    toCleanMailLine(subjectSuffix),
  ];
  return subjectLine(...parts);
}

function noteableLink({ kind, shown_id, note_id, parent_path }: MailJob, { externalUrl }: MailIdentity): string {
  const path = toCleanMailLine(parent_path);
  const place = urlOfPath(externalUrl, kind.parent === 'group' ? `groups/${path}` : path);
  return `${place}${kind.webPath}${shown_id}${note_id === null ? '' : `#note_${note_id}`}`;
}

/** Returns the link that unsubscribes the recipient from the noteable. Source: reference work-tracking 8.5. */
function unsubscribeLink(job: MailJob, { externalUrl, unsubscribeSecret }: MailIdentity): string {
  const subject = { noteableType: job.kind.type, noteableId: job.noteable_id, userId: job.recipient_id };
  return unsubscribeUrl(externalUrl, createUnsubscribeLinkKey(subject, unsubscribeSecret));
}

function doesMailShowDescription(template: MailTemplate): boolean {
  return template === 'created' || template === 'mentioned';
}

export function actorName(job: Pick<MailJob, 'actor_name' | 'actor_username'>): string {
  return `${toCleanMailLine(job.actor_name, 200)} (@${job.actor_username})`;
}

/** Returns the noteable as `issue #7`. */
export function formatNoteableReference(job: MailJob): string {
  return `${job.kind.word} ${shortReference(job)}`;
}

/** Length of an abbreviated sha. */
const SHORT_SHA = 8;

function shortReference({ kind, shown_id }: MailJob): string {
  return kind.shownId === 'sha' ? shown_id.slice(0, SHORT_SHA) : `${kind.sigil}${shown_id}`;
}

/** Id of the noteable that users know: of a commit its sha. */
function noteableIdOrCommitSha({ kind, noteable_id, shown_id }: MailJob): number | string {
  return kind.shownId === 'sha' ? shown_id : noteable_id;
}

function describeLabels({ labels }: MailJob): string {
  const names = labels.map((name) => `"${toCleanMailLine(name, 255)}"`).join(', ');
  return labels.length === 1 ? `the label ${names}` : `the labels ${names}`;
}

function describeMilestoneChange({ milestone }: MailJob): string {
  return milestone === null ? 'removed the milestone' : `set the milestone "${toCleanMailLine(milestone, 255)}"`;
}

function describeCommitCount({ commits }: MailJob): string {
  return commits === 1 ? '1 commit' : `${commits ?? 0} commits`;
}

const capitalize = (words: string): string => `${words[0]!.toUpperCase()}${words.slice(1)}`;

function describePeopleChange({ added, removed }: MailJob): string {
  const people = (names: readonly string[]): string => names.map((name) => `@${name}`).join(', ');
  const parts = [
    ...(added.length > 0 ? [`added ${people(added)}`] : []),
    ...(removed.length > 0 ? [`removed ${people(removed)}`] : []),
  ];
  return parts.length > 0 ? ` (${parts.join('; ')})` : '';
}
