import { anonymousViewer, registerParameterEncodingTests } from '@rookery/testing';
import type { HostedGist, SeededUser } from '@rookery/testing';
import { GistImportRecords } from '../../src/gists/gist-import-records';
import { GistImportsJob } from '../../src/gists/gist-imports.job';
import { ImportScene } from '../support/scene';

let scene: ImportScene;
beforeAll(async () => void (scene = await ImportScene.open()));
afterEach(() => {
  scene.host.answer = null;
  scene.host.gists = [];
  scene.inside.onSnippet = async () => null;
  scene.inside.snippets.length = 0;
  scene.inside.leftOut.length = 0;
});
afterAll(() => scene.close());

const PATH = '/api/v4/import/remote/gists';
const AT = '2024-01-02T03:04:05.000Z';
const LATER = '2024-02-03T04:05:06.000Z';
const LAST = 4;
const importParameters = (over: object = {}) => ({
  ...{ personal_access_token: scene.host.token, remote_hostname: scene.host.url },
  ...over,
});
const postImport = (by: SeededUser, body: object = importParameters(), path = PATH) =>
  scene.as(by).post(path).send(body);
const gist = (id: string, over: Partial<HostedGist> = {}): HostedGist => ({
  ...{ id, public: false, description: `About ${id}`, created_at: AT, updated_at: LATER, files: { 'a.txt': id } },
  ...over,
});
const createFiles = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`${at}.txt`, 'x']));
interface ImportRow {
  readonly id: number;
  readonly state: string;
  readonly sealed_credential: Buffer | null;
  readonly pages: number;
}
const findImportRow = async ({ id }: SeededUser) =>
  (
    await scene.service.database.query<ImportRow>(
      'select * from gist_imports where user_id = $1 order by id desc limit 1',
      [id],
    )
  )[0];
const runImportJob = async (by: SeededUser, attempt = 1, signal = new AbortController().signal): Promise<void> => {
  const params = { import_id: (await findImportRow(by))!.id };
  const progress = async (): Promise<void> => undefined;
  await scene.service.app.get(GistImportsJob).run({ params, attempt, dueAt: new Date(), signal, progress });
};
const startImport = async (): Promise<SeededUser> => {
  const user = await scene.service.seed.user();
  await postImport(user).expect(202);
  return user;
};

