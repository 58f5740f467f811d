import { existsSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { DirectoryProject } from '@rookery/contracts';
import { InstanceSettings } from '@rookery/instance';
import type { Viewer } from '@rookery/kernel';
import type { DirectorySeed, TestApp } from '@rookery/testing';
import type { Response } from 'supertest';
import { BINARY, conanOf, put as putConan, recipeV2, revisionOf } from '../support/conan';
import { mavenPath, putMaven } from '../support/maven';
import { documentOf, memberOf, npmOf, npmPath, published, put as putDocument, startNpm } from '../support/npm';
import type { PackageService } from '../support/app';
import { HOSTILE } from '../support/hostile-names';
import { genericPath } from '../support/packages';
import { pypiPath, upload, wheelOf } from '../support/pypi';

let service: PackageService;
let seed: DirectorySeed;
let app: TestApp;
let project: DirectoryProject;
let developer: Viewer;
let maintainer: Viewer;

beforeAll(async () => void ({ service, seed, app, project, developer, maintainer } = await startNpm()));
afterAll(() => service.close());

const putGeneric = (path: string, viewer = developer) =>
  app.as(viewer).put(path).type('application/octet-stream').send(Buffer.from('bytes'));

/** Files of the blob store, below its folder. */
function storedFiles(): string[] {
  const folder = service.blobs;
  const entries = existsSync(folder) ? readdirSync(folder, { recursive: true, withFileTypes: true }) : [];
  return entries.filter((one) => one.isFile()).map((one) => relative(folder, join(one.parentPath, one.name)));
}
const DIGEST_KEY = /^files\/[0-9a-f]{2}\/[0-9a-f]{64}$/;

describe('names of files and packages', () => {
  it.each(HOSTILE)('are refused: %.40s', async (name) => {
    const before = storedFiles();
    const conan = (reference: string): string => revisionOf(recipeV2(conanOf(project), reference));
    const generic = (parts: string): string => `/api/v4/projects/${project.id}/packages/generic/${parts}`;
    const answers: Response[] = [
      await putGeneric(generic(`${name}/1.0.0/a.txt`)),
      await putGeneric(generic(`tool/${name}/a.txt`)),
      await putGeneric(generic(`tool/1.0.0/${name}`)),
      await putGeneric(generic(`tool/1.0.0/${name}/a.txt`)),
      await putMaven(app, developer, mavenPath(project, `com/acme/${name}/1.0/a.jar`), 'bytes'),
      await putMaven(app, developer, mavenPath(project, `com/acme/a/1.0/${name}`), 'bytes'),
      await putDocument(
        app,
        developer,
        npmPath(npmOf.project(project), name),
        await documentOf({ name, version: '1.0.0' }),
      ),
    ];
    // The router refuses a long name in front of a wildcard with a status that no route lists.
    if (name.length < 1000)
      answers.push(
        await putConan(app, developer, `${conan(`${name}/1.0/_/_`)}/files/conanfile.py`, 'bytes'),
        await putConan(app, developer, `${conan(`hello/1.0/${name}/stable`)}/files/conanfile.py`, 'bytes'),
        await putConan(app, developer, `${conan('hello/1.0/_/_')}/files/${name}`, 'bytes'),
        await putConan(
          app,
          developer,
          `${conan('hello/1.0/_/_')}/packages/${name}/revisions/${BINARY}/files/conaninfo.txt`,
          '',
        ),
      );
    for (const { status } of answers) expect([400, 404, 414]).toContain(status);
    expect(storedFiles()).toEqual(before);
  });

  it.each(['..', '\u0000x-1.0.zip', 'x-1.0.tar.gz\0.zip', 'x-1.0.tar.gz/..', 'x‮-1.0.zip', '．．.zip'])(
    'are refused in a form: %j',
    async (file) => {
      const answer = await upload(app, developer, project, { name: 'x', file });
      expect([answer.status, answer.body]).toEqual([400, { message: 'Validation failed: File name is invalid' }]);
    },
  );

  it('are the last part of a path in a form, as browsers once sent whole paths', async () => {
    const file = '../../etc/../y-1.0.tar.gz';
    await upload(app, developer, project, { name: 'y', file }).expect(201);
    const stored = await service.database.query(`select file_name from package_files where file_name like '%y-1.0%'`);
    expect(stored).toEqual([{ file_name: 'y-1.0.tar.gz' }]);
  });

  it('never become names in the store', async () => {
    await putGeneric(genericPath(project, 'CON', '1.0.0', 'NUL')).expect(201);
    await putGeneric(genericPath(project, 'tool', '1.0.0', 'dir/sub/deep.txt')).expect(201);
    for (const file of storedFiles()) expect(file).toMatch(DIGEST_KEY);
    const rows = await service.database.query<{ file_name: string }>(`select file_name from package_files`);
    for (const { file_name } of rows) expect(file_name).not.toMatch(/^\.|\.\.|[\0\\/\p{Cc}]/u);
  });

  it('never reach other headers of a download', async () => {
    await putGeneric(genericPath(project, 'tool', '1.0.0', 'a@b~c+d.txt')).expect(201);
    const { headers } = await app.as(developer).get(genericPath(project, 'tool', '1.0.0', 'a@b~c+d.txt'));
    expect(headers['content-disposition']).toBe(`attachment; filename="a@b~c+d.txt"; filename*=UTF-8''a%40b~c%2Bd.txt`);
    expect(headers['x-content-type-options']).toBe('nosniff');
  });
});

/** Gates of a feature that is on for everybody. */
const GATES = { boolean: true, actors: [], groups: [], percentage_of_time: 0, percentage_of_actors: 0 };

describe('a protected name', () => {
  const rule = (type: string, pattern: string) =>
    app
      .as(maintainer)
      .post(`/api/v4/projects/${project.id}/packages/protection/rules`)
      .send({ package_name_pattern: pattern, package_type: type, minimum_access_level_for_push: 'maintainer' })
      .expect(201);
  const refusal = (answer: Response): unknown[] => [answer.status, answer.body.message];
  const REFUSED = [403, '403 Forbidden - Package protected.'];

  it('is refused in generic packages, whatever its form', async () => {
    await rule('generic', 'Core-*');
    await putGeneric(genericPath(project, 'core-old', '1.0.0', 'a.txt'), maintainer).expect(201);
    for (const path of [
      genericPath(project, 'core-new', '1.0.0', 'a.txt'),
      genericPath(project, 'core-old', '1.0.0', 'a.txt'),
      genericPath(project, 'core-old', '1.0.0', 'second.txt'),
      genericPath(project, 'core-old', '2.0.0', 'a.txt'),
      genericPath(project, 'CORE-OLD', '1.0.0', 'a.txt'),
      genericPath(project, '%63ore-old', '1.0.0', 'a.txt'),
      genericPath(project, 'core-old', '1.0.0', 'dir/a.txt'),
      genericPath(project, 'core-old', '1.0.0', 'dir%2Fa.txt'),
      `${genericPath(project, 'core-old', '1.0.0', 'a.txt')}?status=hidden&select=package_file`,
    ])
      expect([path, ...refusal(await putGeneric(path))]).toEqual([path, ...REFUSED]);
    const wrapped = await app
      .as(developer)
      .put(genericPath(project, 'core-old', '1.0.0', 'a.txt'))
      .attach('file', Buffer.from('bytes'), 'a.txt');
    expect(refusal(wrapped)).toEqual(REFUSED);
  });

  it('is refused in Maven, metadata and snapshots too', async () => {
    await rule('maven', 'com/acme/core*');
    await putMaven(app, maintainer, mavenPath(project, 'com/acme/core/1.0/a.jar'), 'bytes').expect(200);
    for (const file of [
      'com/acme/core/1.0/a.jar',
      'com/acme/core/1.0/b.jar',
      'com/acme/core/2.0/a.jar',
      'com/acme/core/2-SNAPSHOT/a.jar',
      'com/acme/core/2-SNAPSHOT/maven-metadata.xml',
      'com/acme/core/maven-metadata.xml',
      'com/acme/CORE/1.0/a.jar',
      'com%2Facme%2Fcore/1.0/a.jar',
      'com/acme/core/1.0/a.jar.asc',
    ])
      expect([file, ...refusal(await putMaven(app, developer, mavenPath(project, file), 'bytes'))]).toEqual([
        file,
        ...REFUSED,
      ]);
  });

  it('is refused in PyPI in every spelling and order', async () => {
    await rule('pypi', 'My.Core_*');
    await upload(app, maintainer, project, { name: 'my-core-a', version: '1.0' }).expect(201);
    for (const form of [
      { name: 'my-core-a', version: '1.0', file: 'my_core_a-1.0.zip' },
      { name: 'my-core-a', version: '2.0' },
      { name: 'My__Core..A', file: 'my_core_a-1.0.zip' },
      { name: 'MY-CORE-B', file: 'my_core_b-1.0.zip' },
    ])
      expect([form, ...refusal(await upload(app, developer, project, form))]).toEqual([form, ...REFUSED]);
    const reversed = await app
      .as(developer)
      .post(pypiPath(project))
      .attach('content', Buffer.from('bytes'), 'my_core_c-1.0.zip')
      .field('version', '1.0')
      .field('name', 'my_core_c');
    expect(refusal(reversed)).toEqual(REFUSED);
  });

  it('is refused in npm for versions, tags, deprecation and removal, however the scope is written', async () => {
    const rules = { package_name_pattern: '@acme/core*', package_type: 'npm', minimum_access_level_for_push: 'owner' };
    await published(app, maintainer, project, { name: '@acme/core', version: '1.0.0' });
    await app.as(maintainer).post(`/api/v4/projects/${project.id}/packages/protection/rules`).send(rules).expect(201);
    const base = npmOf.project(project);
    const document = await documentOf({ name: '@acme/core', version: '2.0.0' });
    const others = await documentOf({ name: '@ACME/Core', version: '1.0.0' });
    const deprecated = { name: '@acme/core', versions: { '1.0.0': { deprecated: 'no' } } };
    const answers = [
      await putDocument(app, maintainer, `${base}/@acme%2fcore`, document),
      await putDocument(app, maintainer, `${base}/@acme%2Fcore`, document),
      await putDocument(app, maintainer, `${base}/@acme/core`, document),
      await putDocument(app, maintainer, `${base}/%40acme%2fcore`, document),
      await putDocument(app, maintainer, `${base}/@ACME%2fCore`, others),
      await putDocument(app, maintainer, `${base}/@acme%2fcore`, deprecated),
      await putDocument(app, maintainer, `${base}/-/package/@acme%2fcore/dist-tags/beta`, '"1.0.0"'),
      await app
        .as(maintainer)
        .put(`/api/v4/groups/${project.namespace_id}/-/packages/npm/-/package/@acme%2fcore/dist-tags/b`)
        .type('application/json')
        .send('"1.0.0"'),
    ];
    for (const answer of answers) expect([answer.status, answer.body.error]).toEqual([403, 'Package protected.']);
  });

  it('is kept from deletion by all routes while the feature is on', async () => {
    const owned = await seed.project({ visibility: 'private' });
    const keeper = await memberOf(seed, owned, 'maintainer');
    await published(app, keeper, owned, { name: 'kept', version: '1.0.0' });
    const instance = app.get(InstanceSettings);
    instance.applyAnswer({
      ...{ version: 100, settings: {} },
      features: { packages_protected_packages_delete: GATES },
    });
    try {
      const rules = { package_name_pattern: 'kept', package_type: 'npm', minimum_access_level_for_delete: 'owner' };
      await app.as(keeper).post(`/api/v4/projects/${owned.id}/packages/protection/rules`).send(rules).expect(201);
      const [row] = (await app.as(keeper).get(`/api/v4/projects/${owned.id}/packages`).expect(200)).body;
      const path = `/api/v4/projects/${owned.id}/packages/${row.id}`;
      const [file] = (await app.as(keeper).get(`${path}/package_files`).expect(200)).body;
      const { body } = await app
        .as(keeper)
        .get(`${npmOf.project(owned)}/kept`)
        .buffer(true);
      const rev = encodeURIComponent((body as { _rev: string })._rev);
      for (const answer of [
        await app.as(keeper).delete(path),
        await app.as(keeper).delete(`${path}/package_files/${file.id}`),
        await app.as(keeper).delete(`${npmOf.project(owned)}/kept/-rev/${rev}`),
      ])
        expect([answer.status, answer.body.message]).toEqual([
          403,
          expect.stringMatching(/^(403 Forbidden - )?Package is deletion protected\.$/),
        ]);
    } finally {
      instance.applyAnswer({ version: 101, features: {}, settings: {} });
    }
  });
});

describe('names that look like those of others', () => {
  it('are not found by the registry of the instance below a foreign scope', async () => {
    const [own, foreign] = [
      await seed.group({ visibility: 'public', path: 'ownscope' }),
      await seed.group({ visibility: 'public', path: 'foreignscope' }),
    ];
    const attackers = await seed.project({ visibility: 'public', namespace_id: own.id });
    const attacker = await memberOf(seed, attackers, 'maintainer');
    for (const name of [`@${foreign.path}/lib`, `@ForeignScope/lib`, `@${own.path}/lib`])
      await published(app, attacker, attackers, { name, version: '1.0.0' });
    const found = async (name: string): Promise<number> =>
      (await app.as(seed.anonymous()).get(npmPath(npmOf.instance, name)).buffer(true)).status;
    expect(await found(`@${own.path}/lib`)).toBe(200);
    for (const name of [`@${foreign.path}/lib`, '@ForeignScope/lib', '@OwnScope/lib', `@${own.path}/Lib`])
      expect([name, await found(name)]).toEqual([name, 404]);
    expect((await app.as(seed.anonymous()).get(npmPath(npmOf.group(foreign), `@${foreign.path}/lib`))).status).toBe(
      404,
    );
  });

  it('mix nothing of projects that the caller may not read into the answers of a group', async () => {
    const group = await seed.group({ visibility: 'public' });
    const [open, closed] = [
      await seed.project({ visibility: 'public', namespace_id: group.id }),
      await seed.project({ visibility: 'private', namespace_id: group.id }),
    ];
    for (const [of, version] of [
      [open, '1.0.0'],
      [closed, '2.0.0'],
    ] as const) {
      const viewer = await memberOf(seed, of, 'maintainer');
      await published(app, viewer, of, { name: 'mixed', version });
      await upload(app, viewer, of, { name: 'mixed', version }).expect(201);
      await putMaven(app, viewer, mavenPath(of, `com/acme/mixed/${version}/mixed-${version}.jar`), version).expect(200);
    }
    const outsider = seed.viewer(await seed.user());
    const base = `/api/v4/groups/${group.id}/-/packages`;
    const read = async (path: string) => app.as(outsider).get(`${base}/${path}`).buffer(true);
    for (const path of [
      'npm/mixed',
      'npm/-/package/mixed/dist-tags',
      'pypi/simple/mixed',
      'maven/com/acme/mixed/maven-metadata.xml',
    ]) {
      const { text, body } = await read(path);
      const shown = text ?? String(body);
      expect([path, shown.includes('1.0'), shown.includes('2.0.0')]).toEqual([path, true, false]);
    }
    for (const path of ['npm/mixed/-/mixed-2.0.0.tgz', 'npm/mixed/2.0.0', 'maven/com/acme/mixed/2.0.0/mixed-2.0.0.jar'])
      expect([path, (await read(path)).status]).toEqual([path, 404]);
  });

  it('are not taken in characters that only look alike', async () => {
    for (const name of ['lоdash', 'ｌodash', 'lodash​']) {
      const answer = await putDocument(
        app,
        developer,
        `${npmOf.project(project)}/${encodeURIComponent(name)}`,
        await documentOf({ name, version: '1.0.0' }),
      );
      expect([name, answer.status]).toEqual([name, 400]);
    }
  });
});

describe('archives', () => {
  it('are never unpacked, and hostile ones never fail the service', async () => {
    const METADATA = 'Metadata-Version: 2.1\nName: zipped\nVersion: 1.0\n';
    const wheels: Readonly<Record<string, Buffer>> = {
      empty: Buffer.alloc(0),
      cut: (await wheelOf({ 'zipped-1.0.dist-info/METADATA': METADATA })).subarray(0, 60),
      bomb: await wheelOf({ 'zipped-1.0.dist-info/METADATA': 'x'.repeat(5 * 1024 * 1024) }),
      lying: withFalseSize(await wheelOf({ 'zipped-1.0.dist-info/METADATA': 'x'.repeat(100_000) })),
      encrypted: markEncrypted(await wheelOf({ 'zipped-1.0.dist-info/METADATA': METADATA })),
      crowded: await wheelOf(Object.fromEntries(Array.from({ length: 10_001 }, (_, index) => [`f${index}`, '']))),
    };
    for (const [kind, content] of Object.entries(wheels)) {
      const file = `zipped-1.0-${kind}-none-any.whl`;
      const { status } = await upload(app, developer, project, { name: 'zipped', file, content });
      expect([kind, status]).toEqual([kind, 201]);
    }
    const accept = 'application/vnd.pypi.simple.v1+json';
    const page = await app
      .as(developer)
      .get(`${pypiPath(project)}/simple/zipped`)
      .set('accept', accept)
      .buffer(true);
    const { files } = JSON.parse(page.text ?? String(page.body)) as { files: { 'core-metadata': unknown }[] };
    expect(files.map((file) => file['core-metadata'])).toEqual(Object.keys(wheels).map(() => false));
  });
});

/** Sets the size of the first entry, in both headers, to one byte. */
function withFalseSize(zip: Buffer): Buffer {
  const copy = Buffer.from(zip);
  copy.writeUInt32LE(1, copy.indexOf('PK\x01\x02') + 24);
  return copy;
}

/** Marks the first entry as encrypted. */
function markEncrypted(zip: Buffer): Buffer {
  const copy = Buffer.from(zip);
  const at = copy.indexOf('PK\x01\x02') + 8;
  copy.writeUInt16LE(copy.readUInt16LE(at) | 1, at);
  return copy;
}
