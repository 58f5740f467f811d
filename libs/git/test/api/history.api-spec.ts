import { listChangesWithLineCounts, readHunks, readPatches, readPatchId } from '../../src/history/diffs';
import type { PatchQuery } from '../../src/history/diffs';
import {
  blameFile,
  countCommits,
  countDivergingCommits,
  listCommits,
  listContributors,
  readCommits,
  readCommitLineCounts,
} from '../../src/history/history';
import type { ObjectId } from '../../src/names/object-id';
import { listTree, readTree } from '../../src/objects/trees';
import type { Repository } from '../../src/repository/repository';
import { commit, git, TestGit } from '../support/repository';

const test = new TestGit();
afterAll(() => test.close());

const PAGE = { skip: 0, max: 20 };
const ODD = ['tab\there', 'new\nline', '"quoted"', '-dash', ' blank', 'wörk', 'a => b', 'back\\slash', ':(glob)*'];

describe('lists of commits', () => {
  it('are pages, by path, author, date and range', async () => {
    const repository = await test.create();
    const ids: ObjectId[] = [];
    for (let index = 0; index < 5; index += 1)
      ids.push(commit(repository, { 'x/a': String(index % 2), [`f${index}`]: 'f' }, { message: `Commit ${index}` }));
    const from = [ids[4]!];
    const titles = async (query: object) =>
      (await listCommits(repository, { from, ...PAGE, ...query })).map(({ message }) => Number(message.split(' ')[1]));
    expect(await titles({})).toEqual([4, 3, 2, 1, 0]);
    expect(await titles({ skip: 1, max: 2 })).toEqual([3, 2]);
    expect(await titles({ skip: 1, max: 2, isReversed: true })).toEqual([2, 3]);
    expect(await titles({ notFrom: [ids[2]!] })).toEqual([4, 3]);
    expect(await titles({ path: 'f3' })).toEqual([4, 3]);
    expect(await titles({ path: 'x' })).toHaveLength(5);
    expect(await titles({ author: 'WREN@' })).toHaveLength(5);
    expect(await titles({ author: 'W.en' })).toEqual([]);
    expect(await titles({ since: 1_700_000_000, until: 1_700_000_000 })).toHaveLength(5);
    expect(await titles({ since: 1_700_000_001 })).toEqual([]);
    expect(await titles({ from: 'all refs' })).toHaveLength(5);
    expect(await countCommits(repository, { from, max: 3 })).toBe(3);
    expect(await countDivergingCommits(repository, ids[1]!, ids[4]!, 100)).toEqual({ left: 0, right: 3 });
    await expect(listCommits(repository, { from: ['a'.repeat(40) as ObjectId], ...PAGE })).rejects.toMatchObject({
      reason: 'not found',
    });
  });

  it.each([
    { from: ['--all'] },
    { from: [] },
    { path: '../x' },
    { path: '' },
    { author: 'a\nb' },
    { skip: -1 },
    { max: 1.5 },
    { since: NaN },
  ])('refuse %j', async (query) => {
    const repository = await test.create();
    const id = commit(repository, { a: 'a' });
    await expect(listCommits(repository, { from: [id], ...PAGE, ...query } as never)).rejects.toMatchObject({
      reason: 'invalid',
    });
  });

  it('are bounded in bytes', async () => {
    const repository = await test.create();
    const id = commit(repository, { a: 'a' }, { message: 'x'.repeat(9 * 2 ** 20) });
    expect(await readCommits(repository, [id])).toHaveLength(1);
    await expect(readCommits(repository, Array<ObjectId>(8).fill(id))).rejects.toMatchObject({ reason: 'too large' });
  });

  it('decode the encoding of a commit', async () => {
    const repository = await test.create();
    const tree = git(repository.directory, ['rev-parse', `${commit(repository, { a: 'a' })}^{tree}`]).trim();
    const raw = `tree ${tree}\nauthor J\xfcrgen <j@x> 1700000000 -0130\ncommitter <> 0 +0000\nencoding ISO-8859-1\n\nGr\xfc\xdfe\n`;
    const id = git(
      repository.directory,
      ['hash-object', '-t', 'commit', '-w', '--stdin'],
      Buffer.from(raw, 'latin1'),
    ).trim() as ObjectId;
    const [found] = await listCommits(repository, { from: [id], ...PAGE });
    expect(found).toMatchObject({
      message: 'Grüße\n',
      author: { name: 'Jürgen', email: 'j@x', offsetMinutes: -90 },
      committer: { name: '', email: '' },
    });
  });
});

