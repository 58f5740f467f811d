import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { isRefName, isValidBranchOrTagName, isValidRefFormat, refName } from './ref-name';

/** Parts that meet the rules of git often. */
const PIECES = [
  'a',
  'refs',
  'heads',
  '/',
  '//',
  '.',
  '..',
  '.lock',
  '@',
  '@{',
  '-',
  ' ',
  '~',
  '^',
  ':',
  '?',
  '*',
  '[',
  '\\',
  '\t',
  '\n',
  '\x7f',
  'ü',
  '🐦',
  'HEAD',
  '{',
  '}',
  ']',
  'lock',
  '\u00a0',
];
const names = fc.oneof(
  fc.array(fc.constantFrom(...PIECES), { maxLength: 8 }).map((parts) => parts.join('')),
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.string({ maxLength: 12 }),
);

describe('a ref name', () => {
  it('is valid if git says so', () => {
    fc.assert(
      fc.property(names, (name) => {
        fc.pre(!name.includes('\0'));
        const { status } = spawnSync('git', ['check-ref-format', `refs/${name}`]);
        expect({ name, isValid: isValidRefFormat(`refs/${name}`) }).toEqual({ name, isValid: status === 0 });
      }),
      { numRuns: 400 },
    );
  });

  it('holds no NUL and no half of a character, and has a bound', () => {
    for (const name of ['refs/a\0b', 'refs/\ud800', `refs/${'a'.repeat(251)}`, `refs/${'ü'.repeat(126)}`])
      expect(isRefName(name)).toBe(false);
    expect(isRefName(`refs/${'a'.repeat(250)}`)).toBe(true);
  });

  it('is full: HEAD, or below refs/', () => {
    for (const name of ['HEAD', 'refs/heads/main', 'refs/heads/-x', 'refs/heads/HEAD/x', 'refs/heads/@'])
      expect(refName(name)).toBe(name);
    for (const name of ['main', 'refs', 'refs/', 'head', '-x', '', 'FETCH_HEAD', 'a/b', '/refs/x'])
      expect(() => refName(name)).toThrow('invalid');
  });

  it('does not stand in for a missing ref', () => {
    for (const name of ['refs/heads/main', 'HEAD'])
      for (const rule of ['refs/', 'refs/tags/', 'refs/heads/', 'refs/remotes/'])
        expect([rule + name, isRefName(rule + name)]).toEqual([rule + name, false]);
    for (const name of ['refs/remotes/HEAD/HEAD', 'refs/remotes/refs/heads/main/HEAD'])
      expect(isRefName(name)).toBe(false);
  });

  it('is short for a new branch unless it can be mistaken', () => {
    const id = 'a'.repeat(40);
    for (const name of ['main', 'feature/x', 'ü', 'a'.repeat(39), `${id}a`, `x/${id}`])
      expect([name, isValidBranchOrTagName(name)]).toEqual([name, true]);
    for (const name of [
      '-x',
      'HEAD',
      '@',
      id,
      `${id}/x`,
      `${id}-/x`,
      'refs/heads/x',
      'refs/tags/x',
      'a..b',
      'x.lock',
      '',
      'a b',
    ])
      expect([name, isValidBranchOrTagName(name)]).toEqual([name, false]);
  });
});
