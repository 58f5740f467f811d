import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { objectInfo, readObject, readObjects, resolveCommit, streamBlob } from '../../src/objects/objects';
import { refName } from '../../src/names/ref-name';
import type { ObjectId } from '../../src/names/object-id';
import { commit, git, TestGit, until } from '../support/repository';

const test = new TestGit({}, { total: 3, idleMs: 60_000 });
afterAll(() => test.close());

const MAIN = refName('refs/heads/main');
const listReaderProcesses = () =>
  execFileSync('ps', ['-eo', 'pid,ppid,args'])
    .toString()
    .split('\n')
    .filter((line) => line.includes('cat-file --batch-command') && line.includes(` ${process.pid} `));

describe('kept readers', () => {
  it('read by id, by ref and by path, whatever the name holds', async () => {
    const repository = await test.create();
    const names = ['plain.txt', 'dir/wörk', 'with\nline\nend', ' blank ', 'tab\there', '-dash', '"quote"', 'a missing'];
    const id = commit(repository, Object.fromEntries(names.map((name) => [name, `content of ${name}`])));
    const found = await readObjects(repository, [
      ...names.map((path) => ({ rev: id, path })),
      ...names.map((path) => ({ rev: MAIN, path: `${path}x` })),
      { rev: MAIN },
      { rev: MAIN, path: '' },
    ]);
    expect(found.slice(0, names.length).map((object) => object?.content.toString())).toEqual(
      names.map((name) => `content of ${name}`),
    );
    expect(found.slice(names.length, -2)).toEqual(names.map(() => null));
    expect(found.slice(-2).map((object) => object?.type)).toEqual(['commit', 'tree']);
    expect(await readObject(repository, { rev: id, path: 'missing\nline' })).toBeNull();
    expect(await readObject(repository, { rev: id, path: 'with' })).toBeNull();
  });

  it.each(['', '/abs', 'a//b', '../x', './x', 'a/..', 'a\0b', 'a/', '\ud800'].filter((path) => path !== ''))(
    'refuse the path %j before git sees it',
    async (path) => {
      const repository = await test.create();
      const id = commit(repository, { a: 'a' });
      await expect(async () => readObject(repository, { rev: id, path })).rejects.toMatchObject({ reason: 'invalid' });
    },
  );

  it.each([
    '-x',
    'HEAD@{1}',
    ':/text',
    'main',
    'refs/heads/a b',
    'refs/heads/x^{/re}',
    'a'.repeat(40).replace('a', 'G'),
  ])('refuse the revision %j', async (rev) => {
    const repository = await test.create();
    await expect(async () => objectInfo(repository, { rev: rev as ObjectId })).rejects.toMatchObject({
      reason: 'invalid',
    });
  });

  it('bound an object in memory and go on afterwards, large or small', async () => {
    const repository = await test.create();
    const id = commit(repository, { small: 'x'.repeat(2000), large: randomBytes(5_000_000), other: 'other' });
    const asked = ['small', 'large', 'other'].map((path) => readObject(repository, { rev: id, path }, 1000));
    const [small, large, other] = await Promise.allSettled(asked);
    expect([small, large]).toMatchObject([{ reason: { reason: 'too large' } }, { reason: { reason: 'too large' } }]);
    expect(other).toMatchObject({ value: { content: Buffer.from('other') } });
  });

  it('are replaced when they die, and no request is lost', async () => {
    const repository = await test.create();
    const id = commit(repository, { a: 'a', b: randomBytes(900_000) });
    await objectInfo(repository, { rev: id });
    const before = listReaderProcesses();
    const reads = Array.from({ length: 50 }, () => readObject(repository, { rev: id, path: 'b' }));
    for (const line of before) process.kill(Number(line.trim().split(' ')[0]), 'SIGKILL');
    expect((await Promise.all(reads)).map((object) => object?.size)).toEqual(reads.map(() => 900_000));
  });

  it('fail for a damaged object and still serve others', async () => {
    const repository = await test.create();
    const id = commit(repository, { good: 'good' });
    const bad = git(repository.directory, ['hash-object', '-w', '--stdin'], randomBytes(100_000)).trim() as ObjectId;
    const file = `${repository.directory}/objects/${bad.slice(0, 2)}/${bad.slice(2)}`;
    chmodSync(file, 0o600);
    writeFileSync(file, Buffer.concat([readFileSync(file).subarray(0, 50_000), randomBytes(50_000)]));
    const [damaged, good] = await Promise.allSettled([
      readObject(repository, { rev: bad }),
      readObject(repository, { rev: id, path: 'good' }),
    ]);
    expect(damaged).toMatchObject({ status: 'rejected', reason: { reason: 'corrupt' } });
    expect(good).toMatchObject({ value: { content: Buffer.from('good') } });
  });

  it('see objects and refs that are written later', async () => {
    const repository = await test.create();
    const first = commit(repository, { a: '1' });
    expect(await resolveCommit(repository, 'main')).toBe(first);
    const second = commit(repository, { a: '2' });
    git(repository.directory, ['repack', '-adq']);
    git(repository.directory, ['pack-refs', '--all']);
    expect(await resolveCommit(repository, 'main')).toBe(second);
    expect((await readObject(repository, { rev: MAIN, path: 'a' }))?.content.toString()).toBe('2');
  });

  it('are bounded in number, and the least used one is closed', async () => {
    const repositories = await Promise.all(Array.from({ length: 5 }, () => test.create()));
    for (const repository of repositories) await objectInfo(repository, { rev: MAIN });
    expect(test.readers.size).toBe(3);
    await until(() => listReaderProcesses().length <= 3);
  });

  it('close when idle', async () => {
    const brief = new TestGit({}, { total: 3, idleMs: 20 });
    const repository = await brief.create();
    await objectInfo(repository, { rev: MAIN });
    await until(() => brief.readers.size === 0);
    expect(await objectInfo(repository, { rev: MAIN })).toBeNull();
    brief.close();
  });

  it('report a repository that does not exist', async () => {
    const missing = test.repositories.open(test.nextAddress());
    await expect(objectInfo(missing, { rev: MAIN })).rejects.toMatchObject({ reason: 'no repository' });
  });
});

