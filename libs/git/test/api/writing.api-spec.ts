import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { isAncestor, listCommits, mergeBase } from '../../src/history/history';
import { mergeTreesOverBase, mergeCommitsToTree } from '../../src/history/merges';
import { parseTag } from '../../src/history/parse-commit';
import { EMPTY_TREE, NO_OBJECT } from '../../src/names/object-id';
import type { ObjectId } from '../../src/names/object-id';
import { objectInfo, readObject } from '../../src/objects/objects';
import { inQuarantine } from '../../src/objects/quarantine';
import { listTree, readTree } from '../../src/objects/trees';
import { writeBlobs, writeCommit, writeTag, writeTree } from '../../src/objects/write-objects';
import { updateRefs } from '../../src/refs/update-refs';
import type { Repository } from '../../src/repository/repository';
import { commit, git, TestGit } from '../support/repository';

const test = new TestGit();
afterAll(() => test.close());

const WREN = { name: 'Wren <w>\n', email: 'wren@example.org', at: new Date(1_700_000_000_999), offsetMinutes: -330 };
const listTemporaryObjects = (repository: Repository) =>
  readdirSync(join(repository.directory, 'objects')).filter((name) => name.startsWith('tmp_'));
const treeIdOf = (repository: Repository, id: ObjectId) =>
  git(repository.directory, ['rev-parse', `${id}^{tree}`]).trim() as ObjectId;

