import type { DirectoryProject } from '@rookery/contracts';
import { BlobStorage } from '@rookery/blobs';
import type { Viewer } from '@rookery/kernel';
import { registerProjectDeletionTests, registerForeignParentTests, registerVisibilityTests } from '@rookery/testing';
import type { DirectorySeed, TestApp } from '@rookery/testing';
import { BlobSweepJob } from '../../src/packages/removal/blob-sweep.job';
import { startPackage } from '../support/app';
import type { PackageService } from '../support/app';

const PNG = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.from('pixels')]);
const SVG = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
const HTML = Buffer.from('<!doctype html><script>alert(1)</script>');

let service: PackageService;
let seed: DirectorySeed;
let app: TestApp;
let project: DirectoryProject;
let guest: Viewer;

beforeAll(async () => {
  service = await startPackage();
  ({ seed, app } = service);
  project = await seed.project({ visibility: 'private' });
  guest = await createMember(project);
});
afterAll(() => service.close());

async function createMember(of: DirectoryProject): Promise<Viewer> {
  const user = await seed.user();
  await seed.member(user, of, 'guest');
  return seed.viewer(user);
}

interface Uploaded {
  readonly id: number;
  readonly full_path: string;
}
const uploadsPath = ({ id }: Pick<DirectoryProject, 'id'>) => `/api/v4/projects/${id}/uploads`;
const upload = (content: Buffer, name: string, viewer = guest, of = project) =>
  app.as(viewer).post(uploadsPath(of)).attach('file', content, name);
const storeUpload = async (content: Buffer, name: string): Promise<Uploaded> =>
  (await upload(content, name).expect(201)).body as Uploaded;
const download = (path: string, viewer = guest) => app.as(viewer).get(path).buffer(true);

it('stores a picture, which browsers show', async () => {
  const { status, body } = await upload(PNG, 'Ü x.png');
  const secret = expect.stringMatching(/^[0-9a-f]{32}$/);
  const [, , , , , given] = (body as Uploaded).full_path.split('/');
  expect(given).toEqual(secret);
  const url = `/uploads/${given}/%C3%9C_x.png`;
  expect([status, body]).toEqual([
    201,
    {
      ...{ id: expect.any(Number), alt: 'Ü_x', url, full_path: `/-/project/${project.id}${url}` },
      markdown: `![Ü_x](${url})`,
    },
  ]);
  const file = await download((body as Uploaded).full_path);
  expect([file.status, file.body]).toEqual([200, PNG]);
  expect(file.headers).toMatchObject({
    'content-type': 'image/png',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'",
    'content-disposition': expect.stringMatching(/^inline;/),
    'content-length': String(PNG.length),
  });
});

it.each([
  ['a.svg', SVG],
  ['a.html', HTML],
  ['a.png', HTML],
  ['a.txt', Buffer.from('text')],
  ['empty', Buffer.alloc(0)],
])('offers %s as an attachment only', async (name, content) => {
  const { body } = await upload(content, name).expect(201);
  const { url } = body as { url: string };
  expect(body).toMatchObject({ alt: name, markdown: `[${name}](${url})` });
  const file = await download((body as Uploaded).full_path);
  expect([file.status, file.body]).toEqual([200, content]);
  expect(file.headers).toMatchObject({
    'content-type': 'application/octet-stream',
    'x-content-type-options': 'nosniff',
    'content-disposition': expect.stringMatching(/^attachment;/),
  });
});

it('answers HEAD, ranges and known versions', async () => {
  const { full_path: path } = await storeUpload(Buffer.from('0123456789'), 'a.txt');
  const head = await app.as(guest).head(path);
  expect([head.status, head.headers['content-length'], head.text]).toEqual([200, '10', undefined]);
  const part = await download(path).set('range', 'bytes=2-4');
  expect([part.status, part.body.toString(), part.headers['content-range']]).toEqual([206, '234', 'bytes 2-4/10']);
  expect((await download(path).set('range', 'bytes=20-')).status).toBe(416);
  expect((await download(path).set('if-none-match', head.headers['etag'] as string)).status).toBe(304);
});

it('takes one file of a form and skips other parts', async () => {
  const { body } = await app
    .as(guest)
    .post(uploadsPath(project))
    .field('alt', 'x')
    .attach('other', Buffer.from('other'), 'other.txt')
    .attach('file', Buffer.from('first'), 'first.txt')
    .attach('file', Buffer.from('second'), 'second.txt')
    .expect(201);
  expect(body).toMatchObject({ alt: 'first.txt' });
  expect((await download((body as Uploaded).full_path)).body.toString()).toBe('first');
});