describe('signatures', () => {
  it('are read with all their lines', async () => {
    const repository = await test.create();
    const tree = git(repository.directory, ['rev-parse', `${commit(repository, { a: 'a' })}^{tree}`]).trim();
    const armor = '-----BEGIN PGP SIGNATURE-----\n\nabc=\n-----END PGP SIGNATURE-----';
    const header = `gpgsig ${armor.replaceAll('\n', '\n ')}`;
    const raw = (signed: string) => `tree ${tree}\nauthor W <w@x> 1 +0000\ncommitter W <w@x> 1 +0000\n${signed}\nm\n`;
    const write = (text: string) =>
      git(repository.directory, ['hash-object', '-t', 'commit', '-w', '--stdin'], text).trim() as ObjectId;
    const [signed] = await listCommits(repository, { from: [write(raw(`${header}\n`))], ...PAGE });
    expect(signed).toMatchObject({ signature: armor, message: 'm\n' });
    const [plain] = await listCommits(repository, { from: [write(raw(''))], ...PAGE });
    expect(plain).toMatchObject({ signature: null, message: 'm\n' });
  });
});

describe('numbers of lines', () => {
  it('count a root commit against nothing and a merge against its first parent', async () => {
    const repository = await test.create();
    const root = commit(repository, { a: 'one\ntwo\n', bin: Buffer.from([0]) });
    const side = commit(repository, { a: 'one\ntwo\n', b: 'b\n' }, { branch: 'side', parents: [root] });
    const main = commit(repository, { a: 'one\nnew\n', bin: Buffer.from([0]) });
    const merged = { a: 'one\nnew\n', b: 'b\n', bin: Buffer.from([0]) };
    const merge = commit(repository, merged, { parents: [main, side] });
    const empty = commit(repository, merged, { message: 'nothing' });
    const counts = await readCommitLineCounts(repository, [empty, merge, main, root, merge]);
    expect(Object.fromEntries(counts)).toEqual({
      [root]: { additions: 2, deletions: 0 },
      [main]: { additions: 1, deletions: 1 },
      [merge]: { additions: 1, deletions: 0 },
      [empty]: { additions: 0, deletions: 0 },
    });
    expect(await readCommitLineCounts(repository, [])).toEqual(new Map());
    await expect(readCommitLineCounts(repository, ['a'.repeat(40) as ObjectId])).rejects.toMatchObject({
      reason: 'not found',
    });
  });
});

