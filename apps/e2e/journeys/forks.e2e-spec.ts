import { Gitlab } from '@gitbeaker/rest';
import { GitClient } from '@rookery/testing';
import { call, estate, mark, person } from '../support/estate';
import type { Person } from '../support/estate';

/** A contribution by way of a fork, with git and an unmodified public API client. */
let git: GitClient;
let ada: Person;
let bea: Person;
const urlOf = (path: string, { token }: Person): string =>
  `${estate.baseUrl.replace('://', `://oauth2:${token}@`)}/${path}.git`;
const sdk = ({ token }: Person) => new Gitlab({ host: estate.baseUrl, token });

beforeAll(async () => {
  git = await GitClient.make();
  [ada, bea] = [await person('forks-ada'), await person('forks-bea')];
});
afterAll(() => git.close());

test('a user forks a project, pushes to the fork, and the owner of the project merges the request', async () => {
  const name = `forked-${mark}`;
  const source = await sdk(ada).Projects.create({ name, visibility: 'public' });
  const main = 'main';
  await git.init('source', urlOf(String(source['path_with_namespace']), ada));
  await git.ok('source', 'push', '--quiet', 'origin', main);

  const fork = await sdk(bea).Projects.fork(source.id);
  expect(fork).toMatchObject({ import_status: 'finished', forked_from_project: { id: source.id } });
  await git.ok('.', 'clone', '--quiet', urlOf(String(fork['path_with_namespace']), bea), 'fork');
  await git.ok('fork', 'checkout', '--quiet', '-b', 'topic');
  const first = await git.commit('fork', 'Add a nest', 'nest');
  await git.ok('fork', 'push', '--quiet', 'origin', 'topic');

  const made = await sdk(bea).MergeRequests.create(fork.id, 'topic', main, 'A nest', { targetProjectId: source.id });
  expect(made).toMatchObject({ source_project_id: fork.id, target_project_id: source.id, sha: first, state: 'opened' });
  const second = await git.commit('fork', 'Line the nest', 'lining');
  await git.ok('fork', 'push', '--quiet', 'origin', 'topic');
  const { MergeRequests } = sdk(ada);
  expect(await MergeRequests.show(source.id, made.iid)).toMatchObject({
    sha: second,
    detailed_merge_status: 'mergeable',
  });
  await git.ok('source', 'fetch', '--quiet', 'origin', `refs/merge-requests/${made.iid}/head`);
  expect((await git.ok('source', 'rev-parse', 'FETCH_HEAD')).trim()).toBe(second);

  const merged = await MergeRequests.merge(source.id, made.iid, { sha: second });
  expect(merged).toMatchObject({ state: 'merged', merged_by: { id: ada.id } });
  await git.ok('source', 'pull', '--quiet', 'origin', main);
  expect(await git.ok('source', 'log', '--format=%s', '--no-merges')).toContain('Line the nest\nAdd a nest\n');

  const gone = await call('DELETE', `/projects/${source.id}`, { token: ada.token });
  expect(gone.status).toBe(202);
  await git.ok('.', 'clone', '--quiet', urlOf(String(fork['path_with_namespace']), bea), 'whole');
  expect(await git.ok('whole', 'fsck', '--strict')).not.toContain('error');
});
