import type { ProjectScope } from '@rookery/api-v4';
import type { DirectoryProject } from '@rookery/contracts';
import { Directory } from '@rookery/directory';
import type { Viewer } from '@rookery/kernel';
import type { DirectorySeed, TestApp } from '@rookery/testing';
import type { PackageService } from '../support/app';
import { documentOf, memberOf, npmOf, npmPath, published, put, startNpm } from '../support/npm';
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

describe('a former path of the project', () => {
  it('redirects reads, and refuses writes with the text that npm shows', async () => {
    const former = `/api/v4/projects/${encodeURIComponent('old/path')}/packages/npm/left-pad`;
    const finds = jest.spyOn(app.get(Directory), 'formerProject');
    finds.mockResolvedValue({ id: project.id } as ProjectScope);
    const moved = await get(former);
    const location = `http://localhost:8080/api/v4/projects/${project.id}/packages/npm/left-pad`;
    expect([moved.status, moved.get('location')]).toEqual([301, location]);
    const text = 'Non GET methods are not allowed for moved projects';
    const written = await put(app, developer, former, await documentOf({ name: 'left-pad', version: '1.0.0' }));
    expect([written.status, written.body]).toEqual([405, { message: text, error: text }]);
    finds.mockRestore();
  });
});

describe('GET …/npm/:package_name', () => {
  it('answers in two forms, and with times of all versions', async () => {
    const manifest = { description: 'Eggs', license: 'MIT', engines: { node: '20' }, scripts: { test: 'x' } };
    await publish({ name: '@s/formed', version: '1.0.0', manifest });
    await publish({
      name: '@s/formed',
      version: '2.0.0-beta.1',
      tag: 'beta',
      manifest: { ...manifest, os: ['linux'] },
    });
    const full = await getPackument('@s/formed');
    expect(full.headers).toMatchObject({ 'content-type': 'application/json', vary: expect.stringContaining('Accept') });
    expect(full.body).toMatchObject({
      ...{ _id: '@s/formed', name: '@s/formed', description: 'Eggs', license: 'MIT' },
      _rev: expect.stringMatching(/^2-[0-9a-f]+$/),
      'dist-tags': { latest: '1.0.0', beta: '2.0.0-beta.1' },
    });
    expect(full.body.versions['1.0.0']).toMatchObject({ _id: '@s/formed@1.0.0', scripts: { test: 'x' } });
    expect(Object.keys(full.body.time)).toEqual(['created', 'modified', '1.0.0', '2.0.0-beta.1']);
    const short = await getPackument('@s/formed').set('accept', `${SHORT}; q=1.0, application/json; q=0.8, */*`);
    expect(short.headers['content-type']).toBe(SHORT);
    expect(Object.keys(parseAnswer(short))).toEqual(['name', 'modified', 'dist-tags', 'time', 'versions']);
    expect(parseAnswer(short).versions['2.0.0-beta.1']).toEqual({
      ...{ name: '@s/formed', version: '2.0.0-beta.1', engines: { node: '20' }, os: ['linux'] },
      dist: {
        integrity: expect.stringMatching(/^sha512-/),
        shasum: expect.stringMatching(/^[0-9a-f]{40}$/),
        tarball: expect.stringMatching(
          new RegExp(`/api/v4/projects/${project.id}/packages/npm/@s/formed/-/formed-2\\.0\\.0-beta\\.1\\.tgz$`),
        ),
      },
    });
  });

  it('answers 304 to a client that has the document, until it changes', async () => {
    await publish({ name: 'cached', version: '1.0.0' });
    const path = npmPath(registryPath(), 'cached');
    const { headers } = await get(path);
    const again = (accept = 'application/json') =>
      get(path).set('if-none-match', headers['etag']!).set('accept', accept);
    expect((await again()).status).toBe(304);
    expect((await again(SHORT)).status).toBe(200);
    await app
      .as(maintainer)
      .put(`${registryPath()}/-/package/cached/dist-tags/mine`)
      .type('json')
      .send('"1.0.0"')
      .expect(204);
    expect((await again()).status).toBe(200);
    const group = await get(npmPath(npmOf.group({ id: project.namespace_id }), 'cached'), maintainer);
    expect(group.headers['etag']).not.toBe((await get(path)).headers['etag']);
  });

  it('answers one version by its number or a tag', async () => {
    await publish({ name: '@s/one', version: '1.0.0', tag: 'old' });
    await publish({ name: '@s/one', version: '2.0.0' });
    for (const [path, version] of [
      ['@s%2fone/1.0.0', '1.0.0'],
      ['@s/one/old', '1.0.0'],
      ['@s%2fone/latest', '2.0.0'],
    ] as const)
      expect((await get(`${registryPath()}/${path}`)).body).toMatchObject({ name: '@s/one', version, dist: {} });
    const missing = await get(`${registryPath()}/@s%2fone/3.0.0`);
    expect([missing.status, missing.body]).toEqual([
      404,
      { message: '404 Package Not Found', error: 'Package not found' },
    ]);
  });

  it('answers for names and tags that are words of the language', async () => {
    await publish({
      name: 'constructor',
      version: '1.0.0',
      tag: '__proto__',
      manifest: { dependencies: { __proto__: '1' } },
    });
    expect((await get(`${registryPath()}/-/package/constructor/dist-tags`)).text).toBe(
      '{"__proto__":"1.0.0","latest":"1.0.0"}',
    );
    expect((await getPackument('constructor')).status).toBe(200);
  });

  it('takes `latest` from the highest stable version if no tag says it', async () => {
    for (const version of ['1.0.0', '1.10.0', '1.9.0', '2.0.0-rc.1'])
      await publish({ name: 'untagged', version, tag: 'next' });
    expect((await getPackument('untagged')).body['dist-tags']).toEqual({ next: '2.0.0-rc.1', latest: '1.10.0' });
  });

  it('no longer shows a version that the packages API deleted', async () => {
    const { id } = await publish({ name: 'shrunk', version: '1.0.0' });
    const other = await publish({ name: 'shrunk', version: '2.0.0' });
    const { headers } = await getPackument('shrunk');
    const remove = (one: number) =>
      app.as(maintainer).delete(`/api/v4/projects/${project.id}/packages/${one}`).expect(204);
    await remove(other.id);
    const after = await getPackument('shrunk').set('if-none-match', headers['etag']!);
    expect([after.status, Object.keys(after.body.versions), after.body['dist-tags']]).toEqual([
      200,
      ['1.0.0'],
      { latest: '1.0.0' },
    ]);
    expect((await get(`${registryPath()}/shrunk/-/shrunk-2.0.0.tgz`)).status).toBe(404);
    await remove(id);
    expect((await getPackument('shrunk')).status).toBe(404);
    await publish({ name: 'shrunk', version: '1.0.0' });
  });
});

