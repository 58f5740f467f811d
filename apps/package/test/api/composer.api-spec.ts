import type { DirectoryNamespace, DirectoryProject } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';
import type { DirectorySeed, TestApp } from '@rookery/testing';
import type { Response } from 'supertest';
import { startPackage } from '../support/app';
import type { PackageService } from '../support/app';
import { addRef, composerJson, composerPath, composerRepository, published } from '../support/composer';
import { FakeCollaboration, shaOf } from '../support/fake-collaboration';
import { memberOf } from '../support/npm';

let source: FakeCollaboration;
let service: PackageService;
let seed: DirectorySeed;
let app: TestApp;
let group: DirectoryNamespace;
let project: DirectoryProject;
let developer: Viewer;
let maintainer: Viewer;

beforeAll(async () => {
  source = await new FakeCollaboration().start();
  service = await startPackage({ COLLABORATION_URL: source.url });
  ({ seed, app } = service);
});
beforeEach(async () => {
  group = await seed.group({ visibility: 'private' });
  project = await seed.project({ visibility: 'private', namespace_id: group.id });
  const member = await seed.user();
  await seed.member(member, group, 'developer');
  developer = seed.viewer(member);
  const owner = await seed.user();
  await seed.member(owner, group, 'maintainer');
  maintainer = seed.viewer(owner);
});
afterAll(async () => {
  await service.close();
  await source.stop();
});

const CHALLENGE = 'Basic realm="GitLab Packages Registry"';
const A = shaOf('a');
const B = shaOf('b');
const statusAndBody = ({ status, body }: Response): unknown[] => [status, body];
const get = (path: string, viewer = developer) => app.as(viewer).get(path).buffer(true);
const post = (asked: object, viewer = developer, of = project) => app.as(viewer).post(composerPath(of)).send(asked);
const getDocument = (file: string, viewer = developer) => get(`${composerRepository(group)}/p2/${file}`, viewer);
const listVersions = async (name: string): Promise<string[]> =>
  Object.keys((await getDocument(`${name}.json`).expect(200)).body.packages[name.replace('~dev', '')]);
const getArchive = (sha: string, viewer = developer, of = project) =>
  get(`${composerPath(of)}/archives/nest/eggs.zip?sha=${sha}`, viewer);

