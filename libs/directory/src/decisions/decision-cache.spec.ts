import { DecisionCache } from './decision-cache';

const head = { version: 7, epoch: 'e', recent: true, today: '2026-11-21' };

describe('cached decisions', () => {
  const cacheAt7 = (): DecisionCache<string> => {
    const cache = new DecisionCache<string>();
    cache.put('key', 'yes', head);
    return cache;
  };

  it('are returned at the position at which they were made', () => {
    expect(cacheAt7().get('key', head)).toBe('yes');
    expect(cacheAt7().get('other', head)).toBeUndefined();
  });

  it.each([
    ['version', { version: 8 }],
    ['former version', { version: 6 }],
    ['epoch', { epoch: 'f' }],
    ['day', { today: '2026-11-22' }],
  ])('are not returned at another %s', (_, over) => {
    expect(cacheAt7().get('key', { ...head, ...over })).toBeUndefined();
  });

  it('are dropped for a decision at a later version, and kept when one at an older version arrives', () => {
    const cache = cacheAt7();
    cache.put('late', 'no', { ...head, version: 6 });
    expect([cache.get('key', head), cache.has('late')]).toEqual(['yes', false]);
    cache.put('next', 'no', { ...head, version: 8 });
    expect(cache.has('key')).toBe(false);
  });

  it('are limited in number', () => {
    const cache = new DecisionCache<number>();
    for (let i = 0; i < 2500; i++) cache.put(`key ${i}`, i, head);
    expect([cache.has('key 499'), cache.has('key 500'), cache.get('key 2499', head)]).toEqual([false, true, 2499]);
  });
});
