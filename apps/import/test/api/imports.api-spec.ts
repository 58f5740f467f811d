import { IMPORTED_KINDS } from '@rookery/contracts';
import { anonymousViewer, registerParameterEncodingTests } from '@rookery/testing';
import type { SeededUser } from '@rookery/testing';
import { ImportScene } from '../support/scene';

let scene: ImportScene;
let outsider: SeededUser;
beforeAll(async () => {
  scene = await ImportScene.open();
  outsider = await scene.service.seed.user();
});
afterEach(() => {
  scene.host.answer = null;
  scene.inside.target = 'allowed';
  scene.inside.away.clear();
  scene.inside.awayStatus = 503;
});
afterAll(() => scene.close());

const PATH = '/api/v4/import/remote';
const postImport = (body: object, path = PATH) => scene.as(scene.owner).post(path).send(body);
const cancelImport = (project_id: number, by = scene.owner, path = `${PATH}/cancel`) =>
  scene.as(by).post(path).send({ project_id });
const countImports = async (): Promise<number> =>
  (await scene.service.database.query<{ count: number }>('select count(*)::int as count from project_imports'))[0]!
    .count;

describe('POST /import/remote', () => {
  it('creates a project through identity and schedules its import', async () => {
    const { projectId, importId, repository } = await scene.started('warbler');
    const { import_key: key, ...asked } = scene.inside.projects.at(-1)!;
    expect(asked).toEqual({
      user_id: scene.owner.id,
      namespace: scene.owner.username,
      import_type: 'remote',
      import_url: repository.clone_url,
      name: 'warbler',
      description: 'About warbler',
      default_branch: 'main',
      is_private: true,
    });
    expect(scene.inside.targets.at(-1)).toEqual({ user_id: scene.owner.id, namespace: scene.owner.username });
    expect(await scene.row(importId)).toMatchObject({ import_key: key, project_id: projectId, state: 'scheduled' });
    const jobs = await scene.service.database.query('select name, state from background_jobs order by id desc limit 1');
    expect(jobs).toEqual([{ name: 'run-import', state: 'waiting' }]);
  });

  it('answers with the project, also under the name of existing clients', async () => {
    const { projectId, repository } = await scene.started('plover');
    const { body } = await postImport(
      { ...scene.parameters(repository), remote_hostname: undefined, github_hostname: scene.host.url },
      '/api/v4/import/github',
    ).expect(201);
    expect(body).toEqual({
      id: projectId,
      name: 'plover',
      full_path: `/${scene.owner.username}/plover`,
      full_name: `${scene.owner.name} / plover`,
      refs_url: `/${scene.owner.username}/plover/refs`,
      import_source: 'wren/plover',
      import_status: 'scheduled',
      human_import_status_name: 'scheduled',
      provider_link: repository.html_url,
      relation_type: null,
      import_warning: null,
    });
  });

  it('takes another name, and a public repository without a page', async () => {
    const repository = await scene.host.add('grebe', { private: false, html_url: 'javascript:alert(1)' });
    const { body } = await postImport(scene.parameters(repository, { new_name: 'Great Grebe' })).expect(201);
    expect(scene.inside.projects.at(-1)).toMatchObject({ name: 'Great Grebe', is_private: false });
    expect(body.provider_link).toBe('/wren/grebe');
  });

  it.each(['-grebe', 'grebe_', 'gre--be', 'gre._be'])('refuses %j as another name', async (new_name) => {
    const repository = await scene.host.add(`grebe-${Buffer.from(new_name).toString('hex')}`);
    const { body } = await postImport(scene.parameters(repository, { new_name })).expect(422);
    expect(body).toEqual({
      errors: 'Path must not start or end with a special character and must not contain consecutive special characters',
    });
  });

  it.each([
    [{}, 'personal_access_token is missing, repo_id is missing, target_namespace is missing'],
    [{ target_namespace: '  ' }, 'target_namespace is empty'],
    [{ repo_id: 0 }, 'repo_id does not have a valid value'],
    [{ timeout_strategy: 'slow' }, 'timeout_strategy does not have a valid value'],
    [{ pagination_limit: 0 }, 'pagination_limit does not have a valid value'],
    [{ pagination_limit: 101 }, 'pagination_limit does not have a valid value'],
    [{ optional_stages: 'all' }, 'optional_stages is invalid'],
    [{ optional_stages: { attachments_import: 'maybe' } }, 'optional_stages[attachments_import] is invalid'],
    [
      { optional_stages: { single_endpoint_notes_import: [] } },
      'optional_stages[single_endpoint_notes_import] is invalid',
    ],
    [{ personal_access_token: 'a\r\nb: c' }, 'personal_access_token is invalid'],
  ])('refuses the parameters %j', async (over, error) => {
    const given = Object.keys(over).length === 0 ? {} : scene.parameters({ id: 1 }, over);
    expect((await postImport(given).expect(400)).body).toEqual({ error });
  });

  it.each([
    'http://169.254.169.254',
    'https://localhost',
    'https://127.0.0.1:9',
    'https://[::1]',
    'https://user:password@example.org',
    'ftp://example.org',
    'no address',
    'https://name.invalid',
    'https://example.org/admin?a=',
    'https://example.org/admin#',
  ])('refuses the host %s before anything else', async (remote_hostname) => {
    scene.inside.target = 'missing';
    const { body } = await postImport(scene.parameters({ id: 1 }, { remote_hostname })).expect(400);
    expect(body).toEqual({ errors: `Invalid URL: ${remote_hostname}` });
  });

  it.each([
    ['missing', 'Namespace or group to import repository into does not exist.'],
    ['forbidden', 'You are not allowed to import projects in this namespace.'],
  ] as const)('refuses a target that is %s without asking upstream', async (target, errors) => {
    scene.inside.target = target;
    const before = scene.host.seen.length;
    expect((await postImport(scene.parameters({ id: 7001 })).expect(422)).body).toEqual({ errors });
    expect(scene.host.seen).toHaveLength(before);
  });

  it('refuses a repository that is too large', async () => {
    const repository = await scene.host.add('albatross', { size: 2.5 * 1024 * 1024 });
    const { body } = await postImport(scene.parameters(repository)).expect(422);
    expect(body).toEqual({ errors: '"albatross" size (2.5 GiB) is larger than the limit of 2 GiB.' });
  });

  it('reports a credential that upstream does not accept', async () => {
    const wrong = scene.parameters({ id: 7001 }, { personal_access_token: 'wrong' });
    expect((await postImport(wrong).expect(401)).body).toEqual({ error: 'Access denied to your remote account.' });
  });

  it.each([
    [429, {}],
    [403, { 'x-ratelimit-remaining': '0' }],
    [403, { 'retry-after': '60' }],
  ])('reports a rate limit of upstream: %i %j', async (status, headers) => {
    scene.host.answer = (_, response) => void response.writeHead(status, headers).end('{}');
    expect((await postImport(scene.parameters({ id: 7001 })).expect(429)).body).toEqual({ error: 'Too Many Requests' });
  });

  it('reports other errors of upstream in one short line without the credential', async () => {
    const { body } = await postImport(scene.parameters({ id: 999 })).expect(422);
    expect(body).toEqual({ errors: 'Import failed due to a remote error: {"message":"Not Found"} (HTTP 404)' });
    scene.host.answer = (_, response) =>
      void response.writeHead(500).end(`no\n\u202e${scene.host.token} ${'x'.repeat(500)}`);
    const { errors } = (await postImport(scene.parameters({ id: 7001 })).expect(422)).body as { errors: string };
    expect(errors).toMatch(/^Import failed due to a remote error: no \[credential\] x{50,200} \(HTTP 500\)$/);
  });

  it('quotes nothing from a long answer, and reads no larger one than a repository needs', async () => {
    const short = scene.parameters({ id: 7001 }, { personal_access_token: 'a' });
    scene.host.answer = (_, response) => void response.writeHead(500).end('a'.repeat(200_000));
    expect((await postImport(short).expect(422)).body).toEqual({
      errors: 'Import failed due to a remote error: The answer is too long to quote. (HTTP 500)',
    });
    scene.host.answer = (_, response) => void response.writeHead(500).end('a'.repeat(300_000));
    expect((await postImport(short).expect(422)).body).toEqual({
      errors: 'Import failed due to a remote error: The answer is larger than 262144 bytes.',
    });
  });

  it('shortens the description and leaves out a default branch that git cannot store', async () => {
    const long = { description: `${'x'.repeat(1999)}😀`, default_branch: 'b'.repeat(256) };
    const { importId } = await scene.started('bittern', {}, await scene.host.add('bittern', long));
    expect(scene.inside.projects.at(-1)).toMatchObject({ description: 'x'.repeat(1999), default_branch: null });
    expect(await scene.row(importId)).toMatchObject({ default_branch: null });
  });

  it('keeps nothing of a project that is too large for identity', async () => {
    const repository = await scene.host.add('bustard');
    const before = await countImports();
    scene.inside.away.add('/internal/imports/project');
    scene.inside.awayStatus = 413;
    const { body } = await postImport(scene.parameters(repository)).expect(422);
    expect(body).toEqual({ errors: 'The fields of the repository are too long' });
    expect(await countImports()).toBe(before);
  });

  it.each(['[]', '{"id":"1"}', 'no json', '{"id":1,"name":"","full_name":"a/b","private":true,"clone_url":"x"}'])(
    'refuses the malformed answer %s',
    async (answer) => {
      scene.host.answer = (_, response) => void response.end(answer);
      const { body } = await postImport(scene.parameters({ id: 7001 })).expect(422);
      expect(body).toEqual({
        errors: 'Import failed due to a remote error: The answer is not a repository. (HTTP 200)',
      });
    },
  );

  it.each([
    'https://u:p@git.example/a.git',
    'ssh://git.example/a',
    'file:///etc',
    '-x',
    `https://a/${'x'.repeat(2048)}`,
  ])('refuses the address %s of a repository', async (clone_url) => {
    const repository = await scene.host.add(`auk${scene.host.seen.length}`, { clone_url });
    const { body } = await postImport(scene.parameters(repository)).expect(422);
    expect(body.errors).toContain('The answer is not a repository.');
  });

  it('refuses an answer that repeats the credential', async () => {
    const repository = await scene.host.add('jay', { description: `see ${scene.host.token}` });
    const { body } = await postImport(scene.parameters(repository)).expect(422);
    expect(body).toEqual({ errors: 'Import failed due to a remote error: The answer repeats the credential.' });
  });

  it('follows no redirect to another address', async () => {
    scene.host.answer = (_, response) => void response.writeHead(302, { location: 'http://169.254.169.254/' }).end();
    const { body } = await postImport(scene.parameters({ id: 7001 })).expect(422);
    expect(body.errors).toContain('The server leads to another one');
  });

  it('reports the problems of the project, and keeps nothing', async () => {
    const repository = await scene.host.add('stilt');
    const before = await countImports();
    const problems = ['Name has already been taken', 'Path has already been taken'];
    scene.inside.project = { outcome: 'invalid', problems };
    expect((await postImport(scene.parameters(repository)).expect(422)).body).toEqual({ errors: problems.join(', ') });
    expect(await countImports()).toBe(before);
  });

  it('answers 503 while identity does not answer', async () => {
    scene.inside.away.add('/internal/imports/target');
    await postImport(scene.parameters({ id: 7001 })).expect(503);
  });

  it('is for callers with a token that has the scope api', async () => {
    const { app } = scene.service;
    expect((await app.as(anonymousViewer()).post(PATH).send({}).expect(401)).body).toEqual({
      message: '401 Unauthorized',
    });
    await scene
      .as(scene.owner, { scopes: ['read_api'] })
      .post(PATH)
      .send({})
      .expect(403);
  });

  it('keeps the credential encrypted', async () => {
    const { importId } = await scene.started('merlin');
    const row = JSON.stringify(await scene.row(importId));
    expect(row).toContain('sealed_credential');
    expect(row).not.toContain(scene.host.token);
    expect(row).not.toContain(Buffer.from(scene.host.token).toString('base64'));
    expect(JSON.stringify(scene.service.app.logs)).not.toContain(scene.host.token);
  });
});

