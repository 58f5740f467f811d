import type { ImportObjectsRequest } from '@rookery/contracts';
import { anonymousViewer, registerParameterEncodingTests, RepohostServer } from '@rookery/testing';
import type { ServerRepository } from '@rookery/testing';
import { ImportScene } from '../support/scene';

let scene: ImportScene;
let server: RepohostServer;
beforeAll(async () => {
  server = await RepohostServer.start();
  scene = await ImportScene.open({}, [server.host]);
});
afterEach(() => {
  server.host.answer = null;
  scene.inside.target = 'allowed';
  scene.inside.isShared = false;
  scene.inside.away.clear();
});
afterAll(async () => {
  await scene.close();
  await server.host.stop();
});

const PATH = '/api/v4/import/repohost_server';
const LAST = 4;
const AT = Date.UTC(2024, 0, 2, 3, 4, 5);
const LATER = Date.UTC(2024, 1, 3, 4, 5, 6);
const [at, later] = [new Date(AT).toISOString(), new Date(LATER).toISOString()];
const robin = { id: 11, name: 'robin', slug: 'robin', displayName: 'Robin', emailAddress: 'robin@example.org' };
const merlin = { id: 12, name: 'merlin', slug: 'merlin', displayName: 'Merlin' };
const importParameters = ({ slug }: { readonly slug: string }, over: object = {}) => ({
  ...{ repohost_server_url: server.host.url, repohost_server_username: server.host.username },
  ...{ personal_access_token: server.host.token, repohost_server_project: server.key, repohost_server_repo: slug },
  ...over,
});
const postImport = (body: object, path = PATH) => scene.as(scene.owner).post(path).send(body);
const startImport = async (repository: ServerRepository, over: object = {}) => {
  const project = await scene.prepareProject(repository.slug);
  const { body } = await postImport(importParameters(repository, over)).expect(201);
  return {
    project,
    projectId: project.id,
    importId: await scene.importOf(project.id),
    body: body as Record<string, unknown>,
  };
};
const branchRef = (name: string, sha: string, repository = 1) => ({
  ...{ id: `refs/heads/${name}`, displayId: name, latestCommit: sha },
  repository: { id: repository, slug: 'x', project: { key: repository === 1 ? 'BIRD' : '~MERLIN' } },
});
const pullRequest = (id: number, over: object = {}) => ({
  ...{ id, title: `Change ${id}`, description: 'Text', state: 'OPEN', author: { user: robin }, reviewers: [] },
  ...{ fromRef: branchRef('feature', 'a'.repeat(40)), toRef: branchRef('main', 'b'.repeat(40)) },
  ...{ createdDate: AT, updatedDate: LATER },
  ...over,
});
const comment = (id: number, over: object = {}) => ({
  ...{ id, text: `Comment ${id}`, author: merlin, createdDate: AT, updatedDate: AT, comments: [] },
  ...over,
});
const commentActivity = (id: number, of: object, anchor?: object) => ({
  ...{ id, action: 'COMMENTED', user: merlin, createdDate: AT, comment: of },
  ...(anchor === undefined ? {} : { commentAnchor: anchor }),
});
const listSentObjects = (projectId: number, kind: string): readonly unknown[] =>
  scene.inside.objects
    .filter((request: ImportObjectsRequest) => request.project_id === projectId && request.kind === kind)
    .flatMap(({ objects }) => objects);
const showImport = async (projectId: number) =>
  (await scene.as(scene.owner).get(`/api/v4/projects/${projectId}/import`).expect(200)).body as Record<string, unknown>;

