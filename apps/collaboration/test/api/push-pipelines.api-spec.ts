import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DirectoryProject, PushedPipelines } from '@rookery/contracts';
import { GitClient, internalAuthorization } from '@rookery/testing';
import type { SeededService, SeededUser } from '@rookery/testing';
import { eventsOf, startCollaboration } from '../support/app';
import { GitFront } from '../support/git-front';

let service: SeededService;
let front: GitFront;
let git: GitClient;
let developer: SeededUser;
let at = 0;

beforeAll(async () => {
  service = await startCollaboration();
  git = await GitClient.make();
  front = await new GitFront(service.app, () => service.seed.anonymous()).start();
  developer = await service.seed.user();
  front.accept('developer', () => service.seed.viewer(developer));
});
afterAll(async () => {
  await front.stop();
  await git.close();
  await service.close();
});

const CI_FILE = '.gitlab-ci.yml';
const NONE = { project_id: null, user_id: null, refs: [], variables: [], inputs: {} };

class Place {
  private constructor(
    readonly project: DirectoryProject,
    readonly folder: string,
  ) {}

  /** A project whose branch `feature` has a CI file at this path. */
  static async with(path: string, settings: object | null = null): Promise<Place> {
    const group = await service.seed.group();
    const over = { namespace_id: group.id, default_branch: null, merge_settings: settings };
    const project = await service.seed.project(over as Partial<DirectoryProject>);
    await service.seed.member(developer, project, 'maintainer');
    const folder = `work-${++at}`;
    await git.init(folder, front.url(`${group.full_path}/${project.path}.git`, 'developer'));
    await git.ok(folder, 'push', '--quiet', 'origin', 'main');
    await git.ok(folder, 'checkout', '--quiet', '-b', 'feature');
    await git.commit(folder, 'CI', path);
    return new Place(project, folder);
  }

  /** Pushes. Returns the pipelines that the newest push starts. */
  async push(...args: string[]): Promise<PushedPipelines> {
    await git.ok(this.folder, 'push', '--quiet', ...args);
    return this.newest();
  }

  async newest(): Promise<PushedPipelines> {
    const events = await eventsOf(service.database, 'collaboration.push.completed.v1');
    const own = events.filter((event) => event['project_id'] === this.project.id);
    return (await postInternal({ push_id: own.at(-1)!['push_id'] }).expect(200)).body as PushedPipelines;
  }

  async head(): Promise<string> {
    return (await git.ok(this.folder, 'rev-parse', 'HEAD')).trim();
  }
}

const postInternal = (body: object, caller: 'package' | 'identity' = 'package') =>
  service.app
    .bare()
    .post('/internal/repositories/pushed-pipelines')
    .set('authorization', internalAuthorization(caller, 'collaboration'))
    .send(body);

it('names branches and tags whose commit has the CI file', async () => {
  const place = await Place.with(CI_FILE);
  expect(await place.newest()).toMatchObject({ user_id: developer.id, refs: [] });
  const sha = await place.head();
  await git.ok(place.folder, 'tag', '-a', '-m', 'Release', 'v1');
  const committed_at = expect.stringMatching(/^\d{4}-.*Z$/);
  expect(await place.push('origin', 'main', 'feature', 'v1')).toEqual({
    project_id: place.project.id,
    user_id: developer.id,
    refs: [
      { sha, ref: 'feature', is_tag: false, committed_at },
      { sha, ref: 'v1', is_tag: true, committed_at },
    ],
    variables: [],
    inputs: {},
  });
  expect(await place.push('origin', ':feature')).toMatchObject({ refs: [] });
});

it('names a ref whose commit has a date that no clock can show', async () => {
  const place = await Place.with(CI_FILE);
  const tree = (await git.ok(place.folder, 'rev-parse', 'HEAD^{tree}')).trim();
  const person = 'A <a@example.org> 9000000000000 +0000';
  await writeFile(
    join(git.folder, place.folder, 'far'),
    `tree ${tree}\nauthor ${person}\ncommitter ${person}\n\nFar\n`,
  );
  const sha = (await git.ok(place.folder, 'hash-object', '-t', 'commit', '-w', 'far')).trim();
  await git.ok(place.folder, 'update-ref', 'refs/heads/far', sha);
  expect((await place.push('origin', 'far', 'feature')).refs).toMatchObject([
    { sha, ref: 'far', committed_at: '1970-01-01T00:00:00.000Z' },
    { ref: 'feature' },
  ]);
});

it('names no refs that feeds show only together', async () => {
  const place = await Place.with(CI_FILE);
  const branches = ['a', 'b', 'c', 'd'].map((name) => `feature:${name}`);
  await git.ok(place.folder, 'tag', 'v1');
  expect((await place.push('origin', ...branches, 'v1')).refs).toMatchObject([{ ref: 'v1' }]);
  expect((await place.push('origin', 'feature:e', 'feature:f', 'feature:g')).refs).toHaveLength(3);
});

