import type { Viewer } from '@rookery/kernel';
import { isSignedIn } from '@rookery/kernel';
import { likePattern, containsSql } from '@rookery/persistence';
import type { Filter } from '@rookery/persistence';

/**
 * Filter of all lists of users by a search text: part of the name or username, or an address. A result must not confirm
 * an address that its user does not show. So anonymous callers cannot search by address; other users find users by the
 * whole confirmed public address; administrators by any address, whole or in part. `userAlias` is an alias of users. An
 * empty text matches no user. Source: reference identity-and-import 10.1.
 */
export function createUserSearchFilter(
  viewer: Viewer,
  userAlias: string,
  addressesOfAdministrators: 'whole' | 'in part' = 'whole',
): Filter<string> {
  const names = [`${userAlias}.name`, `${userAlias}.username`];
  return (text, bind) => {
    if (text === '') return false;
    const pattern = bind(likePattern(text));
    if (viewer.isAdmin && addressesOfAdministrators === 'in part')
      return containsSql([...names, `${userAlias}.email`], pattern);
    return `(${containsSql(names, pattern)} or ${hasExactEmailAddressSql(viewer, userAlias, bind(text))})`;
  };
}

/**
 * SQL: the user has this address. The index on addresses is used first and once, independent of the other conditions.
 */
function hasExactEmailAddressSql(viewer: Viewer, person: string, address: string): string {
  if (!isSignedIn(viewer)) return 'false';
  const owns = `${person}.id in (select e.user_id from emails e where lower(e.email) = lower(${address})`;
  if (viewer.isAdmin) return `${owns})`;
  return `(lower(${person}.public_email) = lower(${address}) and ${owns} and e.confirmed_at is not null))`;
}
