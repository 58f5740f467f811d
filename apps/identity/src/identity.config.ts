import type { CronLine } from '@rookery/jobs';
import { defineSettings, setting } from '@rookery/platform';

/** What only the identity service reads. */
export const identitySettings = defineSettings('identity', {
  botRetentionDays: setting.int('TOKEN_BOT_RETENTION_DAYS', {
    default: 30,
    min: 0,
    max: 3650,
    about: 'Days between the end of the last token of a group or project bot and the removal of the bot.',
  }),
  impersonationEnabled: setting.flag('TOKEN_IMPERSONATION', {
    default: true,
    about: 'Whether impersonation tokens may be used.',
  }),
  rateLimits: setting.flag('RATE_LIMITS', { default: true, about: 'Whether rate limits hold at all.' }),
  namespaceChecksPerMinute: setting.int('NAMESPACE_CHECKS_PER_MINUTE_COUNT', {
    default: 20,
    min: 0,
    max: 1_000_000,
    about: 'How often one person may ask in a minute whether a path is free, counted over all replicas; 0 = no limit.',
  }),
  housekeepingCron: setting.cron('HOUSEKEEPING_CRON', {
    default: '*/10 * * * *',
    about:
      'When memberships, shares, bots, unconfirmed addresses and deletions whose time has come are cleared away, notices of the end of tokens go out, seats are counted and the change log is made shorter.',
  }),
  confirmEmails: setting.flag('EMAIL_CONFIRMATION', {
    default: true,
    about: 'Whether addresses that people add, and addresses chosen for service accounts, wait for their confirmation.',
  }),
  confirmationsPerHour: setting.int('EMAIL_CONFIRMATIONS_PER_HOUR_COUNT', {
    default: 30,
    min: 0,
    max: 1_000_000,
    about:
      'Confirmation e-mails that one person may have sent in an hour, and addresses that they may be refused for; 0 = no limit.',
  }),
  collaborationUrl: setting.url('COLLABORATION_URL', {
    default: 'http://collaboration:8080',
    protocols: ['http', 'https'],
    about: 'Where the collaboration service is reached from inside; badges ask it about repositories.',
  }),
  pagesDomain: setting.text('PAGES_DOMAIN', {
    default: null,
    about: 'Host of published pages, for badges; without it `pages.` and the host of ROOKERY_EXTERNAL_URL.',
  }),
});

/** When jobs of housekeeping are due. */
export const housekeepingCron: CronLine = (read) => read(identitySettings).housekeepingCron;
