import { escapeHtml } from '@rookery/kernel';
import type { RowOf } from '@rookery/persistence';
import type { SendMailOptions } from 'nodemailer';
import { extractHost, createListIdHeader } from '../mailer/mail-identity';
import type { MailIdentity } from '../mailer/mail-identity';
import { linkHtml, urlOfPath } from '../mailer/mail-layout';
import { mailMessage, subjectLine } from '../mailer/mail-message';
import { toCleanMailLine } from '../mailer/mail-text';
import type { PipelineMail } from './pipeline-mail.entity';

/** Kinds of e-mails about pipelines, named as the switches that turn them on. Source: reference work-tracking 8.4. */
export const PIPELINE_MAIL_TEMPLATES = ['failed_pipeline', 'fixed_pipeline', 'success_pipeline'] as const;
export type PipelineMailTemplate = (typeof PIPELINE_MAIL_TEMPLATES)[number];

/** An e-mail about a pipeline that may be sent now, with all facts of its text. */
export interface PipelineMailJob extends RowOf<
  PipelineMail,
  | 'id'
  | 'recipientId'
  | 'template'
  | 'attempts'
  | 'createdAt'
  | 'projectId'
  | 'pipelineId'
  | 'pipelineIid'
  | 'ref'
  | 'isTag'
  | 'sha'
> {
  readonly event_id: string;
  readonly address: string;
  readonly project_name: string;
  readonly project_path: string;
}

const TITLES: Readonly<Record<PipelineMailTemplate, { readonly subject: string; readonly verb: string }>> = {
  failed_pipeline: { subject: 'Failed pipeline', verb: 'has failed' },
  fixed_pipeline: { subject: 'Fixed pipeline', verb: 'has succeeded after a failure' },
  success_pipeline: { subject: 'Successful pipeline', verb: 'has succeeded' },
};

/** Length of an abbreviated sha. */
const SHORT_SHA = 8;

/** Composes an e-mail about a pipeline for the mail server. Source: reference work-tracking 8.5. */
export function composePipelineMail(job: PipelineMailJob, messageId: string, identity: MailIdentity): SendMailOptions {
  const { subject, verb } = TITLES[job.template];
  const [ref, sha, path] = [
    toCleanMailLine(job.ref, 255),
    job.sha.slice(0, SHORT_SHA),
    toCleanMailLine(job.project_path),
  ];
  const project = urlOfPath(identity.externalUrl, path);
  const [pipeline, commit] = [`${project}/-/pipelines/${job.pipeline_id}`, `${project}/-/commit/${job.sha}`];
  const lead = `Pipeline #${job.pipeline_id} of the ${job.is_tag ? 'tag' : 'branch'} ${ref} ${verb}.`;
  const footer = 'You get this e-mail because the pipeline runs as you, and because of your notification settings.';
  const settings = `${project}/-/notifications`;
  const title = subjectLine(
    toCleanMailLine(job.project_name),
    `${subject} for ${ref}`,
    sha,
    toCleanMailLine(identity.subjectSuffix),
  );
  const message = {
    address: job.address,
    replyName: path.slice(0, 200),
    subject: title,
    text: `${lead}\n${pipeline}\n\nProject: ${path}\nCommit: ${sha}\n${commit}\n\n-- \n${footer}\nNotification settings: ${settings}\n`,
    layout: {
      ...{ title, place: path, action: { label: 'View the pipeline', url: pipeline } },
      content: `<p>${escapeHtml(lead)}</p><p>Project: ${linkHtml(project, path)}<br>Commit: ${linkHtml(commit, sha)}</p>`,
      footer: `${escapeHtml(footer)} ${linkHtml(settings, 'Change your notification settings')}.`,
    },
    messageId,
    headers: createHeaders(job, identity),
  };
  return mailMessage(message, identity);
}

function createHeaders(job: PipelineMailJob, identity: MailIdentity): Record<string, string> {
  const own = {
    Project: job.project_name,
    'Project-Id': String(job.project_id),
    'Project-Path': job.project_path,
    'Pipeline-Id': String(job.pipeline_id),
    'Pipeline-IID': String(job.pipeline_iid),
    'Pipeline-Ref': job.ref,
    'Pipeline-Status': job.template === 'failed_pipeline' ? 'failed' : 'success',
  };
  return {
    ...Object.fromEntries(
      Object.entries(own).map(([name, value]) => [`${identity.headerPrefix}-${name}`, toCleanMailLine(value)]),
    ),
    'List-Id': createListIdHeader(job.project_path, extractHost(identity)),
    'Auto-Submitted': 'auto-generated',
    'X-Auto-Response-Suppress': 'All',
  };
}
