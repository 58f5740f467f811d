import { findBlob } from '../../src/objects/objects';
import { readSortedTreeRecursively, readSortedTree } from '../../src/objects/sorted-tree';
import { findTree, listTree, readEntry } from '../../src/objects/trees';
import { commit, git, TestGit } from '../support/repository';

const test = new TestGit();
afterAll(() => test.close());

const NAMES = ['z', 'a/b/c', 'a.b', 'a/x', 'a-b/y', 'ü/"q"', 'dir/with\nline', 'dir/.hidden', 'a b/ '];

it('sorts folders before files, and keeps the order of git', async () => {
  const repository = await test.create();
  const id = commit(repository, Object.fromEntries(NAMES.map((name) => [name, name])));
  const tree = (await findTree(repository, id, ''))!;
  const all = await listTree(repository, { id, isRecursive: true });
  const expected = ['tree', 'blob'].flatMap((type) => all.filter((entry) => entry.type === type));
  const listed = await readSortedTreeRecursively(repository, tree);
  expect(listed.readEntries(0)).toEqual(expected.map((entry) => ({ ...entry, size: null })));
  expect(listed.readEntries(3, 5)).toEqual(listed.readEntries(0).slice(3, 5));
  const top = await listTree(repository, { id, isRecursive: false });
  const sorted = ['tree', 'blob'].flatMap((type) => top.filter((entry) => entry.type === type));
  expect((await readSortedTree(repository, tree))!.readEntries(0)).toEqual(
    sorted.map((entry) => ({ ...entry, size: null })),
  );
  expect((await readSortedTree(repository, id))?.length).toBeUndefined();
});

it('continues after each key, also if its entry is gone', async () => {
  const repository = await test.create();
  const id = commit(repository, Object.fromEntries(NAMES.map((name) => [name, name])));
  const rest = NAMES.filter((name) => name !== 'a/x');
  const without = commit(repository, Object.fromEntries(rest.map((name) => [name, name])));
  const listed = await readSortedTreeRecursively(repository, (await findTree(repository, id, ''))!);
  for (let index = 0; index < listed.length; index += 1) expect(listed.indexAfter(listed.keyAt(index))).toBe(index + 1);
  const place = listed.readEntries(0).findIndex(({ path }) => path === 'a/x');
  const changed = await readSortedTreeRecursively(repository, (await findTree(repository, without, ''))!);
  expect(changed.readEntries(changed.indexAfter(listed.keyAt(place)))).toEqual(listed.readEntries(place + 1));
});

it('finds the entry of a path with its mode', async () => {
  const repository = await test.create();
  const id = commit(repository, { 'a foo': '1', foo: '2', 'dir/foo': '3', 'dir/x foo': '4' });
  for (const [path, content] of [
    ['a foo', '1'],
    ['foo', '2'],
    ['dir/foo', '3'],
    ['dir/x foo', '4'],
  ] as const) {
    const entry = await readEntry(repository, id, path);
    expect(entry).toEqual({ mode: '100644', type: 'blob', path, size: null, id: expect.any(String) });
    expect(git(repository.directory, ['cat-file', 'blob', entry!.id])).toBe(content);
  }
  expect((await readEntry(repository, id, 'dir'))?.type).toBe('tree');
  for (const path of ['x foo', 'oo', 'dir/none', 'none/x', 'foo/x'])
    expect(await readEntry(repository, id, path)).toBeNull();
});

it('finds blobs by abbreviated ids', async () => {
  const repository = await test.create();
  const id = commit(repository, { a: 'content' });
  const blob = git(repository.directory, ['rev-parse', `${id}:a`]).trim();
  for (const text of [blob, blob.slice(0, 7)])
    expect(await findBlob(repository, text)).toEqual({ id: blob, type: 'blob', size: 7 });
  git(repository.directory, ['update-ref', `refs/heads/${blob.slice(0, 6)}`, id]);
  for (const text of [id, id.slice(0, 7), 'main', '-x', `${blob}:`, 'abc', '0'.repeat(40)])
    expect(await findBlob(repository, text)).toBeNull();
});