describe('patches of files', () => {
  const NOTHING_OF_GIT = 'x\ndiff --git a/x b/x\n@@ -1 +1 @@\n';
  const read = async (repository: Repository, query: PatchQuery) => {
    const found: [string, string, string | null][] = [];
    await readPatches(repository, query, ({ change, patch }) => {
      found.push([change.newPath, change.status, patch?.toString() ?? null]);
      return true;
    });
    return found;
  };

  it('belong to their files, whatever names and texts contain', async () => {
    const repository = await test.create();
    const names = [...ODD, 'x\ndiff --git a/y b/y'];
    const lines = Array.from({ length: 20 }, (_, index) => `line ${index}\n`).join('');
    const before = { ...Object.fromEntries(names.map((name) => [name, `${name}\n`])), old: lines };
    const oldId = commit(repository, { ...before, bin: Buffer.from([0, 1]), gone: 'g\n' });
    const after = {
      ...Object.fromEntries(names.map((name) => [name, NOTHING_OF_GIT + name])),
      'new\n': `${lines}end\n`,
    };
    const newId = commit(repository, { ...after, bin: Buffer.from([0, 2]), empty: '' });
    const found = await read(repository, { oldId, newId, maxFileBytes: 100_000 });
    const changes = await listChangesWithLineCounts(repository, { oldId, newId });
    expect(found.map(([path]) => path)).toEqual(changes.map(({ newPath }) => newPath));
    const patchOf = (path: string) => found.find(([name]) => name === path)![2]!;
    for (const name of names) {
      expect(patchOf(name)).toContain('+diff --git a/x b/x\n');
      expect(patchOf(name).endsWith('\\ No newline at end of file\n')).toBe(true);
      expect(patchOf(name).match(/^diff --git /gm)).toHaveLength(1);
    }
    expect(patchOf('bin').endsWith('\nBinary files a/bin and b/bin differ\n')).toBe(true);
    expect(patchOf('empty')).toContain('\nnew file mode 100644\n');
    expect(patchOf('gone')).toContain('\n-g\n');
    expect(patchOf('new\n')).toContain('\n+end\n');
    expect(await read(repository, { oldId: newId, newId, maxFileBytes: 1 })).toEqual([]);
  });

  it('are left out above the bound, and the next one is whole', async () => {
    const repository = await test.create();
    const large = Array.from({ length: 100_000 }, (_, index) => `line ${index}\n`).join('');
    const newId = commit(repository, { a: 'small\n', b: large, c: 'small too\n' });
    const found = await read(repository, { oldId: null, newId, maxFileBytes: 1000 });
    expect(found.map(([path, , patch]) => [path, patch?.slice(patch.indexOf('@@'))])).toEqual([
      ['a', '@@ -0,0 +1 @@\n+small\n'],
      ['b', undefined],
      ['c', '@@ -0,0 +1 @@\n+small too\n'],
    ]);
    const whole = await read(repository, { oldId: null, newId, maxFileBytes: 10_000_000 });
    expect(whole[1]![2]!.length).toBeGreaterThan(large.length);
  });

  it('end git when the caller stops', async () => {
    const slots = { total: 1, perRepository: 1, queued: 1, waitMs: 10_000 };
    const single = new TestGit({ slots: { command: slots, transport: slots, inside: slots } });
    const repository = await single.create();
    const files = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`f${index}`, 'x'.repeat(100_000)]));
    const newId = commit(repository, files);
    const paths: string[] = [];
    const first = (count: number) =>
      readPatches(
        repository,
        { oldId: null, newId, maxFileBytes: 10 },
        ({ change }) => paths.push(change.newPath) < count,
      );
    expect(await first(2)).toHaveLength(200);
    expect(paths).toEqual(['f0', 'f1']);
    // The only slot is free again.
    expect(await listChangesWithLineCounts(repository, { oldId: newId, newId })).toEqual([]);
    single.close();
  });

  it('are read in pages', async () => {
    const repository = await test.create();
    const newId = commit(repository, { a: 'a', b: 'b', c: 'c', d: 'd' });
    const page = async (skip: number, max: number) =>
      (await read(repository, { oldId: null, newId, maxFileBytes: 1000, skip, max })).map(([path]) => path);
    expect(await page(0, 3)).toEqual(['a', 'b', 'c']);
    expect(await page(3, 3)).toEqual(['d']);
    expect(await page(4, 3)).toEqual([]);
  });

  it('of a file that becomes a link are two', async () => {
    const repository = await test.create();
    const oldId = commit(repository, { a: 'target', b: 'b\n' });
    const tree = `120000 blob ${git(repository.directory, ['rev-parse', `${oldId}:a`]).trim()}\ta\n`;
    const newTree = git(repository.directory, ['mktree'], tree).trim();
    const newId = git(repository.directory, ['commit-tree', newTree, '-m', 'm']).trim() as ObjectId;
    const found = await read(repository, { oldId, newId, maxFileBytes: 1000 });
    expect(found.map(([path, status]) => [path, status])).toEqual([
      ['a', 'deleted'],
      ['a', 'added'],
      ['b', 'deleted'],
    ]);
    expect(found[0]![2]).toContain('deleted file mode 100644');
    expect(found[1]![2]).toContain('new file mode 120000');
    expect(found[2]![2]).toContain('\n-b\n');
  });
});