describe('POST …/packages/composer', () => {
  it('publishes a tag, which the repository, the API of packages and an archive show', async () => {
    await published(app, developer, project, source, { json: composerJson('nest/eggs', { version: '9', type: 'x' }) });
    const { body } = await get(`/api/v4/projects/${project.id}/packages`).expect(200);
    expect(body).toMatchObject([{ name: 'nest/eggs', version: '1.0.0', package_type: 'composer', status: 'default' }]);
    const shown = await getDocument('nest/eggs.json').expect(200);
    expect(shown.headers['content-type']).toBe('application/json');
    const url = expect.stringMatching(
      new RegExp(`^https?://.*/api/v4/projects/${project.id}/packages/composer/archives/nest/eggs.zip\\?sha=${A}$`),
    ) as unknown;
    expect(shown.body).toEqual({
      packages: {
        'nest/eggs': {
          '1.0.0': {
            ...{ name: 'nest/eggs', version: '1.0.0', type: 'x', description: 'Eggs.', require: { php: '>=8.1' } },
            ...{ uid: body[0].id, dist: { type: 'zip', url, reference: A, shasum: '' } },
            source: {
              ...{ type: 'git', reference: A },
              url: expect.stringMatching(new RegExp(`/${group.path}/${project.path}\\.git$`)) as unknown,
            },
          },
        },
      },
    });
    const down = await getArchive(A).responseType('blob').expect(200);
    expect(String(down.body)).toBe(`zip of ${project.id} ${A} ${project.path}-${A}`);
    expect([down.headers['content-type'], down.headers['content-disposition'], down.headers['etag']]).toEqual([
      ...['application/zip', expect.stringContaining(`filename="nest-eggs-${A}.zip"`), `"${A}"`],
    ]);
  });

  it('publishes branches as versions in development, which have a document of their own', async () => {
    for (const [branch, version] of [
      ['main', 'dev-main'],
      ['feature/a', 'dev-feature/a'],
      ['1.x', '1.x-dev'],
      ['2', '2.x-dev'],
      ['v2.1', '2.1.x-dev'],
    ] as const) {
      await published(app, developer, project, source, { branch });
      expect(await listVersions('nest/eggs~dev')).toContain(version);
    }
    expect(statusAndBody(await getDocument('nest/eggs.json'))).toEqual([404, { message: '404 Package Not Found' }]);
    await published(app, developer, project, source, { tag: 'v1.0.0-RC1' });
    expect(await listVersions('nest/eggs')).toEqual(['1.0.0-RC1']);
    expect(await listVersions('nest/eggs~dev')).toHaveLength(5);
  });

  it('moves a version to another commit, and keeps it when the tag is deleted', async () => {
    await published(app, developer, project, source);
    await published(app, developer, project, source, { commit: B });
    expect((await get(`/api/v4/projects/${project.id}/packages`)).body).toHaveLength(1);
    const { body } = await getDocument('nest/eggs.json');
    expect(body.packages['nest/eggs']['1.0.0'].dist.reference).toBe(B);
    source.files.clear();
    await getArchive(B).expect(200);
    expect(statusAndBody(await getArchive(A))).toEqual([404, { message: '404 Package Not Found' }]);
  });

  it.each([
    [{}, 'tag, branch are missing, exactly one parameter must be provided'],
    [{ tag: 'v1.0.0', branch: 'main' }, 'tag, branch are mutually exclusive'],
  ])('needs a tag or a branch, not %j', async (asked, error) => {
    expect(statusAndBody(await post(asked))).toEqual([400, { error }]);
  });

  it('takes parameters of a form and of the query, and the encoded path of a project', async () => {
    addRef(source, project, 'refs/tags/v1.0.0');
    await app.as(developer).post(composerPath(project)).type('form').send({ tag: 'v1.0.0' }).expect(201);
    await app
      .as(developer)
      .post(`${composerPath(project)}?tag=v1.0.0`)
      .expect(201);
    const encoded = encodeURIComponent(`${group.path}/${project.path}`);
    await app.as(developer).post(`/api/v4/projects/${encoded}/packages/composer`).send({ tag: 'v1.0.0' }).expect(201);
  });

  it.each(['main', 'v1.2.3.4.5', '1.0.0-foo', 'v', '1.0.0 '])('refuses the tag %j', async (tag) => {
    addRef(source, project, `refs/tags/${tag}`);
    expect(statusAndBody(await post({ tag }))).toEqual([400, { message: 'Validation failed: Version is invalid' }]);
  });

  it('takes the longest names of refs, and refuses longer ones', async () => {
    for (const branch of ['b'.repeat(240), '1'.repeat(240)])
      await published(app, developer, project, source, { branch });
    for (const asked of [{ branch: 'b'.repeat(241) }, { tag: '1'.repeat(241) }, { branch: 'a\u0000' }])
      expect((await post(asked)).status).toBe(400);
  });

  it('refuses tags and names that would keep a slow pattern busy, and descriptions of many levels', async () => {
    expect((await post({ tag: `1p${'1'.repeat(230)}!` })).status).toBe(400);
    const deep = `{"name":"nest/eggs","extra":${'['.repeat(5000)}${']'.repeat(5000)}}`;
    for (const json of [`{"name":"${'a'.repeat(250)}!"}`, `{"name":"n/${'a'.repeat(250)}!"}`, deep]) {
      addRef(source, project, 'refs/tags/v1.0.0', { json });
      expect((await post({ tag: 'v1.0.0' })).status).toBe(422);
    }
  });

  it('refuses a ref that is missing', async () => {
    expect(statusAndBody(await post({ tag: 'v1.0.0' }))).toEqual([404, { message: '404 Tag Not Found' }]);
    expect(statusAndBody(await post({ branch: 'main' }))).toEqual([404, { message: '404 Branch Not Found' }]);
  });

  it.each([
    [null, 'The file composer.json was not found.'],
    ['{', 'Could not parse composer.json file. Invalid JSON.'],
    ['[]', 'Could not parse composer.json file. Invalid JSON.'],
    ['{"name":"a/\\ud800"}', 'The name in composer.json is invalid.'],
    ['{}', 'The file composer.json has no name.'],
    ['{"name":""}', 'The file composer.json has no name.'],
    ['{"name":1}', 'The file composer.json has no name.'],
    [composerJson('eggs'), 'The name in composer.json is invalid.'],
    [composerJson('Nest/Eggs'), 'The name in composer.json is invalid.'],
    [composerJson('nest/../eggs'), 'The name in composer.json is invalid.'],
    [composerJson(`nest/${'e'.repeat(251)}`), 'The name in composer.json is invalid.'],
    [composerJson('nest/eggs', { extra: 'x'.repeat(65_536) }), 'The file composer.json is too large.'],
    ['too large', 'The file composer.json is too large.'],
  ])('refuses the description %.40s', async (json, message) => {
    addRef(source, project, 'refs/tags/v1.0.0', { json });
    expect(statusAndBody(await post({ tag: 'v1.0.0' }))).toEqual([422, { message }]);
    expect((await get(`/api/v4/projects/${project.id}/packages`)).body).toEqual([]);
  });

  it('keeps every text of JSON', async () => {
    const json = '{"name":"nest/eggs","extra":{"a":"\\u0000 \\ud800 \\u2028","__proto__":{"b":1}}}';
    await published(app, developer, project, source, { json });
    const { text } = await getDocument('nest/eggs.json').expect(200);
    expect(text).toContain('"\\u0000 \\ud800 \u2028","__proto__":{"b":1}');
  });

  it('gives a name to one project below a top-level group', async () => {
    const other = await seed.project({ visibility: 'private', namespace_id: group.id });
    await published(app, developer, project, source);
    addRef(source, other, 'refs/tags/v2.0.0');
    expect(statusAndBody(await post({ tag: 'v2.0.0' }, developer, other))).toEqual([
      ...[400, { message: 'Validation failed: Name is already taken by another project' }],
    ]);
    const { body } = await get(`/api/v4/projects/${project.id}/packages`);
    await app.as(maintainer).delete(`/api/v4/projects/${project.id}/packages/${body[0].id}`).expect(204);
    await getDocument('nest/eggs.json').expect(404);
    await published(app, developer, other, source, { tag: 'v2.0.0' });
    expect(await listVersions('nest/eggs')).toEqual(['2.0.0']);
  });

  it('answers 503 while collaboration is away', async () => {
    source.isAway = true;
    const answer = await post({ tag: 'v1.0.0' });
    source.isAway = false;
    expect(answer.status).toBe(503);
  });

  it('is for developers who may read the code', async () => {
    addRef(source, project, 'refs/tags/v1.0.0');
    const anonymous = await post({ tag: 'v1.0.0' }, seed.anonymous());
    expect([...statusAndBody(anonymous), anonymous.headers['www-authenticate']]).toEqual([
      ...[401, { message: '401 Unauthorized' }, CHALLENGE],
    ]);
    const outsider = seed.viewer(await seed.user());
    expect(statusAndBody(await post({ tag: 'v1.0.0' }, outsider))).toEqual([404, { message: '404 Project Not Found' }]);
    const reporter = await memberOf(seed, project, 'reporter');
    expect(statusAndBody(await post({ tag: 'v1.0.0' }, reporter))).toEqual([403, { message: '403 Forbidden' }]);
    await seed.put('projects', { ...project, repository_access_level: 'disabled' });
    expect(statusAndBody(await post({ tag: 'v1.0.0' }))).toEqual([403, { message: '403 Forbidden' }]);
  });
});

