import { execFile } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as git from 'isomorphic-git';
import http from 'isomorphic-git/http/node';
import { requireDebianPackages } from '../support/debian-packages';
import { call, estate, person, projectOf } from '../support/estate';
import type { Person } from '../support/estate';

const AUTHOR = { name: 'Wren', email: 'wren@example.org' };

/** Git libraries other than git itself: isomorphic-git of npm and libgit2, by its Python module of Debian. */
describe('git libraries', () => {
  const folder = fs.mkdtempSync(join(tmpdir(), 'rookery-git-libraries-'));
  let owner: Person;
  let project: Awaited<ReturnType<typeof projectOf>>;
  let url: string;
  const titles = async (branch: string): Promise<string[]> => {
    const path = `/projects/${project.id}/repository/commits?ref_name=${branch}`;
    const { body } = await call('GET', path, { token: owner.token });
    return body.map(({ title }: { title: string }) => title);
  };
  const names = async (kind: 'branches' | 'tags'): Promise<string[]> => {
    const { body } = await call('GET', `/projects/${project.id}/repository/${kind}`, { token: owner.token });
    return body.map(({ name }: { name: string }) => name);
  };

  beforeAll(async () => {
    owner = await person('libraries');
    project = await projectOf(owner, 'libraries');
    url = `${estate.baseUrl}/${project.path}.git`;
    const actions = [{ action: 'create', file_path: 'README.md', content: 'one\n' }];
    const json = { branch: 'main', commit_message: 'First', actions };
    const first = await call('POST', `/projects/${project.id}/repository/commits`, { token: owner.token, json });
    expect(first.status).toBe(201);
  });
  afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

  it('isomorphic-git clones, pushes, fetches and deletes', async () => {
    const onAuth = () => ({ username: 'oauth2', password: owner.token });
    const clone = { fs, http, onAuth, dir: join(folder, 'isomorphic') };
    await git.clone({ ...clone, url, depth: 1 });
    const commit = async (message: string) => {
      fs.writeFileSync(join(clone.dir, 'eggs.txt'), message);
      await git.add({ ...clone, filepath: 'eggs.txt' });
      return git.commit({ ...clone, message, author: AUTHOR });
    };
    await git.branch({ ...clone, ref: 'isomorphic', checkout: true });
    await commit('Second');
    await git.tag({ ...clone, ref: 'v1' });
    const pushed = await git.push({ ...clone, ref: 'isomorphic' });
    expect(pushed).toMatchObject({ ok: true, refs: { 'refs/heads/isomorphic': { ok: true } } });
    await git.push({ ...clone, ref: 'v1' });
    expect(await titles('isomorphic')).toEqual(['Second', 'First']);
    expect(await names('tags')).toEqual(['v1']);

    const json = { branch: 'isomorphic', content: 'two\n', commit_message: 'Third' };
    const path = `/projects/${project.id}/repository/files/README.md`;
    expect((await call('PUT', path, { token: owner.token, json })).status).toBe(200);
    await commit('Rival');
    await expect(git.push({ ...clone, ref: 'isomorphic' })).rejects.toThrow(/not a simple fast-forward/);
    const fetched = await git.fetch({ ...clone, ref: 'isomorphic', singleBranch: true });
    const [newest] = await git.log({ ...clone, ref: fetched.fetchHead!, depth: 1 });
    expect(newest!.commit.message).toBe('Third\n');
    expect(await git.push({ ...clone, ref: 'isomorphic', force: true })).toMatchObject({ ok: true });
    expect(await titles('isomorphic')).toEqual(['Rival', 'Second', 'First']);
    await git.push({ ...clone, ref: 'isomorphic', delete: true });
    expect(await names('branches')).not.toContain('isomorphic');
    await expect(git.push({ ...clone, ref: 'main', remoteRef: 'main', delete: true })).rejects.toThrow(/main: /);
    const wrong = {
      ...clone,
      onAuth: () => ({ username: 'oauth2', password: 'wrong' }),
      onAuthFailure: () => ({ cancel: true }),
    };
    await expect(git.listServerRefs({ ...wrong, url })).rejects.toThrow(/cancel/i);
  });

  it('libgit2 clones, pushes more than a buffer, fetches and deletes', async () => {
    requireDebianPackages('python3-pygit2');
    const words = ['-B', 'libgit2.py', url, owner.token, join(folder, 'libgit2')];
    const options = { cwd: join(__dirname, 'sdks'), timeout: 120_000 };
    const { stdout } = await promisify(execFile)('/usr/bin/python3', words, options);
    expect(JSON.parse(stdout)).toEqual({
      cloned: 'First',
      fetched: 'Large',
      rejected: 'cannot push non-fastforwardable reference',
      refused: expect.stringMatching(/main/),
      branches: ['refs/heads/libgit2-kept', 'refs/heads/main'],
    });
    expect(await titles('libgit2-kept')).toEqual(['Large', 'First']);
  });
});