describe('GET …/npm/:package_name/-/:file_name', () => {
  it('answers to each form of the name, with ranges and HEAD', async () => {
    await publish({ name: '@s/file', version: '1.0.0+build', tarball: Buffer.from('0123456789') });
    for (const path of [
      '@s/file/-/file-1.0.0.tgz',
      '@s/file/-/file-1.0.0+build.tgz',
      '@s/file/-/file-1.0.0%2Bbuild.tgz',
      '@s/file/-/@s/file-1.0.0+build.tgz',
      '@s%2ffile/-/file-1.0.0.tgz',
      '@s%2Ffile/-/@s/file-1.0.0.tgz',
      '@s%2ffile/-/@s%2ffile-1.0.0.tgz',
    ])
      expect([path, (await get(`${registryPath()}/${path}`)).body.toString()]).toEqual([path, '0123456789']);
    const path = `${registryPath()}/@s/file/-/file-1.0.0.tgz`;
    const part = await get(path).set('range', 'bytes=2-4');
    expect([part.status, part.body.toString()]).toEqual([206, '234']);
    const head = await app.as(developer).head(path);
    expect([head.status, head.headers['content-length']]).toEqual([200, '10']);
    const { etag } = (await get(path)).headers;
    expect((await get(path).set('if-none-match', etag!)).status).toBe(304);
    for (const wrong of ['file-2.0.0.tgz', 'other-1.0.0.tgz', '@t/file-1.0.0.tgz', 'file-1.0.0', '..%2ffile-1.0.0.tgz'])
      expect((await get(`${registryPath()}/@s/file/-/${wrong}`)).status).toBe(404);
  });
});