describe('blobs as streams', () => {
  it('come whole, and a caller who goes away leaves neither a process nor a broken reader', async () => {
    const repository = await test.create();
    const bytes = randomBytes(8_000_000);
    const id = commit(repository, { large: bytes, small: 'small' });
    const whole = await streamBlob(repository, { rev: id, path: 'large' });
    const chunks: Buffer[] = [];
    for await (const chunk of whole!.content) chunks.push(chunk as Buffer);
    expect(Buffer.concat(chunks).equals(bytes)).toBe(true);

    const broken = await streamBlob(repository, { rev: id, path: 'large' });
    await new Promise((resolve) => broken!.content.once('data', resolve));
    broken!.content.destroy();
    await until(() => test.processes.slots.transport.load.running === 0);
    const small = await streamBlob(repository, { rev: id, path: 'small' });
    expect((await small!.content.toArray()).join('')).toBe('small');
    expect(await streamBlob(repository, { rev: id })).toBeNull();
  });
});

describe('a revision that a user names', () => {
  it('is a branch before a tag, an id of any length, or nothing', async () => {
    const repository = await test.create();
    const tagged = commit(repository, { a: '1' });
    git(repository.directory, ['tag', '-a', '-m', 'Release', 'main', tagged]);
    git(repository.directory, ['tag', '-a', '-m', 'Release', 'v1', tagged]);
    const tip = commit(repository, { a: '2' });
    git(repository.directory, ['update-ref', `refs/heads/${tagged}`, tip]);
    const found = await Promise.all(
      ['main', 'HEAD', 'v1', 'refs/tags/main', tagged, tagged.slice(0, 8), `refs/heads/${tagged}`].map((text) =>
        resolveCommit(repository, text),
      ),
    );
    expect(found).toEqual([tip, tip, tagged, tagged, tagged, tagged, tip]);
    for (const text of [
      'nothing',
      '-x',
      'main~1',
      'main^{/a}',
      ':/Change',
      'main:a',
      'HEAD@{0}',
      'a b',
      'main\n',
      '',
      '@',
      'abcd',
    ])
      expect(await resolveCommit(repository, text)).toBeNull();
  });

  it('is neither a hidden ref nor an id at the end of a missing name', async () => {
    const repository = await test.create();
    const id = commit(repository, { a: '1' });
    for (const ref of ['refs/pipelines/1', 'refs/keep-around/x', 'refs/merge-requests/1/head'])
      git(repository.directory, ['update-ref', ref, id]);
    const name = `v1-1-g${id.slice(0, 8)}`;
    const rev = refName(`refs/heads/${name}`);
    for (const text of [name, name.toUpperCase(), rev, 'refs/pipelines/1', 'refs/keep-around/x'])
      expect([text, await resolveCommit(repository, text)]).toEqual([text, null]);
    expect([await objectInfo(repository, { rev }), await readObject(repository, { rev, path: 'a' })]).toEqual([
      null,
      null,
    ]);
    const other = commit(repository, { a: '2' }, { branch: name });
    expect([
      await resolveCommit(repository, name),
      await resolveCommit(repository, 'refs/merge-requests/1/head'),
    ]).toEqual([other, id]);
    expect((await readObject(repository, { rev, path: 'a' }))?.content.toString()).toBe('2');
  });
});
