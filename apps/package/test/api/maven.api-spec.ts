import { createHash } from 'node:crypto';
import type { DirectoryProject } from '@rookery/contracts';
import { InstanceSettings } from '@rookery/instance';
import { VISIBILITIES } from '@rookery/kernel';
import type { Role, Viewer } from '@rookery/kernel';
import type { DirectorySeed, TestApp } from '@rookery/testing';
import { startPackage } from '../support/app';
import type { PackageService } from '../support/app';
import { getMaven, mavenPath, putMaven } from '../support/maven';

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

const DIGESTS = ['md5', 'sha1', 'sha256', 'sha512'] as const;
const digest = (name: string, text: string | Buffer): string => createHash(name).update(text).digest('hex');
const put = (file: string, content: string | Buffer = 'bytes', viewer = developer, of = project) =>
  putMaven(app, viewer, mavenPath(of, file), content);
const get = (file: string, viewer = developer, of = project) => getMaven(app, viewer, mavenPath(of, file));
const versionsIn = (text: string): string[] => [...text.matchAll(/<version>([^<]+)<\/version>/g)].map(([, v]) => v!);

describe('PUT …/packages/maven/*path/:file_name', () => {
  it('stores a file of a version, and answers without a body', async () => {
    const { status, text } = await put('com/acme/app/1.0/app-1.0.jar', 'jar bytes');
    expect([status, text]).toEqual([200, '']);
    const down = await get('com/acme/app/1.0/app-1.0.jar');
    expect([down.status, down.text]).toEqual([200, 'jar bytes']);
    expect(down.headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-length': '9',
      'accept-ranges': 'bytes',
      etag: `"${digest('sha256', 'jar bytes')}"`,
      ...Object.fromEntries(DIGESTS.map((name) => [`x-checksum-${name}`, digest(name, 'jar bytes')])),
    });
    const listed = await app.as(developer).get(`/api/v4/projects/${project.id}/packages`).expect(200);
    expect(listed.body).toEqual([
      expect.objectContaining({ name: 'com/acme/app', version: '1.0', package_type: 'maven' }),
    ]);
  });

  it('serves a POM as XML', async () => {
    await put('com/acme/pom/1.0/pom-1.0.pom', '<project/>');
    const { headers } = await get('com/acme/pom/1.0/pom-1.0.pom');
    expect(headers['content-type']).toBe('application/xml');
  });

  it('answers every digest of a file, and compares uploaded ones', async () => {
    const file = 'com/acme/sums/1.0+b2/sums-1.0+b2.jar';
    await put(file, 'summed');
    for (const name of DIGESTS) {
      const { status, text, headers } = await get(`${file}.${name}`);
      expect([status, text, headers['content-type']]).toEqual([200, digest(name, 'summed'), 'text/plain']);
      const head = await app.as(developer).head(mavenPath(project, `${file}.${name}`));
      expect([head.status, head.headers['content-length']]).toEqual([200, String(text.length)]);
    }
    const sent = async (name: string, content: string): Promise<number> =>
      (await put(`${file}.${name}`, content)).status;
    const sha1 = digest('sha1', 'summed');
    expect(await sent('sha1', sha1)).toBe(204);
    expect(await sent('sha1', sha1)).toBe(204);
    expect(await sent('sha1', `${sha1.toUpperCase()}  sums-1.0.jar\n`)).toBe(204);
    expect(await sent('sha1', digest('sha1', 'other'))).toBe(409);
    expect(await sent('sha1', 'no digest')).toBe(409);
    expect(await sent('md5', 'anything')).toBe(200);
    expect(await sent('sha256', digest('sha256', 'summed'))).toBe(200);
    expect(await sent('sha256', digest('sha256', 'other'))).toBe(409);
    expect(await sent('sha512', digest('sha512', 'summed'))).toBe(200);
    expect(await sent('sha512', digest('sha512', 'other'))).toBe(409);
    expect((await put('com/acme/sums/1.0/absent.jar.sha1', sha1)).status).toBe(404);
    expect((await put('com/acme/sums/1.0/absent.jar.md5', sha1)).status).toBe(200);
    const [{ count }] = (await service.database.query<{ count: number }>(
      `select count(*)::int as count from package_files f join packages p on p.id = f.package_id
       where p.name = 'com/acme/sums'`,
    )) as [{ count: number }];
    expect(count).toBe(1);
  });

  it('keeps a signature as a file with digests of its own', async () => {
    await put('com/acme/signed/1.0/signed-1.0.jar', 'jar');
    await put('com/acme/signed/1.0/signed-1.0.jar.asc', 'signature');
    const sha1 = digest('sha1', 'signature');
    expect((await put('com/acme/signed/1.0/signed-1.0.jar.asc.sha1', sha1)).status).toBe(204);
    expect((await get('com/acme/signed/1.0/signed-1.0.jar.asc.sha1')).text).toBe(sha1);
  });

  it('serves the newest of files with one name', async () => {
    for (const content of ['old', 'new']) await put('com/acme/again/1.0/again-1.0.jar', content);
    const { text } = await get('com/acme/again/1.0/again-1.0.jar');
    expect(text).toBe('new');
    expect((await get('com/acme/again/1.0/again-1.0.jar.sha1')).text).toBe(digest('sha1', 'new'));
  });
});