describe('visibility', () => {
  it('of a project is that of its packages, and strangers are asked for a token without a challenge', async () => {
    await publish({ name: 'seen', version: '1.0.0' });
    const stranger = seed.viewer(await seed.user());
    const unauthorized = { message: '401 Unauthorized', error: 'Unauthorized' };
    for (const parent of [project, { ...project, id: 999_999 }])
      for (const path of ['seen', 'seen/-/seen-1.0.0.tgz', '-/package/seen/dist-tags', '-/ping', '-/whoami']) {
        const anonymous = await get(`${registryPath(parent)}/${path}`, seed.anonymous());
        expect([path, anonymous.status, anonymous.body]).toEqual([path, 401, unauthorized]);
        expect(anonymous.headers).not.toHaveProperty('www-authenticate');
        const hidden = await get(`${registryPath(parent)}/${path}`, stranger);
        expect([hidden.status, hidden.body]).toEqual([
          404,
          { message: '404 Project Not Found', error: 'Project not found' },
        ]);
      }
    expect((await getPackument('seen', await memberOf(seed, project, 'guest'))).status).toBe(403);
    expect((await getPackument('seen', await memberOf(seed, project, 'reporter'))).status).toBe(200);
  });

  it('of a group and of the instance leaves out what the caller may not read', async () => {
    const root = await seed.group({ visibility: 'public' });
    const inner = await seed.group({ parent: root, visibility: 'public' });
    const [open, closed] = [
      await seed.project({ namespace_id: inner.id, visibility: 'public' }),
      await seed.project({ namespace_id: root.id, visibility: 'private' }),
    ];
    const owner = await seed.user();
    for (const own of [open, closed]) await seed.member(owner, own, 'developer');
    const [insider, anonymous] = [seed.viewer(owner), seed.anonymous()];
    const name = `@${root.path}/both`;
    await publish({ name, version: '1.0.0' }, insider, open);
    await publish({ name, version: '2.0.0' }, insider, closed);
    await publish({ name: '@other/none', version: '1.0.0' }, insider, open);
    for (const registry of [npmOf.group(root), npmOf.instance]) {
      const versions = async (viewer: Viewer): Promise<string[]> =>
        Object.keys((await get(npmPath(registry, name), viewer)).body.versions);
      expect(await versions(insider)).toEqual(['1.0.0', '2.0.0']);
      expect(await versions(anonymous)).toEqual(['1.0.0']);
      expect((await get(`${registry}/${name}/-/both-1.0.0.tgz`, anonymous)).status).toBe(200);
      expect((await get(`${registry}/${name}/-/both-2.0.0.tgz`, anonymous)).status).toBe(404);
      expect((await get(`${registry}/${name}/-/both-2.0.0.tgz`, insider)).status).toBe(200);
    }
    expect((await get(npmPath(npmOf.group(inner), name), insider)).body['dist-tags']).toEqual({ latest: '1.0.0' });
    expect((await get(npmPath(npmOf.group(root), '@other/none'), insider)).status).toBe(200);
    expect((await get(npmPath(npmOf.instance, '@other/none'), insider)).status).toBe(404);
    expect((await get(npmPath(npmOf.instance, 'none'), insider)).status).toBe(404);
    await publish({ name: 'plain', version: '1.0.0' }, insider, open);
    expect((await get(`${npmOf.group(root)}/plain/-/plain-1.0.0.tgz`, anonymous)).status).toBe(200);
    // The registry of the instance finds a package by its scope.
    expect((await get(`${npmOf.instance}/plain/-/plain-1.0.0.tgz`, insider)).status).toBe(404);
  });

  it('of publications is that of developers', async () => {
    const roles = ['guest', 'planner', 'reporter', 'developer', 'maintainer', 'owner'] as const;
    const statuses = [];
    for (const [index, role] of roles.entries()) {
      const spec = { name: 'roles', version: `1.0.${index}` };
      statuses.push((await putChangedDocument(spec, () => undefined, await memberOf(seed, project, role))).status);
    }
    expect(statuses).toEqual([403, 403, 403, 200, 200, 200]);
    const open = await seed.project({ visibility: 'public' });
    const path = npmPath(registryPath(open), 'x');
    const document = await documentOf({ name: 'x', version: '1.0.0' });
    expect((await put(app, seed.anonymous(), path, document)).status).toBe(401);
    expect((await put(app, seed.viewer(await seed.user()), path, document)).status).toBe(403);
  });
});

describe('other calls of clients', () => {
  const places = (): string[] => [registryPath(), npmOf.group({ id: project.namespace_id }), npmOf.instance];

  it('say who the caller is and find nothing', async () => {
    for (const registry of places()) {
      expect((await get(`${registry}/-/ping?write=true`, maintainer)).body).toEqual({});
      expect((await get(`${registry}/-/whoami`, maintainer)).body).toEqual({ username: maintainer.username });
      const search = await get(`${registry}/-/v1/search?text=x&size=20&from=0`, maintainer);
      expect(search.body).toEqual({ objects: [], total: 0, time: expect.any(String) });
      const post = (path: string, body: object = {}) => app.as(maintainer).post(`${registry}/-/${path}`).send(body);
      expect((await post('npm/v1/security/advisories/bulk', { a: ['1.0.0'] })).text).toBe('{}');
      for (const path of ['npm/v1/security/audits', 'npm/v1/security/audits/quick'])
        expect((await post(path)).body).toMatchObject({ advisories: {}, metadata: { vulnerabilities: { high: 0 } } });
      const unknown = { message: '404 Not found', error: 'Not found' };
      for (const path of ['v1/login', 'stage/package/x', 'npm/v1/tokens']) {
        const { status, body } = await post(path);
        expect([status, body]).toEqual([404, unknown]);
      }
      for (const path of ['npm/v1/keys', 'npm/v1/attestations/a@1', 'package/a/visibility', 'all'])
        expect([path, (await get(`${registry}/-/${path}`, maintainer)).body]).toEqual([path, unknown]);
      const login = await app
        .as(maintainer)
        .put(`${registry}/-/user/org.couchdb.user:x`)
        .send({ name: 'x', password: 'y' });
      expect([login.status, login.body.error]).toEqual([401, expect.stringContaining('access token')]);
      expect((await app.as(maintainer).delete(`${registry}/-/user/token/glpat-x`)).body).toEqual({ ok: true });
    }
    expect((await put(app, maintainer, `${registryPath()}/-/pnpm/v1/publish`, {})).status).toBe(404);
  });

  it('name the registry of projects to those who publish elsewhere', async () => {
    for (const registry of places().slice(1)) {
      const { status, body } = await put(app, maintainer, npmPath(registry, '@s/x'), {});
      expect([status, body.error]).toEqual([403, expect.stringContaining('Publish to the project registry: http')]);
    }
  });
});