describe('POST /import/repohost_server', () => {
  it('creates a project in the namespace of the caller and schedules its import', async () => {
    const repository = await server.add('heron');
    const { body, projectId, importId } = await startImport(repository);
    const { import_key: key, ...asked } = scene.inside.projects.at(-1)!;
    expect(asked).toEqual({
      ...{ user_id: scene.owner.id, namespace: scene.owner.username, import_type: 'repohost_server', name: 'heron' },
      ...{ import_url: `${server.host.url}/scm/BIRD/heron.git`, description: 'About heron', default_branch: 'main' },
      is_private: true,
    });
    expect(body).toEqual({
      ...{ id: projectId, name: 'heron', full_path: `/${scene.owner.username}/heron` },
      full_name: `${scene.owner.name} / heron`,
      refs_url: `/${scene.owner.username}/heron/refs`,
      ...{ import_source: 'BIRD/heron', import_status: 'scheduled', human_import_status_name: 'scheduled' },
      provider_link: `${server.host.url}/projects/BIRD/repos/heron/browse`,
      ...{ relation_type: null, import_warning: null },
    });
    expect(await scene.row(importId)).toMatchObject({ import_key: key, state: 'scheduled', source: 'repohost_server' });
    expect(await showImport(projectId)).toMatchObject({ import_type: 'repohost_server', import_status: 'scheduled' });
  });

  it('takes the names of existing clients, a namespace, another name and the slug in other letters', async () => {
    const repository = await server.add('egret', { public: true });
    await scene.prepareProject('egret');
    const { url, username, token } = server.host;
    const given = {
      ...{ bitbucket_server_url: `${url}/`, bitbucket_server_username: username, personal_access_token: token },
      ...{ bitbucket_server_project: server.key, bitbucket_server_repo: repository.slug.toUpperCase() },
      ...{ new_name: 'Great Egret', new_namespace: 'birds/herons', timeout_strategy: 'optimistic' },
    };
    await postImport(given, '/api/v4/import/bitbucket_server').expect(201);
    const named = { namespace: 'birds/herons', name: 'Great Egret', is_private: false };
    expect(scene.inside.projects.at(-1)).toMatchObject(named);
    expect(scene.inside.targets.at(-1)).toEqual({ user_id: scene.owner.id, namespace: 'birds/herons' });
  });

  it('makes a public project of a repository in a public one', async () => {
    const repository = await server.add('stork', { project: { key: 'BIRD', public: true } });
    await startImport(repository);
    expect(scene.inside.projects.at(-1)).toMatchObject({ is_private: false });
  });

  const missing = ['url', 'username'].map((name) => `repohost_server_${name} is missing`);
  it.each([
    [
      null,
      [
        ...missing,
        'personal_access_token is missing',
        'repohost_server_project is missing',
        'repohost_server_repo is missing',
      ].join(', '),
    ],
    [{ timeout_strategy: 'slow' }, 'timeout_strategy does not have a valid value'],
    [{ personal_access_token: 'a\r\nb' }, 'personal_access_token is invalid'],
    [{ repohost_server_username: 'a:b' }, 'repohost_server_username is invalid'],
    [{ repohost_server_project: 'a/b' }, 'repohost_server_project is invalid'],
    [{ repohost_server_project: '..' }, 'repohost_server_project is invalid'],
    [{ repohost_server_repo: '~a' }, 'repohost_server_repo is invalid'],
    [{ repohost_server_repo: '.' }, 'repohost_server_repo is invalid'],
  ])('refuses the parameters %j', async (over, error) => {
    expect((await postImport(over === null ? {} : importParameters({ slug: 'x' }, over)).expect(400)).body).toEqual({
      error,
    });
  });

  it.each([
    'http://169.254.169.254',
    'https://localhost',
    'https://[::1]',
    'https://user:password@example.org',
    'ftp://example.org',
    'no address',
    'https://name.invalid',
    'https://example.org/?a=',
    'https://example.org/#a',
  ])('refuses the server %s before anything else', async (url) => {
    scene.inside.target = 'missing';
    const { body } = await postImport(importParameters({ slug: 'x' }, { repohost_server_url: url })).expect(400);
    expect(body).toEqual({ message: { error: `Invalid URL: ${url}` } });
  });

  it.each([
    ['missing', 422, 'Namespace or group to import repository into does not exist.'],
    ['forbidden', 401, "You don't have permissions to import this project"],
  ] as const)('refuses a target that is %s without asking upstream', async (target, code, error) => {
    scene.inside.target = target;
    const before = server.host.seen.length;
    const { body } = await postImport(importParameters({ slug: 'heron' }, { target_namespace: 'x' })).expect(code);
    expect(body).toEqual({ message: { error } });
    expect(server.host.seen).toHaveLength(before);
  });

  it('reports a missing repository', async () => {
    const { body } = await postImport(importParameters({ slug: 'dodo' })).expect(422);
    expect(body).toEqual({ message: { error: 'Project BIRD/dodo could not be found' } });
  });

  it('reports failures of the server in one short line without the credential', async () => {
    const wrong = importParameters({ slug: 'heron' }, { personal_access_token: 'wrong' });
    const failed = 'Import failed due to a repohost_server error:';
    expect((await postImport(wrong).expect(400)).body).toEqual({
      message: { error: `${failed} The credential is not accepted.` },
    });
    server.host.answer = (_, response) =>
      void response.writeHead(500).end(`no\n${server.host.token} ${'x'.repeat(500)}`);
    const { body } = await postImport(importParameters({ slug: 'heron' })).expect(400);
    expect((body.message as Record<string, string>)['error']).toMatch(
      /^Import failed due to a repohost_server error: no \[credential\] x{50,200} \(HTTP 500\)$/,
    );
    server.host.answer = (_, response) => void response.writeHead(429, { 'retry-after': '5' }).end();
    expect((await postImport(importParameters({ slug: 'heron' })).expect(400)).body).toEqual({
      message: { error: `${failed} The rate of requests is limited.` },
    });
    server.host.answer = (_, response) => void response.writeHead(302, { location: 'http://169.254.169.254/' }).end();
    expect(JSON.stringify((await postImport(importParameters({ slug: 'heron' })).expect(400)).body)).toContain(
      'leads to another',
    );
  });

  it('recognises the credential in the form of the request', async () => {
    const basic = Buffer.from(`${server.host.username}:${server.host.token}`).toString('base64');
    const failed = 'Import failed due to a repohost_server error:';
    server.host.answer = (_, response) => void response.writeHead(500).end(`Invalid header: Basic ${basic}`);
    const { body } = await postImport(importParameters({ slug: 'heron' })).expect(400);
    expect(JSON.stringify(body)).toMatch(/Invalid header: Basic \[credential\]=* \(HTTP 500\)/);
    server.host.answer = null;
    const repository = await server.add('rook', { description: `Basic ${basic}` });
    expect((await postImport(importParameters(repository)).expect(400)).body).toEqual({
      message: { error: `${failed} The answer repeats the credential.` },
    });
  });

  it.each([
    ['raven', '/repos/raven'],
    ['chough', '/branches/default'],
  ])('reads no large answer about the repository %s: %s', async (slug, path) => {
    const repository = await server.add(slug);
    server.host.answer = (request, response) =>
      request.url!.endsWith(path) ? void response.end(' '.repeat(300_000)) : false;
    expect((await postImport(importParameters(repository)).expect(400)).body).toEqual({
      message: { error: 'Import failed due to a repohost_server error: The answer is larger than 262144 bytes.' },
    });
  });

  it.each([
    '[]',
    'no json',
    '{"slug":"\\ud800","project":{"key":"BIRD"},"links":{"clone":[{"name":"http","href":"http://example.org/a"}]}}',
    '{"slug":"x","project":{"key":"\\udc00"},"links":{"clone":[{"name":"http","href":"http://example.org/a"}]}}',
    '{"slug":"x","project":{"key":"BIRD"},"links":{"clone":[{"name":"http","href":"file:///etc"}]}}',
  ])('refuses the malformed answer %s', async (answer) => {
    server.host.answer = (_, response) => void response.end(answer);
    const error = 'Import failed due to a repohost_server error: The answer is not a repository. (HTTP 200)';
    expect((await postImport(importParameters({ slug: 'heron' })).expect(400)).body).toEqual({ message: { error } });
  });

  it('reports the problems of the project', async () => {
    const repository = await server.add('stilt');
    scene.inside.project = { outcome: 'invalid', problems: ['Name has already been taken', 'Path is reserved'] };
    const { body } = await postImport(importParameters(repository)).expect(422);
    expect(body).toEqual({ message: { error: 'Name has already been taken, Path is reserved' } });
  });

  it('answers 503 while identity does not answer', async () => {
    scene.inside.away.add('/internal/imports/target');
    await postImport(importParameters({ slug: 'heron' })).expect(503);
  });

  it('is for callers with a token that has the scope api', async () => {
    const { body } = await scene.service.app.as(anonymousViewer()).post(PATH).send({}).expect(401);
    expect(body).toEqual({ message: '401 Unauthorized' });
    const readers = scene.as(scene.owner, { scopes: ['read_api'] });
    await readers.post(PATH).send({}).expect(403);
  });

  it('keeps the credential encrypted, and cannot be cancelled as an import from another kind of host', async () => {
    const { importId, projectId } = await startImport(await server.add('merlin'));
    const row = JSON.stringify(await scene.row(importId));
    expect(row).toContain('sealed_credential');
    expect(row).not.toContain(server.host.token);
    const body = { project_id: projectId };
    await scene.as(scene.owner).post('/api/v4/import/remote/cancel').send(body).expect(404);
  });

  registerParameterEncodingTests({
    app: () => scene.service.app,
    to: async (encoding) => {
      const repository = await server.add(`shrike-${encoding.replaceAll(' ', '-')}`);
      await scene.prepareProject(repository.slug);
      const viewer = scene.service.seed.viewer(scene.owner);
      return { viewer, method: 'POST', path: PATH, params: importParameters(repository, { new_name: 'Shrike' }) };
    },
    seen: ({ import_status: state }) => [state, scene.inside.projects.at(-1)!.name],
    expected: ['scheduled', 'Shrike'],
  });
});

