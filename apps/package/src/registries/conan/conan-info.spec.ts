import { parseConanInfo } from './conan-info';

const NOTHING = { settings: {}, options: {}, requires: [], full_requires: [], recipe_hash: null };

it.each<[string, string, object]>([
  ['nothing', '', NOTHING],
  ['a value with an equals sign', '[options]\n a=b=c', { ...NOTHING, options: { a: 'b=c' } }],
  ['an empty value', '[settings]\nos=', { ...NOTHING, settings: { os: '' } }],
  ['lines that are no entry', '[settings]\nos\n=x\nos=Linux', { ...NOTHING, settings: { os: 'Linux' } }],
  ['lines before a section', 'os=Linux\n[requires]\na/1.0\r\n  b/2.0', { ...NOTHING, requires: ['a/1.0', 'b/2.0'] }],
  [
    'a section twice',
    '[requires]\na/1.0\n[options]\nx=1\n[requires]\nb/1.0',
    { ...NOTHING, options: { x: '1' }, requires: ['a/1.0', 'b/1.0'] },
  ],
  ['unknown sections', '[env]\na=b\n[recipe_hash]\n  77', { ...NOTHING, recipe_hash: '77' }],
])('reads %s', (_, text, expected) => {
  expect(parseConanInfo(text)).toEqual(expected);
});

it('keeps names of properties of all objects as plain names', () => {
  const { settings } = parseConanInfo('[settings]\n__proto__=x\nconstructor=y');
  expect(JSON.stringify(settings)).toBe('{"__proto__":"x","constructor":"y"}');
});
