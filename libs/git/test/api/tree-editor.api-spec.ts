import { inQuarantine } from '../../src/objects/quarantine';
import { TreeEditor } from '../../src/objects/tree-editor';
import { writeBlobs } from '../../src/objects/write-objects';
import { EMPTY_TREE } from '../../src/names/object-id';
import type { ObjectId } from '../../src/names/object-id';
import type { Repository } from '../../src/repository/repository';
import { commit, git, TestGit } from '../support/repository';

const test = new TestGit();
afterAll(() => test.close());

/** Edits a tree. Returns the id of the result, whose objects are kept. */
function editTree(
  repository: Repository,
  tree: ObjectId | null,
  edit: (editor: TreeEditor, blob: ObjectId) => Promise<unknown>,
): Promise<ObjectId> {
  return inQuarantine(repository, async ({ repository: view, keep }) => {
    const [blob] = await writeBlobs(view, [Buffer.from('new')], 1000);
    const editor = await TreeEditor.openTree(view, tree);
    await edit(editor, blob!);
    const id = await editor.writeTree();
    await keep();
    return id;
  });
}

const listTree = (repository: Repository, tree: string): string[] =>
  git(repository.directory, [
    '-c',
    'core.quotePath=false',
    'ls-tree',
    '-r',
    '-z',
    '--format=%(objectmode) %(path)',
    tree,
  ])
    .split('\0')
    .filter((line) => line !== '');

it('puts and removes files at any depth, as git itself would write the trees', async () => {
  const repository = await test.create();
  const id = commit(repository, {
    a: '1',
    'a.b': '1',
    'a-b/x': '1',
    'dir/keep': '1',
    'dir/sub/only': '1',
    'ü/q': '1',
  });
  const tree = git(repository.directory, ['rev-parse', `${id}^{tree}`]).trim() as ObjectId;
  const made = await editTree(repository, tree, async (editor, blob) => {
    await editor.putEntry('a.c/deep/er/file', { mode: '100755', id: blob });
    await editor.putEntry('dir/keep', { mode: '100644', id: blob });
    expect(await editor.removeEntry('dir/sub/only')).toBe(true);
    expect(await editor.removeEntry('dir/none')).toBe(false);
    expect(await editor.removeEntry('a/x')).toBe(false);
    expect(await editor.removeEntry('a')).toBe(true);
    await editor.putEntry('a/now/folder', { mode: '100644', id: blob });
    expect(await editor.findEntry('a/now')).toMatchObject({ type: 'tree' });
    expect(await editor.findEntry('dir/keep')).toMatchObject({ type: 'blob', id: blob, mode: '100644' });
    expect(await editor.findEntry('dir/sub/only')).toBeNull();
  });
  expect(listTree(repository, made)).toEqual([
    '100644 a-b/x',
    '100644 a.b',
    '100755 a.c/deep/er/file',
    '100644 a/now/folder',
    '100644 dir/keep',
    '100644 ü/q',
  ]);
  expect(git(repository.directory, ['fsck', '--strict', '--no-dangling', made])).toBe('');
  const same = git(repository.directory, ['mktree', '-z'], git(repository.directory, ['ls-tree', '-z', made])).trim();
  expect(same).toBe(made);
});

it('finds no folder whose last file is removed, so that a file may take its place', async () => {
  const repository = await test.create();
  const id = commit(repository, { 'dir/sub/only': '1', 'dir/other/x': '1', 'dir/other/y': '1', keep: '1' });
  const tree = git(repository.directory, ['rev-parse', `${id}^{tree}`]).trim() as ObjectId;
  const made = await editTree(repository, tree, async (editor, blob) => {
    expect(await editor.removeEntry('dir/sub/only')).toBe(true);
    expect(await editor.findEntry('dir/sub')).toBeNull();
    expect(await editor.findEntry('dir')).toMatchObject({ type: 'tree' });
    await editor.putEntry('dir/sub', { mode: '100644', id: blob });
    expect(await editor.removeEntry('dir/other/x')).toBe(true);
    expect(await editor.findEntry('dir/other')).toMatchObject({ type: 'tree' });
    expect(await editor.removeEntry('dir/other/y')).toBe(true);
    expect(await editor.removeEntry('dir/sub')).toBe(true);
    expect(await editor.findEntry('dir')).toBeNull();
    await editor.putEntry('dir', { mode: '100644', id: blob });
    await expect(editor.putEntry('dir/x', { mode: '100644', id: blob })).rejects.toThrow('leads through a file');
  });
  expect(listTree(repository, made)).toEqual(['100644 dir', '100644 keep']);
});

