import fc from 'fast-check';
import { toPairs, readUrlEncoded } from './bracket-params';

const withPlainPrototypes = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

it.each([
  ['', {}],
  ['a=1&b=x+y%2Fz', { a: '1', b: 'x y/z' }],
  ['a=1&a=2', { a: '2' }],
  ['a&b=', { a: '', b: '' }],
  ['a[]=1&a[]=2', { a: ['1', '2'] }],
  ['a%5B%5D=1', { a: ['1'] }],
  ['a[k]=1&a[l]=2', { a: { k: '1', l: '2' } }],
  ['a[0][k]=1&a[0][v]=2&a[1][k]=3', { a: { 0: { k: '1', v: '2' }, 1: { k: '3' } } }],
  [
    'a[][k]=1&a[][v]=2&a[][k]=3&a[][v]=4',
    {
      a: [
        { k: '1', v: '2' },
        { k: '3', v: '4' },
      ],
    },
  ],
  ['a[][k][]=1&a[][k][]=2', { a: [{ k: ['1', '2'] }] }],
  ['a=1&a[b]=2', { a: { b: '2' } }],
  ['a[b=1', { 'a[b': '1' }],
  ['[a]=1', { '[a]': '1' }],
  ['not[labels]=x,y', { not: { labels: 'x,y' } }],
])('reads %p', (text, params) => expect(withPlainPrototypes(readUrlEncoded(text))).toEqual(params));

it('returns an object without a prototype', () => {
  const params = readUrlEncoded('__proto__[x]=1&constructor[prototype][y]=2');
  expect('toString' in params).toBe(false);
  expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  expect(({} as Record<string, unknown>)['y']).toBeUndefined();
});

it('refuses malformed escapes, deep nesting and too many pairs', () => {
  expect(() => readUrlEncoded('a=%zz')).toThrow('not encoded correctly');
  expect(() => readUrlEncoded(`a${'[b]'.repeat(40)}=1`)).toThrow('a is invalid');
  expect(() => readUrlEncoded('a=1&'.repeat(6000))).toThrow('too many parameters');
});

it('serializes parameters to pairs that parse to the same parameters', () => {
  const key = fc.stringMatching(/^[a-z_]{1,6}$/);
  const leaf = fc.string();
  const value = fc.oneof(leaf, fc.array(leaf, { minLength: 1 }), fc.dictionary(key, leaf, { minKeys: 1 }));
  fc.assert(
    fc.property(fc.dictionary(key, value), (params) => {
      const text = toPairs(params)
        .map((pair) => pair.map(encodeURIComponent).join('='))
        .join('&');
      expect(withPlainPrototypes(readUrlEncoded(text))).toEqual(withPlainPrototypes(params));
    }),
  );
});
