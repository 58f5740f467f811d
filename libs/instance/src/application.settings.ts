import { PLANS, VISIBILITIES } from '@rookery/kernel';
import { defineSettings, setting } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';

/** Bounds of settings in the API, in addition to their types; they apply to environment variables too. */
export const APPLICATION_BOUNDS = {
  default_group_visibility: VISIBILITIES,
  default_plan: PLANS,
  default_project_visibility: VISIBILITIES,
  deletion_adjourned_period: { min: 0, max: 90 },
  max_personal_access_token_lifetime: { min: 1, max: 400 },
  notes_create_limit: { min: 0, max: 1_000_000 },
} as const;

/**
 * Settings that administrators may change at run time, by their names in the API; until then the environment applies.
 * Give all processes the same environment: admin shows its own, other services use theirs. Users are ids here and
 * usernames in the API.
 * Source: reference packages-and-admin 10.3; ADR 0180.
 */
export const applicationSettings = defineSettings('application', {
  allow_top_level_group_owners_to_create_service_accounts: setting.flag('SERVICE_ACCOUNTS_BY_OWNERS', {
    default: true,
    about: 'Whether owners of top-level groups manage service accounts there; off leaves that to administrators.',
  }),
  default_group_visibility: setting.choice('DEFAULT_GROUP_VISIBILITY', APPLICATION_BOUNDS.default_group_visibility, {
    default: 'private',
    about: 'Visibility of a new group that names none.',
  }),
  default_plan: setting.choice('ROOKERY_DEFAULT_PLAN', APPLICATION_BOUNDS.default_plan, {
    default: 'ultimate',
    about: 'Plan of a new top-level group or user namespace.',
  }),
  default_project_visibility: setting.choice(
    'DEFAULT_PROJECT_VISIBILITY',
    APPLICATION_BOUNDS.default_project_visibility,
    { default: 'private', about: 'Visibility of a new project that names none.' },
  ),
  deletion_adjourned_period: setting.int('DELETION_DELAY_DAYS', {
    default: 7,
    ...APPLICATION_BOUNDS.deletion_adjourned_period,
    about: 'Days between deleting a group or project and its removal; 0 removes at once.',
  }),
  max_personal_access_token_lifetime: setting.int('TOKEN_MAX_LIFETIME_DAYS', {
    default: 365,
    ...APPLICATION_BOUNDS.max_personal_access_token_lifetime,
    about: 'Longest life of an access token, in days; also the life of one made without a date.',
  }),
  notes_create_limit: setting.int('NOTES_CREATES_PER_MINUTE_COUNT', {
    default: 300,
    ...APPLICATION_BOUNDS.notes_create_limit,
    about: 'Notes that one user may write in a minute, counted over all replicas; 0 = no limit.',
  }),
  notes_create_limit_allowlist: setting.ids('NOTES_UNLIMITED_USER_IDS', {
    default: [],
    about: 'Users whose notes are not counted. Ids, because a username can later belong to another user.',
  }),
  personal_access_token_prefix: setting.text('TOKEN_PREFIX', {
    default: 'glpat-',
    about: 'First characters of access tokens.',
  }),
  require_personal_access_token_expiry: setting.flag('TOKEN_EXPIRY_REQUIRED', {
    default: true,
    about: 'Whether a token made without a date expires after the longest lifetime.',
  }),
  service_access_tokens_expiration_enforced: setting.flag('SERVICE_TOKEN_EXPIRY_REQUIRED', {
    default: true,
    about:
      'Whether a token of a service account that is made without a date expires as others do; off, it never expires.',
  }),
});
export type ApplicationSettings = SettingsOf<typeof applicationSettings>;
