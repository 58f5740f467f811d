import type { CronLine } from '@rookery/jobs';
import { VISIBILITIES } from '@rookery/kernel';
import { defineSettings, setting } from '@rookery/platform';

/** What only the identity service reads. */
export const identitySettings = defineSettings('identity', {
  tokenMaxLifetimeDays: setting.int('TOKEN_MAX_LIFETIME_DAYS', {
    default: 365,
    min: 1,
    max: 400,
    about: 'Longest life of an access token, in days; also the life of one made without a date.',
  }),
  tokenExpiryRequired: setting.flag('TOKEN_EXPIRY_REQUIRED', {
    default: true,
    about: 'Whether a token made without a date ends all the same, after its longest life.',
  }),
  botRetentionDays: setting.int('TOKEN_BOT_RETENTION_DAYS', {
    default: 30,
    min: 0,
    max: 3650,
    about: 'Days between the end of the last token of a group or project bot and the removal of the bot.',
  }),
  tokenPrefix: setting.text('TOKEN_PREFIX', { default: 'glpat-', about: 'First characters of access tokens.' }),
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
  deletionDelayDays: setting.int('DELETION_DELAY_DAYS', {
    default: 7,
    min: 0,
    max: 90,
    about: 'Days between deleting a group or project and its removal; 0 removes at once.',
  }),
  groupVisibility: setting.choice('DEFAULT_GROUP_VISIBILITY', VISIBILITIES, {
    default: 'private',
    about: 'Visibility of a new group that names none.',
  }),
  projectVisibility: setting.choice('DEFAULT_PROJECT_VISIBILITY', VISIBILITIES, {
    default: 'private',
    about: 'Visibility of a new project that names none.',
  }),
  defaultPlan: setting.choice('ROOKERY_DEFAULT_PLAN', ['free', 'premium', 'ultimate'], {
    default: 'ultimate',
    about: 'Plan of a new top-level group or user namespace.',
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
    about: 'Confirmation e-mails that one person may have sent in an hour; 0 = no limit.',
  }),
  ownersManageServiceAccounts: setting.flag('SERVICE_ACCOUNTS_BY_OWNERS', {
    default: true,
    about: 'Whether owners of top-level groups manage service accounts there; off leaves that to administrators.',
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