describe('the repository of a group', () => {
  it('lists the packages that the caller may read, and where their documents are', async () => {
    const hidden = await seed.project({ visibility: 'private', namespace_id: group.id });
    await published(app, developer, project, source, { json: composerJson('nest/eggs') });
    await published(app, developer, hidden, source, { json: composerJson('nest/twigs') });
    const guest = await seed.user();
    await seed.member(guest, group, 'guest');
    await seed.member(guest, project, 'reporter');
    const reader = seed.viewer(guest);
    for (const path of ['packages.json', 'packages']) {
      const { body } = await get(`${composerRepository(group)}/${path}`, reader).expect(200);
      expect(body).toEqual({
        ...{ packages: [], 'metadata-url': `${composerRepository(group)}/p2/%package%.json` },
        'available-packages': ['nest/eggs'],
      });
    }
    const all = await get(`${composerRepository(group)}/packages.json`);
    expect(all.body['available-packages']).toEqual(['nest/eggs', 'nest/twigs']);
    await getDocument('nest/eggs.json', reader).expect(200);
    expect(statusAndBody(await getDocument('nest/twigs.json', reader))).toEqual([
      404,
      { message: '404 Package Not Found' },
    ]);
    const named = await get(`/api/v4/group/${group.path}/-/packages/composer/packages.json`);
    expect(named.body['metadata-url']).toBe(`/api/v4/group/${group.path}/-/packages/composer/p2/%package%.json`);
  });

  it('challenges anonymous callers, hides the group from outsiders, and refuses other names', async () => {
    const outsider = seed.viewer(await seed.user());
    for (const path of ['packages.json', 'p2/nest/eggs.json']) {
      const anonymous = await get(`${composerRepository(group)}/${path}`, seed.anonymous());
      expect([...statusAndBody(anonymous), anonymous.headers['www-authenticate']]).toEqual([
        ...[401, { message: '401 Unauthorized' }, CHALLENGE],
      ]);
      expect(statusAndBody(await get(`${composerRepository(group)}/${path}`, outsider))).toEqual([
        ...[404, { message: '404 Group Not Found' }],
      ]);
    }
    for (const path of ['eggs.json', 'nest/eggs', 'nest/eggs/more.json'])
      expect(statusAndBody(await getDocument(path))).toEqual([400, { error: 'package_name is invalid' }]);
  });

  it('answers 304 by the time of the last change, once a change cannot be followed by another in that time', async () => {
    await published(app, developer, project, source);
    expect((await getDocument('nest/eggs.json')).headers['last-modified']).toBeUndefined();
    await service.database.query(`update package_indexes set changed_at = now() - interval '1 minute'`);
    const { headers } = await getDocument('nest/eggs.json').expect(200);
    const since = headers['last-modified']!;
    await getDocument('nest/eggs.json').set('if-modified-since', since).expect(304);
    await published(app, developer, project, source, { tag: 'v1.0.1' });
    expect(
      Object.keys(
        (await getDocument('nest/eggs.json').set('if-modified-since', since).expect(200)).body.packages['nest/eggs'],
      ),
    ).toHaveLength(2);
  });
});

