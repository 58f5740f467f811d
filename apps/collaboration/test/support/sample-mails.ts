import { ACCOUNT_MAIL_TEMPLATES } from '@rookery/contracts';
import type { AccountMailTemplate } from '@rookery/contracts';
import { createTransport } from 'nodemailer';
import type { SendMailOptions } from 'nodemailer';
import type { NoteableKind } from '../../src/base/noteables/noteable-kinds';
import { composeAccountMail } from '../../src/following/notifications/account-mails/compose-account-mail';
import { composeCombined } from '../../src/following/notifications/composing/compose-combined';
import { renderNoteableMailBody, composeNoteableMail } from '../../src/following/notifications/composing/compose-mail';
import type { MailJob } from '../../src/following/notifications/composing/compose-mail';
import { MAIL_TEMPLATES, storedTemplate } from '../../src/following/notifications/composing/mail-templates';
import type { MailTemplate } from '../../src/following/notifications/composing/mail-templates';
import {
  composePipelineMail,
  PIPELINE_MAIL_TEMPLATES,
} from '../../src/following/notifications/pipeline-mails/compose-pipeline-mail';
import { composeProjectOrGroupMail } from '../../src/following/notifications/place-mails/compose-project-or-group-mail';
import type { ProjectOrGroupMailJob } from '../../src/following/notifications/place-mails/compose-project-or-group-mail';
import { commitKind } from '../../src/work/commit-comments/commit.kind';
import { epicKind } from '../../src/work/epics/epic.kind';
import { issueKind } from '../../src/work/issues/issue.kind';
import { mergeRequestKind } from '../../src/work/merge-requests/merge-request.kind';
import { snippetKind } from '../../src/work/snippets/snippet.kind';

const IDENTITY = {
  externalUrl: 'https://rookery.example',
  from: 'rookery@rookery.example',
  replyTo: 'noreply@rookery.example',
  headerPrefix: 'X-Platform',
  subjectSuffix: '',
  secret: Buffer.from('s'),
  unsubscribeSecret: Buffer.from('u'),
};
const MESSAGE_ID = '<sample@rookery.example>';
const ROW = {
  id: 1,
  event_id: '0197a000-0000-7000-8000-000000000001',
  recipient_id: 2,
  attempts: 1,
  created_at: new Date(0),
  address: 'wren@mail.example',
};
const TEXT = `Look here, @wren: the **third** egg is *missing*.

- [x] counted twice
- [ ] ask the \`owl\`

> It was there at noon.

\`\`\`sh
git log --oneline --since=noon -- nest/eggs.txt | head -n 20
\`\`\`

| Egg | Weight |
|---|---|
| first | 12 g |

See [the log](https://rookery.example/log).`;
const MARKERS: Readonly<Record<string, Partial<MailJob>>> = {
  reassigned: { added: ['wren'], removed: ['owl'] },
  rereviewed: { added: ['wren'], removed: ['owl'] },
  relabelled: { labels: ['bug', 'nest'] },
  milestoned: { milestone: 'Spring' },
  pushed: { commits: 3 },
  due: { due_on: '2026-11-30' },
  note_created: { note_id: 77, note_body: TEXT },
};

function noteableMailJob(kind: NoteableKind, template: MailTemplate): MailJob {
  const isGroup = kind.parent === 'group';
  return {
    ...ROW,
    kind,
    template: storedTemplate(kind, template),
    reason: template === 'mentioned' ? 'mentioned' : null,
    is_watching: template === 'closed',
    ...{ actor_name: 'Robin Redbreast', actor_username: 'robin' },
    ...{ parent_id: 3, parent_name: isGroup ? 'Colony' : 'Eggs', parent_path: isGroup ? 'colony' : 'colony/eggs' },
    ...{ noteable_id: 15, shown_id: kind.shownId === 'sha' ? '0123456789'.repeat(4) : '7' },
    ...{ title: 'An egg is missing', description: TEXT },
    state: kind.stateColumn === null ? null : 'opened',
    confidential: kind.confidentialColumn === null ? null : false,
    ...{
      note_id: null,
      note_body: null,
      added: [],
      removed: [],
      labels: [],
      milestone: null,
      commits: null,
      due_on: null,
    },
    ...MARKERS[template],
  };
}

