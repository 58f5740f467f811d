import type { GroupScope } from '@rookery/api-v4';
import { ability } from '@rookery/api-v4';
import { ACCESS_LEVELS, Refused } from '@rookery/kernel';
import type { SettingsOf } from '@rookery/platform';
import { identitySettings } from '../identity.config';

/**
 * The permission of every route below a group: administrators, and owners where the instance leaves it to them.
 * Source: requirements 2 §5; reference identity-and-import 5.
 */
export const managesServiceAccounts = <P extends object>() =>
  ability<P, GroupScope>(
    'service_account.manage',
    ({ viewer, within }, services) => {
      const settings = services.get<SettingsOf<typeof identitySettings>>(identitySettings.token);
      return viewer.isAdmin || (settings.ownersManageServiceAccounts && within.level >= ACCESS_LEVELS.owner);
    },
    { signedIn: true },
  );

/**
 * The id of a group that can have service accounts. Errors: Refused for a subgroup.
 * Source: reference identity-and-import 5.
 */
export function topLevel(group: GroupScope): number {
  if (group.parentId !== null) throw new Refused('Group must be a top-level group');
  return group.id;
}
