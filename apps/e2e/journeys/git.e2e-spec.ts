import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { GitClient } from '@rookery/testing';
import { addMember, call, estate, eventually, mark, person } from '../support/estate';
import type { Person } from '../support/estate';

const BLOCK = 1024 * 1024;

let git: GitClient;
let ada: Person;
let bea: Person;
let project: { readonly id: number; readonly path: string };

/** Address of a repository. `credentials` have the form `user:password`. */
const urlOf = (path: string, credentials?: string): string =>
  `${credentials === undefined ? estate.baseUrl : estate.baseUrl.replace('://', `://${credentials}@`)}/${path}.git`;
const by = ({ token }: Person): string => `oauth2:${token}`;

beforeAll(async () => {
  git = await GitClient.make();
  [ada, bea] = [await person('git-ada'), await person('git-bea')];
  const name = `git-${mark}`;
  const group = await call('POST', '/groups', { token: ada.token, json: { name, path: name } });
  const made = await call('POST', '/projects', {
    token: ada.token,
    json: { name: 'eggs', namespace_id: group.body.id },
  });
  project = { id: made.body.id, path: `${name}/eggs` };
});
afterAll(() => git.close());

test('a project with a README is cloned and committed to right after its creation', async () => {
  const name = `begun-${mark}`;
  const made = await call('POST', '/projects', { token: ada.token, json: { name, initialize_with_readme: true } });
  expect(made).toMatchObject({ status: 201, body: { empty_repo: false, default_branch: 'main' } });
  const { id, path_with_namespace: path } = made.body;
  // The package service is the first that needs the repository, and asks collaboration for it.
  const pipeline = await call('POST', `/projects/${id}/pipeline?ref=main`, { token: ada.token });
  expect(pipeline).toMatchObject({ status: 201, body: { ref: 'main', status: 'created' } });
  const branch = await call('POST', `/projects/${id}/repository/branches?branch=topic&ref=main`, { token: ada.token });
  expect(branch.status).toBe(201);
  await git.ok('.', 'clone', '--quiet', urlOf(path, by(ada)), 'begun');
  expect(await git.ok('begun', 'log', '--format=%an: %s')).toBe('git-ada of the nest: Initial commit\n');
  const events = await eventually(
    async () => (await call('GET', `/projects/${id}/events?action=pushed`, { token: ada.token })).body,
    (all) => all.length === 2,
  );
  expect(events.map(({ push_data: data }: { push_data: { ref: string } }) => data.ref)).toEqual(['topic', 'main']);
});

test('a project is cloned, filled, and shows what was pushed', async () => {
  const empty = await git.run('.', 'clone', '--quiet', urlOf(project.path, by(ada)), 'empty');
  expect(empty).toEqual({ code: 0, output: 'warning: You appear to have cloned an empty repository.\n' });
  const show = async (query = '') => (await call('GET', `/projects/${project.id}${query}`, { token: ada.token })).body;
  expect(await show()).toMatchObject({ default_branch: null, empty_repo: true });

  await git.init('work', urlOf(project.path, by(ada)));
  await writeFile(join(git.folder, 'work', 'large.bin'), randomBytes(20 * BLOCK));
  await git.ok('work', 'add', 'large.bin');
  await git.ok('work', 'commit', '--quiet', '-m', 'Second');
  await git.ok('work', 'push', '--quiet', '-o', 'ci.skip', 'origin', 'main');
  const filled = await eventually(
    () => show('?statistics=true'),
    (shown) => shown.empty_repo === false && shown.default_branch !== null,
  );
  expect(filled).toMatchObject({ default_branch: 'main', statistics: { commit_count: 2 } });
  expect(filled.statistics.repository_size).toBeGreaterThan(20 * BLOCK);

  const path = `/projects/${project.id}/events?action=pushed`;
  const [event] = await eventually(
    async () => (await call('GET', path, { token: ada.token })).body,
    (all) => all.length > 0,
  );
  expect(event).toMatchObject({
    action_name: 'pushed new',
    author_id: ada.id,
    push_data: { action: 'created', ref_type: 'branch', ref: 'main', commit_count: 2, commit_title: 'Second' },
  });
});

