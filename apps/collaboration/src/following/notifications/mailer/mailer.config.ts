import { defineSettings, setting } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';

export const mailerSettings = defineSettings('mail', {
  smtpUrl: setting.secret('SMTP_URL', {
    default: 'smtp://127.0.0.1:25',
    about: 'Mail server for outgoing e-mails, as smtp:// or smtps:// with user and password where needed.',
    check: (text) => (/^smtps?:\/\/./.test(text) && URL.canParse(text) ? null : 'is not an smtp:// or smtps:// URL'),
  }),
  isEnabled: setting.flag('MAILER_ENABLED', {
    default: true,
    about: 'Whether e-mails are sent; while off, nothing is queued and nothing that was queued is sent.',
  }),
  from: setting.text('MAILER_FROM_ADDRESS', {
    default: null,
    about: 'Sender address of e-mails; by default rookery@ the host of ROOKERY_EXTERNAL_URL.',
  }),
  replyTo: setting.text('MAILER_REPLY_TO_ADDRESS', {
    default: null,
    about: 'Reply address of e-mails; by default noreply@ the host of ROOKERY_EXTERNAL_URL.',
  }),
  headerPrefix: setting.text('MAILER_HEADER_PREFIX', {
    default: 'X-Platform',
    about: 'Prefix of the headers with project, issue and reason.',
  }),
  subjectSuffix: setting.text('MAILER_SUBJECT_SUFFIX', { default: '', about: 'Last part of each subject.' }),
  connections: setting.int('MAILER_CONNECTIONS_COUNT', {
    default: 15,
    min: 1,
    max: 50,
    about:
      'Connections that one process opens to the mail server, fewer while the server refuses more. A dialogue is mostly waiting.',
  }),
  batchCount: setting.int('MAILER_BATCH_COUNT', {
    default: 60,
    min: 1,
    max: 500,
    about: 'E-mails that a process takes from the queue at once.',
  }),
  pollMs: setting.int('MAILER_POLL_MS', {
    default: 1000,
    min: 10,
    about:
      'Interval of the poll for e-mails that another process queued and for retries; after 10 s without any, every 5 s.',
  }),
  leaseMs: setting.int('MAILER_LEASE_MS', {
    default: 600_000,
    min: 1000,
    about: 'Lease of a taken e-mail: after it, another process takes an e-mail whose process died.',
  }),
  timeoutMs: setting.int('MAILER_TIMEOUT_MS', {
    default: 30_000,
    min: 100,
    about: 'Timeout for an answer of the mail server; at most a tenth of MAILER_LEASE_MS is useful.',
  }),
  retryFirstMs: setting.int('MAILER_RETRY_FIRST_MS', {
    default: 60_000,
    min: 1,
    about: 'Delay before the first retry after a temporary failure; doubled each time.',
  }),
  retryMostMs: setting.int('MAILER_RETRY_MOST_MS', { default: 3_600_000, min: 1, about: 'Longest such delay.' }),
  giveUpMs: setting.int('MAILER_GIVE_UP_MS', {
    default: 172_800_000,
    min: 1,
    about: 'Age at which an e-mail that was not accepted is given up.',
  }),
  perMinute: setting.int('MAILER_PER_RECIPIENT_PER_MINUTE_COUNT', {
    default: 30,
    min: 1,
    max: 100_000,
    about:
      'E-mails that one user gets in a minute, over all processes; more wait, and those of one thread are combined.',
  }),
  burst: setting.int('MAILER_PER_RECIPIENT_BURST_COUNT', {
    default: 60,
    min: 1,
    max: 100_000,
    about: 'E-mails that one user may get at once after a quiet time.',
  }),
  perActorAndHour: setting.int('MAILER_PER_ACTOR_PER_HOUR_COUNT', {
    default: 300,
    min: 1,
    max: 100_000,
    about:
      'E-mails about memberships and access requests that one user and their bots cause in an hour; further changes send none. Administrators have no limit.',
  }),
  retentionDays: setting.int('MAILER_RETENTION_DAYS', {
    default: 30,
    min: 1,
    about: 'How long e-mails are kept that were sent, dropped or given up.',
  }),
});
export type MailerSettings = SettingsOf<typeof mailerSettings>;