describe('maven-metadata.xml of an artifact', () => {
  it('is generated from the versions, in the order of Maven, whatever was uploaded', async () => {
    for (const version of ['1.10', '1.9', '1.10-rc1', '2.0-SNAPSHOT'])
      await put(`org/acme/lib/${version}/lib-${version}.pom`, '<project/>');
    const uploaded = '<metadata><versioning><versions><version>9.9</version></versions></versioning></metadata>';
    expect((await put('org/acme/lib/maven-metadata.xml', uploaded)).status).toBe(200);
    const { text, headers } = await get('org/acme/lib/maven-metadata.xml');
    expect(versionsIn(text)).toEqual(['1.9', '1.10-rc1', '1.10', '2.0-SNAPSHOT']);
    expect(text).toContain('<groupId>org.acme</groupId>');
    expect(text).toContain('<artifactId>lib</artifactId>');
    expect(text).toContain('<latest>2.0-SNAPSHOT</latest>');
    expect(text).toContain('<release>1.10-rc1</release>');
    expect(text).toMatch(/<lastUpdated>\d{14}<\/lastUpdated>/);
    expect(headers['etag']).toBe(`"${digest('sha256', text)}"`);
    for (const name of DIGESTS)
      expect((await get(`org/acme/lib/maven-metadata.xml.${name}`)).text).toBe(digest(name, text));
    for (const [name, status] of Object.entries({ md5: 200, sha1: 204, sha256: 200, sha512: 200 }))
      expect((await put(`org/acme/lib/maven-metadata.xml.${name}`, digest('sha1', 'stale'))).status).toBe(status);
    const conditional = await app
      .as(developer)
      .get(mavenPath(project, 'org/acme/lib/maven-metadata.xml'))
      .set('if-none-match', headers['etag']!);
    expect(conditional.status).toBe(304);
  });
});

