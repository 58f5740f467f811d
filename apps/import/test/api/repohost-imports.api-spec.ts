import type { ImportObjectsRequest } from '@rookery/contracts';
import { anonymousViewer, registerParameterEncodingTests, RepohostCloud } from '@rookery/testing';
import type { CloudRepository } from '@rookery/testing';
import { ImportScene } from '../support/scene';

let scene: ImportScene;
let cloud: RepohostCloud;
beforeAll(async () => {
  cloud = await RepohostCloud.start();
  scene = await ImportScene.open({ IMPORT_REPOHOST_API_URL: cloud.apiUrl }, [cloud.host]);
});
afterEach(() => {
  cloud.host.answer = null;
  scene.inside.target = 'allowed';
  scene.inside.away.clear();
});
afterAll(async () => {
  await scene.close();
  await cloud.host.stop();
});

const PATH = '/api/v4/import/repohost';
const LAST = 4;
const [created_on, updated_on] = ['2024-01-02T03:04:05.123456+00:00', '2024-02-03T04:05:06+00:00'];
const [at, later] = ['2024-01-02T03:04:05.123Z', '2024-02-03T04:05:06.000Z'];
const robin = { uuid: '{robin}', nickname: 'robin', display_name: 'Robin' };
const merlin = { account_id: 'merlin', display_name: 'Merlin Wild' };
const importParameters = (over: object = {}) => ({
  ...{ cloudrepo_username: cloud.host.username, cloudrepo_app_password: cloud.host.token, repo_path: 'wren/heron' },
  target_namespace: scene.owner.username,
  ...over,
});
const postImport = (body: object, path = PATH) => scene.as(scene.owner).post(path).send(body);
const startImport = async ({ name, full_name: repo_path }: CloudRepository, over: object = {}) => {
  const project = await scene.prepareProject(name);
  const { body } = await postImport(importParameters({ repo_path, ...over })).expect(201);
  const importId = await scene.importOf(project.id);
  return { projectId: project.id, importId, body: body as Record<string, unknown> };
};
const branchEnd = (name: string, hash: string | null, full_name = 'wren/x') => ({
  ...{ branch: { name }, commit: hash === null ? null : { hash }, repository: { full_name } },
});
const pullRequest = (id: number, over: object = {}) => ({
  ...{ id, title: `Change ${id}`, description: 'Text', state: 'OPEN', author: robin, reviewers: [merlin] },
  ...{
    source: branchEnd('feature', 'a'.repeat(12)),
    destination: branchEnd('main', 'b'.repeat(12)),
    created_on,
    updated_on,
  },
  ...over,
});
const comment = (id: number, over: object = {}) => ({
  ...{ id, content: { raw: `Comment ${id}` }, user: merlin, created_on, updated_on: null },
  ...over,
});
const listSentObjects = (projectId: number, kind: string): readonly Record<string, unknown>[] =>
  scene.inside.objects
    .filter((request: ImportObjectsRequest) => request.project_id === projectId && request.kind === kind)
    .flatMap(({ objects }) => objects as unknown as Record<string, unknown>[]);
const showImport = async (projectId: number) =>
  (await scene.as(scene.owner).get(`/api/v4/projects/${projectId}/import`).expect(200)).body as Record<string, unknown>;