describe('a write of objects', () => {
  it('becomes part of the repository when it is kept, to the byte', async () => {
    const repository = await test.create();
    const large = randomBytes(60_000_000);
    const made = await inQuarantine(repository, async ({ repository: view, keep }) => {
      const ids = await writeBlobs(
        view,
        [
          Buffer.from('small\r\n'),
          Readable.from([Buffer.from('a'), Buffer.from('b')]),
          Readable.from([large]),
          Buffer.alloc(0),
        ],
        100_000_000,
      );
      const names = ['b', 'dir', 'ü\n', '-x'];
      const tree = await writeTree(view, [
        ...ids
          .map((id, index) => ({ mode: '100644', type: 'blob' as const, id, path: names[index]! }))
          .filter(({ path }) => path !== 'dir'),
        { mode: '040000', type: 'tree', id: await writeTree(view, []), path: 'sub' },
      ]);
      expect((await readTree(view, { rev: tree }))?.map(({ path }) => path)).toEqual(['-x', 'b', 'sub', 'ü\n']);
      const id = await writeCommit(view, {
        tree,
        parents: [],
        message: 'Title\n\nno line end',
        author: WREN,
        committer: { ...WREN, name: '.,' },
      });
      expect(await objectInfo(repository, { rev: id })).toBeNull();
      await keep();
      return { ids, id };
    });
    expect(listTemporaryObjects(repository)).toEqual([]);
    const [written] = await listCommits(repository, { from: [made.id], skip: 0, max: 1 });
    expect(written).toMatchObject({
      message: 'Title\n\nno line end',
      author: { name: 'Wren w', email: 'wren@example.org', seconds: 1_700_000_000, offsetMinutes: -330 },
      committer: { name: 'unknown' },
    });
    expect((await readObject(repository, { rev: made.ids[2]! }, 70_000_000))?.content.equals(large)).toBe(true);
    expect((await readObject(repository, { rev: made.ids[0]! }))?.content.toString()).toBe('small\r\n');
    await updateRefs(repository, [{ ref: 'refs/heads/main', oldId: NO_OBJECT, newId: made.id }], { atomic: true });
    expect(git(repository.directory, ['fsck', '--strict', '--full'])).not.toMatch(/error|missing|broken/);
    expect(
      (await listTree(repository, { id: made.id, isRecursive: true })).map(({ path, size }) => [path, size]),
    ).toEqual([
      ['-x', 0],
      ['b', 7],
      ['sub', null],
      ['ü\n', 60_000_000],
    ]);
  });

  it('leaves nothing if it is not kept, fails or is too large', async () => {
    const repository = await test.create();
    await inQuarantine(repository, async ({ repository: view }) => writeBlobs(view, [Buffer.from('x')], 100));
    const broken = Readable.from(
      (async function* () {
        yield Buffer.from('x');
        throw new Error('gone');
      })(),
    );
    await expect(
      inQuarantine(repository, async ({ repository: view }) => writeBlobs(view, [broken], 100)),
    ).rejects.toThrow('gone');
    for (const content of [Buffer.alloc(101), Readable.from([Buffer.alloc(60), Buffer.alloc(60)])])
      await expect(
        inQuarantine(repository, async ({ repository: view }) => writeBlobs(view, [content], 100)),
      ).rejects.toMatchObject({ reason: 'too large' });
    await expect(writeBlobs(repository, [], 1)).rejects.toMatchObject({ reason: 'invalid' });
    expect(listTemporaryObjects(repository)).toEqual([]);
    expect(git(repository.directory, ['count-objects'])).toBe('0 objects, 0 kilobytes\n');
  });

  it('writes what is there already', async () => {
    const repository = await test.create();
    const write = () =>
      inQuarantine(repository, async ({ repository: view, keep }) => {
        const [id] = await writeBlobs(view, [Buffer.from('same')], 100);
        await keep();
        return id!;
      });
    expect(await write()).toBe(await write());
    expect(listTemporaryObjects(repository)).toEqual([]);
  });

  it.each([
    '',
    '.',
    '..',
    'a/b',
    '.git',
    '.GIT',
    '.git ',
    '.git.',
    'git~1',
    'GIT~2',
    '.g\u200cit',
    '.git::$INDEX_ALLOCATION',
    'a\\b',
    'a\0b',
    '\ud800',
    'caf\ufffd',
  ])('refuses the name %j in a tree', async (path) => {
    const repository = await test.create();
    await expect(writeTree(repository, [{ mode: '100644', type: 'blob', id: EMPTY_TREE, path }])).rejects.toMatchObject(
      { reason: 'invalid' },
    );
  });

  it.each(['.gitmodules', '.GITMODULES', 'gitmod~1', '.gitmodules .'])('refuses the link %j', async (path) => {
    const repository = await test.create();
    const id = git(repository.directory, ['hash-object', '-w', '--stdin'], '../x').trim() as ObjectId;
    await expect(writeTree(repository, [{ mode: '120000', type: 'blob', id, path }])).rejects.toMatchObject({
      reason: 'invalid',
    });
  });

  it.each([
    '[submodule "x"]\n\turl = -u./payload\n',
    '[submodule "x"]\n\turl = "https://h/a\\nb"\n',
    '[submodule "x"]\n\turl = https://h/%0Ahost=evil\n',
    '[submodule "x"]\n\tpath = -x\n',
    '[submodule "../../hooks"]\n\tpath = x\n',
    '[submodule "a\\\\..\\\\b"]\n\turl = x\n',
    '[submodule "x"]\n\tupdate = !id\n',
    '[submodule ""]\n\turl\n',
  ])('refuses the list of submodules %j, as pushes do', async (text) => {
    const repository = await test.create();
    const id = git(repository.directory, ['hash-object', '-w', '--stdin'], text).trim() as ObjectId;
    const entry = { mode: '100644', type: 'blob', id } as const;
    await expect(writeTree(repository, [{ ...entry, path: '.gitmodules' }])).rejects.toMatchObject({
      reason: 'invalid',
    });
    expect(await writeTree(repository, [{ ...entry, path: 'modules' }])).toMatch(/^[0-9a-f]{40}$/);
  });

  it.each(['[submodule "a/b"]\n\tpath = a/b\n\turl = ../b.git\n', 'no configuration', '', '[submodule]\n\turl = -x\n'])(
    'takes the list of submodules %j',
    async (text) => {
      const repository = await test.create();
      const id = git(repository.directory, ['hash-object', '-w', '--stdin'], text).trim() as ObjectId;
      expect(await writeTree(repository, [{ mode: '100644', type: 'blob', id, path: '.gitmodules' }])).toMatch(
        /^[0-9a-f]{40}$/,
      );
    },
  );

  it('of a commit takes a name with many blanks in no time', async () => {
    const repository = await test.create();
    const who = { ...WREN, name: ` .a${' '.repeat(60_000)}b ,` };
    const before = process.cpuUsage();
    const id = await writeCommit(repository, {
      tree: EMPTY_TREE,
      parents: [],
      message: 'x',
      author: who,
      committer: WREN,
    });
    expect(process.cpuUsage(before).user).toBeLessThan(500_000);
    const [written] = await listCommits(repository, { from: [id], skip: 0, max: 1 });
    expect(written!.author.name === `a${' '.repeat(60_000)}b`).toBe(true);
  });

  it('of a tag has its target and text', async () => {
    const repository = await test.create();
    const target = commit(repository, { a: 'a' });
    const id = await writeTag(repository, { target, type: 'commit', name: 'v1', tagger: WREN, message: 'Release\n' });
    const tag = await readObject(repository, { rev: id });
    expect(parseTag(id, tag!.content)).toMatchObject({
      target,
      targetType: 'commit',
      name: 'v1',
      message: 'Release\n',
      tagger: { name: 'Wren w', offsetMinutes: -330 },
    });
    await expect(
      writeTag(repository, { target, type: 'commit', name: 'v1\nobject x', tagger: WREN, message: '' }),
    ).rejects.toMatchObject({ reason: 'invalid' });
  });
});