it.each([
  ['its default path', CI_FILE, null, 1],
  ['its default path for a blank setting', CI_FILE, { ci_config_path: ' ' }, 1],
  ['the path of the project', 'ci.yml', { ci_config_path: '/ci.yml' }, 1],
  ['another path only', CI_FILE, { ci_config_path: 'ci.yml' }, 0],
  ['a path that leaves the repository', CI_FILE, { ci_config_path: '../x' }, 0],
  ['another project', 'x', { ci_config_path: 'ci.yml@group/project' }, 1],
  ['another server', 'x', { ci_config_path: 'https://example.org/ci.yml' }, 1],
  ['its default path without CI', CI_FILE, { builds_access_level: 'disabled' }, 0],
])('takes a file at %s', async (_, path, settings, count) => {
  const place = await Place.with(path, settings);
  expect((await place.push('origin', 'feature')).refs).toHaveLength(count);
});

it.each(['[skip ci]', '[CI skip] later', 'x\n\n[ci-skip]'])('names no commit whose message says %j', async (text) => {
  const place = await Place.with(CI_FILE);
  await git.ok(place.folder, 'commit', '--quiet', '--allow-empty', '-m', text);
  expect((await place.push('origin', 'feature')).refs).toEqual([]);
  await git.ok(place.folder, 'commit', '--quiet', '--allow-empty', '-m', 'skip ci');
  expect((await place.push('origin', 'feature')).refs).toHaveLength(1);
});

/** Stored options of the newest push. */
async function optionsOf({ project: { id } }: Place): Promise<readonly string[]> {
  const [row] = await service.database.query<{ options: string[] }>(
    'select options from pushes where project_id = $1 order by id desc limit 1',
    [id],
  );
  return row!.options;
}

it('follows push options', async () => {
  const place = await Place.with(CI_FILE);
  expect(await place.push('-o', 'ci.skip', 'origin', 'feature')).toEqual(NONE);
  await git.ok(place.folder, 'commit', '--quiet', '--allow-empty', '-m', 'Next');
  const options = ['ci.variable=A=x=y', 'ci.variable=bad-key=1', 'ci.input=env=ü', 'unknown'];
  const sent = await place.push(...options.flatMap((option) => ['-o', option]), 'origin', 'feature');
  expect(sent).toMatchObject({ refs: [{ ref: 'feature' }], variables: [{ key: 'A', value: 'x=y' }] });
  expect(sent.inputs).toEqual({ env: 'ü' });
  const rows = await service.database.query('select options from pushes where project_id = $1 order by id desc', [
    place.project.id,
  ]);
  expect(rows[0]).toEqual({ options: options.slice(0, 3) });
  const events = await eventsOf(service.database, 'collaboration.push.completed.v1');
  const push_id = events.at(-1)!['push_id'];
  const stored = (body: object, caller: 'package' | 'identity' = 'package') =>
    service.app
      .bare()
      .post('/internal/repositories/push-variables-stored')
      .set('authorization', internalAuthorization(caller, 'collaboration'))
      .send(body);
  await stored({ push_id }, 'identity').expect(403);
  await stored({ push_id: 'x' }).expect(400);
  for (let time = 0; time < 2; time++) expect((await stored({ push_id }).expect(200)).body).toEqual({});
  expect(await optionsOf(place)).toEqual([options[2]]);
});

it('forgets variables of pushes that start no pipeline', async () => {
  const place = await Place.with('other-file');
  expect(await place.push('-o', 'ci.variable=A=x', 'origin', 'feature')).toMatchObject({ refs: [] });
  expect(await optionsOf(place)).toEqual([]);
  await git.ok(place.folder, 'commit', '--quiet', '--allow-empty', '-m', 'Next');
  expect(await place.push('-o', 'ci.skip', '-o', 'ci.variable=A=x', 'origin', 'feature')).toEqual(NONE);
  expect(await optionsOf(place)).toEqual(['ci.skip']);
});

it('names those of commits that the API wrote', async () => {
  const place = await Place.with(CI_FILE);
  await place.push('origin', 'feature');
  const sent = { branch: 'api', start_branch: 'feature', commit_message: 'By API', actions: [] };
  const { body } = await service.app
    .as(service.seed.viewer(developer))
    .post(`/api/v4/projects/${place.project.id}/repository/commits`)
    .send(sent)
    .expect(201);
  expect((await place.newest()).refs).toMatchObject([{ ref: 'api', sha: (body as { id: string }).id }]);
});

it('knows no pipelines of unknown pushes and of removed users', async () => {
  expect((await postInternal({ push_id: 999_999 }).expect(200)).body).toEqual(NONE);
  const place = await Place.with(CI_FILE);
  await place.push('origin', 'feature');
  await service.database.query('update pushes set user_id = null where project_id = $1', [place.project.id]);
  expect(await place.newest()).toEqual(NONE);
});

it('answers only package, and only whole numbers', async () => {
  await postInternal({ push_id: 1 }, 'identity').expect(403);
  expect((await postInternal({ push_id: 'x' }).expect(400)).body).toEqual({ error: 'push_id is invalid' });
});