describe('POST /import/remote/gists', () => {
  it('schedules an import, one for each user at a time', async () => {
    const user = await scene.service.seed.user();
    const { text } = await postImport(user).expect(202);
    expect(text).toBe('');
    expect((await postImport(user).expect(422)).body).toEqual({ errors: 'Import already in progress' });
    const jobs = await scene.service.database.query('select name, state from background_jobs order by id desc limit 1');
    expect(jobs).toEqual([{ name: 'import-gists', state: 'waiting' }]);
    expect(JSON.stringify(await findImportRow(user))).not.toContain(scene.host.token);
    await runImportJob(user);
    await postImport(user).expect(202);
  });

  it('starts one of many at once', async () => {
    const user = await scene.service.seed.user();
    const answers = await Promise.all(Array.from({ length: 5 }, () => postImport(user)));
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 422, 422, 422, 422]);
  });

  it('has the name of existing clients', async () => {
    const user = await scene.service.seed.user();
    const given = { personal_access_token: scene.host.token, github_hostname: scene.host.url };
    await postImport(user, given, '/api/v4/import/github/gists').expect(202);
  });

  it('refuses missing and malformed parameters, and forbidden hosts', async () => {
    const user = await scene.service.seed.user();
    expect((await postImport(user, {}).expect(400)).body).toEqual({ error: 'personal_access_token is missing' });
    const malformed = importParameters({ personal_access_token: 'a\r\nb' });
    expect((await postImport(user, malformed).expect(400)).body).toEqual({ error: 'personal_access_token is invalid' });
    const inside = importParameters({ remote_hostname: 'http://169.254.169.254' });
    expect((await postImport(user, inside).expect(400)).body).toEqual({
      errors: 'Invalid URL: http://169.254.169.254',
    });
  });

  it('reports a refused credential, a rate limit and other failures', async () => {
    const user = await scene.service.seed.user();
    const wrong = importParameters({ personal_access_token: 'wrong' });
    expect((await postImport(user, wrong).expect(401)).body).toEqual({
      errors: 'Access denied to the remote account.',
    });
    scene.host.answer = (_, response) => void response.writeHead(429).end();
    expect((await postImport(user).expect(429)).body).toEqual({ error: 'Too Many Requests' });
    scene.host.answer = (_, response) => void response.writeHead(500).end(scene.host.token);
    expect((await postImport(user).expect(422)).body).toEqual({
      errors: 'Import failed due to a remote error: [credential] (HTTP 500)',
    });
    expect(await findImportRow(user)).toBeUndefined();
  });

  it('is for users who may have personal snippets, with a token that has the scope api', async () => {
    const { seed, app } = scene.service;
    expect((await app.as(anonymousViewer()).post(PATH).send({}).expect(401)).body).toEqual({
      message: '401 Unauthorized',
    });
    const user = await seed.user();
    await scene
      .as(user, { scopes: ['read_api'] })
      .post(PATH)
      .send(importParameters())
      .expect(403);
    const external = scene.as(user, { isExternal: true });
    expect((await external.post(PATH).send(importParameters()).expect(403)).body).toEqual({ message: '403 Forbidden' });
  });

  registerParameterEncodingTests({
    app: () => scene.service.app,
    to: async () => {
      const viewer = scene.service.seed.viewer(await scene.service.seed.user());
      return { viewer, method: 'POST', path: PATH, params: importParameters() };
    },
    seen: (body) => body,
    expected: {},
  });
});