describe('changes of files', () => {
  it('have odd names, renames, modes and numbers', async () => {
    const repository = await test.create();
    const lines = Array.from({ length: 20 }, (_, index) => `line ${index}\n`).join('');
    const oldId = commit(repository, {
      ...Object.fromEntries(ODD.map((name) => [name, 'one\n'])),
      'old\tname': lines,
      bin: Buffer.from([0, 1]),
    });
    const newId = commit(repository, {
      ...Object.fromEntries(ODD.map((name) => [name, 'two\nmore\n'])),
      'new\nname': `${lines}end\n`,
      bin: Buffer.from([0, 2]),
      added: '',
    });
    const changes = await listChangesWithLineCounts(repository, { oldId, newId });
    expect(
      changes
        .filter(({ status }) => status === 'modified')
        .map(({ newPath }) => newPath)
        .sort(),
    ).toEqual([...ODD, 'bin'].sort());
    expect(changes.find(({ newPath }) => newPath === 'new\nname')).toMatchObject({
      status: 'renamed',
      oldPath: 'old\tname',
      added: 1,
      deleted: 0,
    });
    expect(changes.find(({ newPath }) => newPath === 'bin')).toMatchObject({ added: null, deleted: null });
    expect(changes.find(({ newPath }) => newPath === 'added')).toMatchObject({
      status: 'added',
      oldMode: '000000',
      added: 0,
    });
    expect(changes.find(({ newPath }) => newPath === '-dash')).toMatchObject({ added: 2, deleted: 1 });
    expect(await listChangesWithLineCounts(repository, { oldId, newId, paths: [':(glob)*'] })).toHaveLength(1);
    expect(await listChangesWithLineCounts(repository, { oldId: null, newId: oldId })).toHaveLength(ODD.length + 2);
    expect(await listChangesWithLineCounts(repository, { oldId, newId: oldId })).toEqual([]);
  });
});

describe('patch ids', () => {
  const lines = (first: string) => `${first}\n${'line\n'.repeat(20)}`;

  it('are those of git, and the same for the same changes elsewhere', async () => {
    const repository = await test.create();
    const oldId = commit(repository, { code: lines('old'), name: 'same\n', bin: Buffer.from([0, 1]) });
    const files = { renamed: 'same\n', bin: Buffer.from([0, 2]) };
    const newId = commit(repository, { code: lines('new'), ...files });
    const movedOld = commit(repository, {
      code: `${lines('old')}${lines('end')}`,
      name: 'same\n',
      bin: Buffer.from([0, 1]),
    });
    const movedNew = commit(repository, { code: `${lines('new')}${lines('end')}`, ...files });
    const diff = git(repository.directory, ['diff-tree', '-p', '--full-index', oldId, newId]);
    const [printed] = git(repository.directory, ['patch-id', '--stable'], Buffer.from(diff)).split(' ', 1);
    expect(await readPatchId(repository, { oldId, newId })).toBe(printed);
    expect(await readPatchId(repository, { oldId: movedOld, newId: movedNew })).toBe(printed);
    expect(await readPatchId(repository, { oldId: newId, newId: oldId })).not.toBe(printed);
    expect(await readPatchId(repository, { oldId: null, newId: oldId })).toMatch(/^[0-9a-f]{40}$/);
    expect(await readPatchId(repository, { oldId, newId: oldId })).toBeNull();
  });

  it('of a diff that cannot be read fail, and free their slot', async () => {
    const repository = await test.create();
    const newId = commit(repository, { a: 'a' });
    const missing = 'a'.repeat(40) as ObjectId;
    await expect(readPatchId(repository, { oldId: missing, newId })).rejects.toMatchObject({ reason: 'not found' });
    const text = `${'x'.repeat(999)}\n`.repeat(40_000);
    const large = commit(repository, { first: text, second: text });
    await expect(readPatchId(repository, { oldId: null, newId: large })).rejects.toMatchObject({ reason: 'too large' });
    expect(test.processes.slots.command.load).toEqual({ running: 0, waiting: 0 });
  });

  it('of more diffs than there are slots are read in turn', async () => {
    const repository = await test.create();
    // Patches of this size do not fit into pipes, so that a process waits for its reader.
    const ids = [commit(repository, { a: 'a' }), commit(repository, { a: 'line\n'.repeat(200_000) })] as const;
    const read = () => readPatchId(repository, { oldId: ids[0], newId: ids[1] });
    const [first, ...others] = await Promise.all(Array.from({ length: 20 }, read));
    expect(others).toEqual(others.map(() => first));
  });
});