describe('POST /import/repohost', () => {
  it('creates a project and schedules its import', async () => {
    const { body, projectId, importId } = await startImport(await cloud.add('heron'));
    const { import_key: key, ...asked } = scene.inside.projects.at(-1)!;
    expect(asked).toEqual({
      ...{ user_id: scene.owner.id, namespace: scene.owner.username, import_type: 'repohost', name: 'heron' },
      ...{ import_url: `${cloud.host.url}/wren/heron.git`, description: 'About heron', default_branch: 'main' },
      is_private: true,
    });
    expect(body).toEqual({
      ...{ id: projectId, name: 'heron', full_path: `/${scene.owner.username}/heron` },
      full_name: `${scene.owner.name} / heron`,
      refs_url: `/${scene.owner.username}/heron/refs`,
      ...{ import_source: 'wren/heron', import_status: 'scheduled', human_import_status_name: 'scheduled' },
      ...{ provider_link: `${cloud.host.url}/wren/heron`, relation_type: null, import_warning: null },
    });
    expect(await scene.row(importId)).toMatchObject({ import_key: key, source: 'repohost', state: 'scheduled' });
    expect(JSON.stringify(await scene.row(importId))).not.toContain(cloud.host.token);
  });

  it.each([
    ['/api/v4/import/bitbucket', 'bitbucket_username', 'bitbucket_app_password'],
    ['/api/v4/import/cloudrepo', 'bitbucket_email', 'bitbucket_api_token'],
  ])('takes the names of existing clients: %s', async (path, username, password) => {
    const name = `egret-${username}`;
    await cloud.add(name, { is_private: false });
    await scene.prepareProject(name);
    const given = { [username]: cloud.host.username, [password]: cloud.host.token, repo_path: `wren___${name}` };
    await postImport({ ...given, target_namespace: 'birds', new_name: 'Great Egret' }, path).expect(201);
    const named = { namespace: 'birds', name: 'Great Egret', is_private: false };
    expect(scene.inside.projects.at(-1)).toMatchObject(named);
  });

  it.each([
    [
      null,
      'cloudrepo_username is missing, cloudrepo_app_password is missing, repo_path is missing, target_namespace is missing',
    ],
    [{ target_namespace: ' ' }, 'target_namespace is empty'],
    [{ cloudrepo_app_password: 'a\r\nb' }, 'cloudrepo_app_password is invalid'],
    [{ cloudrepo_username: 'a:b' }, 'cloudrepo_username is invalid'],
    [{ repo_path: 'heron' }, 'repo_path is invalid'],
    [{ repo_path: '../user' }, 'repo_path is invalid'],
    [{ repo_path: 'wren/..' }, 'repo_path is invalid'],
    [{ repo_path: '..___user' }, 'repo_path is invalid'],
    [{ repo_path: 'a/b/c' }, 'repo_path is invalid'],
  ])('refuses the parameters %j', async (over, error) => {
    expect((await postImport(over === null ? {} : importParameters(over)).expect(400)).body).toEqual({ error });
  });

  it.each([
    ['missing', 422, 'Namespace or group to import repository into does not exist.'],
    ['forbidden', 401, "You don't have permissions to import this project"],
  ] as const)('refuses a target that is %s without asking upstream', async (target, code, error) => {
    scene.inside.target = target;
    const before = cloud.host.seen.length;
    expect((await postImport(importParameters()).expect(code)).body).toEqual({ message: { error } });
    expect(cloud.host.seen).toHaveLength(before);
  });

  it('reports refused credentials, missing repositories and other failures', async () => {
    const error = 'Unable to authorize with repohost. Check your credentials';
    const wrong = importParameters({ cloudrepo_app_password: 'wrong' });
    expect((await postImport(wrong).expect(401)).body).toEqual({ message: { error } });
    expect((await postImport(importParameters({ repo_path: 'wren/dodo' })).expect(422)).body).toEqual({
      message: { error: 'Project wren/dodo could not be found' },
    });
    cloud.host.answer = (_, response) => void response.writeHead(500).end(`no ${cloud.host.token}`);
    expect((await postImport(importParameters()).expect(400)).body).toEqual({
      message: { error: 'Import failed due to an error: no [credential] (HTTP 500)' },
    });
    cloud.host.answer = (_, response) => void response.writeHead(429).end();
    expect((await postImport(importParameters()).expect(400)).body).toEqual({
      message: { error: 'Import failed due to an error: The rate of requests is limited.' },
    });
    cloud.host.answer = (_, response) => void response.end('{"full_name":"x","is_private":true}');
    expect((await postImport(importParameters()).expect(400)).body).toEqual({
      message: { error: 'Import failed due to an error: The answer is not a repository. (HTTP 200)' },
    });
  });

  it.each([['/user'], ['/repositories/wren/heron']])('reads no large answer of %s', async (path) => {
    cloud.host.answer = (request, response) =>
      request.url!.endsWith(path) ? void response.end(' '.repeat(300_000)) : false;
    expect((await postImport(importParameters()).expect(400)).body).toEqual({
      message: { error: 'Import failed due to an error: The answer is larger than 262144 bytes.' },
    });
  });

  it('reports the problems of the project', async () => {
    scene.inside.project = { outcome: 'invalid', problems: ['Name has already been taken'] };
    expect((await postImport(importParameters()).expect(422)).body).toEqual({
      message: { error: 'Name has already been taken' },
    });
  });

  it('is for callers with a token that has the scope api', async () => {
    const { body } = await scene.service.app.as(anonymousViewer()).post(PATH).send({}).expect(401);
    expect(body).toEqual({ message: '401 Unauthorized' });
    const readers = scene.as(scene.owner, { scopes: ['read_api'] });
    await readers.post(PATH).send({}).expect(403);
  });

  registerParameterEncodingTests({
    app: () => scene.service.app,
    to: async (encoding) => {
      const { name, full_name: repo_path } = await cloud.add(`shrike-${encoding.replaceAll(' ', '-')}`);
      await scene.prepareProject(name);
      const viewer = scene.service.seed.viewer(scene.owner);
      return { viewer, method: 'POST', path: PATH, params: importParameters({ repo_path, new_name: 'Shrike' }) };
    },
    seen: ({ import_status: state }) => [state, scene.inside.projects.at(-1)!.name],
    expected: ['scheduled', 'Shrike'],
  });
});