/** Templates that a kind can have. */
function templatesOf(kind: NoteableKind): readonly MailTemplate[] {
  const ofAll: readonly MailTemplate[] = ['note_created'];
  if (kind.stateColumn === null) return ofAll;
  const texts: readonly MailTemplate[] = ['created', 'mentioned', 'closed', 'reopened', 'relabelled', ...ofAll];
  if (kind.parent === 'group') return texts;
  if (kind.dueColumn !== undefined) return [...texts, 'reassigned', 'milestoned', 'moved', 'cloned', 'due'];
  return MAIL_TEMPLATES.filter((template) => !['moved', 'cloned', 'due'].includes(template));
}

function placeMailJob(template: ProjectOrGroupMailJob['template'], isGroup = false): ProjectOrGroupMailJob {
  return {
    ...ROW,
    template,
    ...{ project_id: isGroup ? null : 3, group_id: isGroup ? 4 : null },
    ...{ place_name: isGroup ? 'Colony' : 'Eggs', place_path: isGroup ? 'colony' : 'colony/eggs' },
    ...{ actor_name: 'Robin Redbreast', actor_username: 'robin', requester_name: 'Owl', requester_username: 'owl' },
    ...{ access_level: 30, expires_on: isGroup ? null : '2027-01-31' },
    ...{ tag: 'v1.0', release_name: 'First light', release_description: TEXT },
  };
}

/** Returns an e-mail of each kind by its name. Dates and ids are fixed, so that golden files need no masks. */
export function sampleMails(): ReadonlyMap<string, SendMailOptions> {
  const mails = new Map<string, SendMailOptions>();
  for (const kind of [issueKind, epicKind, mergeRequestKind, snippetKind, commitKind]) {
    for (const template of templatesOf(kind)) {
      const job = noteableMailJob(kind, template);
      mails.set(`${kind.noun}-${template}`, composeNoteableMail(job, renderNoteableMailBody(job), IDENTITY));
    }
    const newest = (['note_created', 'note_created'] as const).map((template) => noteableMailJob(kind, template));
    const authors = [
      { actor_name: 'Robin Redbreast', actor_username: 'robin', count: 5 },
      { actor_name: 'Owl', actor_username: 'owl', count: 2 },
    ];
    const combined = { newest, count: 7, authors, reasons: ['mentioned' as const, null], isWatching: false };
    mails.set(`${kind.noun}-gathered`, composeCombined(combined, MESSAGE_ID, IDENTITY));
  }
  for (const template of PIPELINE_MAIL_TEMPLATES) {
    const facts = {
      project_id: 3,
      pipeline_id: 300,
      pipeline_iid: 12,
      ref: 'main',
      is_tag: false,
      sha: '0123456789'.repeat(4),
    };
    const job = { ...ROW, ...facts, template, project_name: 'Eggs', project_path: 'colony/eggs' };
    mails.set(template, composePipelineMail(job, MESSAGE_ID, IDENTITY));
  }
  for (const template of ['new_release', 'moved_project'] as const)
    mails.set(template, composeProjectOrGroupMail(placeMailJob(template), MESSAGE_ID, IDENTITY));
  for (const template of ['member_added', 'member_changed', 'access_requested', 'access_denied'] as const) {
    mails.set(`project-${template}`, composeProjectOrGroupMail(placeMailJob(template), MESSAGE_ID, IDENTITY));
    mails.set(`group-${template}`, composeProjectOrGroupMail(placeMailJob(template, true), MESSAGE_ID, IDENTITY));
  }
  for (const template of ACCOUNT_MAIL_TEMPLATES) mails.set(template, accountMailOptions(template));
  return mails;
}

function accountMailOptions(template: AccountMailTemplate): SendMailOptions {
  const facts = {
    ...{
      address: ROW.address,
      name: 'Wren',
      link: 'https://rookery.example/users/confirmation?confirmation_token=7.x',
    },
    ...{ token: { name: 'deploy', expires_on: '2026-12-01' }, today: '2026-11-29' },
    added: 'wren.two@mail.example',
    leftOut: [{ name: 'notes.md', reason: 'It has more than ten files.' }],
  };
  return composeAccountMail(template, facts, MESSAGE_ID, IDENTITY);
}

/** Writes an e-mail as the mail server gets it. */
export async function rawMail(mail: SendMailOptions): Promise<Buffer> {
  const transport = createTransport({ streamTransport: true, buffer: true });
  const { message } = await transport.sendMail({ ...mail, date: new Date(0) });
  return message as Buffer;
}
