import { createHash } from 'node:crypto';
import type { DirectoryProject } from '@rookery/contracts';
import { InstanceSettings } from '@rookery/instance';
import type { Viewer } from '@rookery/kernel';
import type { DirectorySeed, TestApp } from '@rookery/testing';
import { areAnswered, loseAnswers } from '../support/answers';
import type { PackageService } from '../support/app';
import { documentOf, npmOf, npmPath, published, put, startNpm, tarballOf } from '../support/npm';
import type { NpmVersionSpec } from '../support/npm';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- documents are changed and read as a client would
type AnyJson = any;

let service: PackageService;
let seed: DirectorySeed;
let app: TestApp;
let project: DirectoryProject;
let developer: Viewer;
let maintainer: Viewer;

beforeAll(async () => void ({ service, seed, app, project, developer, maintainer } = await startNpm()));
afterAll(() => service.close());

const SHORT = 'application/vnd.npm.install-v1+json';
const registryPath = (of = project): string => npmOf.project(of);
const get = (path: string, viewer = developer) => app.as(viewer).get(path).buffer(true);
const getPackument = (name: string, viewer = developer) => get(npmPath(registryPath(), name), viewer);
const publish = (spec: NpmVersionSpec, viewer = developer, of = project) => published(app, viewer, of, spec);
/** The document of a short form is no `application/json` to supertest. */
const parseAnswer = ({ body, text }: { body: unknown; text?: string }): AnyJson =>
  Buffer.isBuffer(body) ? JSON.parse(body.toString()) : text ? JSON.parse(text) : body;
const putChangedDocument = async (spec: NpmVersionSpec, change: (document: AnyJson) => unknown, viewer = developer) => {
  const document = await documentOf(spec);
  return put(app, viewer, npmPath(registryPath(), spec.name), (change(document) ?? document) as object);
};

