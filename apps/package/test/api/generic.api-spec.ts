import { createHash } from 'node:crypto';
import type { EventEmitter } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import type { ClientRequest } from 'node:http';
import { join } from 'node:path';
import type { DirectoryProject } from '@rookery/contracts';
import { InstanceSettings } from '@rookery/instance';
import { VISIBILITIES } from '@rookery/kernel';
import type { Role, Viewer, Visibility } from '@rookery/kernel';
import type { DirectorySeed, TestApp } from '@rookery/testing';
import { startPackage } from '../support/app';
import type { PackageService } from '../support/app';
import { genericPath, uploaded } from '../support/packages';

let service: PackageService;
let seed: DirectorySeed;
let app: TestApp;
let project: DirectoryProject;
let developer: Viewer;

beforeAll(async () => {
  service = await startPackage();
  ({ seed, app } = service);
  project = await seed.project({ visibility: 'private' });
  developer = await createMember(project, 'developer');
});
afterAll(() => service.close());

async function createMember(of: DirectoryProject, role: Role): Promise<Viewer> {
  const user = await seed.user();
  await seed.member(user, of, role);
  return seed.viewer(user);
}

const CHALLENGE = 'Basic realm="GitLab Packages Registry"';
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const put = (path: string, viewer = developer) =>
  app.as(viewer).put(path).type('application/octet-stream').send(Buffer.from('bytes'));
