import { createHash } from 'node:crypto';
import type { DirectoryProject } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';
import type { DirectorySeed, TestApp } from '@rookery/testing';
import type { PackageService } from '../support/app';
import { memberOf, npmOf, npmPath, published, put, startNpm } from '../support/npm';
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

describe('tags', () => {
  const tags = (name: string, tag = '') => `${registryPath()}/-/package/${name.replace('/', '%2f')}/dist-tags${tag}`;
  const set = (path: string, body: string, viewer = developer) => app.as(viewer).put(path).type('json').send(body);

  it('are listed, set and removed', async () => {
    await publish({ name: '@s/tagged', version: '1.0.0' });
    await publish({ name: '@s/tagged', version: '2.0.0' });
    expect((await set(tags('@s/tagged', '/stable'), '"1.0.0"')).status).toBe(204);
    expect((await set(`${registryPath()}/-/package/@s/tagged/dist-tags/raw`, '"1.0.0"')).status).toBe(204);
    expect((await get(tags('@s/tagged'))).body).toEqual({ latest: '2.0.0', stable: '1.0.0', raw: '1.0.0' });
    expect((await set(tags('@s/tagged', '/stable'), '"2.0.0"')).status).toBe(204);
    expect((await app.as(developer).delete(tags('@s/tagged', '/stable'))).status).toBe(403);
    expect((await app.as(maintainer).delete(tags('@s/tagged', '/stable'))).status).toBe(204);
    const gone = await app.as(maintainer).delete(tags('@s/tagged', '/stable'));
    expect([gone.status, gone.body]).toEqual([
      404,
      { message: '404 Package tag Not Found', error: 'Package tag not found' },
    ]);
    const latest = await app.as(maintainer).delete(tags('@s/tagged', '/latest'));
    expect([latest.status, latest.body.error]).toEqual([403, 'latest cannot be removed']);
  });

  it.each([
    ['/mine', '"3.0.0"', 404, 'Package not found'],
    ['/mine', '""', 400, 'Version is empty.'],
    ['/mine', '1', 400, 'Version is empty.'],
    ['/mine', '', 400, 'Invalid json'],
    ['/mine', '{', 400, 'Invalid json'],
    ['/1.x', '"1.0.0"', 400, 'Tag name must not be a valid SemVer range'],
    ['/mine', `"${'1'.repeat(5000)}"`, 413, undefined],
  ])('refuse %s with the body %.10s', async (tag, body, status, error) => {
    const name = `tag-${createHash('md5')
      .update(tag + body)
      .digest('hex')}`;
    await publish({ name, version: '1.0.0' });
    const response = await set(tags(name, tag), body);
    expect(response.status).toBe(status);
    if (error) expect(response.body.error).toBe(error);
  });

  it('are changed through the registries of the group and of the instance where the caller may', async () => {
    const group = await seed.group();
    const own = await seed.project({ namespace_id: group.id, visibility: 'private' });
    const [publisher, guest] = [await memberOf(seed, own, 'developer'), await memberOf(seed, own, 'guest')];
    const [reporter, owner] = [await memberOf(seed, own, 'reporter'), await memberOf(seed, own, 'maintainer')];
    const scoped = `@${group.path}/grouped`;
    for (const [registry, name] of [[npmOf.group(group), 'grouped'] as const, [npmOf.instance, scoped] as const]) {
      await publish({ name, version: '1.0.0' }, publisher, own);
      const list = `${registry}/-/package/${name}/dist-tags`;
      const path = `${list}/mine`;
      expect((await set(path, '"1.0.0"', guest)).status).toBe(404);
      expect((await set(path, '"1.0.0"', reporter)).status).toBe(403);
      expect((await set(path, '"1.0.0"', publisher)).status).toBe(204);
      expect((await get(list, publisher)).body).toEqual({ latest: '1.0.0', mine: '1.0.0' });
      expect((await app.as(owner).delete(path)).status).toBe(204);
      expect((await get(list, publisher)).body).toEqual({ latest: '1.0.0' });
    }
  });
});