it('refuses a body without a file', async () => {
  const post = () => app.as(guest).post(uploadsPath(project));
  const half = '--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nhalf';
  const answers = {
    'file is missing': [
      await post().field('file', 'text'),
      await post().attach('other', Buffer.from('x'), 'x'),
      await post().send({ file: 'text' }),
      await post(),
    ],
    'file is invalid': [await post().set('content-type', 'multipart/form-data; boundary=b').send(half)],
  };
  for (const [error, refused] of Object.entries(answers))
    for (const { status, body } of refused) expect([status, body]).toEqual([400, { error }]);
});

it('refuses a file that is too large', async () => {
  const chunk = Buffer.alloc(101 * 1024 * 1024);
  const { status, body } = await upload(chunk, 'large');
  expect([status, body]).toEqual([413, { message: '413 Request Entity Too Large' }]);
});

it('is not found under another name or secret', async () => {
  const { full_path: path } = await storeUpload(PNG, 'a.png');
  for (const other of [path.replace('a.png', 'b.png'), path.replace(/[0-9a-f]{32}/, '0'.repeat(32))]) {
    const { status, body } = await app.as(guest).get(other);
    expect([status, body]).toEqual([404, { message: '404 Not found' }]);
  }
});

it('survives the sweep of contents that no row names', async () => {
  const { full_path: path } = await storeUpload(Buffer.from('kept'), 'kept.txt');
  const sweep = jest.spyOn(app.get(BlobStorage), 'sweep').mockImplementation(async ({ findReferenced }) => {
    const keys = [...(await findReferenced([await findBlobKey(path), 'f'.repeat(64)]))];
    expect(keys).toEqual([await findBlobKey(path)]);
    return { examined: 0, removed: 0, removedBytes: 0, leftovers: 0 };
  });
  await app.get(BlobSweepJob).sweep({ signal: new AbortController().signal } as never);
  expect(sweep).toHaveBeenCalledTimes(1);
  expect((await download(path)).body.toString()).toBe('kept');
});

async function findBlobKey(path: string): Promise<string> {
  const { headers } = await app.as(guest).head(path);
  return (headers['etag'] as string).replaceAll('"', '');
}

describe('a file of another project', () => {
  registerForeignParentTests({
    app: () => app,
    viewer: () => guest,
    async requests() {
      const { full_path: path } = await storeUpload(PNG, 'a.png');
      const other = await seed.project({ visibility: 'public' });
      return [{ method: 'GET', path: path.replace(`/project/${project.id}/`, `/project/${other.id}/`) }];
    },
  });
});

describe('access', () => {
  async function place(level: 'private' | 'internal' | 'public', standing: string, archived = false) {
    const of = await seed.project({ visibility: level, archived });
    const isStranger = ['anonymous', 'external', 'outsider', 'admin'].includes(standing);
    const user = await seed.user({ admin: standing === 'admin', external: standing === 'external' });
    if (!isStranger) await seed.member(user, of, standing as 'guest');
    return { of, viewer: standing === 'anonymous' ? seed.anonymous() : seed.viewer(user) };
  }

  registerVisibilityTests({
    app: () => app,
    async from(level, standing) {
      const { of, viewer } = await place(level, standing);
      const { body } = await upload(PNG, 'a.png', await createMember(of), of).expect(201);
      return { viewer, path: (body as Uploaded).full_path };
    },
  });

  registerVisibilityTests({
    app: () => app,
    async from(level, standing) {
      const { of, viewer } = await place(level, standing);
      return { viewer, method: 'POST', path: uploadsPath(of) };
    },
    anonymous: 401,
    // Callers who may upload sent no file.
    seen: (standing) => (/anonymous|external|outsider/.test(standing) ? 403 : 400),
  });

  it('does not change archived projects', async () => {
    const { of, viewer } = await place('public', 'owner', true);
    const { status, body } = await upload(PNG, 'a.png', viewer, of);
    expect([status, body]).toEqual([403, { message: '403 Forbidden' }]);
  });
});

describe('removal', () => {
  registerProjectDeletionTests({
    service: () => service,
    effect: 'drop-uploads',
    tables: ['uploads'],
    fill: async (owner, of) => owner.post(uploadsPath(of)).attach('file', PNG, 'a.png').expect(201),
  });
});
