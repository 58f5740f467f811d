import type { GroupScope } from '@rookery/api-v4';
import { ability } from '@rookery/api-v4';
import { InstanceSettings } from '@rookery/instance';
import { ACCESS_LEVELS, Refused } from '@rookery/kernel';

/**
 * Permission of all routes below a group: administrators, and owners if the instance setting allows it. Source:
 * requirements 2 §5; reference identity-and-import 5.
 */
export const abilityToManageServiceAccounts = <P extends object>() =>
  ability<P, GroupScope>(
    'service_account.manage',
    ({ viewer, within }, services) => {
      if (viewer.isAdmin) return true;
      const isForOwners = services
        .get(InstanceSettings)
        .setting('allow_top_level_group_owners_to_create_service_accounts');
      return isForOwners && within.level >= ACCESS_LEVELS.owner;
    },
    { signedIn: true },
  );

/**
 * Returns the id of a group that can have service accounts. Errors: Refused for a subgroup. Source: reference
 * identity-and-import 5.
 */
export function requireTopLevelGroupId(group: GroupScope): number {
  if (group.parentId !== null) throw new Refused('Group must be a top-level group');
  return group.id;
}
