import type { CronLine } from '@rookery/jobs';
import { defineSettings, setting } from '@rookery/platform';

/** Settings that only the identity service reads. */
export const identitySettings = defineSettings('identity', {
  botRetentionDays: setting.int('TOKEN_BOT_RETENTION_DAYS', {
    default: 30,
    min: 0,
    max: 3650,
    about: 'Days between the expiry of the last token of a group or project bot and the removal of the bot.',
  }),
  impersonationEnabled: setting.flag('TOKEN_IMPERSONATION', {
    default: true,
    about: 'Whether impersonation tokens may be used.',
  }),
  rateLimits: setting.flag('RATE_LIMITS', { default: true, about: 'Whether rate limits are enforced.' }),
  namespaceChecksPerMinute: setting.int('NAMESPACE_CHECKS_PER_MINUTE_COUNT', {
    default: 20,
    min: 0,
    max: 1_000_000,
    about: 'How often a user may check per minute whether a path is free, counted over all replicas; 0 = no limit.',
  }),
  housekeepingCron: setting.cron('HOUSEKEEPING_CRON', {
    default: '*/10 * * * *',
    about:
      'Time of housekeeping: removes expired memberships, shares, bots, unconfirmed addresses and deleted groups and projects, sends notices of token expiry, counts seats, and compacts the change log.',
  }),
  confirmEmails: setting.flag('EMAIL_CONFIRMATION', {
    default: true,
    about: 'Whether addresses that users add, and addresses chosen for service accounts, must be confirmed.',
  }),
  confirmationsPerHour: setting.int('EMAIL_CONFIRMATIONS_PER_HOUR_COUNT', {
    default: 30,
    min: 0,
    max: 1_000_000,
    about:
      'Maximum number of confirmation e-mails that a user may cause per hour, and of refusals that disclose an address; 0 = no limit.',
  }),
  pagesDomain: setting.text('PAGES_DOMAIN', {
    default: null,
    about: 'Host of published pages, for badges. Default: `pages.` and the host of ROOKERY_EXTERNAL_URL.',
  }),
});

/** Schedule of housekeeping jobs. */
export const housekeepingCron: CronLine = (read) => read(identitySettings).housekeepingCron;
