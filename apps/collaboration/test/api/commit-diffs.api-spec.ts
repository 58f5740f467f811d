import type { Repository } from '@rookery/git';
import type { Viewer } from '@rookery/kernel';
import { registerListPagingTests } from '@rookery/testing';
import type { SeededService } from '@rookery/testing';
import { DIFF_LIMITS } from '../../src/code/commits/diffs/diff-limits';
import { readDiff } from '../../src/code/commits/diffs/read-diffs';
import { ProjectRepositories } from '../../src/code/repositories/project-repositories';
import { startCollaboration } from '../support/app';
import { commitFiles, gitIn } from '../support/commits-fixture';

let service: SeededService;
let reader: Viewer;
let many: string;

beforeAll(async () => {
  service = await startCollaboration();
  reader = service.seed.viewer(await service.seed.user());
  const { repository, path } = await place();
  commitFiles(repository, Object.fromEntries(Array.from({ length: 7 }, (_, index) => [`f${index}`, `${index}\n`])));
  many = `${path}/main/diff`;
});
afterAll(() => service.close());

async function place(): Promise<{ repository: Repository; path: string }> {
  const { id } = await service.seed.project();
  const repository = await service.app.get(ProjectRepositories).openRepository({ id, defaultBranch: 'main' });
  return { repository, path: `/api/v4/projects/${id}/repository/commits` };
}

async function diffOf(path: string, query: object = {}): Promise<Record<string, unknown>[]> {
  const { status, body } = await service.app.as(reader).get(`${path}/diff`).query(query);
  expect(status).toBe(200);
  return body as Record<string, unknown>[];
}

const PLAIN = { collapsed: false, too_large: false, generated_file: false };
const CHANGED = { ...PLAIN, new_file: false, renamed_file: false, deleted_file: false };
const lines = (count: number): string => Array.from({ length: count }, (_, index) => `line ${index}\n`).join('');
const diffPaths = (path: string) => ({ new_path: path, old_path: path });

it('shows each kind of change', async () => {
  const { repository, path } = await place();
  commitFiles(repository, {
    changed: 'one\ntwo\n',
    gone: 'gone\n',
    'old name': lines(20),
    bin: Buffer.from([0, 1]),
    run: 'run\n',
    latin: Buffer.from('f\xfcr\n', 'latin1'),
    target: 'target',
  });
  const id = commitFiles(repository, {
    changed: 'one\nzwei ü',
    'wörk "x"': '',
    'new\tname': `${lines(20)}end\n`,
    bin: Buffer.from([0, 2]),
    run: { mode: '100755', content: 'run\n' },
    latin: Buffer.from('f\xfcnf\n', 'latin1'),
    target: { mode: '120000', content: 'target' },
  });
  const normal = { a_mode: '100644', b_mode: '100644' };
  expect(await diffOf(`${path}/${id}`)).toEqual([
    { ...CHANGED, ...normal, ...diffPaths('bin'), diff: 'Binary files a/bin and b/bin differ\n' },
    {
      ...CHANGED,
      ...normal,
      ...diffPaths('changed'),
      diff: '@@ -1,2 +1,2 @@\n one\n-two\n+zwei ü\n\\ No newline at end of file\n',
    },
    {
      ...CHANGED,
      ...diffPaths('gone'),
      a_mode: '100644',
      b_mode: '0',
      deleted_file: true,
      diff: '@@ -1 +0,0 @@\n-gone\n',
    },
    { ...CHANGED, ...normal, ...diffPaths('latin'), diff: '@@ -1 +1 @@\n-f\ufffdr\n+f\ufffdnf\n' },
    {
      ...CHANGED,
      ...normal,
      old_path: 'old name',
      new_path: 'new\tname',
      renamed_file: true,
      diff: '@@ -18,3 +18,4 @@ line 16\n line 17\n line 18\n line 19\n+end\n',
    },
    { ...CHANGED, ...diffPaths('run'), a_mode: '100644', b_mode: '100755', diff: '' },
    {
      ...CHANGED,
      ...diffPaths('target'),
      ...{ a_mode: '100644', b_mode: '0', deleted_file: true },
      diff: '@@ -1 +0,0 @@\n-target\n\\ No newline at end of file\n',
    },
    {
      ...CHANGED,
      ...diffPaths('target'),
      ...{ a_mode: '0', b_mode: '120000', new_file: true },
      diff: '@@ -0,0 +1 @@\n+target\n\\ No newline at end of file\n',
    },
    { ...CHANGED, ...diffPaths('wörk "x"'), a_mode: '0', b_mode: '100644', new_file: true, diff: '' },
  ]);
  const unified = await diffOf(`${path}/${id}`, { unidiff: true });
  expect(unified.map(({ diff }) => String(diff).split('\n').slice(0, 2))).toEqual([
    ['Binary files a/bin and b/bin differ', ''],
    ['--- a/changed', '+++ b/changed'],
    ['--- a/gone', '+++ /dev/null'],
    ['--- a/latin', '+++ b/latin'],
    ['--- a/old name\t', '+++ "b/new\\tname"'],
    [''],
    ['--- a/target', '+++ /dev/null'],
    ['--- /dev/null', '+++ b/target'],
    [''],
  ]);
});

