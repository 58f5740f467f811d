import { createHash } from 'node:crypto';
import type { DirectoryNamespace, DirectoryProject } from '@rookery/contracts';
import { InstanceSettings } from '@rookery/instance';
import type { Viewer } from '@rookery/kernel';
import type { DirectorySeed, TestApp } from '@rookery/testing';
import type { Response } from 'supertest';
import { startPackage } from '../support/app';
import type { PackageService } from '../support/app';
import { BINARY, conanOf, INSTANCE, put, recipeV2, uploadedRecipe, uploadedV1 } from '../support/conan';
import { memberOf } from '../support/npm';

let service: PackageService;
let seed: DirectorySeed;
let app: TestApp;
let group: DirectoryNamespace;
let project: DirectoryProject;
let developer: Viewer;
let maintainer: Viewer;
let registry: string;

beforeAll(async () => {
  service = await startPackage();
  ({ seed, app } = service);
});
beforeEach(async () => {
  group = await seed.group({ visibility: 'private' });
  project = await seed.project({ visibility: 'private', namespace_id: group.id });
  developer = await memberOf(seed, project, 'developer');
  const owner = await seed.user();
  await seed.member(owner, group, 'maintainer');
  maintainer = seed.viewer(owner);
  registry = conanOf(project);
});
afterAll(() => service.close());

const errorsBody = (status: number, message: string): object => ({ errors: [{ status, message }] });
const NONE = errorsBody(404, '404 Not found');
const statusAndBody = ({ status, body }: Response): unknown[] => [status, body];
const get = (path: string, viewer = developer) => app.as(viewer).get(path);
const post = (path: string, body: unknown, viewer = developer) =>
  app.as(viewer).post(path).type('json').send(JSON.stringify(body));
const recipePath = (reference = 'hello/1.0/me/stable'): string => `${registry}/v1/conans/${reference}`;
const binaryPath = (): string => `${recipePath()}/packages/${BINARY}`;
const filesPath = (reference = 'hello/1.0/me/stable', of = registry): string => `${of}/v1/files/${reference}/0`;
const md5Of = (content: string): string => createHash('md5').update(content).digest('hex');
const pathOf = (url: string): string => new URL(url).pathname;

it('gives a token, checks credentials and finds recipes, as version 2 does', async () => {
  await uploadedV1(app, developer, filesPath());
  await uploadedRecipe(app, developer, registry, { reference: 'newer/1.0/_/_' });
  const given = await get(`${registry}/v1/users/authenticate`, { ...developer, clientToken: 'conan-1' }).expect(200);
  expect(given.text).toBe('conan-1');
  expect((await get(`${registry}/v1/users/check_credentials`).expect(200)).text).toBe('ok');
  const found = { results: ['hello/1.0@me/stable'] };
  expect((await get(`${registry}/v1/conans/search?q=*`).expect(200)).body).toEqual(found);
  expect((await get(`${registry}/v2/conans/search?q=*`)).body).toEqual({ results: ['newer/1.0'] });
  await get(`${recipeV2(registry)}/latest`).expect(404, NONE);
});