const get = (path: string, viewer = developer) => app.as(viewer).get(path).buffer(true);
function listBlobFiles(folder: string): string[] {
  const path = join(service.blobs, folder);
  if (!existsSync(path)) return [];
  const entries = readdirSync(path, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
}

describe('PUT …/packages/generic/:package_name/:package_version/:file_name', () => {
  it('stores the body and answers with a message', async () => {
    const path = genericPath(project, 'tool', '1.0.0', 'a.txt');
    const { status, body } = await put(path);
    expect([status, body]).toEqual([201, { message: '201 Created' }]);
    const download = await get(path);
    expect([download.status, download.body.toString()]).toEqual([200, 'bytes']);
  });

  it('answers with the file for select=package_file', async () => {
    const path = genericPath(project, 'tool', 'v1.0.0+b1', 'b.bin');
    const { status, body } = await put(path).query({ select: 'package_file' });
    expect([status, body]).toEqual([
      200,
      expect.objectContaining({
        file_name: 'b.bin',
        size: 5,
        file_sha256: sha256('bytes'),
        file_md5: createHash('md5').update('bytes').digest('hex'),
        file_sha1: createHash('sha1').update('bytes').digest('hex'),
        file: { url: expect.stringContaining('/packages/generic/tool/v1.0.0%2Bb1/b.bin') },
      }),
    ]);
  });

  it('adds further files to the package, and serves the newest of a name', async () => {
    const first = await uploaded(app, developer, project, { name: 'grown', content: 'old' });
    const second = await uploaded(app, developer, project, { name: 'grown', content: 'new' });
    const other = await uploaded(app, developer, project, { name: 'grown', file: 'other.bin' });
    expect([second.package_id, other.package_id]).toEqual([first.package_id, first.package_id]);
    const { body } = await get(genericPath(project, 'grown', '1.0.0', 'tool.bin'));
    expect(body.toString()).toBe('new');
  });

  it('keeps folders, with slashes or encoded ones', async () => {
    const file = await uploaded(app, developer, project, { name: 'nested', file: 'dir/sub/a+b.txt', content: 'deep' });
    expect(file.file_name).toBe('dir%2Fsub%2Fa%2Bb.txt');
    for (const path of ['dir/sub/a+b.txt', 'dir%2Fsub%2Fa%2Bb.txt'])
      expect((await get(genericPath(project, 'nested', '1.0.0', path))).body.toString()).toBe('deep');
  });

  it('refuses folders and a name that are too long in their encoded form', async () => {
    const path = genericPath(project, 'long', '1.0.0', `${'+'.repeat(900)}/${'+'.repeat(900)}`);
    const { status, body } = await app.as(developer).put(path).send(Buffer.from('bytes'));
    expect([status, body]).toEqual([400, { message: '400 Bad request - File name is too long' }]);
  });

  it('stores the part `file` of a multipart body', async () => {
    const path = genericPath(project, 'wrapped', '1.0.0', 'a.txt');
    const { status, body } = await app
      .as(developer)
      .put(path)
      .field('note', 'skipped')
      .attach('file', Buffer.from('inner'), 'ignored.txt');
    expect([status, body]).toEqual([201, { message: '201 Created' }]);
    expect((await get(path)).body.toString()).toBe('inner');
    const missing = await app.as(developer).put(path).attach('other', Buffer.from('inner'), 'x');
    expect([missing.status, missing.body]).toEqual([400, { error: 'file is missing' }]);
    for (const part of ['file', 'other']) {
      const half = `--b\r\ncontent-disposition: form-data; name="${part}"; filename="a"\r\n\r\nhalf`;
      const cut = await app.as(developer).put(path).set('content-type', 'multipart/form-data; boundary=b').send(half);
      expect([cut.status, cut.body]).toEqual([400, { error: 'file is invalid' }]);
    }
  });

  it('skips no more than 64 MiB of other files in a form', async () => {
    const { status, body } = await app
      .as(developer)
      .put(genericPath(project, 'padded', '1.0.0', 'a.txt'))
      .attach('other', Buffer.alloc(64 * 1024 ** 2 + 1), 'x')
      .attach('file', Buffer.from('inner'), 'a.txt');
    expect([status, body]).toEqual([400, { error: 'form is too large' }]);
  });

  it('takes an empty body', async () => {
    const file = await uploaded(app, developer, project, { name: 'empty', content: '' });
    expect(file).toMatchObject({ size: 0, file_sha256: sha256('') });
  });

  it('sets the status, also of a package that exists', async () => {
    const statusOf = async (id: number): Promise<unknown> =>
      (await service.database.query<{ status: string }>(`select status from packages where id = ${id}`))[0]!.status;
    const hidden = await uploaded(app, developer, project, { name: 'shy', status: 'hidden' });
    expect(await statusOf(hidden.package_id)).toBe('hidden');
    await uploaded(app, developer, project, { name: 'shy' });
    expect(await statusOf(hidden.package_id)).toBe('hidden');
    expect((await get(genericPath(project, 'shy', '1.0.0', 'tool.bin'))).status).toBe(200);
    await uploaded(app, developer, project, { name: 'shy', status: 'default' });
    expect(await statusOf(hidden.package_id)).toBe('default');
  });

  it.each([
    ['a%20b', '1', 'f', 'package_name is invalid'],
    ['a..b', '1', 'f', 'package_name is invalid'],
    ['a', '1..2', 'f', 'package_version is invalid'],
    ['a', '1', '~f', 'file_name is invalid'],
    ['a', '1', 'f%5C..%5Cg', 'file_name is invalid'],
    ['a', '1', 'dir/%20/f', 'path is invalid'],
  ])('refuses the names %s %s %s', async (name, version, file, error) => {
    const { status, body } = await put(genericPath(project, name, version, file));
    expect([status, body]).toEqual([400, { error }]);
  });

  it('refuses other values of status and select', async () => {
    const path = genericPath(project, 'tool', '1.0.0', 'a.txt');
    const { status, body } = await put(path).query({ status: 'error', select: 'all' });
    expect([status, body]).toEqual([
      400,
      { error: 'status does not have a valid value, select does not have a valid value' },
    ]);
  });

  it('refuses a file above the limit of the plan, as a body and as a part', async () => {
    const instance = app.get(InstanceSettings);
    instance.applyAnswer({
      version: 1,
      features: {},
      settings: {},
      plan_limits: { default: { generic_packages_max_file_size: 4 } },
    });
    try {
      const before = listBlobFiles('files');
      const path = genericPath(project, 'large', '1.0.0', 'a.txt');
      const refused = { message: '400 Bad request - File is too large' };
      const declared = await put(path);
      const wrapped = await app.as(developer).put(path).attach('file', Buffer.from('bytes'), 'a.txt');
      expect([declared.status, declared.body]).toEqual([400, refused]);
      expect([wrapped.status, wrapped.body]).toEqual([400, refused]);
      expect(listBlobFiles('files')).toEqual(before);
      expect(listBlobFiles('uploads')).toEqual([]);
    } finally {
      instance.applyAnswer({ version: 2, features: {}, settings: {} });
    }
  });

  it('leaves nothing of a cut upload', async () => {
    const before = listBlobFiles('files');
    const path = genericPath(project, 'cut', '1.0.0', 'a.txt');
    await expect(
      new Promise((_, reject) => {
        const test = app.as(developer).put(path).set('content-length', '1000000');
        void test.on('error', reject);
        const { request } = test as unknown as { request(): ClientRequest };
        const sent = request.call(test);
        // Signs it as other requests are.
        (test as unknown as EventEmitter).emit('request', { req: sent });
        sent.on('error', reject);
        sent.write(Buffer.alloc(500_000));
        const cut = (turns: number): unknown =>
          turns > 0 && listBlobFiles('uploads').length === 0
            ? setTimeout(cut, 10, turns - 1)
            : sent.destroy(new Error(turns > 0 ? 'cut' : 'nothing was stored meanwhile'));
        cut(1000);
      }),
    ).rejects.toThrow('cut');
    for (let turn = 0; turn < 10_000 && listBlobFiles('uploads').length > 0; turn++) await new Promise(setImmediate);
    expect(listBlobFiles('uploads')).toEqual([]);
    expect(listBlobFiles('files')).toEqual(before);
    expect((await get(path)).status).toBe(404);
  });
});

describe('permissions', () => {
  const UPLOADERS: readonly Role[] = ['developer', 'maintainer', 'owner'];
  it.each(['guest', 'planner', 'reporter', 'developer', 'maintainer', 'owner'] as const)(
    'a %s uploads from developer on',
    async (role) => {
      const viewer = await createMember(project, role);
      const { status, body } = await put(genericPath(project, 'mine', '1.0.0', 'a.txt'), viewer);
      expect([status, body]).toEqual(
        UPLOADERS.includes(role) ? [201, { message: '201 Created' }] : [403, { message: '403 Forbidden' }],
      );
    },
  );

  it.each(VISIBILITIES)('downloads from a %s project', async (visibility) => {
    const own = await seed.project({ visibility });
    await uploaded(app, await createMember(own, 'developer'), own);
    const path = genericPath(own, 'tool', '1.0.0', 'tool.bin');
    const statusFor = async (viewer: Viewer): Promise<number> => (await get(path, viewer)).status;
    const expected: Readonly<Record<Visibility, readonly number[]>> = {
      public: [200, 200, 200, 200],
      internal: [401, 200, 200, 200],
      private: [401, 404, 403, 200],
    };
    expect([
      await statusFor(seed.anonymous()),
      await statusFor(seed.viewer(await seed.user())),
      await statusFor(await createMember(own, 'guest')),
      await statusFor(await createMember(own, 'reporter')),
    ]).toEqual(expected[visibility]);
  });

  it('challenges anonymous callers, whether the project exists or not', async () => {
    const missing = { ...project, id: 999_999 };
    for (const parent of [project, missing]) {
      const path = genericPath(parent, 'tool', '1.0.0', 'a.txt');
      for (const response of [await get(path, seed.anonymous()), await put(path, seed.anonymous())]) {
        expect([response.status, response.headers['www-authenticate']]).toEqual([401, CHALLENGE]);
      }
    }
  });

  it('refuses uploads into an archived project, and everything while packages are disabled', async () => {
    const archived = await seed.project({ visibility: 'public', archived: true });
    const owner = await createMember(archived, 'owner');
    expect((await put(genericPath(archived, 'a', '1', 'f'), owner)).status).toBe(403);
    const disabled = await seed.project({ visibility: 'public', packages_enabled: false });
    const maintainer = await createMember(disabled, 'maintainer');
    expect((await put(genericPath(disabled, 'a', '1', 'f'), maintainer)).status).toBe(403);
    expect((await get(genericPath(disabled, 'a', '1', 'f'), maintainer)).status).toBe(403);
  });

  it('refuses a protected name below the level of its rule, before the body is stored', async () => {
    const own = await seed.project({ visibility: 'private' });
    const maintainer = await createMember(own, 'maintainer');
    await app
      .as(maintainer)
      .post(`/api/v4/projects/${own.id}/packages/protection/rules`)
      .send({ package_name_pattern: 'Core*', package_type: 'generic', minimum_access_level_for_push: 'maintainer' })
      .expect(201);
    const path = genericPath(own, 'core-tool', '1.0.0', 'a.txt');
    const { status, body } = await put(path, await createMember(own, 'developer'));
    expect([status, body]).toEqual([403, { message: '403 Forbidden - Package protected.' }]);
    expect((await put(path, maintainer)).status).toBe(201);
    const admin = seed.viewer(await seed.user({ admin: true }));
    expect((await put(path, admin)).status).toBe(201);
  });
});

describe('GET …/packages/generic/…', () => {
  it('answers ranges, conditions and HEAD, and 404 for what is missing', async () => {
    await uploaded(app, developer, project, { name: 'ranged', file: 'a_b.txt', content: '0123456789' });
    const path = genericPath(project, 'ranged', '1.0.0', 'a_b.txt');
    const whole = await get(path);
    expect(whole.headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-length': '10',
      'content-disposition': `attachment; filename="a_b.txt"; filename*=UTF-8''a_b.txt`,
      'x-checksum-sha256': sha256('0123456789'),
      etag: `"${sha256('0123456789')}"`,
      'accept-ranges': 'bytes',
    });
    const part = await get(path).set('range', 'bytes=2-4');
    expect([part.status, part.body.toString()]).toEqual([206, '234']);
    expect((await get(path).set('if-none-match', whole.headers['etag']!)).status).toBe(304);
    const head = await app.as(developer).head(path);
    expect([head.status, head.headers['content-length']]).toEqual([200, '10']);
    const missing = await get(genericPath(project, 'ranged', '2.0.0', 'a_b.txt'));
    expect([missing.status, missing.body]).toEqual([404, { message: '404 Not found' }]);
  });

  it('notes the time of the download of a package', async () => {
    const { package_id } = await uploaded(app, developer, project, { name: 'popular' });
    const shown = async (): Promise<unknown> =>
      (await app.as(developer).get(`/api/v4/projects/${project.id}/packages/${package_id}`).expect(200)).body
        .last_downloaded_at;
    const path = genericPath(project, 'popular', '1.0.0', 'tool.bin');
    await app.as(developer).head(path).expect(200);
    expect(await shown()).toBeNull();
    await get(path);
    for (let turn = 0; turn < 1000 && (await shown()) === null; turn++) await new Promise(setImmediate);
    expect(await shown()).toEqual(expect.any(String));
  });
});

it('loses and doubles none of many uploads into one new package at once', async () => {
  const names = Array.from({ length: 60 }, (_, index) => `file-${index}.bin`);
  const files = await Promise.all(names.map((file) => uploaded(app, developer, project, { name: 'busy', file })));
  expect(new Set(files.map(({ package_id }) => package_id)).size).toBe(1);
  const [{ count }] = (await service.database.query<{ count: number }>(
    `select count(distinct file_name)::int as count from package_files where package_id = ${files[0]!.package_id}`,
  )) as [{ count: number }];
  expect(count).toBe(60);
});