it('leaves an unchanged tree as it is, and empties one', async () => {
  const repository = await test.create();
  const id = commit(repository, { 'x/a': '1' });
  const tree = git(repository.directory, ['rev-parse', `${id}^{tree}`]).trim() as ObjectId;
  expect(await editTree(repository, tree, (editor) => editor.findEntry('x/a'))).toBe(tree);
  expect(await editTree(repository, tree, (editor) => editor.removeEntry('x/a'))).toBe(EMPTY_TREE);
  expect(await editTree(repository, null, async () => undefined)).toBe(EMPTY_TREE);
});

it('keeps names that are not UTF-8, and modes of old histories', async () => {
  const repository = await test.create();
  const blob = git(repository.directory, ['hash-object', '-w', '--stdin'], 'x').trim();
  const raw = Buffer.concat([
    Buffer.from('100664 a\0'),
    Buffer.from(blob, 'hex'),
    Buffer.from('100644 \xff\xfe\0', 'latin1'),
    Buffer.from(blob, 'hex'),
  ]);
  const tree = git(repository.directory, ['hash-object', '-t', 'tree', '-w', '--stdin', '--literally'], raw).trim();
  const made = await editTree(repository, tree as ObjectId, (editor, id) =>
    editor.putEntry('b', { mode: '100644', id }),
  );
  const bytes = git(repository.directory, ['cat-file', 'tree', made], '', 'latin1');
  expect(bytes).toContain('100664 a\0');
  expect(bytes).toContain('100644 \xff\xfe\0');
});

it.each(['../x', '.git/config', 'a/.GIT', '/abs', '', 'a\\b', 'a/', '\ufffd', 'file/below'])(
  'refuses the path %j',
  async (path) => {
    const repository = await test.create();
    const id = commit(repository, { file: '1' });
    const tree = git(repository.directory, ['rev-parse', `${id}^{tree}`]).trim() as ObjectId;
    const attempt = editTree(repository, tree, (editor, blob) => editor.putEntry(path, { mode: '100644', id: blob }));
    await expect(attempt).rejects.toMatchObject({ reason: 'invalid' });
  },
);

it('refuses lists of submodules that fsck refuses', async () => {
  const repository = await test.create();
  const attempt = (mode: string, content: string) =>
    inQuarantine(repository, async ({ repository: view }) => {
      const [id] = await writeBlobs(view, [Buffer.from(content)], 1000);
      const editor = await TreeEditor.openTree(view, null);
      await editor.putEntry('.gitmodules', { mode, id: id! });
    });
  await expect(attempt('120000', 'x')).rejects.toMatchObject({ reason: 'invalid' });
  await expect(attempt('100644', '[submodule "x"]\n\turl = -u./payload\n')).rejects.toMatchObject({
    reason: 'invalid',
  });
  await expect(attempt('100644', '[submodule "x"]\n\turl = https://host/x\n')).resolves.toBeUndefined();
});

it('writes few objects in a large tree', async () => {
  const repository = await test.create();
  const files = Object.fromEntries(Array.from({ length: 3000 }, (_, n) => [`d${n % 300}/f${n}`, 'x']));
  const id = commit(repository, files);
  const tree = git(repository.directory, ['rev-parse', `${id}^{tree}`]).trim() as ObjectId;
  const before = Number(/count: (\d+)/.exec(git(repository.directory, ['count-objects', '-v']))![1]);
  await editTree(repository, tree, (editor, blob) => editor.putEntry('d7/new/file', { mode: '100644', id: blob }));
  const after = Number(/count: (\d+)/.exec(git(repository.directory, ['count-objects', '-v']))![1]);
  // The blob and three folders.
  expect(after - before).toBe(4);
});
