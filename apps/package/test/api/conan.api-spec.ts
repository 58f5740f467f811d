import { FairSemaphore } from '@rookery/api-v4';
import type { DirectoryNamespace, DirectoryProject } from '@rookery/contracts';
import { InstanceSettings } from '@rookery/instance';
import type { Viewer } from '@rookery/kernel';
import type { DirectorySeed, TestApp } from '@rookery/testing';
import type { Response } from 'supertest';
import { startPackage } from '../support/app';
import type { PackageService } from '../support/app';
import {
  BINARY,
  BINARY_REVISION,
  binaryOf,
  binaryRevisionOf,
  conanOf,
  INFO_TEXT,
  INSTANCE,
  put,
  RECIPE_REVISION,
  recipeV2,
  revisionOf,
  uploadedFiles,
  uploadedRecipe,
} from '../support/conan';
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
  developer = { ...(await memberOf(seed, project, 'developer')), tokenId: 71 };
  const owner = await seed.user();
  await seed.member(owner, group, 'maintainer');
  maintainer = seed.viewer(owner);
  registry = conanOf(project);
});
afterAll(() => service.close());

const CHALLENGE = 'Basic realm="GitLab Packages Registry"';
const errorsBody = (status: number, message: string): object => ({ errors: [{ status, message }] });
const NONE = errorsBody(404, '404 Not found');
const statusAndBody = ({ status, body }: Response): unknown[] => [status, body];
const get = (path: string, viewer = developer) => app.as(viewer).get(path);
const getBytes = (path: string, viewer = developer) => app.as(viewer).get(path).buffer(true);
const remove = (path: string, viewer = maintainer) => app.as(viewer).delete(path);
const recipePath = (reference?: string): string => recipeV2(registry, reference);
const revisionPath = (rev?: string, reference?: string): string => revisionOf(recipePath(reference), rev);
const binaryPath = (): string => binaryOf(revisionPath());
const binaryRevisionPath = (): string => binaryRevisionOf(binaryPath());
const listPackages = async (): Promise<{ id: number; [name: string]: unknown }[]> =>
  (await get(`/api/v4/projects/${project.id}/packages`).expect(200)).body;
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+0000$/) as unknown;

describe('the session', () => {
  it('begins with a ping, which names revisions', async () => {
    for (const path of [registry, INSTANCE]) {
      const { headers, text } = await get(`${path}/v1/ping`).expect(200);
      expect([headers['x-conan-server-capabilities'], text]).toEqual(['revisions', '']);
    }
    await get(`${INSTANCE}/v1/ping`, seed.anonymous()).expect(200);
  });

  it('gives the token of the request for a credential, and checks it', async () => {
    for (const path of [registry, INSTANCE]) {
      const given = await get(`${path}/v2/users/authenticate`, { ...developer, clientToken: 'conan-1' }).expect(200);
      expect([given.text, given.headers['content-type']]).toEqual(['conan-1', 'text/plain']);
      expect(given.headers['cache-control']).toContain('no-cache');
      expect((await get(`${path}/v2/users/check_credentials`).expect(200)).text).toBe('ok');
    }
  });

  it('asks anonymous callers for a credential, in the form that Conan reads', async () => {
    for (const path of [
      ...[`${registry}/v1/ping`, `${registry}/v2/users/authenticate`, `${registry}/v2/users/check_credentials`],
      ...[`${INSTANCE}/v2/users/authenticate`, `${INSTANCE}/v2/users/check_credentials`],
      ...[`${registry}/v2/conans/search`, `${recipePath()}/latest`, `${revisionPath()}/files/conanfile.py`],
      `${recipeV2(INSTANCE)}/latest`,
    ]) {
      const refused = await get(path, seed.anonymous());
      expect([path, ...statusAndBody(refused)]).toEqual([path, 401, errorsBody(401, '401 Unauthorized')]);
      expect([refused.headers['www-authenticate'], refused.headers['content-type']]).toEqual([
        CHALLENGE,
        'application/json',
      ]);
    }
  });

  it('hides projects from outsiders, and is closed to guests of private projects', async () => {
    const outsider = seed.viewer(await seed.user());
    const guest = await memberOf(seed, project, 'guest');
    for (const path of [`${registry}/v1/ping`, `${recipePath()}/latest`, `${registry}/v2/conans/search`]) {
      expect(statusAndBody(await get(path, outsider))).toEqual([404, errorsBody(404, '404 Project Not Found')]);
      expect(statusAndBody(await get(path, guest))).toEqual([403, errorsBody(403, '403 Forbidden')]);
    }
  });
});

