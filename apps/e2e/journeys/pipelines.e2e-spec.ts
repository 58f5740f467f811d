import { GitClient } from '@rookery/testing';
import { call, estate, eventually, person, projectOf } from '../support/estate';
import type { Answer, Person } from '../support/estate';

let git: GitClient;
let owner: Person;
let project: { readonly id: number; readonly path: string };
let sha: string;

const as = (method: string, path: string, json?: object): Promise<Answer> =>
  call(method, `/projects/${project.id}${path}`, { token: owner.token, ...(json ? { json } : {}) });

beforeAll(async () => {
  git = await GitClient.make();
  owner = await person('runner');
  project = await projectOf(owner, 'pipelines');
  const remote = `${estate.baseUrl.replace('://', `://oauth2:${owner.token}@`)}/${project.path}.git`;
  await git.init('work', remote);
  await git.ok('work', 'push', '--quiet', 'origin', 'main', 'main:feature/a');
  sha = (await git.ok('work', 'rev-parse', 'HEAD')).trim();
});
afterAll(() => git.close());

test('a webhook starts a pipeline by a trigger token, but not for another pipeline', async () => {
  const { body: trigger } = await as('POST', '/triggers', { description: 'Hook' });
  const path = `/projects/${project.id}/ref/feature%2Fa/trigger/pipeline?token=${trigger.token}`;
  const send = (event: string) =>
    call('POST', path, { token: null, json: { object_kind: 'push' }, headers: { 'X-Gitlab-Event': event } });
  const { status, body } = await send('Push Hook');
  expect([status, body]).toMatchObject([201, { ref: 'feature/a', sha, source: 'trigger', status: 'created' }]);
  expect(body.web_url).toBe(`${estate.baseUrl}/${project.path}/-/pipelines/${body.id}`);
  expect((await send('Pipeline Hook')).status).toBe(403);
});

test('a push with a CI file starts a pipeline, which the commit shows', async () => {
  await git.ok('work', 'checkout', '--quiet', '-b', 'ci');
  const pushed = await git.commit('work', 'CI', '.gitlab-ci.yml');
  await git.ok('work', 'push', '--quiet', '-o', 'ci.variable=LEVEL=1', 'origin', 'ci');
  await git.ok('work', 'checkout', '--quiet', 'main');
  const commit = await eventually(
    () => as('GET', `/repository/commits/${pushed}`),
    ({ body }) => body.last_pipeline !== null,
  );
  const pipeline = { ref: 'ci', sha: pushed, source: 'push', status: 'created' };
  expect(commit.body).toMatchObject({ status: 'created', last_pipeline: pipeline });
  expect((await as('GET', `/pipelines?sha=${pushed}`)).body).toEqual([commit.body.last_pipeline]);
  const variables = await as('GET', `/pipelines/${commit.body.last_pipeline.id}/variables`);
  expect(variables.body).toEqual([{ key: 'LEVEL', value: '1', variable_type: 'env_var' }]);
});

test('an outside CI reports statuses of a pushed commit', async () => {
  const report = (json: object) => as('POST', `/statuses/${sha}`, json);
  const pending = await report({ state: 'pending', name: 'build', ref: 'main' });
  expect([pending.status, pending.body]).toMatchObject([201, { sha, ref: 'main', status: 'pending' }]);
  expect((await report({ state: 'pending', name: 'build', ref: 'main' })).body.message).toMatch(
    /^Cannot transition status via :enqueue from :pending/,
  );
  await report({ state: 'success', name: 'build', ref: 'main' });
  const listed = await as('GET', '/repository/commits/main/statuses?ref=main');
  expect(listed.body).toMatchObject([{ id: pending.body.id, status: 'success' }]);
  const latest = await as('GET', '/pipelines/latest');
  expect(latest.body).toMatchObject({ id: pending.body.pipeline_id, status: 'success', source: 'external' });
});