describe('merges without a working tree', () => {
  it('are clean, or name what conflicts', async () => {
    const repository = await test.create();
    const base = commit(repository, { a: '1\n2\n3\n', b: 'b\n' });
    const ours = commit(repository, { a: '1\n2\n3\n4\n', b: 'b\n' }, { branch: 'ours', parents: [base] });
    const theirs = commit(repository, { a: '0\n1\n2\n3\n', b: 'b\n' }, { branch: 'theirs', parents: [base] });
    const rival = commit(repository, { a: '1\n2\n3\n5\n', 'dir/b\nc': 'b\n' }, { branch: 'rival', parents: [base] });
    const clean = await mergeCommitsToTree(repository, ours, theirs);
    expect(clean.conflicts).toEqual([]);
    expect((await readObject(repository, { rev: clean.tree, path: 'a' }))?.content.toString()).toBe('0\n1\n2\n3\n4\n');
    const conflict = await mergeCommitsToTree(repository, ours, rival);
    expect(conflict.conflicts).toEqual(['a']);
    expect(conflict.messages.map(({ type }) => type)).toContain('CONFLICT (contents)');
    await expect(mergeCommitsToTree(repository, ours, 'a'.repeat(40) as ObjectId)).rejects.toMatchObject({
      reason: 'not found',
    });
    const stranger = commit(repository, { z: 'z' }, { branch: 'stranger', parents: [] });
    await expect(mergeCommitsToTree(repository, ours, stranger)).rejects.toMatchObject({ reason: 'conflict' });
    expect([await mergeBase(repository, [ours, theirs, rival]), await mergeBase(repository, [ours, stranger])]).toEqual(
      [base, null],
    );
    expect([await isAncestor(repository, base, ours), await isAncestor(repository, ours, base)]).toEqual([true, false]);
  });

  it('pick and revert a single commit over a base', async () => {
    const repository = await test.create();
    const first = commit(repository, { a: 'a\n', b: 'b\n' });
    const second = commit(repository, { a: 'a\nmore\n', b: 'b\n' });
    const third = commit(repository, { a: 'a\nmore\n', b: 'B\n' });
    const [one, two, three] = [first, second, third].map((id) => treeIdOf(repository, id)) as [
      ObjectId,
      ObjectId,
      ObjectId,
    ];
    const text = async (tree: ObjectId, path: string) =>
      (await readObject(repository, { rev: tree, path }))?.content.toString();
    const picked = await mergeTreesOverBase(repository, { base: two, ours: one, theirs: three });
    expect([await text(picked.tree, 'a'), await text(picked.tree, 'b')]).toEqual(['a\n', 'B\n']);
    const reverted = await mergeTreesOverBase(repository, { base: two, ours: three, theirs: one });
    expect([await text(reverted.tree, 'a'), await text(reverted.tree, 'b')]).toEqual(['a\n', 'B\n']);
  });
});
