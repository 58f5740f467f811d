import type { TreeEntry } from '@rookery/git';
import { filesOfGoModule } from './go-module-files';

const entry = (path: string, over: Partial<TreeEntry> = {}): TreeEntry => ({
  ...{ path, mode: '100644', type: 'blob', id: path.padEnd(40, '0') as TreeEntry['id'], size: 1 },
  ...over,
});
const goModuleFileNames = (paths: readonly (string | TreeEntry)[], folder = ''): readonly string[] | null => {
  const entries = paths.map((path) => (typeof path === 'string' ? entry(path) : path));
  return filesOfGoModule(entries, folder)?.map(({ name }) => name) ?? null;
};

test('a module has regular files only', () => {
  const others = [
    entry('link', { mode: '120000' }),
    entry('sub', { mode: '160000' }),
    entry('dir', { mode: '040000' }),
  ];
  expect(goModuleFileNames(['go.mod', entry('run.sh', { mode: '100755' }), ...others])).toEqual(['go.mod', 'run.sh']);
});

test('nested modules and vendored packages are left out', () => {
  expect(
    goModuleFileNames([
      'a/b.go',
      'a/go.mod',
      'a/c/d.go',
      'ab/e.go',
      'go.mod',
      'vendor/modules.txt',
      'vendor/x/y.go',
      'v/vendor/z/w.go',
    ]),
  ).toEqual(['ab/e.go', 'go.mod', 'vendor/modules.txt']);
});

test('a folder has its own files, and the licence of the repository if it has none', () => {
  const paths = ['LICENSE', 'go.mod', 'sub/a.go', 'sub/go.mod', 'sub/in/go.mod', 'subother/b.go'];
  expect(goModuleFileNames(paths, 'sub')).toEqual(['a.go', 'go.mod', 'LICENSE']);
  expect(goModuleFileNames([...paths, 'sub/LICENSE'], 'sub')).toEqual(['a.go', 'go.mod', 'LICENSE']);
  expect(
    filesOfGoModule(
      [...paths, 'sub/LICENSE'].map((path) => entry(path)),
      'sub',
    )!.at(-1)!.id,
  ).toMatch(/^sub.LICENSE/);
});

test.each([
  ['names that differ in case only', ['A.go', 'a.go']],
  ['a name that Windows reserves', ['aux.go']],
  ['a name that ends with a dot', ['a.']],
  ['a name with a colon', ['a:b']],
  ['a name that is no UTF-8', ['a\ufffd']],
  ['a go.mod that is too large', [entry('go.mod', { size: 16 * 1024 * 1024 + 1 })]],
  ['files that are too large together', [1, 2].map((n) => entry(`f${n}`, { size: 251 * 1024 * 1024 }))],
])('a module with %s is refused', (_, paths) => expect(goModuleFileNames(paths)).toBeNull());

test('names of all languages are accepted', () => {
  expect(goModuleFileNames(['größe.go', '日本.go', 'a b~[x].txt'])).toHaveLength(3);
});
