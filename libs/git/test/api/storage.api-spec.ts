import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { hashedRepositoryPath } from '../../src/repository/repositories';
import { readHead, readRef } from '../../src/refs/refs';
import { objectInfo, readObject } from '../../src/objects/objects';
import { refName } from '../../src/names/ref-name';
import { forkRepository } from '../../src/transport/fetch-inside';
import { commit, git, TestGit } from '../support/repository';

const test = new TestGit();
afterAll(() => test.close());

describe('a repository', () => {
  it('is named by the hash of its project', () => {
    const hash = '6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b';
    expect(hashedRepositoryPath(1)).toBe(`@hashed/6b/86/${hash}.git`);
  });

  it('is created once by many callers, whole, without hooks', async () => {
    const address = test.nextAddress();
    expect(await test.repositories.exists(address)).toBe(false);
    const made = await Promise.all(
      Array.from({ length: 8 }, () => test.repositories.create(address, { defaultBranch: 'trunk' })),
    );
    expect(new Set(made.map(({ directory }) => directory)).size).toBe(1);
    const { directory } = made[0]!;
    expect(await readHead(made[0]!)).toBe('refs/heads/trunk');
    expect(readdirSync(dirname(directory))).toEqual([directory.split('/').at(-1)]);
    expect(existsSync(join(directory, 'hooks'))).toBe(false);
    expect(git(directory, ['config', '--get', 'gc.auto'])).toBe('0\n');
    expect(await test.repositories.exists(address)).toBe(true);
  });

  it.each([
    '',
    '../x',
    '@hashed/aa/bb/../../../x.git',
    `@hashed/aa/bb/${'c'.repeat(64)}.git`,
    `${hashedRepositoryPath(1)}/objects`,
    `${hashedRepositoryPath(1)}\n`,
    `/${hashedRepositoryPath(1)}`,
  ])('is not opened at %j', (path) => {
    expect(() => test.repositories.open({ storage: 'default', path })).toThrow(
      'The path of the repository is invalid.',
    );
  });

  it('is not opened in an unknown storage, nor created with an odd branch', async () => {
    expect(() => test.repositories.open({ storage: '__proto__', path: hashedRepositoryPath(1) })).toThrow(
      'not configured',
    );
    for (const defaultBranch of ['', 'a b', '..', 'x\ny', 'a'.repeat(300)])
      await expect(test.repositories.create(test.nextAddress(), { defaultBranch })).rejects.toMatchObject({
        reason: 'invalid',
      });
  });

  it('is removed at once and again, and its reader with it', async () => {
    const address = test.nextAddress();
    const repository = await test.repositories.create(address, { defaultBranch: 'main' });
    const id = commit(repository, { a: 'old' });
    // The reader keeps a pack open, also when its file has gone.
    git(repository.directory, ['repack', '-adq']);
    expect(await readObject(repository, { rev: id })).not.toBeNull();
    await test.repositories.remove(address);
    await test.repositories.remove(address);
    expect(readdirSync(dirname(repository.directory))).toEqual([]);
    await test.repositories.create(address, { defaultBranch: 'main' });
    expect(await readObject(repository, { rev: id })).toBeNull();
  });

  it('loses what cut-off creations and removals left, but only that', async () => {
    const repository = await test.create();
    const parent = dirname(repository.directory);
    const leftovers = ['+new+0123456789abcdef', '+gone+0123456789abcdef'].map((name) => join(parent, name));
    for (const folder of leftovers) {
      mkdirSync(folder);
      writeFileSync(join(folder, 'HEAD'), 'x');
    }
    utimesSync(leftovers[0]!, 1, 1);
    expect(await test.repositories.sweep('default', 60_000)).toBe(1);
    expect(leftovers.map(existsSync)).toEqual([false, true]);
    expect(await test.repositories.exists(repository.address)).toBe(true);
    await test.repositories.sweep('default', 0);
  });
});

describe('a fork', () => {
  it('has branches, tags and objects of its own, and nothing hidden', async () => {
    const source = await test.create();
    const id = commit(source, { a: 'a' });
    git(source.directory, ['repack', '-adq']);
    const loose = commit(source, { a: 'b' });
    git(source.directory, ['update-ref', 'refs/tags/v1', id]);
    for (const ref of ['refs/keep-around/x', 'refs/merge-requests/1/head'])
      git(source.directory, ['update-ref', ref, id]);
    const fork = await forkRepository(test.repositories, source.address, test.nextAddress());
    expect(git(fork.directory, ['for-each-ref', '--format=%(refname)'])).toBe('refs/heads/main\nrefs/tags/v1\n');
    expect(existsSync(join(fork.directory, 'objects/info/alternates'))).toBe(false);
    expect(git(fork.directory, ['config', '--list', '--local'])).not.toContain('remote');
    const secret = commit(source, { a: 'secret' });
    git(source.directory, ['update-ref', 'refs/keep-around/secret', secret]);
    git(source.directory, ['update-ref', 'refs/heads/main', loose]);
    const other = await forkRepository(test.repositories, source.address, test.nextAddress());
    expect(await objectInfo(other, { rev: secret })).toBeNull();
    await test.repositories.remove(source.address);
    expect(git(fork.directory, ['fsck', '--strict'])).toBe('');
    expect(await readRef(fork, 'refs/heads/main')).toBe(loose);
    commit(fork, { a: 'c' });
    expect((await readObject(fork, { rev: refName('refs/heads/main'), path: 'a' }))?.content.toString()).toBe('c');
  });

  it('has one branch with the tags of its history if only that is wanted', async () => {
    const source = await test.create();
    const first = commit(source, { a: 'a' });
    git(source.directory, ['update-ref', 'refs/heads/side', first]);
    git(source.directory, ['update-ref', 'refs/tags/v1', first]);
    const later = commit(source, { a: 'b' });
    git(source.directory, ['update-ref', 'refs/tags/v2', later]);
    const fork = await forkRepository(test.repositories, source.address, test.nextAddress(), { branch: 'side' });
    expect(git(fork.directory, ['for-each-ref', '--format=%(refname)'])).toBe('refs/heads/side\nrefs/tags/v1\n');
    expect([await readHead(fork), await objectInfo(fork, { rev: later })]).toEqual(['refs/heads/side', null]);
    const none = await forkRepository(test.repositories, source.address, test.nextAddress(), { branch: 'absent' });
    expect(git(none.directory, ['for-each-ref'])).toBe('');
  });

  it('of an empty repository is empty, of a missing one an error that leaves nothing', async () => {
    const source = await test.create();
    const fork = await forkRepository(test.repositories, source.address, test.nextAddress());
    expect(git(fork.directory, ['for-each-ref'])).toBe('');
    const target = test.nextAddress();
    await expect(forkRepository(test.repositories, test.nextAddress(), target)).rejects.toMatchObject({
      name: 'GitError',
    });
    expect(existsSync(test.repositories.open(target).directory)).toBe(false);
  });
});