it('compares the first commit with nothing and a merge with its first parent', async () => {
  const { repository, path } = await place();
  const root = commitFiles(repository, { a: 'a\n' });
  const side = commitFiles(repository, { a: 'a\n', b: 'b\n' }, { branch: 'side', parents: [root] });
  const main = commitFiles(repository, { a: 'main\n' });
  const merge = commitFiles(repository, { a: 'main\n', b: 'b\n' }, { parents: [main, side] });
  const empty = commitFiles(repository, { a: 'main\n', b: 'b\n' });
  const paths = async (name: string) => (await diffOf(`${path}/${name}`)).map((file) => file['new_path']);
  expect(await paths(root)).toEqual(['a']);
  expect(await paths(merge)).toEqual(['b']);
  expect(await paths('side')).toEqual(['b']);
  expect(await paths(empty)).toEqual([]);
  const bad = await service.app.as(reader).get(`${path}/${root}/diff?unidiff=x`);
  expect([bad.status, bad.body]).toEqual([400, { error: 'unidiff is invalid' }]);
});

it('shows submodules by the commits that they name', async () => {
  const { repository, path } = await place();
  const id = 'a'.repeat(40);
  const tree = gitIn(repository, ['mktree', '--missing'], `160000 commit ${id}\tmodule\n`);
  const commit = gitIn(repository, ['commit-tree', tree, '-m', 'm']);
  expect(await diffOf(`${path}/${commit}`)).toEqual([
    expect.objectContaining({ b_mode: '160000', new_file: true, diff: `@@ -0,0 +1 @@\n+Subproject commit ${id}\n` }),
  ]);
});

it('leaves out large patches, and shows pages with much text', async () => {
  const { repository, path } = await place();
  const large = 'x'.repeat(199 * 1024);
  commitFiles(repository, { a: `${'x'.repeat(201 * 1024)}\n`, b: large, c: large, d: large, e: 'e\n' });
  const files = await diffOf(`${path}/main`);
  expect(files.map((file) => [file['new_path'], file['too_large'], String(file['diff']).length > 0])).toEqual([
    ['a', true, false],
    ['b', false, true],
    ['c', false, true],
    ['d', false, true],
    ['e', false, true],
  ]);
});

describe('a page', () => {
  registerListPagingTests(() => ({
    app: service.app,
    viewer: reader,
    path: many,
    query: { unidiff: true },
    rows: 7,
    key: (row) => row['new_path'],
  }));
});

describe('the limits of a whole diff', () => {
  const read = async (files: Record<string, string>, limits: object, isCollapsing = false) => {
    const { repository } = await place();
    const newId = commitFiles(repository, files);
    const options = { limits: { ...DIFF_LIMITS, ...limits }, isCollapsing, isUnified: false };
    const { files: found, isCut } = await readDiff(repository, { oldId: null, newId }, options);
    return [isCut, ...found.map(({ change, state, text }) => [change.newPath, state, text.length > 0])];
  };
  const four = { a: lines(3), b: lines(3), c: lines(3), d: lines(3) };
  const shown = (...names: string[]) => names.map((name) => [name, 'shown', true]);
  const without = (state: string, ...names: string[]) => names.map((name) => [name, state, false]);

  it('are those of files, lines and bytes', async () => {
    expect(await read(four, {})).toEqual([false, ...shown('a', 'b', 'c', 'd')]);
    expect(await read(four, { files: 4 })).toEqual([false, ...shown('a', 'b', 'c', 'd')]);
    expect(await read(four, { files: 2 })).toEqual([true, ...shown('a', 'b')]);
    expect(await read(four, { lines: 20 })).toEqual([true, ...shown('a', 'b'), ...without('too large', 'c', 'd')]);
    expect(await read(four, { lines: 20, files: 3 })).toEqual([true, ...shown('a', 'b'), ...without('too large', 'c')]);
    expect(await read(four, { bytes: 200 })).toEqual([true, ...shown('a'), ...without('too large', 'b', 'c', 'd')]);
    expect(await read({ ...four, b: lines(100) }, { fileBytes: 300 })).toEqual([
      false,
      ...shown('a'),
      ...without('too large', 'b'),
      ...shown('c', 'd'),
    ]);
  });

  it('collapse from a tenth of each on', async () => {
    expect(await read(four, { files: 20 }, true)).toEqual([
      false,
      ...shown('a', 'b'),
      ...without('collapsed', 'c', 'd'),
    ]);
    expect(await read(four, { lines: 200 }, true)).toEqual([
      false,
      ...shown('a', 'b'),
      ...without('collapsed', 'c', 'd'),
    ]);
    expect(await read({ ...four, b: lines(100) }, { fileBytes: 3000 }, true)).toEqual([
      false,
      ...shown('a'),
      ...without('collapsed', 'b'),
      ...shown('c', 'd'),
    ]);
  });
});
