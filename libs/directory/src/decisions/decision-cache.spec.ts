import { DecisionCache } from './decision-cache';

const head = { version: 7, epoch: 'e', recent: true, today: '2026-11-21' };

describe('cached decisions', () => {
  const cacheAt7 = (): DecisionCache<string> => {
    const cache = new DecisionCache<string>();
    cache.storeDecision('key', 'yes', head);
    return cache;
  };

  it('are returned at the position at which they were made', () => {
    expect(cacheAt7().findDecision('key', head)).toBe('yes');
    expect(cacheAt7().findDecision('other', head)).toBeUndefined();
  });

  it.each([
    ['version', { version: 8 }],
    ['former version', { version: 6 }],
    ['epoch', { epoch: 'f' }],
    ['day', { today: '2026-11-22' }],
  ])('are not returned at another %s', (_, over) => {
    expect(cacheAt7().findDecision('key', { ...head, ...over })).toBeUndefined();
  });

  it('are dropped for a decision at a later version, and kept when one at an older version arrives', () => {
    const cache = cacheAt7();
    cache.storeDecision('late', 'no', { ...head, version: 6 });
    expect([cache.findDecision('key', head), cache.hasDecision('late')]).toEqual(['yes', false]);
    cache.storeDecision('next', 'no', { ...head, version: 8 });
    expect(cache.hasDecision('key')).toBe(false);
  });

  it('are limited in number', () => {
    const cache = new DecisionCache<number>();
    for (let i = 0; i < 2500; i++) cache.storeDecision(`key ${i}`, i, head);
    expect([cache.hasDecision('key 499'), cache.hasDecision('key 500'), cache.findDecision('key 2499', head)]).toEqual([
      false,
      true,
      2499,
    ]);
  });
});
