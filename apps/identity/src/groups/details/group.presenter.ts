import type { PresentContext } from '@rookery/api-v4';
import { VISIBILITIES } from '@rookery/kernel';
import {
  bool,
  day,
  instant,
  int,
  list,
  nested,
  nullable,
  object,
  pickFields,
  presenter,
  createPlainPresenterFields,
  text,
  choice,
} from '@rookery/api-v4';
import { absoluteUrl } from '@rookery/directory';
import { sharedWithGroups } from '../../members/sharing/share.presenter';
import { project } from '../../projects/project.presenter';
import { GROUP_FIELDS } from '../../namespaces/settings/group-settings';
import type { GroupDetailRow, GroupRow } from './groups.queries';

const isViewerAdministrator = (_: GroupRow, __: undefined, { viewer }: PresentContext): boolean => viewer.isAdmin;

const levels = list(object({ access_level: int }));
const branchProtection = object(
  {
    allowed_to_push: levels,
    allow_force_push: bool,
    allowed_to_merge: levels,
    developer_can_initial_push: bool,
  },
  { code_owner_approval_required: bool },
);

const hashes = { default_branch_protection_defaults: branchProtection };
const plain = createPlainPresenterFields<GroupRow>()(GROUP_FIELDS, 'list', {}, hashes);

/** A group in a list. Source: reference identity-and-import 2.3. */
export const group = presenter<GroupRow>('Group').fields({
  id: [int, (one) => one.id],
  web_url: [text, (one, _, { links }) => links.webUrl(`groups/${one.full_path}`)],
  name: [text, (one) => one.name],
  path: [text, (one) => one.path],
  description: [text, (one) => one.description],
  visibility: [choice(...VISIBILITIES), (one) => one.visibility],
  ...pickFields(plain, 'share_with_group_lock', 'require_two_factor_authentication', 'two_factor_grace_period'),
  ...pickFields(plain, 'project_creation_level', 'auto_devops_enabled', 'subgroup_creation_level', 'emails_disabled'),
  ...pickFields(plain, 'emails_enabled', 'mentions_disabled', 'lfs_enabled', 'math_rendering_limits_enabled'),
  ...pickFields(plain, 'lock_math_rendering_limits_enabled', 'default_branch', 'default_branch_protection'),
  ...pickFields(plain, 'default_branch_protection_defaults'),
  avatar_url: [nullable(text), (one, _, { links }) => absoluteUrl(one.avatar_url, links)],
  ...pickFields(plain, 'request_access_enabled'),
  full_name: [text, (one) => one.full_name],
  full_path: [text, (one) => one.full_path],
  created_at: [instant, (one) => one.created_at],
  parent_id: [nullable(int), (one) => one.parent_id],
  organization_id: [int, () => 1],
  ...pickFields(plain, 'shared_runners_setting', 'max_artifacts_size'),
  custom_attributes: [
    list(object({ key: text, value: text })),
    (one) => one.custom_attributes ?? [],
    { when: (one) => one.custom_attributes !== undefined },
  ],
  ldap_cn: [nullable(text), () => null],
  ldap_access: [nullable(int), () => null],
  ...pickFields(plain, 'file_template_project_id'),
  marked_for_deletion_on: [nullable(day), (one) => one.marked_for_deletion_on],
  repository_storage: [text, () => 'default', { when: isViewerAdministrator }],
  ...pickFields(plain, 'wiki_access_level', 'assistant_features_enabled', 'lock_assistant_features_enabled'),
  ...pickFields(plain, 'assistant_availability', 'experiment_features_enabled', 'membership_lock'),
  // Plain fields without a fixed position.
  ...plain,
});

const canSeeSecrets = (row: GroupDetailRow): boolean => row.shows_secrets;
/** Visible to owners and administrators only. Source: reference identity-and-import 2.3. */
const isAdministeredByViewer = (row: GroupDetailRow): boolean => row.is_administered;
const plainDetail = createPlainPresenterFields<GroupDetailRow>()(GROUP_FIELDS, 'detail', {
  administering: canSeeSecrets,
  owners: isAdministeredByViewer,
  atTheTop: (one) => one.parent_id === null,
  administeringAtTheTop: (one) => one.shows_secrets && one.parent_id === null,
});

/** A single group. */
export const groupDetail = group.extend<GroupDetailRow>('GroupDetail').fields({
  shared_with_groups: [sharedWithGroups, (one) => one.shared_with_groups],
  runners_token: [nullable(text), (one) => one.runners_token, { when: canSeeSecrets }],
  ...pickFields(plainDetail, 'enabled_git_access_protocol', 'prevent_sharing_groups_outside_hierarchy'),
  ...pickFields(plainDetail, 'resource_access_token_creation_allowed', 'prevent_forking_outside_group'),
  ...pickFields(plainDetail, 'allowed_email_domains_list'),
  ip_restriction_ranges: [nullable(text), () => null, { when: isAdministeredByViewer }],
  ...plainDetail,
  projects: [list(nested(project)), (one) => one.projects ?? [], { when: (one) => one.projects !== undefined }],
  shared_projects: [
    list(nested(project)),
    (one) => one.shared_projects ?? [],
    { when: (one) => one.shared_projects !== undefined },
  ],
});
