import { AtLeastOneOf, Flag, Int, ListOf, OneOf, Text } from '@rookery/api-v4';
import { APPLICATION_BOUNDS } from '@rookery/instance';
import type { ApplicationSettings } from '@rookery/instance';
import type { ExactInput } from '@rookery/kernel';
import type { ApplicationSettingsView } from './application-settings.service';

const OPTIONAL = { optional: true } as const;

/** Source: reference packages-and-admin 10.3. */
@AtLeastOneOf(
  'allow_top_level_group_owners_to_create_service_accounts',
  'default_group_visibility',
  'default_plan',
  'default_project_visibility',
  'deletion_adjourned_period',
  'max_personal_access_token_lifetime',
  'notes_create_limit',
  'notes_create_limit_allowlist',
  'personal_access_token_prefix',
  'require_personal_access_token_expiry',
  'service_access_tokens_expiration_enforced',
)
export class UpdateApplicationSettings implements ExactInput<
  Partial<ApplicationSettingsView>,
  UpdateApplicationSettings
> {
  @Flag(OPTIONAL) allow_top_level_group_owners_to_create_service_accounts?: boolean;
  @OneOf(APPLICATION_BOUNDS.default_group_visibility, OPTIONAL)
  default_group_visibility?: ApplicationSettings['default_group_visibility'];
  @OneOf(APPLICATION_BOUNDS.default_plan, OPTIONAL) default_plan?: ApplicationSettings['default_plan'];
  @OneOf(APPLICATION_BOUNDS.default_project_visibility, OPTIONAL)
  default_project_visibility?: ApplicationSettings['default_project_visibility'];
  @Int({ ...OPTIONAL, ...APPLICATION_BOUNDS.deletion_adjourned_period, about: 'Days; 0 removes at once.' })
  deletion_adjourned_period?: number;
  @Int({ ...OPTIONAL, ...APPLICATION_BOUNDS.max_personal_access_token_lifetime, about: 'Days.' })
  max_personal_access_token_lifetime?: number;
  @Int({ ...OPTIONAL, ...APPLICATION_BOUNDS.notes_create_limit, about: 'Notes per minute and user; 0 means no limit.' })
  notes_create_limit?: number;
  @ListOf('text', { ...OPTIONAL, max: 100, splitItems: true, about: 'Usernames whose notes are not counted.' })
  notes_create_limit_allowlist?: readonly string[];
  @Text({ ...OPTIONAL, max: 20, pattern: /^[A-Za-z0-9_+=/@:.-]*$/ }) personal_access_token_prefix?: string;
  @Flag(OPTIONAL) require_personal_access_token_expiry?: boolean;
  @Flag(OPTIONAL) service_access_tokens_expiration_enforced?: boolean;
}
