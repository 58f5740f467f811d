import type { EventEmitter } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import type { ClientRequest } from 'node:http';
import { join } from 'node:path';
import { BlobStorage } from '@rookery/blobs';
import type { DirectoryProject } from '@rookery/contracts';
import { InstanceSettings } from '@rookery/instance';
import { VISIBILITIES } from '@rookery/kernel';
import type { Role, Viewer, Visibility } from '@rookery/kernel';
import type { DirectorySeed, TestApp } from '@rookery/testing';
import { blake2b } from 'hash-wasm';
import type { Response, Test } from 'supertest';
import { BlobSweepJob } from '../../src/packages/removal/blob-sweep.job';
import { startPackage } from '../support/app';
import type { PackageService } from '../support/app';
import { pypiPath, sha256, upload, uploaded, wheelOf } from '../support/pypi';

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

const JSON_TYPE = 'application/vnd.pypi.simple.v1+json';
const HTML_TYPE = 'application/vnd.pypi.simple.v1+html';
const CHALLENGE = 'Basic realm="GitLab Packages Registry"';
const TAKEN = 'Validation failed: File name has already been taken (File already exists)';

function listBlobFiles(folder: string): string[] {
  const path = join(service.blobs, folder);
  if (!existsSync(path)) return [];
  const entries = readdirSync(path, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
}
/** Starts a request whose body the test writes, signed as others are. */
function beginRequest(test: Test): ClientRequest {
  const sent = (test as unknown as { request(): ClientRequest }).request();
  (test as unknown as EventEmitter).emit('request', { req: sent });
  return sent;
}
/** Waits for a condition, at most for about ten seconds. */
async function waitUntil(isMet: () => boolean): Promise<void> {
  for (let turn = 0; turn < 1000 && !isMet(); turn++) await new Promise((resolve) => setTimeout(resolve, 10));
}
const simplePath = (name = '', of = project): string => `${pypiPath(of)}/simple${name && `/${name}`}`;
const fileUrl = (content: Buffer | string, name: string, of = project): string =>
  `${pypiPath(of)}/files/${sha256(content)}/${name}`;
const get = (path: string, viewer = developer) => app.as(viewer).get(path).buffer(true);

interface PageFile {
  readonly url: string;
  readonly filename: string;
  readonly yanked: unknown;
  readonly [name: string]: unknown;
}
interface Page {
  readonly files: readonly PageFile[];
  readonly versions: readonly string[];
  readonly [name: string]: unknown;
}
async function getPage(path: string, viewer = developer): Promise<Page> {
  const response = await get(path, viewer).set('accept', JSON_TYPE).parse(collectBytes).expect(200);
  expect(response.headers['content-type']).toBe(JSON_TYPE);
  return JSON.parse((response.body as Buffer).toString()) as Page;
}
async function getHtml(path: string, viewer = developer): Promise<string> {
  const { text, headers } = await get(path, viewer).set('accept', 'text/html').expect(200);
  expect(headers['content-type']).toBe('text/html; charset=utf-8');
  return text;
}
function collectBytes(response: Response, done: (error: Error | null, body: Buffer) => void): void {
  const chunks: Buffer[] = [];
  response.on('data', (chunk: Buffer) => chunks.push(Buffer.from(chunk)));
  response.on('end', () => done(null, Buffer.concat(chunks)));
}

describe('POST …/packages/pypi', () => {
  it('publishes a file, which pages and the API of packages show', async () => {
    const own = await seed.project({ visibility: 'private' });
    const viewer = await createMember(own, 'developer');
    await uploaded(app, viewer, own, {
      name: 'My.Pkg_x',
      version: '1.0',
      file: 'my_pkg_x-1.0.tar.gz',
      content: 'bytes',
    });
    const { files } = await getPage(simplePath('my-pkg-x', own), viewer);
    expect(files).toMatchObject([{ filename: 'my_pkg_x-1.0.tar.gz', size: 5, hashes: { sha256: sha256('bytes') } }]);
    const listed = await app.as(viewer).get(`/api/v4/projects/${own.id}/packages`).expect(200);
    expect(listed.body).toMatchObject([{ name: 'My.Pkg_x', version: '1.0', package_type: 'pypi', status: 'default' }]);
  });

  it('takes the file before the text parts', async () => {
    const { status, body } = await app
      .as(developer)
      .post(pypiPath(project))
      .attach('content', Buffer.from('early'), 'early-1.0.tar.gz')
      .field('name', 'early')
      .field('version', '1.0');
    expect([status, body]).toEqual([201, { message: '201 Created' }]);
    expect((await getPage(simplePath('early'))).files).toHaveLength(1);
  });

  it('skips parts that it does not know, hundreds of them and of megabytes', async () => {
    const classifiers = Array.from({ length: 1500 }, (_, index) => `Topic :: ${index}`);
    const fields = { classifiers, description: 'x'.repeat(10 * 1024 * 1024), attestations: '[]' };
    await uploaded(app, developer, project, { name: 'rich', fields });
    expect((await getPage(simplePath('rich'))).files).toHaveLength(1);
  });

  it('adds files to the version, however it is written', async () => {
    await uploaded(app, developer, project, { name: 'grown', version: '1.0', file: 'grown-1.0.tar.gz' });
    await uploaded(app, developer, project, { name: 'Grown', version: '1.0.0', file: 'grown-1.0-py3-none-any.whl' });
    await uploaded(app, developer, project, { name: 'grown', version: '1.1', file: 'grown-1.1.tar.gz' });
    const page = await getPage(simplePath('grown'));
    expect([page.versions, page.files.map(({ filename }) => filename)]).toEqual([
      ['1.0', '1.1'],
      ['grown-1.0-py3-none-any.whl', 'grown-1.0.tar.gz', 'grown-1.1.tar.gz'],
    ]);
  });

  it('refuses a file name that the version has, with the texts that clients look for', async () => {
    await uploaded(app, developer, project, { name: 'twice', content: 'first' });
    for (const content of ['first', 'second']) {
      const refused = await upload(app, developer, project, {
        name: 'Twice',
        version: '1.0.0',
        file: 'twice-1.0.tar.gz',
        content,
      });
      expect([refused.status, refused.body]).toEqual([400, { message: TAKEN }]);
    }
    expect((await getPage(simplePath('twice'))).files).toMatchObject([{ hashes: { sha256: sha256('first') } }]);
  });

  it('refuses a file name that another version of the package has', async () => {
    await uploaded(app, developer, project, { name: 'moved', content: 'first' });
    const again = { name: 'moved', version: '2.0', file: 'moved-1.0.tar.gz', content: 'second' };
    const refused = await upload(app, developer, project, again);
    expect([refused.status, refused.body]).toEqual([400, { message: TAKEN }]);
    expect((await getPage(simplePath('moved'))).files).toMatchObject([{ hashes: { sha256: sha256('first') } }]);
  });

  it('takes a deleted file again', async () => {
    const own = await seed.project({ visibility: 'private' });
    const maintainer = await createMember(own, 'maintainer');
    await uploaded(app, maintainer, own, { content: 'old' });
    const [row] = (await app.as(maintainer).get(`/api/v4/projects/${own.id}/packages`).expect(200)).body;
    await app.as(maintainer).delete(`/api/v4/projects/${own.id}/packages/${row.id}`).expect(204);
    await get(simplePath('my-pkg', own), maintainer).expect(404, { message: '404 Package Not Found' });
    await uploaded(app, maintainer, own, { content: 'new' });
    expect((await getPage(simplePath('my-pkg', own), maintainer)).files).toMatchObject([
      { hashes: { sha256: sha256('new') } },
    ]);
  });

  it('succeeds again with the same bytes and credential while no client got the answer', async () => {
    const acknowledged = async (): Promise<boolean> =>
      (
        await service.database.query<{ is_known: boolean }>(
          `select unanswered_token_id is null as is_known from package_files where file_name = 'lost-1.0.tar.gz'`,
        )
      )[0]!.is_known;
    const viewer = { ...developer, tokenId: 71 };
    await uploaded(app, viewer, project, { name: 'lost', content: 'bytes' });
    for (let turn = 0; turn < 10_000 && !(await acknowledged()); turn++) await new Promise(setImmediate);
    expect(await acknowledged()).toBe(true);
    await service.database.query(
      `update package_files set unanswered_token_id = 71 where file_name = 'lost-1.0.tar.gz'`,
    );
    const again = (content: string, tokenId: number) =>
      upload(app, { ...developer, tokenId }, project, { name: 'lost', content });
    expect((await again('other', 71)).status).toBe(400);
    expect((await again('bytes', 72)).status).toBe(400);
    expect((await again('bytes', 71)).body).toEqual({ message: '201 Created' });
    expect((await again('bytes', 71)).body).toEqual({ message: TAKEN });
    expect((await getPage(simplePath('lost'))).files).toHaveLength(1);
  });

  it('answers a registration of a name without effect', async () => {
    const registration = app.as(developer).post(pypiPath(project)).field('name', 'registered').field('version', '1.0');
    const { status, body } = await registration.field(':action', 'submit');
    expect([status, body]).toEqual([200, { message: '200 OK' }]);
    expect((await get(simplePath('registered'))).status).toBe(404);
  });

  it('checks digests', async () => {
    const md5 = '9a0364b9e99bb480dd25e1f0284c8555';
    await uploaded(app, developer, project, {
      ...{ name: 'digested', content: 'content' },
      fields: { sha256_digest: sha256('content').toUpperCase(), md5_digest: md5, blake2_256_digest: 'ignored' },
    });
    const blake2 = await blake2b('content', 256);
    for (const [name, fields] of [
      ['with-blake2', { blake2_256_digest: blake2.toUpperCase() }],
      ['with-both', { sha256_digest: sha256('content'), blake2_256_digest: blake2 }],
    ] as const)
      await uploaded(app, developer, project, { name, content: 'content', fields });
    await uploaded(app, developer, project, { name: 'base64', fields: { md5_digest: 'mgNkuemUu0gN0l4fAoTIVV' } });
    for (const [fields, error] of [
      [{ sha256_digest: 'abc' }, { error: 'sha256_digest is invalid' }],
      [{ sha256_digest: sha256('x') }, { message: 'Validation failed: The digest does not match the uploaded file' }],
      [{ md5_digest: '0'.repeat(32) }, { message: 'Validation failed: The digest does not match the uploaded file' }],
      [
        { blake2_256_digest: '0'.repeat(64) },
        { message: 'Validation failed: The digest does not match the uploaded file' },
      ],
      [
        { blake2_256_digest: '0'.repeat(64), sha256_digest: sha256('content') },
        { message: 'Validation failed: The digest does not match the uploaded file' },
      ],
    ] as const) {
      const { status, body } = await upload(app, developer, project, { name: 'corrupt', fields });
      expect([status, body]).toEqual([400, error]);
    }
    expect((await get(simplePath('corrupt'))).status).toBe(404);
  });

  it.each([
    [{ name: 'a b' }, 'Name is invalid'],
    [{ name: '..' }, 'Name is invalid'],
    [{ name: 'pkg/../other' }, 'Name is invalid'],
    [{ name: 'paké' }, 'Name is invalid'],
    [{ name: 'a'.repeat(256) }, 'Name is invalid'],
    [{ version: 'latest' }, 'Version is invalid'],
    [{ version: '1.0\n2.0' }, 'Version is invalid'],
    [{ file: 'other-1.0.tar.gz' }, 'File name is invalid'],
    [{ file: 'my_pkgs-1.0.tar.gz' }, 'File name is invalid'],
    [{ file: 'my_pkg-1.0.exe' }, 'File name is invalid'],
    [{ file: 'my_pkg-1.0%2F.tar.gz' }, 'File name is invalid'],
    [{ file: '.my_pkg-1.0.tar.gz' }, 'File name is invalid'],
    [{ file: 'my_pkg_more-1.0-py3-none-any.whl' }, 'File name is invalid'],
    [{ file: 'my-pkg-1.0-py3-none-any.whl' }, 'File name is invalid'],
    [{ file: 'my_pkg-1.1-py3-none-any.whl' }, 'File name is invalid'],
    [{ fields: { requires_python: '>=3\0' } }, 'Required python is invalid'],
    [{ fields: { requires_python: '>'.repeat(256) } }, 'Required python is too long (maximum is 255 characters)'],
  ])('refuses %j', async (form, problem) => {
    const { status, body } = await upload(app, developer, project, form);
    expect([status, body]).toEqual([400, { message: `Validation failed: ${problem}` }]);
  });

  it('repeats the reason in the status line', async () => {
    const test = upload(app, developer, project, { version: 'latest' });
    const { res } = (await test) as unknown as { res: { statusMessage: string } };
    expect(res.statusMessage).toBe('Validation failed: Version is invalid');
  });

  it('refuses forms without their parts, bodies that are no form, and forms without end', async () => {
    const post = () => app.as(developer).post(pypiPath(project));
    const parts = Object.fromEntries(Array.from({ length: 5001 }, (_, index) => [`p${index}`, '']));
    for (const [request, error] of [
      [post().attach('content', Buffer.from('x'), 'a-1.tar.gz').field('version', '1'), 'name is missing'],
      [post().attach('content', Buffer.from('x'), 'a-1.tar.gz').field('name', 'a'), 'version is missing'],
      [post().field('name', 'a').field('version', '1'), 'content is missing'],
      [
        post().field('name', 'a').field('version', '1').attach('other', Buffer.from('x'), 'a-1.tar.gz'),
        'content is missing',
      ],
      [post().type('application/octet-stream').send(Buffer.from('x')), 'content is missing'],
      [post().type('multipart/form-data').send('x'), 'content is invalid'],
      [post().field('name', 'a'.repeat(70_000)).field('version', '1'), 'name is too long'],
      [post().field(parts), 'form has too many parts'],
    ] as const) {
      const { status, body } = await request;
      expect([status, body]).toEqual([400, { error }]);
    }
  });

  it('refuses a file above the limit of the plan, and leaves nothing of it', async () => {
    const instance = app.get(InstanceSettings);
    const limits = { default: { pypi_max_file_size: 4 } };
    instance.applyAnswer({ version: 1, features: {}, settings: {}, plan_limits: limits });
    try {
      const { status, body } = await upload(app, developer, project, { name: 'large', content: '12345' });
      expect([status, body]).toEqual([400, { message: '400 Bad request - File is too large' }]);
      await uploaded(app, developer, project, { name: 'fitting', content: '1234' });
    } finally {
      instance.applyAnswer({ version: 2, features: {}, settings: {} });
    }
    expect((await get(simplePath('large'))).status).toBe(404);
  });

  it('loses and doubles none of many uploads at once', async () => {
    const files = Array.from({ length: 20 }, (_, index) => `busy-1.0-${index}-py3-none-any.whl`);
    const stored = new Set<string>();
    const send = async (file: string, index: number): Promise<void> => {
      const form = { name: 'busy', file, content: `content ${index}` };
      const { status, body } = await upload(app, developer, project, form);
      if (status === 201) stored.add(file);
      else expect([status, body]).toEqual([400, { message: TAKEN }]);
    };
    await Promise.all([...files, ...files].map(send));
    expect(stored.size).toBe(20);
    const rows = await service.database.query<{ package_id: number; file_name: string }>(
      `select package_id, file_name from package_files where file_name like 'busy-%'`,
    );
    expect(rows.map(({ file_name }) => file_name).sort()).toEqual([...files].sort());
    expect(new Set(rows.map(({ package_id }) => package_id)).size).toBe(1);
  });

  it('leaves nothing of a cut upload', async () => {
    const boundary = 'cut';
    const part = (name: string, more = ''): string =>
      `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n`;
    const start = `${part('name')}cut\r\n${part('version')}1.0\r\n${part('content', '; filename="cut-1.0.tar.gz"')}half of it`;
    const before = listBlobFiles('files');
    await expect(
      new Promise((_, reject) => {
        const test = app.as(developer).post(pypiPath(project)).set('content-length', '10000000');
        void test.set('content-type', `multipart/form-data; boundary=${boundary}`).on('error', reject);
        const sent = beginRequest(test);
        sent.on('error', reject);
        sent.write(start + 'x'.repeat(1024 * 1024));
        void waitUntil(() => listBlobFiles('uploads').length > 0).then(() => {
          const isStoring = listBlobFiles('uploads').length === 1;
          sent.destroy(new Error(isStoring ? 'cut' : 'nothing was stored meanwhile'));
        });
      }),
    ).rejects.toThrow('cut');
    await waitUntil(() => listBlobFiles('uploads').length === 0);
    expect([listBlobFiles('uploads'), listBlobFiles('files')]).toEqual([[], before]);
    await get(simplePath('cut')).expect(404);
    await uploaded(app, developer, project, { name: 'cut' });
  });

  it.each([
    ['without its end', '--b\r\ncontent-disposition: form-data; name="content"; filename="a-1.tar.gz"\r\n\r\nhalf'],
    ['that ends in a skipped part', '--b\r\ncontent-disposition: form-data; name="other"\r\n\r\nhalf'],
    ['that ends in a header', '--b\r\ncontent-disposition: form-data'],
    ['without a boundary', 'nothing of the kind'],
    ['that is empty', ''],
  ])('refuses a form %s', async (_, body) => {
    const sent = app.as(developer).post(pypiPath(project)).set('content-type', 'multipart/form-data; boundary=b');
    const { status, text } = await sent.send(body);
    expect([status, text]).toEqual([400, expect.stringMatching(/^{"error":"(content is invalid|name is missing)"}$/)]);
  });

  it('refuses too much that is skipped', async () => {
    const fields = Object.fromEntries(
      Array.from({ length: 9 }, (_, index) => [`p${index}`, 'x'.repeat(8 * 1024 ** 2)]),
    );
    const { status, body } = await upload(app, developer, project, { name: 'padded', fields });
    expect([status, body]).toEqual([400, { error: 'form is too large' }]);
  });
});

describe('core metadata of wheels', () => {
  const METADATA = 'Metadata-Version: 2.1\nName: wheeled\nVersion: 1.0\n';
  const wheel = async (name: string, entries: Readonly<Record<string, string>>): Promise<PageFile> => {
    const file = `${name}-1.0-py3-none-any.whl`;
    await uploaded(app, developer, project, { name, file, content: await wheelOf(entries) });
    return (await getPage(simplePath(name))).files[0]!;
  };

  it('are served beside the file, with their digest', async () => {
    const entries = { 'wheeled/__init__.py': '', 'Wheeled-1.0.0.dist-info/METADATA': METADATA };
    const file = await wheel('wheeled', entries);
    expect(file['core-metadata']).toEqual({ sha256: sha256(METADATA) });
    const path = `${new URL(file.url).pathname}.metadata`;
    const { status, body, headers } = await get(path);
    expect([status, body.toString(), headers['etag']]).toEqual([200, METADATA, `"${sha256(METADATA)}"`]);
    expect((await get(path).set('range', 'bytes=0-7')).body.toString()).toBe('Metadata');
    expect(await getHtml(simplePath('wheeled'))).toContain(
      `data-core-metadata="sha256=${sha256(METADATA)}" data-dist-info-metadata="sha256=${sha256(METADATA)}"`,
    );
  });

  it.each([
    ['none', {}],
    ['foreign', { 'other-1.0.dist-info/METADATA': METADATA }],
    ['doubled', { 'doubled-1.0.dist-info/METADATA': METADATA, 'Doubled-1.0.dist-info/METADATA': METADATA }],
    ['nested', { 'x/nested-1.0.dist-info/METADATA': METADATA }],
    ['bomb', { 'bomb-1.0.dist-info/METADATA': 'x'.repeat(5 * 1024 * 1024) }],
  ])('are absent from a wheel with wrong ones: %s', async (name, entries) => {
    const file = await wheel(name, { 'a.py': '', ...entries });
    expect(file['core-metadata']).toBe(false);
    expect((await get(`${new URL(file.url).pathname}.metadata`)).status).toBe(404);
  });

  it('are absent from a file that is no archive', async () => {
    await uploaded(app, developer, project, { name: 'fake', file: 'fake-1.0-py3-none-any.whl', content: 'PK no zip' });
    expect((await getPage(simplePath('fake'))).files[0]!['core-metadata']).toBe(false);
  });

  it('survive the sweep of the blob store', async () => {
    await wheel('swept', { 'swept-1.0.dist-info/METADATA': 'swept' });
    const job = app.get(BlobSweepJob) as unknown as {
      findReferenced(keys: readonly string[]): Promise<readonly string[]>;
    };
    expect(await job.findReferenced([sha256('swept'), sha256('nothing')])).toEqual([sha256('swept')]);
    expect((await app.get(BlobStorage).stat(sha256('swept'))).size).toBe(5);
  });
});

describe('index pages', () => {
  let own: DirectoryProject;
  let viewer: Viewer;
  beforeAll(async () => {
    own = await seed.project({ visibility: 'private' });
    viewer = await createMember(own, 'developer');
    const fields = { requires_python: '>=3.8,<"4"' };
    await uploaded(app, viewer, own, { name: 'My.Pkg', version: '1.0+a', file: 'my_pkg-1.0+a.tar.gz', fields });
    await uploaded(app, viewer, own, { name: 'other', fields: { requires_python: '  ' } });
  });

  it('are HTML with escaped attributes', async () => {
    const page = await getHtml(simplePath('MY-pkg', own), viewer);
    const digest = sha256('content');
    const url = `${pypiPath(own)}/files/${digest}/my_pkg-1.0%2Ba.tar.gz#sha256=${digest}`;
    expect(page).toContain('<meta name="pypi:repository-version" content="1.1">');
    expect(page).toContain('<title>Links for my-pkg</title>');
    expect(page).toMatch(
      new RegExp(
        `<a href="http[^"]+${escapePattern(url)}" data-requires-python="&gt;=3\\.8,&lt;&quot;4&quot;">my_pkg-1\\.0\\+a\\.tar\\.gz</a>`,
      ),
    );
    expect(await getHtml(simplePath('other', own), viewer)).not.toContain('data-requires-python');
  });

  it('are JSON with all that PEP 700 requires', async () => {
    const { files, ...page } = await getPage(simplePath('my.pkg', own), viewer);
    expect(page).toEqual({ meta: { 'api-version': '1.1' }, name: 'my-pkg', versions: ['1.0+a'] });
    expect(files).toEqual([
      {
        ...{ filename: 'my_pkg-1.0+a.tar.gz', url: expect.stringMatching(/\/my_pkg-1\.0%2Ba\.tar\.gz$/) },
        ...{ hashes: { sha256: sha256('content') }, 'requires-python': '>=3.8,<"4"', size: 7, yanked: false },
        'upload-time': expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        'core-metadata': false,
      },
    ]);
    expect((await getPage(simplePath('other', own), viewer)).files[0]).not.toHaveProperty('requires-python');
  });

  it('list all packages once, sorted', async () => {
    await uploaded(app, viewer, own, { name: 'my_pkg', version: '2.0' });
    const { projects, meta } = await getPage(simplePath('', own), viewer);
    expect([meta, projects]).toEqual([{ 'api-version': '1.1' }, [{ name: 'My.Pkg' }, { name: 'other' }]]);
    const page = await getHtml(simplePath('', own), viewer);
    expect(page.match(/<a href="[^"]+\/packages\/pypi\/simple\/([^"]+)\/">/g)).toHaveLength(2);
    expect(page).toContain(`${simplePath('my-pkg', own)}/">My.Pkg</a>`);
  });

  it.each([
    [undefined, 'text/html; charset=utf-8'],
    ['*/*', 'text/html; charset=utf-8'],
    ['image/png', 'text/html; charset=utf-8'],
    [`${JSON_TYPE}, ${HTML_TYPE}; q=0.1, text/html; q=0.01`, JSON_TYPE],
    [`${JSON_TYPE}; q=0.1, ${HTML_TYPE}; q=0.9`, `${HTML_TYPE}; charset=utf-8`],
    ['application/vnd.pypi.simple.latest+json', JSON_TYPE],
    ['application/vnd.pypi.simple.latest+html', `${HTML_TYPE}; charset=utf-8`],
    ['text/html;q=0.5, application/json', 'text/html; charset=utf-8'],
  ])('are chosen by Accept: %s', async (accept, type) => {
    for (const path of [simplePath('', own), simplePath('other', own)]) {
      const request = get(path, viewer).parse(collectBytes);
      const { headers } = await (accept === undefined ? request.unset('accept') : request.set('accept', accept));
      expect([headers['content-type'], headers['vary']]).toEqual([type, expect.stringContaining('Accept')]);
    }
  });

  it('have an ETag by form, which changes with every upload, deletion and yank', async () => {
    const etagOf = async (accept: string, path = simplePath('tagged', own)): Promise<string> =>
      (await get(path, viewer).set('accept', accept).parse(collectBytes).expect(200)).headers['etag']!;
    await uploaded(app, viewer, own, { name: 'tagged', version: '1.0' });
    const [first, asJson] = [await etagOf('text/html'), await etagOf(JSON_TYPE)];
    expect(first).not.toBe(asJson);
    const same = await get(simplePath('tagged', own), viewer).set('accept', 'text/html').set('if-none-match', first);
    expect([same.status, same.headers['etag'], same.headers['vary']]).toEqual([
      304,
      first,
      expect.stringContaining('Accept'),
    ]);
    await uploaded(app, viewer, own, { name: 'tagged', version: '1.1' });
    const second = await etagOf('text/html');
    await service.database.query(
      `update pypi_files set yanked = 'broken' where file_id = (select max(file_id) from pypi_files)`,
    );
    const third = await etagOf('text/html');
    expect(new Set([first, second, third]).size).toBe(3);
    expect(await getHtml(simplePath('tagged', own), viewer)).toContain('data-yanked="broken"');
    expect((await getPage(simplePath('tagged', own), viewer)).files.map(({ yanked }) => yanked)).toEqual([
      false,
      'broken',
    ]);
  });

  it('answer HEAD, and 404 for what is missing', async () => {
    expect((await app.as(viewer).head(simplePath('other', own))).status).toBe(200);
    await get(simplePath('missing', own), viewer).expect(404, { message: '404 Package Not Found' });
    await get(simplePath('a%20b', own), viewer).expect(400, { error: 'package_name is invalid' });
  });

  it('continue where one statement ends', async () => {
    const many = await seed.project({ visibility: 'private' });
    const reader = await createMember(many, 'developer');
    await uploaded(app, reader, many, { name: 'many', version: '0' });
    await service.database.query(`
      with more as (
        insert into packages (project_id, package_type, name, name_key, version)
          select ${many.id}, 'pypi', 'many', 'many', '1.' || n from generate_series(1, 2500) n returning id, version)
      insert into package_files (package_id, project_id, file_name, size, sha256, sha1, md5)
        select id, ${many.id}, 'many-' || version || '.zip', 1, md5(version), '', '' from more`);
    const page = await getPage(simplePath('many', many), reader);
    expect([page.files.length, page.versions.length]).toEqual([2501, 2501]);
    await service.database.query(
      `update packages set name = 'n' || id, name_key = 'n' || id where project_id = ${many.id}`,
    );
    expect((await getPage(simplePath('', many), reader))['projects']).toHaveLength(2501);
  });
});

describe('downloads', () => {
  it('are bytes with ranges, HEAD and a lasting cache', async () => {
    await uploaded(app, developer, project, { name: 'ranged', content: '0123456789' });
    const path = fileUrl('0123456789', 'ranged-1.0.tar.gz');
    const whole = await get(path);
    expect([whole.status, whole.body.toString()]).toEqual([200, '0123456789']);
    expect(whole.headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-length': '10',
      'accept-ranges': 'bytes',
      'cache-control': 'private, max-age=31536000, immutable',
      etag: `"${sha256('0123456789')}"`,
    });
    expect((await get(path).set('range', 'bytes=-3')).body.toString()).toBe('789');
    const seen = async (): Promise<unknown> =>
      (await service.database.query(`select 1 from packages where name = 'ranged' and last_downloaded_at is not null`))
        .length;
    for (let turn = 0; turn < 1000 && (await seen()) === 0; turn++) await new Promise(setImmediate);
    expect(await seen()).toBe(1);
    const head = await app.as(developer).head(path);
    expect([head.status, head.headers['content-length']]).toEqual([200, '10']);
  });

  it('need the digest and the name of a file of the project', async () => {
    const other = await seed.project({ visibility: 'private' });
    await uploaded(app, await createMember(other, 'developer'), other, { name: 'elsewhere', content: 'elsewhere' });
    await uploaded(app, developer, project, { name: 'here', content: 'here' });
    for (const path of [
      fileUrl('wrong', 'here-1.0.tar.gz'),
      fileUrl('here', 'elsewhere-1.0.tar.gz'),
      fileUrl('elsewhere', 'elsewhere-1.0.tar.gz'),
      fileUrl('here', 'here-1.0.tar.gz.metadata'),
    ])
      await get(path).expect(404, { message: '404 Not found' });
    await get(`${pypiPath(project)}/files/${'A'.repeat(64)}/x`).expect(400, { error: 'sha256 is invalid' });
    await get(fileUrl('here', '..%2Fx')).expect(400, { error: 'file_identifier is invalid' });
  });

  it('come from hidden packages, and not from failed ones', async () => {
    await uploaded(app, developer, project, { name: 'shy', content: 'shy' });
    const statusAs = async (status: string): Promise<number[]> => {
      await service.database.query(`update packages set status = '${status}' where name = 'shy'`);
      return [(await get(simplePath('shy'))).status, (await get(fileUrl('shy', 'shy-1.0.tar.gz'))).status];
    };
    expect(await statusAs('hidden')).toEqual([200, 200]);
    expect(await statusAs('error')).toEqual([404, 404]);
  });
});

describe('a group', () => {
  it('has the packages of its projects that the caller may read, at URLs of the group', async () => {
    const group = await seed.group({ visibility: 'public' });
    const open = await seed.project({ namespace_id: group.id, visibility: 'public' });
    const closed = await seed.project({ namespace_id: group.id, visibility: 'private' });
    const owner = await createMember(closed, 'owner');
    const uploader = await createMember(open, 'developer');
    await uploaded(app, uploader, open, { name: 'shared', content: 'open' });
    await uploaded(app, owner, closed, { name: 'shared', content: 'closed' });
    await uploaded(app, owner, closed, { name: 'secret', content: 'secret' });
    const base = `/api/v4/groups/${group.id}/-/packages/pypi`;
    const namesFor = async (viewer: Viewer) => (await getPage(`${base}/simple`, viewer))['projects'];
    expect(await namesFor(seed.anonymous())).toEqual([{ name: 'shared' }]);
    expect(await namesFor(owner)).toEqual([{ name: 'secret' }, { name: 'shared' }]);
    const filesFor = async (viewer: Viewer) => (await getPage(`${base}/simple/Shared`, viewer)).files;
    expect(await filesFor(seed.anonymous())).toMatchObject([{ hashes: { sha256: sha256('open') } }]);
    const [newest, ...more] = await filesFor(owner);
    expect([newest!['hashes'], more]).toEqual([{ sha256: sha256('closed') }, []]);
    const path = new URL(newest!.url).pathname;
    expect(path).toBe(`${base}/files/${sha256('closed')}/shared-1.0.tar.gz`);
    expect((await get(path, owner)).body.toString()).toBe('closed');
    await get(path, seed.anonymous()).expect(404, { message: '404 Not found' });
    await get(`${base}/simple/secret`, seed.anonymous()).expect(404, { message: '404 Package Not Found' });
  });

  it('that the caller does not see asks anonymous callers for credentials', async () => {
    const hidden = await seed.group({ visibility: 'private' });
    for (const id of [hidden.id, 999_999])
      for (const path of ['simple', 'simple/a', `files/${sha256('a')}/a-1.tar.gz`]) {
        const anonymous = await get(`/api/v4/groups/${id}/-/packages/pypi/${path}`, seed.anonymous());
        expect([anonymous.status, anonymous.headers['www-authenticate']]).toEqual([401, CHALLENGE]);
        await get(`/api/v4/groups/${id}/-/packages/pypi/${path}`).expect(404, { message: '404 Group Not Found' });
      }
  });
});

describe('permissions', () => {
  const UPLOADERS: readonly Role[] = ['developer', 'maintainer', 'owner'];
  it.each(['guest', 'planner', 'reporter', 'developer', 'maintainer', 'owner'] as const)(
    'a %s uploads from developer on',
    async (role) => {
      const { status, body } = await upload(app, await createMember(project, role), project, { name: `by-${role}` });
      expect([status, body]).toEqual(
        UPLOADERS.includes(role) ? [201, { message: '201 Created' }] : [403, { message: '403 Forbidden' }],
      );
    },
  );

  it.each(VISIBILITIES)('reads a %s project', async (visibility) => {
    const own = await seed.project({ visibility });
    await uploaded(app, await createMember(own, 'developer'), own, { content: 'content' });
    const viewers = [
      seed.anonymous(),
      seed.viewer(await seed.user()),
      await createMember(own, 'guest'),
      await createMember(own, 'reporter'),
    ];
    const expected: Readonly<Record<Visibility, readonly number[]>> = {
      public: [200, 200, 200, 200],
      internal: [401, 200, 200, 200],
      private: [401, 404, 403, 200],
    };
    for (const path of [simplePath('', own), simplePath('my-pkg', own), fileUrl('content', 'my_pkg-1.0.tar.gz', own)]) {
      const statuses = [];
      for (const viewer of viewers) statuses.push((await get(path, viewer)).status);
      expect(statuses).toEqual(expected[visibility]);
    }
  });

  it('challenges anonymous callers, whether the project exists or not', async () => {
    for (const parent of [project, { ...project, id: 999_999 }]) {
      const sent = [get(simplePath('a', parent), seed.anonymous()), upload(app, seed.anonymous(), parent)];
      for (const { status, headers } of await Promise.all(sent))
        expect([status, headers['www-authenticate']]).toEqual([401, CHALLENGE]);
    }
  });

  it('refuses all while packages are disabled', async () => {
    const disabled = await seed.project({ visibility: 'public', packages_enabled: false });
    const maintainer = await createMember(disabled, 'maintainer');
    expect((await upload(app, maintainer, disabled)).status).toBe(403);
    expect((await get(simplePath('', disabled), maintainer)).status).toBe(403);
  });

  it('refuses a protected name in every spelling, wherever it stands in the form', async () => {
    const own = await seed.project({ visibility: 'private' });
    const maintainer = await createMember(own, 'maintainer');
    const below = await createMember(own, 'developer');
    await app
      .as(maintainer)
      .post(`/api/v4/projects/${own.id}/packages/protection/rules`)
      .send({ package_name_pattern: 'Core_*', package_type: 'pypi', minimum_access_level_for_push: 'maintainer' })
      .expect(201);
    const refused = { message: '403 Forbidden - Package protected.' };
    for (const name of ['core-tool', 'CORE.tool', 'core__tool'])
      await upload(app, below, own, { name, file: 'core_tool-1.0.tar.gz' }).expect(403, refused);
    const contentFirst = app.as(below).post(pypiPath(own)).attach('content', Buffer.from('x'), 'core_tool-1.0.tar.gz');
    await contentFirst.field('name', 'core-tool').field('version', '1.0').expect(403, refused);
    const twoNames = app.as(below).post(pypiPath(own)).field('name', 'core-tool').field('name', 'other');
    await twoNames
      .field('version', '1.0')
      .attach('content', Buffer.from('x'), 'core_tool-1.0.tar.gz')
      .expect(403, refused);
    await uploaded(app, maintainer, own, { name: 'core-tool' });
  });
});

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