describe('an import from a repository server', () => {
  it('brings branches, tags and heads of pull requests along, and wipes the credential', async () => {
    const repository = await server.add('dipper');
    const { git } = server.host;
    await git.ok('dipper', 'tag', 'v1');
    await git.ok('dipper', 'push', '--quiet', 'origin', 'v1', 'HEAD:refs/pull-requests/7/from');
    const { importId, projectId } = await startImport(repository);
    await scene.run(importId);
    const refs = await scene.refs(scene.inside.repositoryOf(projectId));
    expect(refs.map((line) => line.split(' ')[0])).toEqual(['refs/heads/main', 'refs/imports/7', 'refs/tags/v1']);
    expect(await scene.row(importId)).toMatchObject({ state: 'finished', sealed_credential: null, error: null });
    expect(await showImport(projectId)).toMatchObject({ import_status: 'finished', failed_relations: [] });
  });

  it('brings open, merged and declined pull requests along', async () => {
    const repository = await server.add('siskin');
    server.putPullRequests(repository, [
      pullRequest(1, { reviewers: [{ user: merlin }, { user: merlin }], draft: true }),
      pullRequest(2, { state: 'MERGED', closedDate: LATER }),
      pullRequest(3, { state: 'DECLINED', closedDate: LATER, description: undefined, author: {} }),
      pullRequest(4, { fromRef: branchRef('theirs', 'd'.repeat(40), 2) }),
      pullRequest(5, { fromRef: { latestCommit: 5 } }),
    ]);
    server.putActivities(repository, 2, [
      { id: 9, action: 'MERGED', user: merlin, createdDate: LATER, commit: { id: 'c'.repeat(40) } },
    ]);
    const { importId, projectId } = await startImport(repository);
    await scene.run(importId);
    const compared = { head_sha: 'a'.repeat(40), base_sha: 'b'.repeat(40), target_branch: 'main' };
    const own = { source_branch: 'feature', source_owner: 'BIRD', is_foreign: false, is_locked: false };
    const none = { assignee_ids: [], labels: [], milestone: null };
    const common = { ...compared, ...own, ...none, created_at: at, updated_at: later };
    const open = { state: 'opened', merge_commit_sha: null, merged_by_id: null, closed_at: null, merged_at: null };
    expect(listSentObjects(projectId, 'merge_request')).toEqual([
      {
        ...{ ...common, ...open, number: 1, author_id: 1011, title: 'Draft: Change 1', description: 'Text' },
        reviewer_ids: [1012],
      },
      {
        ...{ ...common, number: 2, author_id: 1011, title: 'Change 2', description: 'Text', reviewer_ids: [] },
        ...{ state: 'merged', merge_commit_sha: 'c'.repeat(40), merged_by_id: 1012, closed_at: null, merged_at: later },
      },
      {
        ...{ ...common, ...open, number: 3, author_id: 1000, title: 'Change 3', description: null, reviewer_ids: [] },
        ...{ state: 'closed', closed_at: later },
      },
      expect.objectContaining({ number: 4, source_branch: 'theirs', source_owner: 'MERLIN', is_foreign: true }),
    ]);
    expect(scene.inside.objects.at(-1)).toMatchObject({ import_type: 'repohost_server' });
    expect(await showImport(projectId)).toMatchObject({
      import_status: 'finished',
      failed_relations: [
        { relation_name: 'merge_request', exception_message: 'unknown: The host sent a malformed object.' },
      ],
    });
  });

  it('brings approvals along in the order of their times', async () => {
    const repository = await server.add('linnet');
    server.putPullRequests(repository, [pullRequest(1)]);
    server.putActivities(repository, 1, [
      { id: 24, action: 'UNAPPROVED', user: merlin, createdDate: LATER },
      { id: 23, action: 'REVIEWED', user: robin, createdDate: LATER },
      { action: 'APPROVED', user: merlin, createdDate: AT },
      { id: 21, action: 'OPENED', user: robin, createdDate: AT },
      { id: 20, action: 'APPROVED', user: merlin },
    ]);
    const { importId, projectId } = await startImport(repository);
    await scene.run(importId);
    const of = { merge_request: 1, body: null };
    expect(listSentObjects(projectId, 'review')).toEqual([
      { ...of, id: AT, author_id: 1012, state: 'approved', created_at: at },
      { ...of, id: 23, author_id: 1011, state: 'changes_requested', created_at: later },
      { ...of, id: 24, author_id: 1012, state: 'dismissed', created_at: later },
    ]);
    expect(await showImport(projectId)).toMatchObject({ failed_relations: [{ relation_name: 'review' }] });
  });

  it('brings comments along, with replies at any depth in one thread', async () => {
    const repository = await server.add('wagtail');
    server.putPullRequests(repository, [pullRequest(1)]);
    const deep = comment(53, { text: '```suggestion\nx\n```' });
    const reply = comment(52, { text: `Long ${'é'.repeat(100)}`, comments: [deep] });
    const anchor = { path: 'src/a.ts', line: 7, lineType: 'ADDED', fileType: 'TO', toHash: 'a'.repeat(40) };
    server.putActivities(repository, 1, [
      commentActivity(35, comment(56, { comments: [comment(57, { author: robin })] })),
      commentActivity(34, comment(55), {
        path: { components: ['src', 'b.ts'] },
        fileType: 'FROM',
        toHash: 'a'.repeat(40),
      }),
      commentActivity(33, comment(54), { ...anchor, multilineMarker: { startLine: 5 }, fileType: 'FROM' }),
      commentActivity(32, comment(51, { comments: [reply] }), anchor),
      commentActivity(31, { id: 58, author: merlin, createdDate: AT }),
    ]);
    const { importId, projectId } = await startImport(repository);
    await scene.run(importId);
    const on = { merge_request: 1, author_id: 1012, created_at: at, updated_at: at };
    const line = { path: 'src/a.ts', side: 'new', line: 7, start_line: null, commit_id: 'a'.repeat(40) };
    const quoted = `> Long ${'é'.repeat(75)}…`;
    expect(listSentObjects(projectId, 'diff_note')).toEqual([
      { ...on, ...line, id: 51, body: 'Comment 51', reply_to: null },
      { ...on, ...line, id: 52, body: `> Comment 51\n\nLong ${'é'.repeat(100)}`, reply_to: 51 },
      { ...on, ...line, id: 53, body: `${quoted}\n\n\`\`\`suggestion:-0+0\nx\n\`\`\``, reply_to: 51 },
      { ...on, ...line, id: 54, body: 'Comment 54', reply_to: null, side: 'old', start_line: 5 },
      { ...on, ...line, id: 55, body: 'Comment 55', reply_to: null, side: 'old', line: null, path: 'src/b.ts' },
    ]);
    expect(listSentObjects(projectId, 'note')).toEqual([
      { ...on, id: 56, issue: null, body: 'Comment 56' },
      { ...on, id: 57, issue: null, author_id: 1011, body: '> Comment 56\n\nComment 57' },
    ]);
    expect(await showImport(projectId)).toMatchObject({ failed_relations: [{ relation_name: 'note' }] });
  });

  it('leaves out comments whose path is too long, and stores no more of a commit than an id', async () => {
    const repository = await server.add('crake');
    server.putPullRequests(repository, [pullRequest(1)]);
    const replies = Array.from({ length: 24 }, (_, index) => comment(70 + index));
    const at16k = { components: Array.from({ length: 100 }, () => 'x'.repeat(16_000)) };
    server.putActivities(repository, 1, [
      commentActivity(43, comment(63), { path: 'src/a.ts', line: 7, toHash: 'a'.repeat(100_000) }),
      commentActivity(42, comment(62), { path: 'x'.repeat(4097), line: 7 }),
      commentActivity(41, comment(61, { comments: replies }), { path: at16k, line: 7 }),
    ]);
    const { importId, projectId } = await startImport(repository);
    await scene.run(importId);
    expect(listSentObjects(projectId, 'diff_note')).toMatchObject([{ id: 63, commit_id: 'a'.repeat(64) }]);
    expect(await showImport(projectId)).toMatchObject({ failed_relations: [{ relation_name: 'diff_note' }] });
  });

  it.each([
    ['many parts', `{"values":[${'[],'.repeat(300_000)}[]]}`, 'The answer has too many parts.'],
    ['many bytes', ' '.repeat(5_000_000), 'The answer is larger than 4194304 bytes.'],
  ])('ends at a page with %s', async (name, page, error) => {
    const { importId } = await startImport(await server.add(`coot-${name.replaceAll(' ', '-')}`));
    server.host.answer = (request, response) =>
      request.url!.includes('/pull-requests') ? void response.end(page) : false;
    // The first run brings the branches along, so that its failure is not the last.
    await scene.run(importId);
    await scene.run(importId, LAST);
    expect(await scene.row(importId)).toMatchObject({ state: 'failed', error });
  });

  it('reads all pages of pull requests and activities, the newest activity first', async () => {
    const repository = await server.add('knot');
    server.putPullRequests(
      repository,
      Array.from({ length: 60 }, (_, index) => pullRequest(index + 1)),
    );
    server.putActivities(
      repository,
      60,
      Array.from({ length: 120 }, (_, index) => ({
        ...{ id: 1000 - index, action: index % 2 ? 'APPROVED' : 'UNAPPROVED', user: merlin },
        createdDate: LATER - index,
      })),
    );
    const { importId, projectId } = await startImport(repository);
    await scene.run(importId);
    expect(listSentObjects(projectId, 'merge_request')).toHaveLength(60);
    const reviews = listSentObjects(projectId, 'review') as { readonly id: number }[];
    expect(reviews.map(({ id }) => id)).toEqual(Array.from({ length: 120 }, (_, index) => 881 + index));
  });

  it('names authors in a personal namespace, and knows people without an id by their names', async () => {
    const repository = await server.add('dunlin');
    scene.inside.isShared = true;
    const { id: _, ...anonymous } = merlin;
    server.putPullRequests(repository, [pullRequest(1), pullRequest(2, { author: { user: anonymous } })]);
    const { importId, projectId } = await startImport(repository);
    await scene.run(importId);
    expect(listSentObjects(projectId, 'merge_request')).toMatchObject([
      { author_id: 999, description: '*Created by: robin*\n\nText' },
      { author_id: 999, description: '*Created by: merlin*\n\nText' },
    ]);
    expect(scene.inside.people.at(-1)).toMatchObject({
      host: server.host.address,
      people: [
        { id: 11, username: 'robin' },
        { id: expect.any(Number) as number, username: 'merlin' },
      ],
    });
  });

  it('waits for a rate limit, and fails with the reason after the last try', async () => {
    const { importId, projectId } = await startImport(await server.add('ruff'));
    const fail =
      (code: number, headers = {}) =>
      (request: { readonly url?: string | undefined }, response: import('node:http').ServerResponse) =>
        request.url!.includes('/pull-requests') ? void response.writeHead(code, headers).end(server.host.token) : false;
    server.host.answer = fail(429, { 'retry-after': '120' });
    await scene.run(importId);
    expect(await scene.row(importId)).toMatchObject({ state: 'started' });
    server.host.answer = fail(500);
    await expect(scene.run(importId)).rejects.toThrow('(HTTP 500)');
    await scene.run(importId, LAST);
    expect(await scene.row(importId)).toMatchObject({ state: 'failed', error: '[credential] (HTTP 500)' });
    expect(await showImport(projectId)).toMatchObject({ import_status: 'failed' });
  });

  it.each([
    ['a place that is no number', { isLastPage: false, nextPageStart: 'x', values: [] }, 'Invalid pagination URL.'],
    ['the same page', { isLastPage: false, nextPageStart: 0, values: [] }, 'too many pages|Invalid pagination URL'],
    ['no list', { isLastPage: true }, 'The answer is not a list'],
  ])('ends at a server that sends %s', async (name, answer, error) => {
    const { importId } = await startImport(await server.add(`auk-${name.replaceAll(' ', '-')}`));
    server.host.answer = (request, response) =>
      request.url!.includes('/pull-requests') ? void response.end(JSON.stringify(answer)) : false;
    await scene.run(importId, LAST);
    const row = (await scene.row(importId))!;
    expect([row['state'], row['error']]).toEqual(['failed', expect.stringMatching(error) as string]);
  });

  it('goes on without a list that fails if the user wants so', async () => {
    const repository = await server.add('jay');
    const { importId, projectId } = await startImport(repository, { timeout_strategy: 'optimistic' });
    server.host.answer = (request, response) =>
      request.url!.includes('/pull-requests') ? void response.writeHead(403).end('no') : false;
    await scene.run(importId, LAST);
    const { import_status: state, failed_relations: failed } = await showImport(projectId);
    expect([state, (failed as unknown[]).length]).toEqual(['finished', 4]);
  });

  it('sends the credential to the named server alone', async () => {
    const other = await RepohostServer.start();
    const { links } = await other.add('gannet');
    const repository = await server.add('gannet', { links });
    const { importId } = await startImport(repository);
    await scene.run(importId, LAST);
    expect(await scene.row(importId)).toMatchObject({ state: 'failed', sealed_credential: null });
    expect(other.host.seen.filter(({ authorization }) => authorization !== undefined)).toEqual([]);
    await other.host.stop();
  });

  it('leaves the credential nowhere', async () => {
    const { database, app } = scene.service;
    for (const table of ['project_imports', 'import_failures', 'background_jobs', 'outbox']) {
      expect(JSON.stringify(await database.query(`select * from ${table}`))).not.toContain(server.host.token);
    }
    expect(JSON.stringify([app.logs, scene.inside.states, scene.inside.projects, scene.inside.objects])).not.toContain(
      server.host.token,
    );
  });
});

describe('where the operator does not allow repository servers', () => {
  it('refuses every import from one', async () => {
    const closed = await ImportScene.open({ IMPORT_SOURCES: 'remote' }, [server.host]);
    const { body } = await closed
      .as(closed.owner)
      .post(PATH)
      .send(importParameters({ slug: 'heron' }))
      .expect(403);
    expect(body).toEqual({ message: { error: ['repohost_server import source is disabled'] } });
    await closed.close();
  });
});
