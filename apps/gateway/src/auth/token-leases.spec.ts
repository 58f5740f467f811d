import { aHolder } from '../../test/support/fake-identity';
import { TokenLeases } from './token-leases';
import type { Lease } from './token-leases';

const lease = (over: Parameters<typeof aHolder>[0]): Lease => ({
  holder: aHolder(over),
  mark: { version: 1, epoch: 'e' },
  until: 0,
});

describe('TokenLeases', () => {
  it('is bounded: the longest unrenewed is dropped', () => {
    const leases = new TokenLeases(2);
    leases.keepLease('a', lease({ token_id: 1 }));
    leases.keepLease('b', lease({ token_id: 2 }));
    leases.keepLease('a', lease({ token_id: 1 }));
    leases.keepLease('c', lease({ token_id: 3 }));
    expect(['a', 'b', 'c'].filter((digest) => leases.findLease(digest))).toEqual(['a', 'c']);
    leases.dropToken(2);
    expect(leases.size).toBe(2);
  });

  it('drops by token, by user and by the impersonating administrator', () => {
    const leases = new TokenLeases(10);
    leases.keepLease('a', lease({ token_id: 1, user_id: 5 }));
    leases.keepLease('b', lease({ token_id: 2, user_id: 5 }));
    leases.keepLease('c', lease({ token_id: 3, user_id: 6, impersonator_id: 9 }));
    leases.dropToken(1);
    expect(leases.findLease('a')).toBeUndefined();
    leases.dropUser(5);
    expect(leases.findLease('b')).toBeUndefined();
    leases.keepLease('d', lease({ token_id: 4, user_id: 6, given_by_id: 9 }));
    leases.dropUser(8);
    expect(leases.size).toBe(2);
    leases.dropUser(9);
    expect(leases.size).toBe(0);
  });
});