test('clones are whole, shallow or partial, and fetches bring what is new', async () => {
  const url = urlOf(project.path, by(ada));
  await git.ok('.', 'clone', '--quiet', url, 'whole');
  await git.ok('.', 'clone', '--quiet', '--depth=1', url, 'shallow');
  await git.ok('.', 'clone', '--quiet', '--filter=blob:none', url, 'partial');
  expect(await git.ok('shallow', 'log', '--format=%s')).toBe('Second\n');
  const third = await git.commit('work', 'Third');
  await git.ok('work', 'push', '--quiet', 'origin', 'main');
  for (const folder of ['whole', 'shallow', 'partial']) {
    await git.ok(folder, 'fetch', '--quiet', 'origin');
    expect((await git.ok(folder, 'rev-parse', 'origin/main')).trim()).toBe(third);
  }
  expect(await git.ok('whole', 'fsck', '--full', '--strict')).not.toContain('error');
});

test('a renamed project is served under its former path, and git names the new one', async () => {
  const named = { name: 'omelettes', path: 'omelettes' };
  await call('PUT', `/projects/${project.id}`, { token: ada.token, json: named });
  const former = urlOf(project.path, by(ada));
  const list = () => git.run('.', 'ls-remote', former);
  await eventually(list, ({ code }) => code === 0);
  await git.commit('work', 'Fourth');
  const pushed = (await git.ok('work', 'push', '--quiet', 'origin', 'main')).replaceAll(/^remote: ?/gm, '');
  const present = urlOf(project.path.replace('eggs', 'omelettes'));
  expect(pushed).toContain(`Project '${project.path}' was moved to '${project.path.replace('eggs', 'omelettes')}'.`);
  expect(pushed).toContain(`  git remote set-url origin ${present}`);
  const refused = await git.run('work', 'push', '--quiet', 'origin', 'main:refs/odd/ref');
  expect(refused.output).toContain(`set-url origin ${present} and try again.`);
  const stranger = await git.run('.', 'ls-remote', urlOf(project.path, by(bea)));
  expect(stranger.output).toContain('not found');
  await call('PUT', `/projects/${project.id}`, { token: ada.token, json: { name: 'eggs', path: 'eggs' } });
  await eventually(list, ({ code }) => code === 0);
});

test('credentials of all usual forms are accepted, and wrong ones refused in words', async () => {
  const list = (url: string, ...options: string[]) => git.run('.', ...options, 'ls-remote', url);
  for (const credentials of [by(ada), `gitlab-ci-token:${ada.token}`, `${ada.username}:${ada.token}`, `${ada.token}:`])
    expect((await list(urlOf(project.path, credentials))).code).toBe(0);
  const header = await list(urlOf(project.path), '-c', `http.extraHeader=PRIVATE-TOKEN: ${ada.token}`);
  expect(header.code).toBe(0);

  const wrong = await list(urlOf(project.path, 'oauth2:glpat-00000000000000000000'));
  expect(wrong.output).toContain('remote: HTTP Basic: Access denied.');
  expect(wrong.output).toContain('fatal: Authentication failed');
  for (const path of [project.path, `git-${mark}/nothing`]) {
    expect((await list(urlOf(path))).output).toContain('could not read Username');
    const stranger = await list(urlOf(path, by(bea)));
    expect(stranger.output).toContain('remote: The project you were looking for could not be found');
  }
});

test('members push by their role, and tokens by their scopes', async () => {
  await addMember(project.id, bea, 20, ada);
  await git.ok('.', 'clone', '--quiet', urlOf(project.path, by(bea)), 'bea');
  await git.commit('bea', 'Of Bea');
  const refused = await git.run('bea', 'push', 'origin', 'main:bea');
  expect(refused.output).toContain('remote: You are not allowed to push code to this project.');

  const json = { name: 'reads', scopes: ['read_repository'] };
  const { body } = await call('POST', `/users/${ada.id}/personal_access_tokens`, { json });
  const reader = urlOf(project.path, `oauth2:${body.token}`);
  expect((await git.run('.', 'ls-remote', reader)).code).toBe(0);
  expect((await git.run('work', 'push', reader, 'main:x')).output).toContain('You are not allowed to upload code.');

  await call('POST', `/projects/${project.id}/archive`, { token: ada.token });
  const archived = await eventually(
    () => git.run('work', 'push', 'origin', 'main:later'),
    ({ code }) => code !== 0,
  );
  expect(archived.output).toContain("remote: You can't push code to an archived project.");
  expect((await git.run('.', 'ls-remote', urlOf(project.path, by(ada)))).code).toBe(0);
});