describe('POST /import/remote/cancel', () => {
  it('cancels a scheduled import once, and wipes its credential', async () => {
    const { projectId, importId } = await scene.started('curlew');
    const { body } = await cancelImport(projectId, scene.owner, '/api/v4/import/github/cancel').expect(200);
    expect(body).toMatchObject({ id: projectId, import_status: 'canceled', human_import_status_name: 'canceled' });
    expect(await scene.row(importId)).toMatchObject({ state: 'canceled', sealed_credential: null });
    expect((await cancelImport(projectId).expect(400)).body).toEqual({
      message: 'The import cannot be canceled because it is canceled',
    });
    await scene.run(importId);
    expect(await scene.row(importId)).toMatchObject({ state: 'canceled' });
  });

  it('refuses a finished import', async () => {
    const { projectId, importId } = await scene.started('dunlin');
    await scene.run(importId);
    expect((await cancelImport(projectId).expect(400)).body).toEqual({
      message: 'The import cannot be canceled because it is finished',
    });
  });

  it('has one winner among many', async () => {
    const { projectId } = await scene.started('knot');
    const answers = await Promise.all(Array.from({ length: 5 }, () => cancelImport(projectId)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400]);
  });

  it('is for owners and administrators', async () => {
    const { projectId, project } = await scene.started('ruff');
    const { seed } = scene.service;
    expect((await cancelImport(projectId, outsider).expect(404)).body).toEqual({ message: '404 Not found' });
    const maintainer = await seed.user();
    await seed.member(maintainer, project, 'maintainer');
    expect((await cancelImport(projectId, maintainer).expect(403)).body).toEqual({ message: 'Unauthorized access' });
    await cancelImport(projectId, await seed.user({ admin: true })).expect(200);
  });

  it('refuses unknown projects and projects without an import', async () => {
    const { id } = await scene.service.seed.project({ namespace_id: scene.owner.namespace_id });
    expect((await cancelImport(999_999).expect(404)).body).toEqual({ message: '404 Not found' });
    expect((await cancelImport(id).expect(404)).body).toEqual({ message: '404 Not found' });
    const { body } = await scene.as(scene.owner).post(`${PATH}/cancel`).send({}).expect(400);
    expect(body).toEqual({ error: 'project_id is missing' });
  });
});