describe('deprecation', () => {
  const change = async (name: string, deprecated: unknown, viewer = maintainer, version = '1.0.0') => {
    const document = (await getPackument(name)).body;
    document.versions[version].deprecated = deprecated;
    return put(app, viewer, npmPath(registryPath(), name), document);
  };
  const statusOf = async (name: string): Promise<unknown> =>
    (await service.database.query<{ status: string }>(`select status from packages where name = '${name}'`))[0]!.status;

  it('is set and ended by a document without attachments', async () => {
    await publish({ name: 'aged', version: '1.0.0' });
    const set = await change('aged', 'use \u0000another');
    expect([set.status, set.body]).toEqual([200, { ok: true }]);
    expect((await getPackument('aged')).body.versions['1.0.0'].deprecated).toBe('use another');
    expect(parseAnswer(await getPackument('aged').set('accept', SHORT)).versions['1.0.0'].deprecated).toBe(
      'use another',
    );
    expect(await statusOf('aged')).toBe('deprecated');
    expect((await get(`${registryPath()}/aged/-/aged-1.0.0.tgz`)).status).toBe(200);
    expect((await change('aged', '')).status).toBe(200);
    expect((await getPackument('aged')).body.versions['1.0.0']).not.toHaveProperty('deprecated');
    expect(await statusOf('aged')).toBe('default');
  });

  it('needs a maintainer, a version and a text', async () => {
    await publish({ name: 'fresh', version: '1.0.0' });
    const forbidden = await change('fresh', 'x', developer);
    expect([forbidden.status, forbidden.body]).toEqual([403, { message: '403 Forbidden', error: 'Forbidden' }]);
    const text = '"package versions to deprecate" not given';
    const none = await change('fresh', 5);
    expect([none.status, none.body]).toEqual([400, { message: `400 Bad request - ${text}`, error: text }]);
    expect((await change('fresh', 'x'.repeat(5000))).status).toBe(400);
    const unknown = await put(app, maintainer, npmPath(registryPath(), 'unknown'), {
      versions: { '1.0.0': { deprecated: 'x' } },
    });
    expect(unknown.status).toBe(404);
  });
});

describe('removal by clients', () => {
  const reduced = async (name: string, version: string) => {
    const document = (await getPackument(name)).body;
    delete document.versions[version];
    return { document, path: `${npmPath(registryPath(), name)}/-rev/${document._rev}` };
  };

  it('of one version takes the version that the document leaves out', async () => {
    for (const version of ['1.0.0', '2.0.0', '3.0.0']) await publish({ name: '@s/less', version });
    const { document, path } = await reduced('@s/less', '3.0.0');
    expect((await put(app, developer, path, document)).status).toBe(403);
    const { status, body } = await put(app, maintainer, path, document);
    expect([status, body]).toEqual([200, { ok: true }]);
    expect((await getPackument('@s/less')).body).toMatchObject({
      'dist-tags': { latest: '2.0.0' },
      time: { '1.0.0': expect.any(String) },
    });
    const tarball = `${registryPath()}/@s/less/-/less-3.0.0.tgz`;
    expect((await get(tarball)).status).toBe(404);
    expect((await app.as(maintainer).delete(`${tarball}/-rev/${document._rev}`)).status).toBe(200);
    expect((await app.as(developer).delete(`${tarball}/-rev/${document._rev}`)).status).toBe(403);
    const late = await put(app, maintainer, path, document);
    expect([late.status, late.body]).toEqual([
      409,
      { message: 'Document update conflict', error: 'Document update conflict' },
    ]);
    const two = await reduced('@s/less', '2.0.0');
    delete two.document.versions['1.0.0'];
    expect((await put(app, maintainer, two.path, two.document)).status).toBe(400);
  });

  it('of all versions needs the current revision', async () => {
    const versions = [];
    for (const version of ['1.0.0', '2.0.0']) versions.push(await publish({ name: 'whole', version }));
    const { document, path } = await reduced('whole', '1.0.0');
    expect((await app.as(developer).delete(path)).status).toBe(403);
    expect((await app.as(maintainer).delete(path.replace(document._rev, 'undefined'))).status).toBe(409);
    expect((await app.as(maintainer).delete(path)).body).toEqual({ ok: true });
    expect((await getPackument('whole')).status).toBe(404);
    const gone = await app.as(maintainer).delete(path);
    expect([gone.status, gone.body.error]).toEqual([404, 'Package not found']);
    const ids = versions.map(({ id }) => `'${id}'`).join(', ');
    const emitted = await service.database.query<{ type: string }>(
      `select type from outbox where aggregate_type = 'package' and aggregate_id in (${ids}) order by type, id`,
    );
    expect(emitted.map(({ type }) => type.split('.').at(-2))).toEqual(['deleted', 'deleted', 'published', 'published']);
  });
});