describe('an import of gists', () => {
  it('brings titles, files, visibility and times along, and wipes the credential', async () => {
    const user = await startImport();
    scene.host.gists = [
      gist('one', { public: true, files: { 'b.txt': 'B', 'a.txt': 'A'.repeat(500) } }),
      gist('two', { description: null, files: { 'notes.md': '# Notes' } }),
      gist('three', { description: ' \n', files: {} }),
    ];
    await runImportJob(user);
    const common = { user_id: user.id, source: scene.host.address, created_at: AT, updated_at: LATER };
    expect(scene.inside.snippets).toEqual([
      {
        ...{ ...common, upstream_id: 'one', title: 'About one', visibility: 'public' },
        files: [
          { path: 'b.txt', content: 'B' },
          { path: 'a.txt', content: 'A'.repeat(500) },
        ],
      },
      {
        ...{ ...common, upstream_id: 'two', title: 'notes.md', visibility: 'private' },
        files: [{ path: 'notes.md', content: '# Notes' }],
      },
    ]);
    expect(scene.inside.leftOut).toEqual([]);
    expect(await findImportRow(user)).toMatchObject({ state: 'finished', sealed_credential: null });
  });

  it('reads all pages', async () => {
    const user = await startImport();
    scene.host.gists = Array.from({ length: 120 }, (_, at) => gist(`gist${at}`));
    await runImportJob(user);
    expect(new Set(scene.inside.snippets.map(({ upstream_id: id }) => id)).size).toBe(120);
    expect(await findImportRow(user)).toMatchObject({ state: 'finished', pages: 2 });
  });

  it('notifies the user about gists that were left out', async () => {
    const user = await startImport();
    scene.host.gists = [
      gist('ten', { files: createFiles(10) }),
      gist('eleven', { files: createFiles(11) }),
      gist('odd', { description: 'Odd\nname' }),
      gist('big', { files: { 'a.txt': '\u0001'.repeat(2 * 1024 * 1024) } }),
      gist('../etc'),
    ];
    scene.inside.onSnippet = async ({ upstream_id: id }) =>
      id === 'odd' ? 'Files have a path that is invalid.' : null;
    await runImportJob(user);
    expect(scene.inside.leftOut).toMatchObject([
      {
        user_id: user.id,
        snippets: [
          { name: 'About eleven', reason: 'It has more than 10 files.' },
          { name: 'Odd name', reason: 'Files have a path that is invalid.' },
          { name: 'About big', reason: 'Its files are too large.' },
          { name: 'unknown', reason: 'The other host sent a malformed gist.' },
        ],
      },
    ]);
    expect(scene.inside.snippets.map(({ upstream_id: id }) => id)).toEqual(['ten', 'odd']);
  });

  it('reads files at their own addresses, and no address inside', async () => {
    const user = await startImport();
    scene.host.gists = [gist('one'), gist('two')];
    scene.host.answer = (request, response) => {
      if (request.url!.startsWith('/api/v3/gists/')) return void response.writeHead(404).end('{}');
      if (!request.url!.startsWith('/api/v3/gists?')) return false;
      const file = { filename: 'a.txt', size: 1 };
      const shown = [
        {
          id: 'one',
          public: true,
          files: { a: { ...file, raw_url: `${scene.host.url}/raw/one/a.txt` } },
          created_at: AT,
        },
        { id: 'two', public: true, files: { a: { ...file, raw_url: 'http://169.254.169.254/a' } }, created_at: AT },
      ];
      return void response.end(JSON.stringify(shown));
    };
    await runImportJob(user);
    expect(scene.inside.snippets).toMatchObject([{ upstream_id: 'one', files: [{ path: 'a.txt', content: 'one' }] }]);
    expect(scene.inside.leftOut).toMatchObject([
      { snippets: [{ name: 'a.txt', reason: 'The other host does not send it.' }] },
    ]);
  });

  it('leaves a gist out whose files are too large together or have moved, and brings the next one', async () => {
    const user = await startImport();
    scene.host.gists = [gist('large'), gist('moved'), gist('fine')];
    const files = (id: string) =>
      Object.fromEntries(
        [1, 2, 3].map((n) => [n, { filename: `${n}.txt`, size: 1, raw_url: `${scene.host.url}/raw/${id}/${n}` }]),
      );
    scene.host.answer = (request, response) => {
      const { url = '' } = request;
      if (url.startsWith('/api/v3/gists/')) return void response.writeHead(404).end('{}');
      if (url.startsWith('/raw/large')) return void response.end(Buffer.alloc(2 * 1024 * 1024, 0xff));
      if (url.startsWith('/raw/moved')) return void response.writeHead(302, { location: 'http://else.example/' }).end();
      if (url.startsWith('/raw/')) return void response.end('text');
      if (!url.startsWith('/api/v3/gists?')) return false;
      const shown = ['large', 'moved', 'fine'].map((id) => ({ id, public: true, files: files(id), created_at: AT }));
      return void response.end(JSON.stringify(shown));
    };
    await runImportJob(user);
    expect(await findImportRow(user)).toMatchObject({ state: 'finished' });
    expect(scene.inside.snippets.map(({ upstream_id: id }) => id)).toEqual(['fine']);
    expect(scene.inside.leftOut).toMatchObject([
      {
        snippets: [
          { name: '1.txt', reason: 'Its files are too large.' },
          { name: '1.txt', reason: 'The other host does not send it.' },
        ],
      },
    ]);
  });

  it('notes about a hundred gists that were left out, however many there are', async () => {
    const user = await startImport();
    const next = `<${scene.host.url}/api/v3/gists?per_page=100&page=`;
    scene.host.answer = (request, response) => {
      const page = Number(new URL(request.url!, scene.host.url).searchParams.get('page') ?? 1);
      if (page < 4) response.setHeader('link', `${next}${page + 1}>; rel="next"`);
      return void response.end(JSON.stringify(Array.from({ length: 100 }, () => ({}))));
    };
    await runImportJob(user);
    const [{ count } = { count: 0 }] = await scene.service.database.query<{ count: number }>(
      'select jsonb_array_length(left_out) as count from gist_imports where user_id = $1',
      [user.id],
    );
    expect([(await findImportRow(user))!.pages, count]).toEqual([4, 100]);
  });

  it('counts its tries from the last page on', async () => {
    const user = await startImport();
    const next = `<${scene.host.url}/api/v3/gists?per_page=100&page=2>; rel="next"`;
    scene.host.answer = (request, response) => {
      if (request.url!.includes('page=2')) return void response.writeHead(500).end('no');
      return void response.setHeader('link', next).end('[]');
    };
    await runImportJob(user, LAST);
    expect(await findImportRow(user)).toMatchObject({ state: 'started', pages: 1 });
    await runImportJob(user, LAST);
    expect(await findImportRow(user)).toMatchObject({ state: 'failed' });
  });

  it('continues with the same result when it is killed', async () => {
    const user = await startImport();
    scene.host.gists = Array.from({ length: 120 }, (_, at) =>
      gist(`gist${at}`, at === 3 ? { files: createFiles(11) } : {}),
    );
    for (const wanted of [50, 110]) {
      const death = new AbortController();
      let count = 0;
      scene.inside.onSnippet = async () => {
        if (++count === wanted) death.abort(new Error('killed'));
        death.signal.throwIfAborted();
        return null;
      };
      await expect(runImportJob(user, 1, death.signal)).rejects.toThrow('killed');
      expect(await findImportRow(user)).toMatchObject({ state: 'started' });
    }
    scene.inside.onSnippet = async () => null;
    await runImportJob(user, 2);
    expect(new Set(scene.inside.snippets.map(({ upstream_id: id }) => id)).size).toBe(119);
    expect(scene.inside.leftOut).toMatchObject([{ snippets: [{ name: 'About gist3' }] }]);
    expect(await findImportRow(user)).toMatchObject({ state: 'finished' });
  });

  it('waits for a rate limit, tries failures again, and fails at last', async () => {
    const user = await startImport();
    scene.host.answer = (_, response) => void response.writeHead(429, { 'retry-after': '60' }).end();
    await runImportJob(user);
    expect(await findImportRow(user)).toMatchObject({ state: 'started' });
    scene.host.answer = (_, response) => void response.writeHead(500).end('no');
    await expect(runImportJob(user)).rejects.toThrow('no (HTTP 500)');
    await runImportJob(user, LAST);
    expect(await findImportRow(user)).toMatchObject({ state: 'failed', sealed_credential: null });
    await runImportJob(user);
    scene.host.answer = null;
    const other = await startImport();
    scene.host.answer = (_, response) => void response.writeHead(401).end('{}');
    await runImportJob(other);
    expect(await findImportRow(other)).toMatchObject({ state: 'failed' });
  });

  it('ends without progress after a day, and is forgotten after a week', async () => {
    const user = await startImport();
    const { database, app } = scene.service;
    const age = (days: number) =>
      database.query(`update gist_imports set updated_at = now() - $2 * interval '1 day' where user_id = $1`, [
        user.id,
        days,
      ]);
    await age(2);
    await app.get(GistImportsJob).sweep();
    expect(await findImportRow(user)).toMatchObject({ state: 'failed', sealed_credential: null });
    await age(8);
    await app.get(GistImportsJob).sweep();
    expect(await findImportRow(user)).toBeUndefined();
    expect(await app.get(GistImportRecords).isRunning(user.id)).toBe(false);
  });

  it('leaves the credential nowhere', async () => {
    const { database, app } = scene.service;
    for (const table of ['gist_imports', 'background_jobs', 'outbox']) {
      expect(JSON.stringify(await database.query(`select * from ${table}`))).not.toContain(scene.host.token);
    }
    expect(JSON.stringify([app.logs, scene.inside.snippets, scene.inside.leftOut])).not.toContain(scene.host.token);
  });
});
