import { ACCESS_LEVELS, escapeHtml } from '@rookery/kernel';
import type { RowOf } from '@rookery/persistence';
import type { SendMailOptions } from 'nodemailer';
import { extractHost, createListIdHeader } from '../mailer/mail-identity';
import type { MailIdentity } from '../mailer/mail-identity';
import { linkHtml, urlOfPath } from '../mailer/mail-layout';
import { mailMessage, subjectLine } from '../mailer/mail-message';
import { renderMailMarkdown, toCleanMailText, toCleanMailLine } from '../mailer/mail-text';
import type { ProjectOrGroupMail } from './place-mail.entity';
import type { ProjectOrGroupMailTemplate } from './place-mail-templates';

/** An e-mail about a place that may be sent now, with all facts of its text. */
export interface ProjectOrGroupMailJob extends RowOf<
  ProjectOrGroupMail,
  'id' | 'recipientId' | 'template' | 'attempts' | 'createdAt' | 'projectId' | 'groupId'
> {
  readonly event_id: string;
  readonly address: string;
  readonly place_name: string;
  readonly place_path: string;
  /** Both are null without an actor, or if the actor was deleted. */
  readonly actor_name: string | null;
  readonly actor_username: string | null;
  /** The user who requests access. Both are null for other templates. */
  readonly requester_name: string | null;
  readonly requester_username: string | null;
  /** Only for a membership: its level now, and its last day, `2027-01-31`, or null. */
  readonly access_level: number | null;
  readonly expires_on: string | null;
  /** Only for a release; null also for a recipient who may not read the code. */
  readonly tag: string | null;
  /** Only for a release. */
  readonly release_name: string | null;
  readonly release_description: string | null;
}

/** Variable parts of an e-mail. `path` is the path of a page, below the path of the place. */
interface PlaceMailContent {
  readonly subject: string;
  readonly lead: string;
  readonly text?: string;
  readonly path: string;
  readonly label: string;
  readonly because: string;
}

const SETTINGS = 'because of your notification settings';

const PLACE_MAIL_CONTENTS: Readonly<
  Record<ProjectOrGroupMailTemplate, (job: ProjectOrGroupMailJob) => PlaceMailContent>
> = {
  new_release: (job) => ({
    subject: `Release ${releaseText(job)}`,
    lead: `${actorText(job)} published the release ${releaseText(job)}.`,
    text: job.release_description ?? '',
    path: job.tag === null ? '/-/releases' : `/-/releases/${encodeURIComponent(job.tag)}`,
    label: 'View the release',
    because: SETTINGS,
  }),
  moved_project: (job) => ({
    subject: 'Project was moved',
    lead: `${actorText(job)} moved the project. Its path is now ${toCleanMailLine(job.place_path)}. Repositories that were cloned before should use the new address.`,
    path: '',
    label: 'View the project',
    because: 'because you are a member of the project',
  }),
  member_added: (job) => ({
    subject: `You are a member of the ${parentNoun(job)}`,
    lead: `${actorText(job)} added you to the ${parentNoun(job)} ${toCleanMailLine(job.place_name)} as ${roleText(job)}.`,
    path: '',
    label: `View the ${parentNoun(job)}`,
    because: `because you are a member of the ${parentNoun(job)}`,
  }),
  member_changed: (job) => ({
    subject: `Your access to the ${parentNoun(job)} was changed`,
    lead: `${actorText(job)} changed your access to the ${parentNoun(job)} ${toCleanMailLine(job.place_name)}. You are now ${roleText(job)}.`,
    path: '',
    label: `View the ${parentNoun(job)}`,
    because: `because you are a member of the ${parentNoun(job)}`,
  }),
  access_requested: (job) => ({
    subject: `Request to join the ${parentNoun(job)}`,
    lead: `${personText(job.requester_name, job.requester_username)} requested access to the ${parentNoun(job)} ${toCleanMailLine(job.place_name)}.`,
    path: `/-/${job.project_id === null ? 'group' : 'project'}_members?tab=access_requests`,
    label: 'View the request',
    because: `because you may accept members of the ${parentNoun(job)}`,
  }),
  access_denied: (job) => ({
    subject: `Your request to join the ${parentNoun(job)} was denied`,
    lead: `Your request to join the ${parentNoun(job)} ${toCleanMailLine(job.place_name)} was denied.`,
    path: '',
    label: `View the ${parentNoun(job)}`,
    because: 'because you requested access',
  }),
};