describe('hunks', () => {
  it('have the numbers of changed lines, whatever names and texts contain', async () => {
    const repository = await test.create();
    const lines = Array.from({ length: 20 }, (_, index) => `line ${index + 1}\n`);
    const before = { 'a\n@@ -1 +1 @@': 'x\n', old: lines.join(''), bin: Buffer.from([0, 1]), gone: 'a\nb\n' };
    const oldId = commit(repository, before);
    const after = [...lines.slice(0, 4), ...lines.slice(5), '@@ -9,9 +9,9 @@\n', 'diff --git a/x b/x\n'].join('');
    const newId = commit(repository, { 'a\n@@ -1 +1 @@': 'y\nz', 'new\n': after, bin: Buffer.from([0, 2]) });
    const found = await readHunks(repository, { oldId, newId });
    const hunk = (oldStart: number, oldCount: number, newStart: number, newCount: number) => ({
      ...{ oldStart, oldCount, newStart, newCount },
    });
    const hunksOf = (path: string) => found.find(({ change }) => change.newPath === path)!.hunks;
    expect(hunksOf('a\n@@ -1 +1 @@')).toEqual([hunk(1, 1, 1, 2)]);
    expect(hunksOf('new\n')).toEqual([hunk(5, 1, 4, 0), hunk(20, 0, 20, 2)]);
    expect(hunksOf('bin')).toEqual([]);
    expect(hunksOf('gone')).toEqual([hunk(1, 2, 0, 0)]);
    expect(await readHunks(repository, { oldId, newId: oldId })).toEqual([]);
  });
});

describe('trees', () => {
  it('are listed with odd names, sizes and submodules', async () => {
    const repository = await test.create();
    const id = commit(repository, Object.fromEntries(ODD.map((name) => [`dir/${name}`, name])));
    const all = await listTree(repository, { id, isRecursive: true });
    expect(all.map(({ path }) => path).sort()).toEqual(['dir', ...ODD.map((name) => `dir/${name}`)].sort());
    expect(all.find(({ path }) => path === 'dir/wörk')?.size).toBe(5);
    expect((await listTree(repository, { id, isRecursive: false, paths: ['dir/'] })).length).toBe(ODD.length);
    expect((await readTree(repository, { rev: id, path: 'dir' }))?.map(({ path }) => path).sort()).toEqual(
      [...ODD].sort(),
    );
    expect(await readTree(repository, { rev: id, path: 'dir/wörk' })).toBeNull();
    await expect(listTree(repository, { id: '--help', isRecursive: false })).rejects.toMatchObject({
      reason: 'invalid',
    });
  });
});

describe('blame and contributors', () => {
  it('name the commit of each line, also of files with odd names', async () => {
    const repository = await test.create();
    for (const path of ['plain', 'new\nline\t"x"\\é']) {
      const first = commit(repository, { [path]: 'one\ntwo\n\tindented' });
      const second = commit(repository, { [path]: 'one\nnew\ntwo\n\tindented' });
      const lines = await blameFile(repository, second, path);
      expect(lines.map(({ commit: id, line, text, path: at }) => [id, line, text, at])).toEqual([
        [first, 1, 'one', path],
        [second, 2, 'new', path],
        [first, 3, 'two', path],
        [first, 4, '\tindented', path],
      ]);
      expect(await blameFile(repository, second, path, { start: 2, end: 3 })).toHaveLength(2);
      await expect(blameFile(repository, second, path, { start: 9, end: 9 })).rejects.toMatchObject({
        reason: 'not found',
      });
      await expect(blameFile(repository, second, 'none')).rejects.toMatchObject({ reason: 'not found' });
    }
  });

  it('count commits by e-mail', async () => {
    const repository = await test.create();
    const tree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';
    let parent = commit(repository, { a: 'a' }) as string;
    for (const [name, email] of [
      ['B', 'b@x'],
      ['B Two', 'B@X'],
      ['B Two', 'B@x'],
      ['B Two', 'B@x'],
    ]) {
      const raw = `tree ${tree}\nparent ${parent}\nauthor ${name} <${email}> 1 +0000\ncommitter C <c@x> 1 +0000\n\nm\n`;
      parent = git(repository.directory, ['hash-object', '-t', 'commit', '-w', '--stdin'], raw).trim();
    }
    const found = await listContributors(repository, parent as ObjectId);
    expect(found).toEqual(
      expect.arrayContaining([
        { name: 'B Two', email: 'b@x', commits: 4 },
        { name: 'Wren', email: 'wren@example.org', commits: 1 },
      ]),
    );
  });
});