describe('PUT …/npm/:package_name with attachments', () => {
  it.each([
    ['last', (document: object) => document],
    ['first', ({ _attachments, ...document }: AnyJson) => ({ _attachments, ...document })],
  ])('publishes a version whose attachments come %s', async (order, arrange) => {
    const spec = { name: `@s/order-${order}`, version: '1.0.0' };
    const { status, body } = await putChangedDocument(spec, arrange);
    expect([status, body]).toEqual([200, { ok: true, id: expect.any(Number), ...spec }]);
    const tarball = await get(`${registryPath()}/${spec.name}/-/order-${order}-1.0.0.tgz`);
    const { versions } = (await getPackument(spec.name)).body;
    expect(createHash('sha1').update(tarball.body).digest('hex')).toBe(versions['1.0.0'].dist.shasum);
  });

  it('is listed by the packages API with its tags and its file', async () => {
    const { id } = await publish({ name: '@s/listed', version: '1.0.0', tag: 'next' });
    await publish({ name: '@s/listed', version: '1.1.0' });
    const packages = `/api/v4/projects/${project.id}/packages`;
    const { body } = await get(`${packages}?package_name=listed&order_by=version`);
    expect(body).toMatchObject([
      { name: '@s/listed', version: '1.0.0', package_type: 'npm', tags: [{ name: 'next', package_id: id }] },
      { version: '1.1.0', tags: [{ name: 'latest' }] },
    ]);
    expect((await get(`${packages}/${id}`)).body).toMatchObject({
      tags: [{ name: 'next' }],
      versions: [{ version: '1.1.0', tags: [{ name: 'latest' }] }],
    });
    expect((await get(`${packages}/${id}/package_files`)).body).toMatchObject([{ file_name: '@s/listed-1.0.0.tgz' }]);
  });

  it('keeps provenance bundles out and takes the tarball by its name', async () => {
    const response = await putChangedDocument(
      { name: '@s/proven', version: '1.0.0' },
      ({ _attachments: all, ...document }) => ({
        ...document,
        _attachments: { '@s/proven-1.0.0.sigstore': { content_type: 'x', data: '{"not": "base64"}' }, ...all },
      }),
    );
    expect(response.status).toBe(200);
    expect((await get(`${registryPath()}/@s/proven/-/proven-1.0.0.tgz`)).status).toBe(200);
  });

  const spec = { name: 'refused', version: '1.0.0' };
  it.each<[string, (document: AnyJson) => unknown, string]>([
    ['no JSON', () => '{"_attachments":', 'Invalid json'],
    ['no versions', ({ versions: _, ...rest }) => rest, 'Versions key is missing from the JSON upload'],
    ['an empty list of versions', (document) => void (document.versions = {}), 'Version is empty.'],
    ['an empty version', (document) => void (document.versions = { '': {} }), 'Version is empty.'],
    [
      'two versions',
      ({ versions, ...rest }) => ({ ...rest, versions: { ...versions, '2.0.0': {} } }),
      'Exactly one version can be published at a time.',
    ],
    ['no attachment', (document) => void (document._attachments = {}), 'Attachment data is empty.'],
    [
      'an empty attachment',
      (document) => void (document._attachments['refused-1.0.0.tgz'].data = ''),
      'Attachment data is empty.',
    ],
    [
      'data that is no text',
      (document) => void (document._attachments['refused-1.0.0.tgz'].data = [1]),
      'Attachment data is empty.',
    ],
    [
      'data that is no base64',
      (document) => void (document._attachments['refused-1.0.0.tgz'].data = 'ä'),
      'Attachment data is not valid base64.',
    ],
    [
      'another version inside',
      (document) => void (document.versions['1.0.0'].version = '1.0.1'),
      'Package manifest is not coherent',
    ],
    [
      'another name inside',
      (document) => void (document.versions['1.0.0'].name = 'other'),
      'Package manifest is not coherent',
    ],
    ['another name outside', (document) => void (document.name = 'other'), 'Package manifest is not coherent'],
    [
      'a tag that is a range',
      (document) => void (document['dist-tags'] = { '1.x': '1.0.0' }),
      'Tag name must not be a valid SemVer range',
    ],
    [
      'another shasum',
      (document) => void (document.versions['1.0.0'].dist.shasum = 'a'.repeat(40)),
      'Package integrity check failed',
    ],
    [
      'another integrity',
      (document) => void (document.versions['1.0.0'].dist.integrity = 'sha512-YWJj'),
      'Package integrity check failed',
    ],
    [
      'a script that the tarball lacks',
      (document) => void (document.versions['1.0.0'].scripts = { postinstall: 'x' }),
      'Package manifest is not coherent',
    ],
    [
      'a manifest that is too large',
      (document) => void (document.versions['1.0.0'].big = 'x'.repeat(20_000)),
      'Validation failed: Package json structure is too large. Maximum size is 20000 characters',
    ],
  ])('refuses a document with %s', async (_, change, text) => {
    const { status, body } = await putChangedDocument(spec, change);
    expect([status, body]).toEqual([400, { message: text, error: text }]);
    expect((await getPackument(spec.name)).status).toBe(404);
  });

  it.each(['1', 'v1.0.0', 'latest', '1.0.0.0'])('refuses the version %s', async (version) => {
    const text = 'Validation failed: Version should follow SemVer: https://semver.org';
    const { status, body } = await putChangedDocument({ name: 'refused', version }, () => undefined);
    expect([status, body]).toEqual([400, { message: text, error: text }]);
  });

  it.each(['a..b', '@s/..%2fb', '%2e%2e%2fb', 'a%20b', '@s/-', 'a%00b'])('refuses the name %s', async (name) => {
    const { status } = await put(
      app,
      developer,
      `${registryPath()}/${name}`,
      await documentOf({ name, version: '1.0.0' }),
    );
    expect([400, 404]).toContain(status);
  });

  it('refuses a version that exists, also one that differs in build metadata only', async () => {
    await publish({ name: 'once', version: '1.0.0+a' });
    for (const version of ['1.0.0+a', '1.0.0', '1.0.0+b']) {
      const { status, body } = await putChangedDocument({ name: 'once', version }, () => undefined);
      expect([status, body]).toEqual([403, { message: 'Package already exists.', error: 'Package already exists.' }]);
    }
  });

  it('takes the same bytes again with the same credential while no client got the answer', async () => {
    const [name, viewer] = ['unanswered', { ...developer, tokenId: 71 }];
    const file = `${name}-1.0.0.tgz`;
    const [document, other] = [
      await documentOf({ name, version: '1.0.0' }),
      await documentOf({ name, version: '1.0.0', tarball: Buffer.from('other bytes') }),
    ];
    const send = (sent: object, tokenId = 71) => put(app, { ...viewer, tokenId }, npmPath(registryPath(), name), sent);
    const first = await send(document);
    expect(first.status).toBe(200);
    await areAnswered(service, file);
    expect((await send(document)).status).toBe(403);
    await loseAnswers(service, file, 71);
    for (const refused of [await send(other), await send(document, 72)])
      expect([refused.status, refused.body.error]).toEqual([403, 'Package already exists.']);
    const again = await send(document);
    expect([again.status, again.body]).toEqual([200, first.body]);
    await areAnswered(service, file);
    expect((await send(document)).status).toBe(403);
  });

  it('takes a repeated request of one run of a client, and refuses it of another', async () => {
    const document = await documentOf({ name: 'repeated', version: '1.0.0' });
    const path = npmPath(registryPath(), 'repeated');
    const send = (session: string, content: object = document) =>
      app.as(developer).put(path).set('npm-session', session).send(content);
    const first = await send('one');
    const repeated = await send('one');
    expect([repeated.status, repeated.body]).toEqual([200, first.body]);
    expect((await send('two')).status).toBe(403);
    const other = await documentOf({ name: 'repeated', version: '1.0.0', tarball: Buffer.from('other') });
    expect((await send('one', other)).status).toBe(403);
  });

  it('refuses a protected name, but says first that a version exists', async () => {
    await publish({ name: 'core-old', version: '1.0.0' });
    await app
      .as(maintainer)
      .post(`/api/v4/projects/${project.id}/packages/protection/rules`)
      .send({ package_name_pattern: 'core-*', package_type: 'npm', minimum_access_level_for_push: 'maintainer' })
      .expect(201);
    const old = await putChangedDocument({ name: 'core-old', version: '1.0.0' }, () => undefined);
    expect(old.body).toEqual({ message: 'Package already exists.', error: 'Package already exists.' });
    const { status, body } = await putChangedDocument({ name: 'core-new', version: '1.0.0' }, () => undefined);
    expect([status, body]).toEqual([403, { message: 'Package protected.', error: 'Package protected.' }]);
    expect((await putChangedDocument({ name: 'core-new', version: '1.0.0' }, () => undefined, maintainer)).status).toBe(
      200,
    );
    const tag = await app
      .as(developer)
      .put(`${registryPath()}/-/package/core-old/dist-tags/mine`)
      .type('json')
      .send('"1.0.0"');
    expect([tag.status, tag.body.error]).toEqual([403, 'Package protected.']);
  });

  it('refuses a tarball above the limit of the plan', async () => {
    const instance = app.get(InstanceSettings);
    instance.applyAnswer({
      version: 1,
      features: {},
      settings: {},
      plan_limits: { default: { npm_max_file_size: 4 } },
    });
    try {
      const { status, body } = await putChangedDocument({ name: 'large', version: '1.0.0' }, () => undefined);
      expect([status, body]).toEqual([400, { message: 'File is too large.', error: 'File is too large.' }]);
      const declared = await app
        .as(developer)
        .put(npmPath(registryPath(), 'large'))
        .type('json')
        .send(`{"readme":"${' '.repeat(65 * 1024 * 1024)}"}`);
      expect([declared.status, declared.body.error]).toEqual([400, 'File is too large.']);
    } finally {
      instance.applyAnswer({ version: 2, features: {}, settings: {} });
    }
  });

  it('takes bytes that are no tarball on the word of the document', async () => {
    await publish({ name: 'dummy', version: '1.0.0', tarball: Buffer.from('no tarball') });
    expect((await get(`${registryPath()}/dummy/-/dummy-1.0.0.tgz`)).body.toString()).toBe('no tarball');
  });

  it('shows what the tarball depends on, whatever the document says', async () => {
    const own = { name: 'honest', version: '1.0.0', dependencies: { a: '1' }, bin: 'cli.js' };
    const tarball = await tarballOf({ 'any/package.json': JSON.stringify(own) });
    const manifest = { dependencies: { evil: '1' }, peerDependencies: { evil: '1' }, bin: { evil: 'x' } };
    await publish({ name: 'honest', version: '1.0.0', manifest, tarball });
    const shown = parseAnswer(await getPackument('honest').set('accept', SHORT)).versions['1.0.0'];
    expect(shown).toMatchObject({ dependencies: { a: '1' }, bin: { honest: 'cli.js' } });
    expect(shown).not.toHaveProperty('peerDependencies');
  });

  it('takes scripts that clients add for other files of the package', async () => {
    const tarball = await tarballOf({ 'package/package.json': JSON.stringify({ name: 'gyp', version: '1.0.0' }) });
    await publish({ name: 'gyp', version: '1.0.0', manifest: { scripts: { install: 'node-gyp rebuild' } }, tarball });
    expect(parseAnswer(await getPackument('gyp').set('accept', SHORT)).versions['1.0.0'].hasInstallScript).toBe(true);
  });

  it('takes each of many versions at once, and one of many equal ones', async () => {
    const versions = Array.from({ length: 30 }, (_, index) => `1.0.${index}`);
    const all = await Promise.all(
      versions.map((version) => putChangedDocument({ name: 'busy', version }, () => undefined)),
    );
    expect(all.map(({ status }) => status)).toEqual(versions.map(() => 200));
    expect(Object.keys((await getPackument('busy')).body.versions).sort()).toEqual([...versions].sort());
    const same = await Promise.all(
      versions.map(() => putChangedDocument({ name: 'same', version: '1.0.0' }, () => undefined)),
    );
    expect(same.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(same.filter(({ status }) => status === 403)).toHaveLength(29);
  });

  it('stores a version of the scope of the top-level group in one project only', async () => {
    const group = await seed.group();
    const [one, two] = [await seed.project({ namespace_id: group.id }), await seed.project({ namespace_id: group.id })];
    const user = await seed.user();
    for (const own of [one, two]) await seed.member(user, own, 'developer');
    const viewer = seed.viewer(user);
    const held = { name: `@${group.path}/held`, version: '1.0.0' };
    await publish(held, viewer, one);
    const { status, body } = await put(app, viewer, npmPath(registryPath(two), held.name), await documentOf(held));
    const text = 'Validation failed: Package already exists';
    expect([status, body]).toEqual([400, { message: text, error: text }]);
    await publish({ ...held, version: '2.0.0' }, viewer, two);
    await publish({ ...held, name: '@other/held' }, viewer, one);
    await publish({ ...held, name: '@other/held' }, viewer, two);
  });
});
