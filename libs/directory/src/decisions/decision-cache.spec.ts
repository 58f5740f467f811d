import { DecisionCache } from './decision-cache';

const head = { version: 7, epoch: 'e', recent: true, today: '2026-11-21' };

describe('decisions that are kept', () => {
  const cacheAt7 = (): DecisionCache<string> => {
    const cache = new DecisionCache<string>();
    cache.put('key', 'yes', head);
    return cache;
  };

  it('serve the very state at which they were made', () => {
    expect(cacheAt7().get('key', head)).toBe('yes');
    expect(cacheAt7().get('other', head)).toBeUndefined();
  });

  it.each([
    ['version', { version: 8 }],
    ['former version', { version: 6 }],
    ['epoch', { epoch: 'f' }],
    ['day', { today: '2026-11-22' }],
  ])('serve no other %s', (_, over) => {
    expect(cacheAt7().get('key', { ...head, ...over })).toBeUndefined();
  });

  it('go when one of a later state comes, and stay when one of an older state comes late', () => {
    const cache = cacheAt7();
    cache.put('late', 'no', { ...head, version: 6 });
    expect([cache.get('key', head), cache.has('late')]).toEqual(['yes', false]);
    cache.put('next', 'no', { ...head, version: 8 });
    expect(cache.has('key')).toBe(false);
  });

  it('stay few', () => {
    const cache = new DecisionCache<number>();
    for (let i = 0; i < 2500; i++) cache.put(`key ${i}`, i, head);
    expect([cache.has('key 499'), cache.has('key 500'), cache.get('key 2499', head)]).toEqual([false, true, 2499]);
  });
});
