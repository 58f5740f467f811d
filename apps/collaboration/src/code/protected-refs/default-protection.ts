import type { DirectoryBranchProtection } from '@rookery/contracts';
import { ACCESS_LEVELS } from '@rookery/kernel';
import { statement } from '@rookery/persistence';
import { DEFAULT_LEVEL } from './access-levels';

/** Setting of the nearest group that has one. Returns no row if no group has one. */
export const groupProtection = statement<{ projectId: number }, { readonly setting: DirectoryBranchProtection }>(
  'protected_branches_setting_of_groups',
  `select above.default_branch_protection as setting
   from directory_projects p join directory_namespaces home on home.id = p.namespace_id
     join directory_namespaces above on above.id = any(home.traversal_ids)
   where p.id = :projectId::bigint and above.default_branch_protection is not null
   order by cardinality(above.traversal_ids) desc limit 1`,
);

/** First rule of a project: levels of its default branch. */
export interface DefaultProtection {
  readonly pushLevels: readonly number[];
  readonly mergeLevels: readonly number[];
  readonly allowsForcePush: boolean;
}

/** Returns the first rule under a group's setting; null for no rule. Source: reference repositories 6.2. */
export function defaultProtection(setting: DirectoryBranchProtection | undefined): DefaultProtection | null {
  if (setting && isUnprotected(setting)) return null;
  return {
    pushLevels: normalizeAccessLevels(setting?.push_levels),
    mergeLevels: normalizeAccessLevels(setting?.merge_levels),
    allowsForcePush: setting?.allow_force_push ?? false,
  };
}

/** Whether developers may push to an empty repository under a group's setting. Source: reference repositories 6.2. */
export function canDevelopersMakeInitialPush(setting: DirectoryBranchProtection | undefined): boolean {
  if (!setting) return false;
  return setting.developer_can_initial_push || setting.push_levels.includes(ACCESS_LEVELS.developer);
}

/** Whether developers may push, merge and force push, as without a rule. */
function isUnprotected(setting: DirectoryBranchProtection): boolean {
  const { push_levels: push, merge_levels: merge, allow_force_push: isForceAllowed } = setting;
  return push.includes(ACCESS_LEVELS.developer) && merge.includes(ACCESS_LEVELS.developer) && isForceAllowed;
}

function normalizeAccessLevels(levels: readonly number[] = []): number[] {
  return levels.length === 0 ? [DEFAULT_LEVEL] : [...new Set(levels)].sort((a, b) => a - b);
}
