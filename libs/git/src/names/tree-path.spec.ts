import { isTreePath, isWritableTreePath } from './tree-path';

describe('a path in a tree', () => {
  it('is relative and has no odd parts', () => {
    for (const path of ['a', 'a/b', '-x', ' a', 'a\nb', '.gitignore', 'a.git', '...', 'git', 'git~x'])
      expect([path, isWritableTreePath(path)]).toEqual([path, true]);
    for (const path of [
      '',
      '/',
      '/a',
      'a/',
      'a//b',
      '.',
      '..',
      'a/../b',
      './a',
      'a\0',
      '\udc00',
      'a'.repeat(4097),
      Array(101).fill('a').join('/'),
    ])
      expect([path, isTreePath(path)]).toEqual([path, false]);
  });

  it('is not written if a file system takes it for .git', () => {
    for (const path of [
      '.git',
      'a/.GIT/b',
      '.Git',
      '.git ',
      '.git.',
      '.git. .',
      'git~1',
      'GIT~12',
      '.git:x',
      '.g\u200cit',
      '\ufeff.git',
      '.gi\u202at/config',
      'a\\b',
    ])
      expect([path, isWritableTreePath(path)]).toEqual([path, false]);
    expect(isTreePath('.git')).toBe(true);
  });
});