it('announces files, whose addresses take the upload', async () => {
  const announced = await post(`${recipePath()}/upload_urls`, { 'conanfile.py': 6, 'conanmanifest.txt': 8 }).expect(
    200,
  );
  const { body } = announced as { body: Record<string, string> };
  expect(Object.keys(body)).toEqual(['conanfile.py', 'conanmanifest.txt']);
  expect(body['conanfile.py']).toMatch(/^https?:\/\//);
  expect(pathOf(body['conanfile.py']!)).toBe(`${filesPath()}/export/conanfile.py`);
  await put(app, developer, pathOf(body['conanfile.py']!), 'recipe').expect(200);
  await get(recipePath()).expect(404, NONE);
  await put(app, developer, pathOf(body['conanmanifest.txt']!), 'manifest').expect(200);
  expect((await get(recipePath()).expect(200)).body).toEqual({
    'conanfile.py': md5Of('recipe'),
    'conanmanifest.txt': md5Of('manifest'),
  });
});

it('shows digests and addresses of recipes and binary packages', async () => {
  await uploadedV1(app, developer, filesPath());
  const md5 = expect.stringMatching(/^[0-9a-f]{32}$/) as unknown;
  for (const [path, place, names] of [
    [recipePath(), `${filesPath()}/export`, ['conanfile.py', 'conanmanifest.txt']],
    [binaryPath(), `${filesPath()}/package/${BINARY}/0`, ['conan_package.tgz', 'conaninfo.txt', 'conanmanifest.txt']],
  ] as const) {
    const addresses = (body: Record<string, string>): unknown =>
      Object.fromEntries(Object.entries(body).map(([name, url]) => [name, pathOf(url)]));
    expect((await get(path).expect(200)).body).toEqual(Object.fromEntries(names.map((name) => [name, md5])));
    expect(addresses((await get(`${path}/download_urls`).expect(200)).body)).toEqual(
      Object.fromEntries(names.map((name) => [name, `${place}/${name}`])),
    );
    expect(addresses((await get(`${path}/digest`).expect(200)).body)).toEqual({
      'conanmanifest.txt': `${place}/conanmanifest.txt`,
    });
  }
  const down = await app
    .as(developer)
    .get(`${filesPath()}/package/${BINARY}/0/conan_package.tgz`)
    .buffer(true)
    .expect(200);
  expect([(down.body as Buffer).toString(), down.headers['accept-ranges']]).toEqual(['archive', 'bytes']);
  const head = await app.as(developer).head(`${filesPath()}/export/conanfile.py`).expect(200);
  expect(head.headers['content-length']).toBe('6');
  expect((await get(`${recipePath()}/search`).expect(200)).body).toMatchObject({
    [BINARY]: { settings: { os: 'Linux' } },
  });
});

it('replaces files at any time, because nothing names their revision by a digest', async () => {
  await uploadedV1(app, developer, filesPath());
  await put(app, developer, `${filesPath()}/export/conanfile.py`, 'changed').expect(200);
  const down = await app.as(developer).get(`${filesPath()}/export/conanfile.py`).buffer(true).expect(200);
  expect((down.body as Buffer).toString()).toBe('changed');
  expect(Object.keys((await get(recipePath())).body)).toEqual(['conanfile.py', 'conanmanifest.txt']);
});

it('deletes binary packages by id, all of them, and recipes', async () => {
  const delete_ = (body: unknown, viewer = maintainer) => post(`${recipePath()}/packages/delete`, body, viewer);
  await uploadedV1(app, developer, filesPath());
  await delete_({ package_ids: ['none'] }).expect(404, NONE);
  await delete_({ package_ids: [BINARY, 'none'] }).expect(200);
  await get(binaryPath()).expect(404, NONE);
  await uploadedV1(app, developer, filesPath());
  await delete_({ package_ids: [] }).expect(200);
  expect((await get(`${recipePath()}/search`).expect(200)).body).toEqual({});
  expect(statusAndBody(await delete_({}, developer))).toEqual([403, errorsBody(403, '403 Forbidden')]);
  expect(statusAndBody(await app.as(developer).delete(recipePath()))).toEqual([403, errorsBody(403, '403 Forbidden')]);
  await app.as(maintainer).delete(recipePath()).expect(200);
  await app.as(maintainer).delete(recipePath()).expect(404, NONE);
  for (const path of [
    recipePath(),
    `${recipePath()}/digest`,
    `${recipePath()}/download_urls`,
    `${recipePath()}/search`,
    binaryPath(),
  ])
    expect(statusAndBody(await get(path))).toEqual([404, NONE]);
});

it.each<[string, unknown, string]>([
  ['a name that no recipe has', { 'conaninfo.txt': 1 }, 'File name is invalid'],
  ['a path', { '../conanfile.py': 1 }, 'File name is invalid'],
  ['a size that is no number', { 'conanfile.py': 'x' }, 'Sizes of files are invalid'],
  ['a negative size', { 'conanfile.py': -1 }, 'Sizes of files are invalid'],
  ['a list', ['conanfile.py'], 'Sizes of files are invalid'],
  ['nothing', null, 'Sizes of files are invalid'],
])('refuses to announce %s', async (_, body, reason) => {
  expect(statusAndBody(await post(`${recipePath()}/upload_urls`, body))).toEqual([
    400,
    errorsBody(400, `Validation failed: ${reason}`),
  ]);
});

it('refuses announced files as it would refuse their upload', async () => {
  const announce = (viewer = developer, reference?: string) =>
    post(`${recipePath(reference)}/upload_urls`, { 'conanfile.py': 5 }, viewer);
  expect(statusAndBody(await announce(await memberOf(seed, project, 'reporter')))).toEqual([
    403,
    errorsBody(403, '403 Forbidden'),
  ]);
  expect(statusAndBody(await announce(seed.anonymous()))).toEqual([401, errorsBody(401, '401 Unauthorized')]);
  expect(statusAndBody(await announce(developer, 'hello/1.0/_/stable'))).toEqual([
    400,
    errorsBody(400, "Validation failed: Package username can't be solely blank"),
  ]);
  const instance = app.get(InstanceSettings);
  instance.applyAnswer({
    version: 1,
    features: {},
    settings: {},
    plan_limits: { default: { conan_max_file_size: 4 } },
  } as never);
  const large = await announce();
  instance.applyAnswer({ version: 2, features: {}, settings: {} } as never);
  expect(statusAndBody(large)).toEqual([400, errorsBody(400, '400 Bad request - File is too large')]);
  const rule = { package_name_pattern: 'hello', package_type: 'conan', minimum_access_level_for_push: 'maintainer' };
  await app.as(maintainer).post(`/api/v4/projects/${project.id}/packages/protection/rules`).send(rule).expect(201);
  const guarded = [403, errorsBody(403, '403 Forbidden - Package protected.')];
  expect(statusAndBody(await announce())).toEqual(guarded);
  expect(statusAndBody(await put(app, developer, `${filesPath()}/export/conanfile.py`, 'x'))).toEqual(guarded);
});

it('refuses other revisions and names of files', async () => {
  for (const [path, field] of [
    [`${registry}/v1/files/hello/1.0/me/stable/${'a'.repeat(32)}/export/conanfile.py`, 'recipe_revision'],
    [`${filesPath()}/export/conaninfo.txt`, 'file_name'],
    [`${filesPath()}/package/${BINARY}/1/conaninfo.txt`, 'package_revision'],
    [`${filesPath()}/package/a-b/0/conaninfo.txt`, 'conan_package_reference'],
  ] as const) {
    expect(statusAndBody(await put(app, developer, path, 'x'))).toEqual([400, errorsBody(400, `${field} is invalid`)]);
    expect(statusAndBody(await get(path))).toEqual([400, errorsBody(400, `${field} is invalid`)]);
  }
});

it('has the same routes in the instance, where the user is the path of the project', async () => {
  const reference = `hello/1.0/${group.path}+${project.path}/stable`;
  const of = `${INSTANCE}/v1/conans/${reference}`;
  const { body } = await post(`${of}/upload_urls`, { 'conanfile.py': 6 }).expect(200);
  expect(pathOf(body['conanfile.py'])).toBe(
    `${filesPath(reference.replace('+', '%2B'), INSTANCE)}/export/conanfile.py`,
  );
  await uploadedV1(app, developer, filesPath(reference, INSTANCE));
  await get(`${of}/packages/${BINARY}/digest`).expect(200);
  const search = async (viewer: Viewer): Promise<unknown> =>
    (await get(`${INSTANCE}/v1/conans/search?q=hello`, viewer).expect(200)).body.results;
  expect(await search(developer)).toEqual([`hello/1.0@${group.path}+${project.path}/stable`]);
  expect(await search(seed.viewer(await seed.user()))).toEqual([]);
  expect(statusAndBody(await get(of, seed.viewer(await seed.user())))).toEqual([
    404,
    errorsBody(404, '404 Project Not Found'),
  ]);
  expect(statusAndBody(await get(of, seed.anonymous()))).toEqual([401, errorsBody(401, '401 Unauthorized')]);
});

it('has nothing of another project', async () => {
  await uploadedV1(app, developer, filesPath());
  const other = `${conanOf(await seed.project({ visibility: 'public' }))}/v1/conans/hello/1.0/me/stable`;
  for (const path of [other, `${other}/digest`, `${other}/search`, `${other}/packages/${BINARY}`])
    expect(statusAndBody(await get(path))).toEqual([404, NONE]);
  const encoded = encodeURIComponent(`${group.path}/${project.path}`);
  await get(`/api/v4/projects/${encoded}/packages/conan/v1/conans/hello/1.0/me/stable`).expect(200);
});
