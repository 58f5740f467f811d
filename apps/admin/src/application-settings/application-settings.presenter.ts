import { bool, choice, int, list, presenter, text } from '@rookery/api-v4';
import { APPLICATION_BOUNDS } from '@rookery/instance';
import type { ApplicationSettingsView } from './application-settings.service';

/** Source: reference packages-and-admin 10.3. */
export const applicationSettingsPresenter = presenter<ApplicationSettingsView>('ApplicationSettings').fields({
  allow_top_level_group_owners_to_create_service_accounts: [
    bool,
    (settings) => settings.allow_top_level_group_owners_to_create_service_accounts,
  ],
  default_group_visibility: [
    choice(...APPLICATION_BOUNDS.default_group_visibility),
    (settings) => settings.default_group_visibility,
  ],
  default_plan: [choice(...APPLICATION_BOUNDS.default_plan), (settings) => settings.default_plan],
  default_project_visibility: [
    choice(...APPLICATION_BOUNDS.default_project_visibility),
    (settings) => settings.default_project_visibility,
  ],
  deletion_adjourned_period: [int, (settings) => settings.deletion_adjourned_period],
  max_personal_access_token_lifetime: [int, (settings) => settings.max_personal_access_token_lifetime],
  notes_create_limit: [int, (settings) => settings.notes_create_limit],
  notes_create_limit_allowlist: [list(text), (settings) => settings.notes_create_limit_allowlist],
  personal_access_token_prefix: [text, (settings) => settings.personal_access_token_prefix],
  require_personal_access_token_expiry: [bool, (settings) => settings.require_personal_access_token_expiry],
  service_access_tokens_expiration_enforced: [bool, (settings) => settings.service_access_tokens_expiration_enforced],
});