describe('maven-metadata.xml of a group', () => {
  const plugins = (...names: string[]): string =>
    `<metadata><plugins>${names
      .map(
        (name) =>
          `<plugin><name>${name}</name><prefix>${name}</prefix><artifactId>${name}-plugin</artifactId></plugin>`,
      )
      .join('')}</plugins></metadata>`;

  it('merges the plugins of all uploads, also of those at the same time', async () => {
    const file = 'org/tools/maven-metadata.xml';
    const sent = await Promise.all(['a &amp; b', 'c', 'd', 'e'].map((name) => put(file, plugins(name, 'shared'))));
    expect(sent.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const { text } = await get(file);
    expect([...text.matchAll(/<prefix>(.+)<\/prefix>/g)].map(([, prefix]) => prefix)).toEqual([
      ...['a &amp; b', 'c', 'd', 'e', 'shared'],
    ]);
    expect(text).not.toContain('versioning');
    expect((await get(`${file}.sha1`)).text).toBe(digest('sha1', text));
    await put(file, plugins('c').replace('<prefix>c', '<prefix>renamed'));
    expect((await get(file)).text).toContain('<prefix>renamed</prefix>');
  });

  it('is absent without versions and plugins, even after an upload', async () => {
    expect((await get('org/none/maven-metadata.xml')).status).toBe(404);
    expect((await put('org/none/maven-metadata.xml', '<metadata/>')).status).toBe(200);
    const { status, text } = await get('org/none/maven-metadata.xml');
    expect([status, JSON.parse(text)]).toEqual([404, { message: '404 Package Not Found' }]);
    const lists = `/api/v4/projects/${project.id}/packages?package_name=org/none`;
    expect((await app.as(developer).get(lists)).body).toEqual([]);
    const all = await app.as(developer).get(`${lists}&include_versionless=true`);
    expect(all.body).toEqual([expect.objectContaining({ name: 'org/none', version: null })]);
  });
});

describe('snapshots', () => {
  const build = (number: number): string => `1.0-20261127.03000${number}-${number}`;
  const metadata = (...numbers: number[]): string =>
    `<metadata modelVersion="1.1.0"><groupId>com.acme</groupId><artifactId>snap</artifactId><version>1.0-SNAPSHOT</version>
      <versioning><snapshot><timestamp>20261127.030001</timestamp><buildNumber>${numbers.at(-1)}</buildNumber></snapshot>
      <lastUpdated>20261127030001</lastUpdated><snapshotVersions>${numbers
        .map(
          (one) => `<snapshotVersion><extension>jar</extension><value>${build(one)}</value></snapshotVersion>
          <snapshotVersion><classifier>sources</classifier><extension>jar</extension><value>${build(one)}</value></snapshotVersion>`,
        )
        .join('')}</snapshotVersions></versioning></metadata>`;
  const filesOf = (id: number) => app.as(developer).get(`/api/v4/projects/${project.id}/packages/${id}/package_files`);

  it('serve the uploaded metadata, which replaces the older one, without builds whose files were deleted', async () => {
    const folder = 'com/acme/snap/1.0-SNAPSHOT';
    for (const number of [1, 2]) {
      await put(`${folder}/snap-${build(number)}.jar`, `build ${number}`);
      await put(`${folder}/snap-${build(number)}-sources.jar`, `sources ${number}`);
      expect((await put(`${folder}/maven-metadata.xml`, metadata(number))).status).toBe(200);
    }
    await put(`${folder}/maven-metadata.xml`, metadata(1, 2));
    const served = await get(`${folder}/maven-metadata.xml`);
    expect(served.text).toBe(metadata(1, 2));
    expect((await get(`${folder}/maven-metadata.xml.sha1`)).text).toBe(digest('sha1', served.text));
    const [{ id }] = (await app.as(developer).get(`/api/v4/projects/${project.id}/packages?package_name=com/acme/snap`))
      .body as [{ id: number }];
    const files = (await filesOf(id)).body as { id: number; file_name: string }[];
    expect(files.filter(({ file_name }) => file_name === 'maven-metadata.xml')).toHaveLength(1);
    const gone = files.find(({ file_name }) => file_name === `snap-${build(1)}-sources.jar`)!;
    const maintainer = await createMember(project, 'maintainer');
    await app
      .as(maintainer)
      .delete(`/api/v4/projects/${project.id}/packages/${id}/package_files/${gone.id}`)
      .expect(204);
    const { text, headers } = await get(`${folder}/maven-metadata.xml`);
    expect([...text.matchAll(/<value>/g)]).toHaveLength(3);
    expect(text.match(/<classifier>sources/g)).toHaveLength(1);
    expect(text).toContain('<buildNumber>2</buildNumber>');
    expect(headers['x-checksum-sha1']).toBe(digest('sha1', text));
    expect((await get(`${folder}/maven-metadata.xml.sha1`)).text).toBe(digest('sha1', text));
  });

  it('take files under the plain name, too', async () => {
    await put('com/acme/plain/1.0-SNAPSHOT/plain-1.0-SNAPSHOT.jar', 'plain');
    expect((await get('com/acme/plain/1.0-SNAPSHOT/plain-1.0-SNAPSHOT.jar')).text).toBe('plain');
    expect((await get('com/acme/plain/1.0-SNAPSHOT/maven-metadata.xml')).status).toBe(404);
  });
});

describe('refusals of uploads', () => {
  const long = 'a'.repeat(256);
  it.each([
    ['com/acme/app/1.0/a%20b.jar', { error: 'file_name is invalid' }],
    ['com/acme/app/1.0/a%2F..%2Fb.jar', { error: 'file_name is invalid' }],
    ['com/acme/%20/1.0/a.jar', { error: 'path is invalid' }],
    ['com/a%5Cb/app/1.0/a.jar', { error: 'path is invalid' }],
    ['com/.../app/1.0/a.jar', { error: 'path is invalid' }],
    ['com/acme/app/1..0/a.jar', { message: 'Validation failed: Version is invalid' }],
    ['1.0/a.jar', { message: 'Validation failed: Name is invalid' }],
    [`com/${long}/app/1.0/a.jar`, { message: 'Validation failed: Name is too long (maximum is 255 characters)' }],
    [`com/acme/app/${long}/a.jar`, { message: 'Validation failed: Version is too long (maximum is 255 characters)' }],
    [`com/acme/app/1.0/${'a'.repeat(5001)}`, { message: '400 Bad request - File name is too long' }],
  ])('%#: the address is refused', async (file, expected) => {
    const { status, body } = await put(file);
    expect([status, body]).toEqual([400, expected]);
  });

  it.each(['..', '%2e%2e'])('%s is no folder', async (step) => {
    for (const file of [`com/${step}/${step}/1.0/a.jar`, `com/acme/1.0/${step}`]) {
      const { status } = await put(file);
      expect([400, 404]).toContain(status);
    }
  });

  const TOO_DEEP = `<metadata>${'<a>'.repeat(70)}${'</a>'.repeat(70)}</metadata>`;
  const TOO_MANY = `<metadata>${'<a/>'.repeat(50_001)}</metadata>`;
  const LISTED = '<snapshotVersion><value>1</value></snapshotVersion>'.repeat(2001);
  it.each([
    ['a document type', '<!DOCTYPE metadata SYSTEM "file:///etc/passwd"><metadata/>', 'declares a document type'],
    [
      'an external entity',
      '<!DOCTYPE m [<!ENTITY x SYSTEM "file:///etc/passwd">]><metadata>&x;</metadata>',
      'declares a document type',
    ],
    ['a type in small letters', '<!doctype m><metadata/>', 'declares a document type'],
    ['an entity without a type', '<metadata><!ENTITY x "y"></metadata>', 'declares a document type'],
    ['elements that are too deep', TOO_DEEP, 'is not well-formed XML'],
    ['too many elements', TOO_MANY, 'has too many elements'],
    ['an open element', '<metadata><versioning></metadata>', 'is not well-formed XML'],
    ['the name __proto__', '<metadata><__proto__/></metadata>', 'is not well-formed XML'],
    ['another document', '<project/>', 'has no metadata'],
    ['nothing', '', 'is not well-formed XML'],
    ['text', 'no xml', 'is not well-formed XML'],
    ['a null character', '<metadata><groupId>a\0b</groupId></metadata>', 'has control characters'],
    ['other bytes', Buffer.from([0x3c, 0xff, 0xfe]), 'is neither UTF-8 nor UTF-16'],
  ])('metadata with %s', async (_, content, reason) => {
    for (const file of ['com/xml/maven-metadata.xml', 'com/xml/app/1.0-SNAPSHOT/maven-metadata.xml']) {
      const { status, body } = await put(file, content);
      expect([status, body]).toEqual([400, { message: `400 Bad request - maven-metadata.xml ${reason}` }]);
    }
  });

  it('metadata of a snapshot that lists more than 2,000 files', async () => {
    const content = `<metadata><versioning><snapshotVersions>${LISTED}</snapshotVersions></versioning></metadata>`;
    const { status, body } = await put('com/xml/app/1.0-SNAPSHOT/maven-metadata.xml', content);
    expect([status, body]).toEqual([
      400,
      { message: '400 Bad request - maven-metadata.xml lists more than 2000 files' },
    ]);
  });

  it.each(['artifactId', 'classifier', 'extension', 'value'])(
    'metadata of a snapshot with a long %s',
    async (field) => {
      const text = `<${field}>${long}</${field}>`;
      const [ofArtifact, ofFile] = field === 'artifactId' ? [text, ''] : ['', text];
      const content = `<metadata>${ofArtifact}<versioning><snapshotVersions><snapshotVersion>${ofFile}</snapshotVersion></snapshotVersions></versioning></metadata>`;
      const { status, body } = await put('com/xml/app/1.0-SNAPSHOT/maven-metadata.xml', content);
      expect([status, body]).toEqual([
        400,
        { message: '400 Bad request - maven-metadata.xml has a text with more than 255 characters' },
      ]);
    },
  );

  it('metadata above 1 MiB, and digests above 1 KiB', async () => {
    const refused = { message: '400 Bad request - File is too large' };
    for (const [file, size] of Object.entries({
      'com/xml/maven-metadata.xml': 1024 ** 2 + 1,
      'com/xml/app/1.0/app.jar.sha1': 1025,
      'com/xml/app/1.0/app.jar.md5': 1025,
    })) {
      const { status, body } = await put(file, 'x'.repeat(size));
      expect([status, body]).toEqual([400, refused]);
    }
  });

  it('takes metadata in UTF-16', async () => {
    const text =
      '\uFEFF<metadata><plugins><plugin><prefix>ü</prefix><artifactId>u</artifactId></plugin></plugins></metadata>';
    expect((await put('org/wide/maven-metadata.xml', Buffer.from(text, 'utf16le'))).status).toBe(200);
    expect((await get('org/wide/maven-metadata.xml')).text).toContain('<prefix>ü</prefix>');
  });

  it('a file above the limit of the plan, before and while it arrives', async () => {
    const instance = app.get(InstanceSettings);
    instance.applyAnswer({
      version: 1,
      features: {},
      settings: {},
      plan_limits: { default: { maven_max_file_size: 4 } },
    });
    try {
      const { status, body } = await put('com/acme/large/1.0/large.jar', 'bytes');
      expect([status, body]).toEqual([400, { message: '400 Bad request - File is too large' }]);
      expect((await put('com/acme/large/1.0/large.jar', 'four')).status).toBe(200);
    } finally {
      instance.applyAnswer({ version: 2, features: {}, settings: {} });
    }
  });

  it('a protected package, its metadata included, whether it exists or not', async () => {
    const own = await seed.project({ visibility: 'private' });
    const maintainer = await createMember(own, 'maintainer');
    const weak = await createMember(own, 'developer');
    await app
      .as(maintainer)
      .post(`/api/v4/projects/${own.id}/packages/protection/rules`)
      .send({ package_name_pattern: 'com/Core/*', package_type: 'maven', minimum_access_level_for_push: 'maintainer' })
      .expect(201);
    for (const file of ['com/core/app/1.0/app-1.0.jar', 'com/core/app/maven-metadata.xml']) {
      for (const viewer of [weak, maintainer, weak]) {
        const { status, body } = await put(file, '<metadata/>', viewer, own);
        const refused = [403, { message: '403 Forbidden - Package protected.' }];
        expect(viewer === weak ? [status, body] : [status]).toEqual(viewer === weak ? refused : [200]);
      }
    }
    expect((await put('com/other/app/1.0/app-1.0.jar', 'bytes', weak, own)).status).toBe(200);
  });
});

describe('permissions', () => {
  const CHALLENGE = 'Basic realm="GitLab Packages Registry"';

  it.each(VISIBILITIES)('download from a %s project', async (visibility) => {
    const own = await seed.project({ visibility });
    await put('com/acme/app/1.0/app-1.0.jar', 'bytes', await createMember(own, 'developer'), own);
    const status = async (viewer: Viewer): Promise<number> =>
      (await get('com/acme/app/1.0/app-1.0.jar', viewer, own)).status;
    const expected = { public: [200, 200, 200, 200], internal: [401, 200, 200, 200], private: [401, 404, 403, 200] };
    const viewers = [seed.anonymous(), seed.viewer(await seed.user())];
    for (const role of ['guest', 'reporter'] as const) viewers.push(await createMember(own, role));
    expect(await Promise.all(viewers.map(status))).toEqual(expected[visibility]);
  });

  it('upload from developer on', async () => {
    const statuses: unknown[] = [];
    for (const role of ['guest', 'reporter', 'developer', 'owner'] as const)
      statuses.push((await put('com/acme/role/1.0/role.jar', 'x', await createMember(project, role))).status);
    expect(statuses).toEqual([403, 403, 200, 200]);
  });

  it('challenge anonymous callers, whether the project, group or path exists or not', async () => {
    const own = await seed.group({ visibility: 'private' });
    const urls = [
      ...[project.id, 999_999].map((id) => mavenPath({ id }, 'a/b/1.0/b.jar')),
      ...[own.id, 999_999].map((id) => `/api/v4/groups/${id}/-/packages/maven/a/b/1.0/b.jar`),
      '/api/v4/packages/maven/a/b/1.0/b.jar',
    ];
    for (const url of urls) {
      const { status, headers } = await getMaven(app, seed.anonymous(), url);
      expect([url, status, headers['www-authenticate']]).toEqual([url, 401, CHALLENGE]);
    }
    const { status, headers } = await put('a/b/1.0/b.jar', 'x', seed.anonymous());
    expect([status, headers['www-authenticate']]).toEqual([401, CHALLENGE]);
  });

  it('refuse everything while packages are disabled, and uploads into an archived project', async () => {
    const disabled = await seed.project({ visibility: 'public', packages_enabled: false });
    const maintainer = await createMember(disabled, 'maintainer');
    expect((await put('a/b/1.0/b.jar', 'x', maintainer, disabled)).status).toBe(403);
    expect((await get('a/b/1.0/b.jar', maintainer, disabled)).status).toBe(403);
    const archived = await seed.project({ visibility: 'public', archived: true });
    expect((await put('a/b/1.0/b.jar', 'x', await createMember(archived, 'owner'), archived)).status).toBe(403);
  });
});

describe('GET /groups/:id/-/packages/maven/…', () => {
  it('serves the newest of the packages that the caller may read, and the versions of all of them', async () => {
    const home = await seed.group({ visibility: 'public' });
    const below = await seed.group({ visibility: 'public', parent: home });
    const open = await seed.project({ namespace_id: home.id, visibility: 'public' });
    const closed = await seed.project({ namespace_id: below.id, visibility: 'private' });
    const elsewhere = await seed.project({ visibility: 'public' });
    const user = await seed.user();
    for (const one of [open, closed, elsewhere]) await seed.member(user, one, 'developer');
    const member = seed.viewer(user);
    await put('com/acme/multi/1.0/multi-1.0.jar', 'open', member, open);
    await put('com/acme/multi/1.0/multi-1.0.jar', 'closed', member, closed);
    await put('com/acme/multi/2.0/multi-2.0.jar', 'closed', member, closed);
    await put('com/acme/multi/3.0/multi-3.0.jar', 'elsewhere', member, elsewhere);
    const url = (file: string): string => `/api/v4/groups/${home.id}/-/packages/maven/com/acme/multi/${file}`;
    const stranger = seed.viewer(await seed.user());
    for (const [viewer, text, versions] of [
      [member, 'closed', ['1.0', '2.0']],
      [stranger, 'open', ['1.0']],
      [seed.anonymous(), 'open', ['1.0']],
    ] as const) {
      expect((await getMaven(app, viewer, url('1.0/multi-1.0.jar'))).text).toBe(text);
      expect((await getMaven(app, viewer, url('1.0/multi-1.0.jar.sha1'))).text).toBe(digest('sha1', text));
      expect(versionsIn((await getMaven(app, viewer, url('maven-metadata.xml'))).text)).toEqual(versions);
    }
    const hidden = await getMaven(app, stranger, url('2.0/multi-2.0.jar'));
    expect([hidden.status, JSON.parse(hidden.text)]).toEqual([404, { message: '404 Package Not Found' }]);
    const snapshot = 'com/acme/multi/4.0-SNAPSHOT';
    await put(`${snapshot}/maven-metadata.xml`, '<metadata/>', member, closed);
    expect((await getMaven(app, member, url('4.0-SNAPSHOT/maven-metadata.xml'))).text).toBe('<metadata/>');
    expect((await getMaven(app, stranger, url('4.0-SNAPSHOT/maven-metadata.xml'))).status).toBe(404);
  });

  it('answers 404 for a group that the caller may not see', async () => {
    const closed = await seed.group({ visibility: 'private' });
    const url = `/api/v4/groups/${closed.id}/-/packages/maven/a/b/1.0/b.jar`;
    const { status, text } = await getMaven(app, developer, url);
    expect([status, JSON.parse(text)]).toEqual([404, { message: '404 Group Not Found' }]);
  });
});

describe('GET /packages/maven/…', () => {
  it('serves packages that have the full path of their project, and refuses all others with 403', async () => {
    const home = await seed.group({ visibility: 'private' });
    const own = await seed.project({ namespace_id: home.id, visibility: 'private' });
    const member = await createMember(own, 'developer');
    const name = `${home.full_path}/${own.path}`;
    await put(`${name}/1.0/app-1.0.jar`, 'own', member, own);
    await put('com/acme/foreign/1.0/foreign-1.0.jar', 'foreign', member, own);
    const ask = (viewer: Viewer, file: string) => getMaven(app, viewer, `/api/v4/packages/maven/${file}`);
    expect((await ask(member, `${name}/1.0/app-1.0.jar`)).text).toBe('own');
    expect(versionsIn((await ask(member, `${name}/maven-metadata.xml`)).text)).toEqual(['1.0']);
    const absent = await ask(member, `${name}/1.0/absent.jar`);
    expect([absent.status, JSON.parse(absent.text)]).toEqual([404, { message: '404 Package Not Found' }]);
    const unused = await seed.project({ namespace_id: home.id, visibility: 'public' });
    const stranger = seed.viewer(await seed.user());
    for (const [viewer, file] of [
      [stranger, `${name}/1.0/app-1.0.jar`],
      [await createMember(own, 'guest'), `${name}/1.0/app-1.0.jar`],
      [member, `${home.full_path}/${unused.path}/1.0/app-1.0.jar`],
      [member, 'com/acme/foreign/1.0/foreign-1.0.jar'],
      [member, `${name}-absent/1.0/app-1.0.jar`],
      [member, 'single/1.0/a.jar'],
    ] as const) {
      const { status, text } = await ask(viewer, file);
      expect([status, JSON.parse(text)]).toEqual([403, { message: '403 Forbidden' }]);
    }
  });
});

describe('GET …/packages/maven/…', () => {
  it('answers ranges, conditions and HEAD, and 404 for what is missing', async () => {
    const file = 'com/acme/ranged/1.0/ranged-1.0.jar';
    await put(file, '0123456789');
    const url = mavenPath(project, file);
    const part = await app.as(developer).get(url).set('range', 'bytes=2-4').buffer(true);
    expect([part.status, part.body.toString()]).toEqual([206, '234']);
    const { headers } = await app.as(developer).head(url);
    expect(headers['content-length']).toBe('10');
    const since = await app.as(developer).get(url).set('if-modified-since', headers['last-modified']!);
    expect(since.status).toBe(304);
    const old = await app.as(developer).get(url).set('if-unmodified-since', new Date(0).toUTCString());
    expect(old.status).toBe(412);
    const metadata = mavenPath(project, 'com/acme/ranged/maven-metadata.xml');
    const whole = await app.as(developer).head(metadata);
    expect([whole.status, Number(whole.headers['content-length'])]).toEqual([200, expect.any(Number)]);
    for (const absent of ['com/acme/ranged/2.0/a.jar', `${file}x`, `${file}x.sha1`, '.meta/prefixes.txt', 'a/b.jar']) {
      const { status, text } = await get(absent);
      expect([status, JSON.parse(text)]).toEqual([404, { message: '404 Package Not Found' }]);
    }
  });

  it('counts downloads of files, but not of metadata and digests', async () => {
    await put('com/acme/counted/1.0-SNAPSHOT/counted.jar');
    await put('com/acme/counted/1.0-SNAPSHOT/maven-metadata.xml', '<metadata/>');
    const shown = async (): Promise<unknown> =>
      (await app.as(developer).get(`/api/v4/projects/${project.id}/packages?package_name=com/acme/counted`)).body[0]
        .last_downloaded_at;
    await get('com/acme/counted/1.0-SNAPSHOT/maven-metadata.xml');
    await get('com/acme/counted/1.0-SNAPSHOT/counted.jar.sha1');
    expect(await shown()).toBeNull();
    await get('com/acme/counted/1.0-SNAPSHOT/counted.jar');
    for (let turn = 0; turn < 1000 && (await shown()) === null; turn++) await new Promise(setImmediate);
    expect(await shown()).toEqual(expect.any(String));
  });

  it('forgets a deleted version at once, and takes it again', async () => {
    const maintainer = await createMember(project, 'maintainer');
    for (const version of ['1.0', '1.1']) await put(`com/acme/gone/${version}/gone.jar`);
    const list = `/api/v4/projects/${project.id}/packages?package_name=com/acme/gone&package_version=1.1`;
    const [{ id }] = (await app.as(developer).get(list)).body as [{ id: number }];
    await app.as(maintainer).delete(`/api/v4/projects/${project.id}/packages/${id}`).expect(204);
    expect((await get('com/acme/gone/1.1/gone.jar')).status).toBe(404);
    expect(versionsIn((await get('com/acme/gone/maven-metadata.xml')).text)).toEqual(['1.0']);
    expect((await put('com/acme/gone/1.1/gone.jar', 'again')).status).toBe(200);
    expect((await get('com/acme/gone/1.1/gone.jar')).text).toBe('again');
  });
});

it('makes one package of many first uploads of a version at once', async () => {
  const files = Array.from({ length: 40 }, (_, index) => `com/acme/busy/1.0/busy-${index}.jar`);
  const answers = await Promise.all(files.map((file) => put(file, file)));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  const [counts] = await service.database.query<{ packages: number; files: number }>(
    `select count(distinct p.id)::int as packages, count(distinct f.file_name)::int as files
     from packages p join package_files f on f.package_id = p.id where p.name = 'com/acme/busy'`,
  );
  expect(counts).toEqual({ packages: 1, files: 40 });
});

describe('problem details', () => {
  const file = 'com/acme/none/1.0/none-1.0.jar';
  it('are for clients that name them, with the bare media type', async () => {
    const asked = (viewer: Viewer, url: string) =>
      app.as(viewer).get(url).set('accept', 'application/problem+json, */*');
    for (const url of [mavenPath(project, file), `/api/v4/groups/${project.namespace_id}/-/packages/maven/${file}`]) {
      const { status, headers, body } = await asked(developer, url);
      expect([status, headers['content-type'], headers['vary']]).toEqual([
        404,
        'application/problem+json',
        expect.stringContaining('Accept'),
      ]);
      expect(body).toEqual({
        ...{ type: 'about:blank', status: 404, title: 'Not Found', detail: '404 Package Not Found' },
        ...{ message: '404 Package Not Found', error: '404 Package Not Found' },
      });
    }
    const refused = await app
      .as(developer)
      .put(mavenPath(project, 'com/acme/a/1..0/a.jar'))
      .set('accept', 'application/problem+json')
      .send(Buffer.from('bytes'));
    expect(refused.body).toMatchObject({ detail: 'Validation failed: Version is invalid', status: 400 });
    const plain = await app.as(developer).get(mavenPath(project, file));
    expect([plain.headers['content-type'], plain.body]).toEqual([
      'application/json',
      { message: '404 Package Not Found' },
    ]);
  });
});
