import type { Viewer } from '@rookery/kernel';
import { isSignedIn } from '@rookery/kernel';
import { containing, partOf } from '@rookery/persistence';
import type { Filter } from '@rookery/persistence';

/**
 * What every list of people is searched by: a part of the name or username, or an address. Whether somebody is found
 * must not confirm an address that they do not show: anonymous callers find nobody by an address, others find people by
 * the whole of the confirmed address that these show to everybody, administrators by any, whole or in part.
 * Shape: `person` is an alias of users. An empty text asks for nothing. Source: reference identity-and-import 10.1.
 */
export function personSearch(
  viewer: Viewer,
  person: string,
  addressesOfAdministrators: 'whole' | 'in part' = 'whole',
): Filter<string> {
  const names = [`${person}.name`, `${person}.username`];
  return (text, bind) => {
    if (text === '') return false;
    const pattern = bind(containing(text));
    if (viewer.isAdmin && addressesOfAdministrators === 'in part')
      return partOf([...names, `${person}.email`], pattern);
    return `(${partOf(names, pattern)} or ${byWholeAddress(viewer, person, bind(text))})`;
  };
}

/** Addresses are looked up by their index first, and once, whatever else is searched. */
function byWholeAddress(viewer: Viewer, person: string, address: string): string {
  if (!isSignedIn(viewer)) return 'false';
  const owns = `${person}.id in (select e.user_id from emails e where lower(e.email) = lower(${address})`;
  if (viewer.isAdmin) return `${owns})`;
  return `(lower(${person}.public_email) = lower(${address}) and ${owns} and e.confirmed_at is not null))`;
}