describe('GET /projects/:id/import', () => {
  const show = (ref: number | string, by = scene.owner) => scene.as(by).get(`/api/v4/projects/${ref}/import`);

  it('shows the state by id and by path', async () => {
    const { projectId, importId } = await scene.started('osprey');
    const row = await scene.row(importId);
    const none = Object.fromEntries(IMPORTED_KINDS.map((kind) => [kind, 0]));
    const { body } = await show(projectId).expect(200);
    expect(body).toEqual({
      id: projectId,
      description: null,
      name: 'osprey',
      name_with_namespace: expect.stringContaining('osprey') as string,
      path: 'osprey',
      path_with_namespace: `${scene.owner.username}/osprey`,
      created_at: expect.any(String) as string,
      import_status: 'scheduled',
      import_type: 'remote',
      correlation_id: row!['import_key'],
      failed_relations: [],
      import_error: null,
      stats: { fetched: none, imported: none },
    });
    const path = encodeURIComponent(`${scene.owner.username}/osprey`);
    expect((await show(path).expect(200)).body).toEqual(body);
  });

  it('shows projects that were not imported', async () => {
    const { id } = await scene.service.seed.project({ namespace_id: scene.owner.namespace_id, visibility: 'public' });
    const { body } = await show(id, outsider).expect(200);
    expect(body).toMatchObject({ import_status: 'none', import_type: null, correlation_id: null, import_error: null });
  });

  it('shows errors and failures to reporters and higher roles only', async () => {
    const { projectId, project, importId } = await scene.started('whimbrel');
    const { seed, database } = scene.service;
    await database.query(
      `update project_imports set state = 'failed', error = 'a branch', sealed_credential = null where id = $1`,
      [importId],
    );
    await database.query(
      `insert into import_failures (import_id, relation_name, object_name, message) values ($1, 'branch', 'x..y', 'bad')`,
      [importId],
    );
    const seen = async (role: 'guest' | 'reporter'): Promise<unknown> => {
      const user = await seed.user();
      await seed.member(user, project, role);
      const { body } = await show(projectId, user).expect(200);
      const { import_error: error, failed_relations: failures } = body as Record<string, string | unknown[]>;
      return [error, failures!.length];
    };
    expect(await seen('guest')).toEqual([null, 0]);
    expect(await seen('reporter')).toEqual(['a branch', 1]);
  });

  it('is hidden with the project', async () => {
    const { projectId } = await scene.started('avocet');
    expect((await show(projectId, outsider).expect(404)).body).toEqual({ message: '404 Project Not Found' });
    await scene.service.app.as(anonymousViewer()).get(`/api/v4/projects/${projectId}/import`).expect(401);
  });
});

describe('parameters of POST /import/remote', () => {
  registerParameterEncodingTests({
    app: () => scene.service.app,
    to: async (encoding) => {
      const { repository } = await scene.started(`shrike-${encoding.replaceAll(' ', '-')}`);
      const over = {
        optional_stages: { attachments_import: true },
        timeout_strategy: 'optimistic',
        pagination_limit: 20,
      };
      const viewer = scene.service.seed.viewer(scene.owner);
      return {
        viewer,
        method: 'POST',
        path: PATH,
        params: scene.parameters(repository, { new_name: 'Shrike', ...over }),
      };
    },
    seen: ({ import_status }) => [import_status, scene.inside.projects.at(-1)!.name],
    expected: ['scheduled', 'Shrike'],
  });
});