test('the token of a job opens its project for packages and git while the job runs', async () => {
  const { body: pipeline } = await as('POST', '/pipeline', { ref: 'main' });
  const { body: job } = await as('POST', `/pipelines/${pipeline.id}/jobs`, { name: 'publish' });
  const byJob = (method: string, path: string, body?: string): Promise<Answer> =>
    call(method, path, { token: null, headers: { 'JOB-TOKEN': job.token }, ...(body === undefined ? {} : { body }) });
  const file = `/projects/${project.id}/packages/generic/app/1.0.0/a.txt`;
  expect((await byJob('GET', '/job')).body).toMatchObject({ id: job.id, status: 'running' });
  expect((await byJob('PUT', file, 'content')).status).toBe(201);
  expect((await byJob('GET', file)).text).toBe('content');
  // semantic-release looks for releases with the header alone.
  expect((await byJob('GET', `/projects/${project.id}/releases`)).body).toEqual([]);
  expect((await byJob('GET', '/user')).status).toBe(403);
  const remote = `${estate.baseUrl.replace('://', `://gitlab-ci-token:${job.token}@`)}/${project.path}.git`;
  expect(await git.ok('work', 'ls-remote', remote, 'main')).toContain(sha);
  await git.ok('work', 'commit', '--allow-empty', '--quiet', '-m', 'by a job');
  await expect(git.ok('work', 'push', remote, 'HEAD:refs/heads/by-job')).rejects.toThrow();
  await call('PUT', `/jobs/${job.id}`, { token: null, json: { token: job.token, state: 'success' } });
  expect((await byJob('GET', '/job')).status).toBe(401);
  expect((await byJob('GET', file)).status).toBe(401);
  await expect(git.ok('work', 'ls-remote', remote)).rejects.toThrow();
});

test('a job reports its components, and the author exports them', async () => {
  const { body: pipeline } = await as('POST', '/pipeline', { ref: 'main' });
  const { body: job } = await as('POST', `/pipelines/${pipeline.id}/jobs`, { name: 'sbom' });
  const component = { type: 'library', name: 'left-pad', version: '1.3.0', purl: 'pkg:npm/left-pad@1.3.0' };
  const form = new FormData();
  const document = { bomFormat: 'CycloneDX', specVersion: '1.5', version: 1, components: [component] };
  form.append('file', new Blob([JSON.stringify(document)]), 'gl-sbom.cdx.json');
  const handed = await fetch(`${estate.baseUrl}/api/v4/jobs/${job.id}/artifacts?artifact_type=cyclonedx`, {
    method: 'POST',
    headers: { 'JOB-TOKEN': job.token },
    body: form,
  });
  expect([handed.status, await handed.json()]).toEqual([201, { message: '201 Created' }]);
  await call('PUT', `/jobs/${job.id}`, { token: null, json: { token: job.token, state: 'success' } });
  const created = await as('POST', '/dependency_list_exports', { export_type: 'dependency_list' });
  expect(created.status).toBe(201);
  const ask = () => call('GET', new URL(created.body.self).pathname.slice('/api/v4'.length), { token: owner.token });
  const finished = await eventually(ask, ({ status }) => status === 200);
  expect(finished.body).toMatchObject({ status: 'finished', has_finished: true });
  const { body } = await call('GET', `/dependency_list_exports/${created.body.id}/download`, { token: owner.token });
  expect(body.dependencies).toMatchObject([{ name: 'left-pad', version: '1.3.0', packager: 'npm' }]);
});

test('an outside runner opens a job, and reports its end by the token of the job', async () => {
  const { body: pipeline } = await as('POST', '/pipeline', { ref: 'main', variables: [{ key: 'A', value: 'x' }] });
  const { body: job } = await as('POST', `/pipelines/${pipeline.id}/jobs`, { name: 'build' });
  expect(job.variables).toEqual([{ key: 'A', value: 'x', variable_type: 'env_var' }]);
  const end = () => call('PUT', `/jobs/${job.id}`, { token: null, json: { token: job.token, state: 'success' } });
  expect((await end()).status).toBe(200);
  expect((await end()).status).toBe(401);
  expect((await as('GET', `/pipelines/${pipeline.id}`)).body.status).toBe('success');
});