describe('GET …/packages/composer/archives/:name.zip', () => {
  it('serves commits of versions of this package in this project only', async () => {
    await published(app, developer, project, source);
    const other = await seed.project({ visibility: 'private', namespace_id: group.id });
    for (const answer of [
      await getArchive(B),
      await getArchive(A, developer, other),
      await get(`${composerPath(project)}/archives/nest/other.zip?sha=${A}`),
    ])
      expect(statusAndBody(answer)).toEqual([404, { message: '404 Package Not Found' }]);
    expect(statusAndBody(await getArchive('main'))).toEqual([400, { error: 'sha is invalid' }]);
    expect(statusAndBody(await get(`${composerPath(project)}/archives/nest/eggs.zip`))).toEqual([
      ...[400, { error: 'sha is missing' }],
    ]);
    expect(statusAndBody(await get(`${composerPath(project)}/archives/Nest/eggs.zip?sha=${A}`))).toEqual([
      ...[400, { error: 'package_name is invalid' }],
    ]);
    await get(`${composerPath(project)}/archives/..%2feggs.zip?sha=${A}`).expect(404);
  });

  it('answers HEAD and known versions without an archive, notes downloads, and keeps the limit of archives', async () => {
    await published(app, developer, project, source);
    const path = `${composerPath(project)}/archives/nest/eggs.zip?sha=${A}`;
    const before = source.archives;
    await app.as(developer).head(path).expect(200);
    await get(path).set('if-none-match', `"${A}"`).expect(304);
    expect(source.archives).toBe(before);
    await get(path).expect(200);
    expect(source.archives).toBe(before + 1);
    expect(source.callers.at(-1)).toBe(String(developer.userId));
    source.isBeyondLimit = true;
    const limited = await get(path);
    source.isBeyondLimit = false;
    expect([...statusAndBody(limited), limited.headers['retry-after']]).toEqual([
      ...[429, { message: { error: 'This archive has been requested too many times. Try again later.' } }, '7'],
    ]);
    source.isAway = true;
    const away = await get(path);
    source.isAway = false;
    expect(away.status).toBe(503);
  });

  it('is for callers who may read packages and code', async () => {
    const open = await seed.group({ visibility: 'public' });
    const shown = await seed.project({ visibility: 'public', namespace_id: open.id });
    const owner = await seed.user();
    await seed.member(owner, shown, 'developer');
    await published(app, seed.viewer(owner), shown, source);
    await getArchive(A, seed.anonymous(), shown).expect(200);
    await seed.put('projects', { ...shown, repository_access_level: 'private' });
    expect((await getArchive(A, seed.anonymous(), shown)).status).toBe(401);
    const outsider = seed.viewer(await seed.user());
    expect(statusAndBody(await getArchive(A, outsider, shown))).toEqual([403, { message: '403 Forbidden' }]);
    await getArchive(A, seed.viewer(owner), shown).expect(200);
    // composer.json is code, too.
    const page = (viewer: Viewer, path: string) => get(`${composerRepository(open)}/${path}`, viewer);
    for (const viewer of [seed.anonymous(), outsider]) {
      expect((await page(viewer, 'packages.json')).body['available-packages']).toEqual([]);
      expect((await page(viewer, 'p2/nest/eggs.json')).status).toBe(404);
    }
    await page(seed.viewer(owner), 'p2/nest/eggs.json').expect(200);
    await published(app, developer, project, source);
    expect((await getArchive(A, seed.anonymous())).status).toBe(401);
    const guest = await memberOf(seed, project, 'guest');
    expect(statusAndBody(await getArchive(A, guest))).toEqual([403, { message: '403 Forbidden' }]);
  });
});
