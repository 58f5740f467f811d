import { listChanges } from '../../src/history/diffs';
import { blame, countCommits, countDifference, listCommits, listContributors } from '../../src/history/history';
import type { ObjectId } from '../../src/names/object-id';
import { listTree, readTree } from '../../src/objects/trees';
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
    expect(await titles({ skip: 1, max: 2, reverse: true })).toEqual([2, 3]);
    expect(await titles({ notFrom: [ids[2]!] })).toEqual([4, 3]);
    expect(await titles({ path: 'f3' })).toEqual([4, 3]);
    expect(await titles({ path: 'x' })).toHaveLength(5);
    expect(await titles({ author: 'WREN@' })).toHaveLength(5);
    expect(await titles({ author: 'W.en' })).toEqual([]);
    expect(await titles({ since: 1_700_000_000, until: 1_700_000_000 })).toHaveLength(5);
    expect(await titles({ since: 1_700_000_001 })).toEqual([]);
    expect(await titles({ from: 'all refs' })).toHaveLength(5);
    expect(await countCommits(repository, { from, max: 3 })).toBe(3);
    expect(await countDifference(repository, ids[1]!, ids[4]!, 100)).toEqual({ left: 0, right: 3 });
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
    const changes = await listChanges(repository, { oldId, newId });
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
    expect(await listChanges(repository, { oldId, newId, paths: [':(glob)*'] })).toHaveLength(1);
    expect(await listChanges(repository, { oldId: null, newId: oldId })).toHaveLength(ODD.length + 2);
    expect(await listChanges(repository, { oldId, newId: oldId })).toEqual([]);
  });
});

describe('trees', () => {
  it('are listed with odd names, sizes and submodules', async () => {
    const repository = await test.create();
    const id = commit(repository, Object.fromEntries(ODD.map((name) => [`dir/${name}`, name])));
    const all = await listTree(repository, { id, recursive: true });
    expect(all.map(({ path }) => path).sort()).toEqual(['dir', ...ODD.map((name) => `dir/${name}`)].sort());
    expect(all.find(({ path }) => path === 'dir/wörk')?.size).toBe(5);
    expect((await listTree(repository, { id, recursive: false, paths: ['dir/'] })).length).toBe(ODD.length);
    expect((await readTree(repository, { rev: id, path: 'dir' }))?.map(({ path }) => path).sort()).toEqual(
      [...ODD].sort(),
    );
    expect(await readTree(repository, { rev: id, path: 'dir/wörk' })).toBeNull();
    await expect(listTree(repository, { id: '--help', recursive: false })).rejects.toMatchObject({ reason: 'invalid' });
  });
});

describe('blame and contributors', () => {
  it('name the commit of each line, also of files with odd names', async () => {
    const repository = await test.create();
    for (const path of ['plain', 'new\nline\t"x"\\é']) {
      const first = commit(repository, { [path]: 'one\ntwo\n\tindented' });
      const second = commit(repository, { [path]: 'one\nnew\ntwo\n\tindented' });
      const lines = await blame(repository, second, path);
      expect(lines.map(({ commit: id, line, text, path: at }) => [id, line, text, at])).toEqual([
        [first, 1, 'one', path],
        [second, 2, 'new', path],
        [first, 3, 'two', path],
        [first, 4, '\tindented', path],
      ]);
      expect(await blame(repository, second, path, { start: 2, end: 3 })).toHaveLength(2);
      await expect(blame(repository, second, path, { start: 9, end: 9 })).rejects.toMatchObject({
        reason: 'not found',
      });
      await expect(blame(repository, second, 'none')).rejects.toMatchObject({ reason: 'not found' });
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