describe('an upload', () => {
  it('is complete with its manifest, and then listed everywhere', async () => {
    await get(`${revisionPath()}/files`).expect(404, NONE);
    await uploadedFiles(app, developer, revisionPath(), { 'conanfile.py': 'recipe', 'conan_export.tgz': 'export' });
    for (const path of [
      `${revisionPath()}/files`,
      `${recipePath()}/latest`,
      `${recipePath()}/revisions`,
      `${recipePath()}/search`,
    ])
      await get(path).expect(404, NONE);
    await get(`${revisionPath()}/files/conanfile.py`).expect(404, NONE);
    expect((await get(`${registry}/v2/conans/search`)).body).toEqual({ results: [] });
    await uploadedFiles(app, developer, revisionPath(), { 'conanmanifest.txt': 'manifest' });
    expect((await get(`${revisionPath()}/files`).expect(200)).body).toEqual({
      files: { 'conan_export.tgz': {}, 'conanfile.py': {}, 'conanmanifest.txt': {} },
    });
    const latest = { revision: RECIPE_REVISION, time: TIME };
    expect((await get(`${recipePath()}/latest`).expect(200)).body).toEqual(latest);
    expect((await get(`${recipePath()}/revisions`).expect(200)).body).toEqual({ revisions: [latest] });
    expect((await get(`${registry}/v2/conans/search`)).body).toEqual({ results: ['hello/1.0@me/stable'] });
    expect((await get(`${recipePath()}/search`).expect(200)).body).toEqual({});
    expect((await get(`${revisionPath()}/search`).expect(200)).body).toEqual({});
    const [found] = await listPackages();
    expect(found).toMatchObject({
      ...{ name: 'hello/1.0@me/stable', conan_package_name: 'hello', version: '1.0', package_type: 'conan' },
      creator_id: developer.userId,
    });
    const files = await get(`/api/v4/projects/${project.id}/packages/${found!.id}/package_files`).expect(200);
    expect(files.body).toMatchObject([
      { file_name: 'conanfile.py', size: 6 },
      { file_name: 'conan_export.tgz' },
      { file_name: 'conanmanifest.txt' },
    ]);
  });

  it('adds binary packages, whose descriptions are shown in parts', async () => {
    await uploadedRecipe(app, developer, registry);
    const latest = { revision: BINARY_REVISION, time: TIME };
    expect((await get(`${binaryPath()}/latest`).expect(200)).body).toEqual(latest);
    expect((await get(`${binaryPath()}/revisions`).expect(200)).body).toEqual({ revisions: [latest] });
    expect((await get(`${binaryRevisionPath()}/files`).expect(200)).body).toEqual({
      files: { 'conan_package.tgz': {}, 'conaninfo.txt': {}, 'conanmanifest.txt': {} },
    });
    const described = {
      content: INFO_TEXT,
      settings: { os: 'Linux', arch: 'x86_64' },
      options: { shared: 'False' },
      requires: ['zlib/1.3'],
      full_requires: ['zlib/1.3:99'],
      recipe_hash: '77',
    };
    for (const path of [`${recipePath()}/search`, `${revisionPath()}/search`]) {
      expect((await get(path).expect(200)).body).toEqual({ [BINARY]: described });
      expect((await get(`${path}?list_only=True`).expect(200)).body).toEqual({ [BINARY]: {} });
    }
  });

  it('is downloaded with ranges, digests and conditions', async () => {
    await uploadedRecipe(app, developer, registry);
    const path = `${binaryRevisionPath()}/files/conan_package.tgz`;
    const down = await getBytes(path).expect(200);
    expect([(down.body as Buffer).toString(), down.headers['accept-ranges']]).toEqual(['archive', 'bytes']);
    expect(((await getBytes(path).set('range', 'bytes=2-').expect(206)).body as Buffer).toString()).toBe('chive');
    await getBytes(path).set('if-none-match', down.headers['etag']!).expect(304);
    const head = await app.as(developer).head(path).expect(200);
    expect(head.headers['content-length']).toBe('7');
    expect((await getBytes(`${revisionPath()}/files/conanfile.py`).expect(200)).body.toString()).toBe('recipe');
  });

  it('replaces files until the revision is complete, and takes equal ones again', async () => {
    await put(app, developer, `${revisionPath()}/files/conanfile.py`, 'first').expect(200);
    await put(app, developer, `${revisionPath()}/files/conanfile.py`, 'second').expect(200);
    await put(app, developer, `${revisionPath()}/files/conanmanifest.txt`, 'manifest').expect(200);
    await put(app, developer, `${revisionPath()}/files/conanfile.py`, 'second').expect(200);
    const changed = errorsBody(409, 'conanfile.py of a complete revision cannot be changed');
    expect(statusAndBody(await put(app, developer, `${revisionPath()}/files/conanfile.py`, 'third'))).toEqual([
      409,
      changed,
    ]);
    const plain = await app.as(developer).put(`${revisionPath()}/files/conanfile.py`).send(Buffer.from('third'));
    expect(statusAndBody(plain)).toEqual([409, changed]);
    expect((await getBytes(`${revisionPath()}/files/conanfile.py`)).body.toString()).toBe('second');
    await put(app, developer, `${revisionPath()}/files/conan_sources.tgz`, 'sources').expect(200);
    const [found] = await listPackages();
    const files = await get(`/api/v4/projects/${project.id}/packages/${found!.id}/package_files`);
    expect(files.body).toHaveLength(3);
  });

  it('keeps revisions apart, the newest upload first', async () => {
    const second = 'c'.repeat(40);
    await uploadedRecipe(app, developer, registry, { revision: second });
    await uploadedRecipe(app, developer, registry);
    expect((await get(`${recipePath()}/revisions`)).body.revisions).toMatchObject([
      { revision: RECIPE_REVISION },
      { revision: second },
    ]);
    expect((await get(`${recipePath()}/latest`)).body).toMatchObject({ revision: RECIPE_REVISION });
    expect((await getBytes(`${revisionPath(second)}/files/conanmanifest.txt`)).body.toString()).toBe(
      `manifest ${second}`,
    );
    expect(await listPackages()).toHaveLength(1);
  });

  it('compares the digest that the client names, and answers no question about digests', async () => {
    const path = `${revisionPath()}/files/conanfile.py`;
    const wrong = await app.as(developer).put(path).set('x-checksum-sha1', 'f'.repeat(40)).send(Buffer.from('x'));
    expect(statusAndBody(wrong)).toEqual([
      400,
      errorsBody(400, 'Validation failed: The digest does not match the uploaded file'),
    ]);
    const malformed = await app.as(developer).put(path).set('x-checksum-sha1', 'f').send(Buffer.from('x'));
    expect(statusAndBody(malformed)).toEqual([400, errorsBody(400, 'x_checksum_sha1 is invalid')]);
    const asked = await put(app, developer, path, '').set('x-checksum-deploy', 'true');
    expect(statusAndBody(asked)).toEqual([404, NONE]);
    expect(await listPackages()).toEqual([]);
  });

  it('stores an empty body only where a file may be empty', async () => {
    await app.as(developer).put(`${revisionPath()}/files/conanfile.py`).send(Buffer.alloc(0)).expect(200);
    expect(await listPackages()).toEqual([]);
    await put(app, developer, `${revisionPath()}/files/conanfile.py`, '').expect(200);
    expect(await listPackages()).toHaveLength(1);
    await uploadedFiles(app, developer, revisionPath(), { 'conanmanifest.txt': 'manifest' });
    await app.as(developer).put(`${binaryRevisionPath()}/files/conaninfo.txt`).send(Buffer.alloc(0)).expect(200);
    await uploadedFiles(app, developer, binaryRevisionPath(), { 'conanmanifest.txt': 'manifest' });
    expect((await get(`${recipePath()}/search`)).body).toEqual({
      [BINARY]: { content: '', settings: {}, options: {}, requires: [], full_requires: [], recipe_hash: null },
    });
  });

  it.each([
    ['bytes that are no text', Buffer.from([0xff, 0xfe, 0x00])],
    ['text with a zero byte', Buffer.from('[settings]\0')],
  ])('refuses a description of %s', async (_, content) => {
    const refused = await app.as(developer).put(`${binaryRevisionPath()}/files/conaninfo.txt`).send(content);
    expect(statusAndBody(refused)).toEqual([400, errorsBody(400, 'Validation failed: conaninfo.txt is no text')]);
  });

  it('bounds descriptions', async () => {
    const describe = async (text: string): Promise<unknown[]> =>
      statusAndBody(await app.as(developer).put(`${binaryRevisionPath()}/files/conaninfo.txt`).send(Buffer.from(text)));
    expect(await describe('a'.repeat(64 * 1024 + 1))).toEqual([
      ...[400, errorsBody(400, '400 Bad request - File is too large')],
    ]);
    const tooManyLines = [400, errorsBody(400, 'Validation failed: conaninfo.txt has more than 1000 lines')];
    expect(await describe('a=\n'.repeat(1001))).toEqual(tooManyLines);
    expect(await describe('a=\r\n'.repeat(1000) + 'b')).toEqual(tooManyLines);
    expect(await listPackages()).toEqual([]);
    expect((await describe('a=\n'.repeat(1000)))[0]).toBe(200);
    expect((await describe('a'.repeat(64 * 1024)))[0]).toBe(200);
  });

  it.each([
    ['h/1.0/me/stable', 'package_name'],
    [`${'h'.repeat(51)}/1.0/me/stable`, 'package_name'],
    ['.hello/1.0/me/stable', 'package_name'],
    ['hel%2flo/1.0/me/stable', 'package_name'],
    ['hel%00lo/1.0/me/stable', 'package_name'],
    ['hello/1%0a/me/stable', 'package_version'],
    ['hello/1.0/m%20e/stable', 'package_username'],
    ['hello/1.0/me/..', 'package_channel'],
    ['hello/1.0/me/sta%40ble', 'package_channel'],
  ])('refuses the recipe %s', async (reference, field) => {
    const path = `${revisionPath(RECIPE_REVISION, reference)}/files/conanfile.py`;
    const { status, body } = await put(app, developer, path, 'recipe');
    // Dots alone never reach a route.
    if (status === 404) return expect(reference).toContain('..');
    expect([status, body.errors[0].message]).toEqual([
      400,
      expect.stringMatching(new RegExp(`^${field} is (invalid|too long)`)),
    ]);
  });

  it.each([
    ['_/stable', 'username'],
    ['me/_', 'channel'],
  ])('refuses the user and channel %s', async (place, field) => {
    const path = `${revisionPath(RECIPE_REVISION, `hello/1.0/${place}`)}/files/conanfile.py`;
    const refused = await put(app, developer, path, 'recipe');
    expect(statusAndBody(refused)).toEqual([
      400,
      errorsBody(400, `Validation failed: Package ${field} can't be solely blank`),
    ]);
  });

  it('refuses other files, revisions and ids of packages', async () => {
    for (const [path, field] of [
      [`${revisionPath()}/files/conaninfo.txt`, 'file_name'],
      [`${revisionPath()}/files/conanfileXpy`, 'file_name'],
      [`${revisionPath()}/files/metadata/logs/build.log`, 'file_name'],
      [`${binaryRevisionPath()}/files/conanfile.py`, 'file_name'],
      [`${revisionPath('0')}/files/conanfile.py`, 'recipe_revision'],
      [`${revisionPath('A'.repeat(32))}/files/conanfile.py`, 'recipe_revision'],
      [`${binaryRevisionOf(binaryOf(revisionPath(), 'a-b'))}/files/conaninfo.txt`, 'conan_package_reference'],
      [`${binaryRevisionOf(binaryPath(), 'x')}/files/conaninfo.txt`, 'package_revision'],
    ] as const)
      expect([path, ...statusAndBody(await put(app, developer, path, 'x'))]).toEqual([
        ...[path, 400, errorsBody(400, `${field} is invalid`)],
      ]);
  });

  it('is for developers, and refused in protected names, above limits and in full storage', async () => {
    const path = `${revisionPath()}/files/conanfile.py`;
    const reporter = await memberOf(seed, project, 'reporter');
    expect(statusAndBody(await put(app, reporter, path, 'x'))).toEqual([403, errorsBody(403, '403 Forbidden')]);
    expect(statusAndBody(await put(app, seed.anonymous(), path, 'x'))).toEqual([
      401,
      errorsBody(401, '401 Unauthorized'),
    ]);
    const rule = { package_name_pattern: 'hel*', package_type: 'conan', minimum_access_level_for_push: 'maintainer' };
    await uploadedRecipe(app, developer, registry);
    await app.as(maintainer).post(`/api/v4/projects/${project.id}/packages/protection/rules`).send(rule).expect(201);
    const guarded = [403, errorsBody(403, '403 Forbidden - Package protected.')];
    for (const one of [path, `${binaryRevisionPath()}/files/conan_package.tgz`, path.replace('/1.0/', '/2.0/')])
      expect(statusAndBody(await put(app, developer, one, 'x'))).toEqual(guarded);
    const instance = app.get(InstanceSettings);
    const limit = (version: number, limits: object) =>
      instance.applyAnswer({ version, features: {}, settings: {}, plan_limits: { default: limits } } as never);
    limit(1, { conan_max_file_size: 3 });
    const large = await put(app, maintainer, path, 'large');
    limit(2, { project_packages_size_limit: 3 });
    const full = await put(app, maintainer, path.replace('/1.0/', '/3.0/'), 'x');
    instance.applyAnswer({ version: 3, features: {}, settings: {} });
    expect([statusAndBody(large), statusAndBody(full)]).toEqual([
      [400, errorsBody(400, '400 Bad request - File is too large')],
      [403, errorsBody(403, '403 Forbidden - Package storage of the project is full.')],
    ]);
  });

  it('is one revision for uploads at the same time', async () => {
    const path = `${revisionPath()}/files`;
    const answers = await Promise.all(
      ['a', 'b', 'c', 'd'].map((content) => put(app, developer, `${path}/conanfile.py`, content)),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    await uploadedFiles(app, developer, revisionPath(), { 'conanmanifest.txt': 'manifest' });
    const [found] = await listPackages();
    const files = await get(`/api/v4/projects/${project.id}/packages/${found!.id}/package_files`);
    expect(files.body).toHaveLength(2);
  });
});

describe('a search', () => {
  it('finds recipes by patterns', async () => {
    for (const reference of ['hello/1.0/me/stable', 'hello/2.0/_/_', 'Help/1.0/me/testing', 'zlib/1.3/_/_'])
      await uploadedRecipe(app, developer, registry, { reference });
    const search = async (query: string): Promise<unknown> =>
      (await get(`${registry}/v2/conans/search${query}`).expect(200)).body.results;
    const all = ['Help/1.0@me/testing', 'hello/1.0@me/stable', 'hello/2.0', 'zlib/1.3'];
    expect(((await search('')) as string[]).sort()).toEqual(all);
    expect(((await search('?q=*')) as string[]).sort()).toEqual(all);
    expect(((await search('?q=hel*')) as string[]).sort()).toEqual(all.slice(0, 3));
    expect(await search('?q=hel*&ignorecase=False')).toEqual(['hello/1.0@me/stable', 'hello/2.0']);
    expect(await search('?q=hello')).toEqual(['hello/1.0@me/stable', 'hello/2.0']);
    expect(await search('?q=hello/2.?')).toEqual(['hello/2.0']);
    expect(await search('?q=*@me/*&ignorecase=0')).toEqual(
      expect.arrayContaining(['Help/1.0@me/testing', 'hello/1.0@me/stable']),
    );
    expect(await search('?q=hello/1.0@me')).toEqual(['hello/1.0@me/stable']);
    for (const none of ['?q=hell', '?q=h%25', '?q=hello_1.0', '?q=%5C'])
      expect([none, await search(none)]).toEqual([none, []]);
    const stranger = await seed.project({ visibility: 'public' });
    expect((await get(`${conanOf(stranger)}/v2/conans/search`).expect(200)).body).toEqual({ results: [] });
  });

  it('shows descriptions up to 1 MiB together, and reads none for the ids alone', async () => {
    await uploadedRecipe(app, developer, registry);
    const line = `${'s'.repeat(1022)}=\n`;
    await service.database.query(
      `with made as (
         insert into conan_revisions (package_id, project_id, recipe_revision, binary_reference, binary_revision, info)
         select r.package_id, r.project_id, r.recipe_revision, 'z' || lpad(g::text, 2, '0'), r.binary_revision,
           '[settings]' || chr(10) || repeat($2, 63)
         from conan_revisions r, generate_series(1, 20) g where r.project_id = $1 and r.binary_reference = $3
         returning id, package_id, project_id),
       files as (
         insert into package_files (package_id, project_id, file_name, size, sha256, sha1, md5)
         select package_id, project_id, 'conanmanifest.txt', 1, '', id::text, '' from made returning id, sha1)
       insert into conan_files (file_id, revision_id) select id, sha1::bigint from files`,
      [project.id, line, BINARY],
    );
    const ids = [BINARY, ...Array.from({ length: 20 }, (_, index) => `z${String(index + 1).padStart(2, '0')}`)];
    for (const path of [`${recipePath()}/search`, `${revisionPath()}/search`]) {
      const { body } = await get(path).expect(200);
      expect(Object.keys(body)).toEqual(ids);
      const described = ids.filter((id) => body[id].content !== '');
      expect(described).toEqual(ids.slice(0, 17));
      expect(body.z17).toEqual({
        ...{ content: '', settings: {}, options: {}, requires: [], full_requires: [], recipe_hash: null },
      });
      const parsed = jest.spyOn(service.database, 'run');
      expect((await get(`${path}?list_only=1`).expect(200)).body).toEqual(
        Object.fromEntries(ids.map((id) => [id, {}])),
      );
      const read = await Promise.all(parsed.mock.results.map(({ value }) => value as Promise<unknown>));
      parsed.mockRestore();
      expect(JSON.stringify(read)).not.toContain('ssss');
    }
  });

  it('does not find another project, and a revision has no files of one', async () => {
    await uploadedRecipe(app, developer, registry);
    const other = recipeV2(conanOf(await seed.project({ visibility: 'public' })));
    for (const path of [`${other}/latest`, `${other}/revisions`, `${other}/search`, `${revisionOf(other)}/files`])
      expect(statusAndBody(await get(path))).toEqual([404, NONE]);
    const encoded = encodeURIComponent(`${group.path}/${project.path}`);
    await get(`${recipeV2(`/api/v4/projects/${encoded}/packages/conan`)}/latest`).expect(200);
    for (const path of [
      ...[`${binaryOf(revisionPath(), 'none')}/latest`, `${binaryOf(revisionPath(), 'none')}/revisions`],
      ...[`${binaryRevisionOf(binaryPath(), 'd'.repeat(32))}/files`, `${revisionPath('d'.repeat(32))}/search`],
      `${revisionPath()}/files/conan_sources.tgz`,
    ])
      expect(statusAndBody(await get(path))).toEqual([404, NONE]);
  });
});

describe('a search of recipes', () => {
  it.each(['', '?q=', '?q=hel*', '?ignorecase=False'])('waits for a place among costly requests: %s', async (query) => {
    const places = jest.spyOn(FairSemaphore.prototype, 'run');
    try {
      for (const path of [registry, INSTANCE])
        for (const protocol of ['v1', 'v2']) {
          places.mockClear();
          await get(`${path}/v1/ping`).expect(200);
          expect(places).not.toHaveBeenCalled();
          await get(`${path}/${protocol}/conans/search${query}`).expect(200);
          expect(places).toHaveBeenCalledTimes(1);
        }
    } finally {
      places.mockRestore();
    }
  });
});

describe('a deletion', () => {
  it('removes a recipe with everything in it', async () => {
    await uploadedRecipe(app, developer, registry);
    const { text } = await remove(recipePath()).expect(200);
    expect(text).toBe('');
    await get(`${recipePath()}/latest`).expect(404, NONE);
    expect(await listPackages()).toEqual([]);
    await remove(recipePath()).expect(404, NONE);
    await uploadedRecipe(app, developer, registry);
    await get(`${binaryPath()}/latest`).expect(200);
  });

  it('removes a revision, and the package with the last one', async () => {
    const second = 'c'.repeat(32);
    await uploadedRecipe(app, developer, registry);
    await uploadedRecipe(app, developer, registry, { revision: second });
    await remove(revisionPath()).expect(200);
    await remove(revisionPath()).expect(404, NONE);
    await get(`${binaryPath()}/latest`).expect(404, NONE);
    expect((await get(`${recipePath()}/latest`)).body).toMatchObject({ revision: second });
    await remove(revisionPath(second)).expect(200);
    expect(await listPackages()).toEqual([]);
    const left = await service.database.query(`select 1 from conan_revisions where project_id = ${project.id}`);
    expect(left).toEqual([]);
  });

  it('removes binary packages: a revision, one with all revisions, or all', async () => {
    await uploadedRecipe(app, developer, registry);
    await remove(binaryRevisionPath()).expect(200);
    await remove(binaryRevisionPath()).expect(404, NONE);
    await get(`${binaryPath()}/latest`).expect(404, NONE);
    await get(`${recipePath()}/latest`).expect(200);
    await uploadedRecipe(app, developer, registry);
    await remove(binaryPath()).expect(200);
    await remove(binaryPath()).expect(404, NONE);
    await uploadedRecipe(app, developer, registry);
    await remove(`${revisionPath()}/packages`).expect(200);
    await remove(`${revisionPath()}/packages`).expect(200);
    await remove(`${revisionPath('e'.repeat(32))}/packages`).expect(404, NONE);
    expect((await get(`${recipePath()}/search`).expect(200)).body).toEqual({});
  });

  it('by the packages API hides a revision with its manifest, and all with the package', async () => {
    await uploadedRecipe(app, developer, registry);
    const [found] = await listPackages();
    const path = `/api/v4/projects/${project.id}/packages/${found!.id}`;
    const files: { id: number; file_name: string }[] = (await get(`${path}/package_files`)).body;
    const manifest = files.find(({ file_name }) => file_name === 'conanmanifest.txt')!;
    await remove(`${path}/package_files/${manifest.id}`).expect(204);
    await get(`${recipePath()}/latest`).expect(404, NONE);
    await put(app, developer, `${revisionPath()}/files/conanfile.py`, 'changed').expect(200);
    await put(app, developer, `${revisionPath()}/files/conanmanifest.txt`, 'new').expect(200);
    await get(`${recipePath()}/latest`).expect(200);
    await remove(path).expect(204);
    await get(`${recipePath()}/latest`).expect(404, NONE);
  });

  it('is for maintainers, and refused in protected names', async () => {
    await uploadedRecipe(app, developer, registry);
    for (const path of [
      recipePath(),
      revisionPath(),
      `${revisionPath()}/packages`,
      binaryPath(),
      binaryRevisionPath(),
    ]) {
      expect(statusAndBody(await remove(path, developer))).toEqual([403, errorsBody(403, '403 Forbidden')]);
      expect(statusAndBody(await remove(path, seed.anonymous()))).toEqual([401, errorsBody(401, '401 Unauthorized')]);
    }
    const gates = { boolean: true, actors: [], groups: [], percentage_of_time: 0, percentage_of_actors: 0 };
    const features = { packages_protected_packages_delete: gates };
    app.get(InstanceSettings).applyAnswer({ version: 10, features, settings: {} } as never);
    const rule = { package_name_pattern: 'hello', package_type: 'conan', minimum_access_level_for_delete: 'owner' };
    await app.as(maintainer).post(`/api/v4/projects/${project.id}/packages/protection/rules`).send(rule).expect(201);
    for (const path of [recipePath(), revisionPath(), binaryPath()])
      expect(statusAndBody(await remove(path))).toEqual([
        403,
        errorsBody(403, '403 Forbidden - Package is deletion protected.'),
      ]);
    app.get(InstanceSettings).applyAnswer({ version: 11, features: {}, settings: {} } as never);
  });
});

describe('the registry of the instance', () => {
  const reference = (): string => `hello/1.0/${group.path}+${project.path}/stable`;

  it('serves recipes whose user is the path of their project', async () => {
    await uploadedRecipe(app, developer, INSTANCE, { reference: reference() });
    await uploadedRecipe(app, developer, registry);
    const path = recipeV2(INSTANCE, reference());
    expect((await get(`${path}/latest`).expect(200)).body).toMatchObject({ revision: RECIPE_REVISION });
    await get(`${path.replace('+', '%2B')}/latest`).expect(200);
    expect((await get(`${path}/search`).expect(200)).body).toHaveProperty(BINARY);
    expect((await getBytes(`${revisionOf(path)}/files/conanfile.py`).expect(200)).body.toString()).toBe('recipe');
    await get(`${recipePath(reference())}/latest`).expect(200);
    const search = async (viewer: Viewer): Promise<string[]> =>
      (await get(`${INSTANCE}/v2/conans/search?q=hello*`, viewer).expect(200)).body.results;
    const shown = `hello/1.0@${group.path}+${project.path}/stable`;
    expect(await search(developer)).toEqual([shown]);
    expect(await search(seed.viewer(await seed.user()))).toEqual([]);
    expect(await search(seed.anonymous())).toEqual([]);
    await remove(path).expect(200);
    expect(await search(developer)).toEqual([]);
    expect(await listPackages()).toHaveLength(1);
  });

  it('has no other recipes, and hides projects', async () => {
    await uploadedRecipe(app, developer, registry);
    await uploadedRecipe(app, developer, registry, { reference: 'hello/2.0/_/_' });
    const hidden = [404, errorsBody(404, '404 Project Not Found')];
    for (const other of [
      'hello/1.0/me/stable',
      'hello/2.0/_/_',
      `hello/1.0/${project.id}/stable`,
      'hello/1.0/no+such/stable',
    ])
      expect(statusAndBody(await get(`${recipeV2(INSTANCE, other)}/latest`))).toEqual(hidden);
    const outsider = seed.viewer(await seed.user());
    const path = recipeV2(INSTANCE, reference());
    for (const request of [
      get(`${path}/latest`, outsider),
      put(app, outsider, `${revisionOf(path)}/files/conanfile.py`, 'x'),
      remove(path, outsider),
    ])
      expect(statusAndBody(await request)).toEqual(hidden);
    expect(statusAndBody(await get(`${path}/latest`))).toEqual([404, NONE]);
    expect(
      statusAndBody(
        await put(app, await memberOf(seed, project, 'reporter'), `${revisionOf(path)}/files/conanfile.py`, 'x'),
      ),
    ).toEqual([403, errorsBody(403, '403 Forbidden')]);
  });
});
