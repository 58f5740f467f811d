import { defineSettings, setting } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';

export const mailerSettings = defineSettings('mail', {
  smtpUrl: setting.secret('SMTP_URL', {
    default: 'smtp://127.0.0.1:25',
    about: 'Server that takes our e-mails, as smtp:// or smtps:// with user and password where needed.',
    check: (text) => (/^smtps?:\/\/./.test(text) && URL.canParse(text) ? null : 'is not an smtp:// or smtps:// URL'),
  }),
  isEnabled: setting.flag('MAILER_ENABLED', {
    default: true,
    about: 'Whether anybody gets e-mail; while off, nothing is queued and nothing that was queued is sent.',
  }),
  from: setting.text('MAILER_FROM_ADDRESS', {
    default: null,
    about: 'Address that e-mails come from; rookery@ the host of ROOKERY_EXTERNAL_URL without.',
  }),
  replyTo: setting.text('MAILER_REPLY_TO_ADDRESS', {
    default: null,
    about: 'Address for answers; noreply@ the host of ROOKERY_EXTERNAL_URL without.',
  }),
  headerPrefix: setting.text('MAILER_HEADER_PREFIX', {
    default: 'X-Platform',
    about: 'How the headers that tell project, issue and reason begin.',
  }),
  subjectSuffix: setting.text('MAILER_SUBJECT_SUFFIX', { default: '', about: 'Last part of each subject.' }),
  connections: setting.int('MAILER_CONNECTIONS_COUNT', {
    default: 5,
    min: 1,
    max: 5,
    about: 'Connections that one process opens to the mail server.',
  }),
  batchCount: setting.int('MAILER_BATCH_COUNT', {
    default: 20,
    min: 1,
    max: 500,
    about: 'E-mails that a process takes from the queue at once.',
  }),
  pollMs: setting.int('MAILER_POLL_MS', {
    default: 1000,
    min: 10,
    about:
      'How often the queue is looked at for what another process queued and for what is to be tried again; after 10 s without any, every 5 s.',
  }),
  leaseMs: setting.int('MAILER_LEASE_MS', {
    default: 600_000,
    min: 1000,
    about: 'After this long, an e-mail taken by a process that died is taken by another.',
  }),
  timeoutMs: setting.int('MAILER_TIMEOUT_MS', {
    default: 30_000,
    min: 100,
    about: 'Longest silence of the mail server; a tenth of MAILER_LEASE_MS at most is useful.',
  }),
  retryFirstMs: setting.int('MAILER_RETRY_FIRST_MS', {
    default: 60_000,
    min: 1,
    about: 'Delay before the second try after a temporary failure; doubled each time.',
  }),
  retryMostMs: setting.int('MAILER_RETRY_MOST_MS', { default: 3_600_000, min: 1, about: 'Longest such delay.' }),
  giveUpMs: setting.int('MAILER_GIVE_UP_MS', {
    default: 172_800_000,
    min: 1,
    about: 'After this long without success an e-mail is given up.',
  }),
  perMinute: setting.int('MAILER_PER_RECIPIENT_PER_MINUTE_COUNT', {
    default: 30,
    min: 1,
    max: 100_000,
    about:
      'E-mails that one person gets in a minute, over all processes; more wait, those of one thread to become one e-mail.',
  }),
  burst: setting.int('MAILER_PER_RECIPIENT_BURST_COUNT', {
    default: 60,
    min: 1,
    max: 100_000,
    about: 'E-mails that one person may get at once after a quiet time.',
  }),
  retentionDays: setting.int('MAILER_RETENTION_DAYS', {
    default: 30,
    min: 1,
    about: 'How long it is kept what was sent, dropped or given up.',
  }),
});
export type MailerSettings = SettingsOf<typeof mailerSettings>;