/** Composes an e-mail about a project, a group or a membership for the mail server. Source: reference work-tracking 8.5, 8.9. */
export function composeProjectOrGroupMail(
  job: ProjectOrGroupMailJob,
  messageId: string,
  identity: MailIdentity,
): SendMailOptions {
  const { subject, lead, path, label, because, text: sent = '' } = PLACE_MAIL_CONTENTS[job.template](job);
  const place = toCleanMailLine(job.place_path);
  const home = urlOfPath(identity.externalUrl, job.project_id === null ? `groups/${place}` : place);
  const [url, settings] = [`${home}${path}`, `${home}/-/notifications`];
  const footer = `You get this e-mail ${because}.`;
  const text = toCleanMailText(sent).trim();
  const title = subjectLine(
    toCleanMailLine(job.place_name),
    toCleanMailLine(subject, 300),
    toCleanMailLine(identity.subjectSuffix),
  );
  const message = {
    address: job.address,
    sender: job.actor_name === null ? '' : actorText(job),
    replyName: place.slice(0, 200),
    subject: title,
    text: `${lead}\n${url}\n\n${text === '' ? '' : `${text}\n\n`}-- \n${footer}\nNotification settings: ${settings}\n`,
    layout: {
      ...{ title, place, action: { label, url } },
      content: `<p>${escapeHtml(lead)}</p>${text === '' ? '' : renderMailMarkdown(text)}`,
      footer: `${escapeHtml(footer)} ${linkHtml(settings, 'Change your notification settings')}.`,
    },
    messageId,
    headers: createHeaders(job, identity),
  };
  return mailMessage(message, identity);
}

function createHeaders(job: ProjectOrGroupMailJob, identity: MailIdentity): Record<string, string> {
  const kind = job.project_id === null ? 'Group' : 'Project';
  const own = {
    [kind]: job.place_name,
    [`${kind}-Id`]: String(job.project_id ?? job.group_id),
    [`${kind}-Path`]: job.place_path,
  };
  return {
    ...Object.fromEntries(
      Object.entries(own).map(([name, value]) => [`${identity.headerPrefix}-${name}`, toCleanMailLine(value)]),
    ),
    'List-Id': createListIdHeader(job.place_path, extractHost(identity)),
    'Auto-Submitted': 'auto-generated',
    'X-Auto-Response-Suppress': 'All',
  };
}

const parentNoun = ({ project_id }: ProjectOrGroupMailJob): string => (project_id === null ? 'group' : 'project');

function personText(name: string | null, username: string | null): string {
  return name === null || username === null ? 'A user' : `${toCleanMailLine(name, 200)} (@${username})`;
}

const actorText = (job: ProjectOrGroupMailJob): string => personText(job.actor_name, job.actor_username);

function releaseText({ tag, release_name: name }: ProjectOrGroupMailJob): string {
  if (tag === null) return toCleanMailLine(name ?? '', 255);
  const shown = toCleanMailLine(tag, 255);
  return name === null || name === tag ? shown : `${toCleanMailLine(name, 255)} (${shown})`;
}

/** Names a role, with the last day of the membership. */
function roleText({ access_level: level, expires_on: end }: ProjectOrGroupMailJob): string {
  const name = Object.entries(ACCESS_LEVELS).find(([, value]) => value === level)?.[0] ?? 'member';
  return end === null ? name : `${name} until ${end}`;
}