describe('an import from the repository service', () => {
  it('brings branches, issues and their comments along, and wipes the credential', async () => {
    const repository = await cloud.add('siskin');
    const issue = (id: number, state: string, over: object = {}) => ({
      ...{ id, title: `Issue ${id}`, content: { raw: 'Text' }, state, reporter: robin, created_on, updated_on },
      ...over,
    });
    const states = ['new', 'open', 'on hold', 'resolved', 'invalid', 'duplicate', 'wontfix', 'closed'];
    cloud.put(repository, 'issues', [
      ...states.map((state, index) => issue(index + 1, state)),
      issue(9, 'new', { assignee: robin, reporter: null, content: { raw: '' } }),
      issue(10, 'new', { title: 5 }),
    ]);
    cloud.put(repository, 'issues/1/comments', [
      comment(51),
      comment(52, { content: { raw: null } }),
      comment(53, { deleted: true }),
    ]);
    const { importId, projectId } = await startImport(repository);
    await scene.run(importId);
    const issues = listSentObjects(projectId, 'issue');
    expect(issues.map(({ number, state }) => [number, state])).toEqual([
      ...states.map((_, index) => [index + 1, index < 3 ? 'opened' : 'closed']),
      [9, 'opened'],
    ]);
    expect(issues[3]).toEqual({
      ...{ number: 4, author_id: issues[0]!['author_id'], title: 'Issue 4', description: 'Text', state: 'closed' },
      ...{ is_locked: false, created_at: at, updated_at: later, closed_at: later, assignee_ids: [], labels: [] },
      milestone: null,
    });
    expect(issues[8]).toMatchObject({ author_id: 1000, assignee_ids: [issues[0]!['author_id']], description: null });
    expect(listSentObjects(projectId, 'note')).toEqual([
      expect.objectContaining({ id: 103, issue: 1, merge_request: null, body: 'Comment 51', created_at: at }),
    ]);
    const refs = await scene.refs(scene.inside.repositoryOf(projectId));
    expect(refs.map((line) => line.split(' ')[0])).toEqual(['refs/heads/main']);
    expect(await scene.row(importId)).toMatchObject({ state: 'finished', sealed_credential: null });
    expect(await showImport(projectId)).toMatchObject({ failed_relations: [{ relation_name: 'issue' }] });
  });

  it('brings pull requests of all states along, with reviewers and approvals', async () => {
    const repository = await cloud.add('linnet');
    cloud.put(repository, 'pullrequests', [
      pullRequest(1, { draft: true }),
      pullRequest(2, {
        state: 'MERGED',
        closed_by: robin,
        closed_on: updated_on,
        merge_commit: { hash: 'c'.repeat(12) },
      }),
      pullRequest(3, { state: 'DECLINED', description: null, summary: { raw: 'Summary' } }),
      pullRequest(4, { state: 'SUPERSEDED', source: branchEnd('theirs', null, 'merlin/x') }),
    ]);
    cloud.put(repository, 'pullrequests/1/activity', [
      { approval: { date: updated_on, user: merlin } },
      { update: { state: 'OPEN' } },
      { changes_requested: { date: created_on, user: merlin } },
    ]);
    const { importId, projectId } = await startImport(repository);
    await scene.run(importId);
    const [first, second, third, fourth] = listSentObjects(projectId, 'merge_request');
    const [author] = [first!['author_id']];
    expect(first).toEqual({
      ...{ number: 1, author_id: author, title: 'Draft: Change 1', description: 'Text', state: 'opened' },
      ...{ source_branch: 'feature', source_owner: 'wren', target_branch: 'main', is_foreign: false, is_locked: false },
      ...{ head_sha: 'a'.repeat(12), base_sha: 'b'.repeat(12), merge_commit_sha: null, merged_by_id: null },
      ...{ created_at: at, updated_at: later, closed_at: null, merged_at: null, assignee_ids: [], labels: [] },
      ...{ milestone: null, reviewer_ids: [expect.any(Number) as number] },
    });
    expect(second).toMatchObject({
      ...{ state: 'merged', merged_by_id: author, merged_at: later, closed_at: null, merge_commit_sha: 'c'.repeat(12) },
    });
    expect(third).toMatchObject({ state: 'closed', closed_at: later, description: 'Summary' });
    expect(fourth).toMatchObject({ state: 'closed', is_foreign: true, source_owner: 'merlin', head_sha: '' });
    expect(listSentObjects(projectId, 'review')).toEqual([
      expect.objectContaining({ id: Date.parse(at), merge_request: 1, state: 'changes_requested', created_at: at }),
      expect.objectContaining({ id: Date.parse(later), merge_request: 1, state: 'approved', created_at: later }),
    ]);
    expect(await showImport(projectId)).toMatchObject({ import_status: 'finished', failed_relations: [] });
  });

  it('brings comments on pull requests along', async () => {
    const repository = await cloud.add('wagtail');
    cloud.put(repository, 'pullrequests', [pullRequest(1)]);
    cloud.put(repository, 'pullrequests/1/comments', [
      comment(51),
      comment(52, { inline: { path: 'a.ts', from: null, to: 7, start_to: 5 } }),
      comment(53, { inline: { path: 'a.ts', from: 3, to: null }, content: { raw: '```suggestion\nx\n```' } }),
      comment(54, { inline: { path: 'a.ts', from: null, to: null }, parent: { id: 52 } }),
      comment(55, { deleted: true }),
    ]);
    const { importId, projectId } = await startImport(repository);
    await scene.run(importId);
    const line = { merge_request: 1, path: 'a.ts', commit_id: 'a'.repeat(12), created_at: at, updated_at: at };
    expect(listSentObjects(projectId, 'diff_note')).toMatchObject([
      { ...line, id: 52, side: 'new', line: 7, start_line: 5, reply_to: null, body: 'Comment 52' },
      { ...line, id: 53, side: 'old', line: 3, start_line: null, body: '```suggestion:-0+0\nx\n```' },
      { ...line, id: 54, side: 'new', line: null, reply_to: 52 },
    ]);
    expect(listSentObjects(projectId, 'note')).toMatchObject([
      { id: 102, issue: null, merge_request: 1, body: 'Comment 51' },
    ]);
    expect(scene.inside.people.at(-1)!.people).toEqual([{ id: expect.any(Number) as number, username: 'Merlin Wild' }]);
  });

  it('reads all pages, and has no issues without an issue tracker', async () => {
    const repository = await cloud.add('knot', { has_issues: false });
    cloud.put(
      repository,
      'pullrequests',
      Array.from({ length: 60 }, (_, index) => pullRequest(index + 1)),
    );
    const { importId, projectId } = await startImport(repository);
    await scene.run(importId);
    expect(listSentObjects(projectId, 'merge_request')).toHaveLength(60);
    expect(await showImport(projectId)).toMatchObject({ import_status: 'finished', failed_relations: [] });
  });

  it.each(['http://169.254.169.254/2.0/x', 'https://api.example/2.0/x', 'x'])(
    'follows no page to the address %s',
    async (next) => {
      const { importId } = await startImport(await cloud.add(`auk-${next.length}`));
      cloud.host.answer = (request, response) =>
        request.url!.includes('/issues') ? void response.end(JSON.stringify({ values: [], next })) : false;
      await scene.run(importId, LAST);
      expect(await scene.row(importId)).toMatchObject({ state: 'failed', error: 'Invalid pagination URL.' });
    },
  );

  it('leaves the credential nowhere', async () => {
    const { database, app } = scene.service;
    for (const table of ['project_imports', 'import_failures', 'background_jobs', 'outbox']) {
      expect(JSON.stringify(await database.query(`select * from ${table}`))).not.toContain(cloud.host.token);
    }
    expect(JSON.stringify([app.logs, scene.inside.states, scene.inside.objects])).not.toContain(cloud.host.token);
  });
});

it('refuses every import where the operator does not allow the service', async () => {
  const closed = await ImportScene.open({ IMPORT_SOURCES: 'remote' }, [cloud.host]);
  const { body } = await closed.as(closed.owner).post(PATH).send(importParameters()).expect(403);
  expect(body).toEqual({ message: { error: ['repohost import source is disabled'] } });
  await closed.close();
});
