import { createHash, randomBytes } from 'node:crypto';
import type { DirectoryProject } from '@rookery/contracts';
import type { Repository } from '@rookery/git';
import type { Viewer } from '@rookery/kernel';
import type { SeededService } from '@rookery/testing';
import type { Response } from 'supertest';
import { startCollaboration } from '../support/app';
import { codeAccess, commitFiles, gitIn, repositoryOf } from '../support/files-repository';

const LARGE = randomBytes(11 * 1024 * 1024);
const MEDIUM = Buffer.from('ü'.repeat(1024 * 1024));
let service: SeededService;
let viewer: Viewer;
let project: DirectoryProject;
let repository: Repository;

beforeAll(async () => {
  service = await startCollaboration();
  viewer = service.seed.viewer(await service.seed.user());
  project = await service.seed.project();
  repository = await repositoryOf(service, project);
  commitFiles(repository, {
    'a.txt': 'hello\n',
    'a.bin': Buffer.from([0, 255, 1]),
    'page.html': '<script>alert(1)</script>',
    empty: '',
    large: LARGE,
    medium: MEDIUM,
  });
});
afterAll(() => service.close());

const idOf = (name: string): string => gitIn(repository, ['rev-parse', name]).trim();
const url = (sha: string): string => `/api/v4/projects/${project.id}/repository/blobs/${sha}`;
const get = (sha: string, raw = ''): Promise<Response> => service.app.as(viewer).get(url(sha) + raw);
const getRawBlob = (sha: string): Promise<Response> =>
  service.app
    .as(viewer)
    .get(`${url(sha)}/raw`)
    .responseType('blob');

it.each([
  ['a.txt', Buffer.from('hello\n')],
  ['a.bin', Buffer.from([0, 255, 1])],
  ['empty', Buffer.alloc(0)],
  ['medium', MEDIUM],
])('shows %s with its content in base64', async (name, content) => {
  const sha = idOf(`main:${name}`);
  const { body, headers } = await get(sha);
  expect(body).toEqual({ size: content.length, encoding: 'base64', content: content.toString('base64'), sha });
  expect(headers['content-type']).toBe('application/json');
  expect(headers['etag']).toBe(`"${sha}"`);
});

it('accepts an abbreviated id, and compares versions', async () => {
  const sha = idOf('main:a.txt');
  expect((await get(sha.slice(0, 8))).body.sha).toBe(sha);
  await service.app.as(viewer).get(url(sha)).set('if-none-match', `"${sha}"`).expect(304);
});

it.each([
  ['a.txt', 'text/plain; charset=utf-8', 'inline'],
  ['page.html', 'text/plain; charset=utf-8', 'inline'],
  ['medium', 'text/plain; charset=utf-8', 'inline'],
  ['a.bin', 'application/octet-stream', 'attachment'],
  ['large', 'application/octet-stream', 'attachment'],
])('downloads %s as %s', async (name, type, disposition) => {
  const answer = await getRawBlob(idOf(`main:${name}`));
  expect(answer.status).toBe(200);
  expect(answer.headers).toMatchObject({ 'content-type': type, 'x-content-type-options': 'nosniff' });
  expect(answer.headers['content-disposition']).toMatch(new RegExp(`^${disposition}; `));
  const { stdout } = await repository.run({ args: ['cat-file', 'blob', idOf(`main:${name}`)] });
  expect((answer.body as Buffer).equals(stdout)).toBe(true);
});

it('downloads ranges of small and of large blobs', async () => {
  for (const [name, content] of [
    ['a.txt', Buffer.from('hello\n')],
    ['large', LARGE],
  ] as const) {
    const answer = await service.app
      .as(viewer)
      .get(`${url(idOf(`main:${name}`))}/raw`)
      .set('range', 'bytes=2-4')
      .responseType('blob');
    expect([answer.status, (answer.body as Buffer).equals(content.subarray(2, 5))]).toEqual([206, true]);
  }
});

it('answers HEAD with the size', async () => {
  const sha = idOf('main:large');
  const shown = await service.app.as(viewer).head(url(sha));
  const rest = JSON.stringify({ size: LARGE.length, encoding: 'base64', content: '', sha }).length;
  expect([shown.status, Number(shown.headers['content-length'])]).toEqual([
    200,
    4 * Math.ceil(LARGE.length / 3) + rest,
  ]);
  const raw = await service.app.as(viewer).head(`${url(sha)}/raw`);
  expect([raw.status, raw.headers['content-length']]).toEqual([200, String(LARGE.length)]);
});

it.each(['0'.repeat(40), 'abc', 'main', 'main:a.txt', '-x', 'deadbeef'])('answers 404 for %s', async (sha) => {
  for (const answer of [await get(encodeURIComponent(sha)), await get(encodeURIComponent(sha), '/raw')])
    expect([answer.status, answer.body]).toEqual([404, { message: '404 Blob Not Found' }]);
});

it('answers 404 for objects that are no blobs', async () => {
  for (const name of ['main', 'main^{tree}']) {
    const { status, body } = await get(idOf(name));
    expect([status, body]).toEqual([404, { message: '404 Blob Not Found' }]);
  }
});

it('limits blobs above 10 MiB to five a minute, except as raw bytes', async () => {
  const sha = idOf('main:large');
  for (let count = 0; count < 5; count += 1) {
    const { status, text } = await get(sha);
    const { content } = JSON.parse(text) as { content: string };
    const digest = (data: Buffer): string => createHash('sha256').update(data).digest('hex');
    expect([status, digest(Buffer.from(content, 'base64'))]).toEqual([200, digest(LARGE)]);
  }
  const refused = await get(sha);
  expect([refused.status, refused.body]).toEqual([
    429,
    {
      message: {
        error: `Requests for files larger than 10485760 bytes are limited to 5 a minute. Use ${url(sha)}/raw instead.`,
      },
    },
  ]);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  expect((await get(idOf('main:a.txt'))).status).toBe(200);
  expect((await getRawBlob(sha)).status).toBe(200);
  expect((await service.app.as(viewer).head(url(sha))).status).toBe(200);
});

it('opens to tokens that read repositories', async () => {
  const scoped = { ...viewer, scopes: ['read_repository'] };
  const sha = idOf('main:a.txt');
  await service.app.as(scoped).get(url(sha)).expect(200);
  await service.app
    .as(scoped)
    .get(`${url(sha)}/raw`)
    .expect(200);
});

describe.each(['', '/raw'])('access to blobs%s', (suffix) => {
  let sha = '';
  codeAccess('reads', {
    service: () => service,
    fill: (made) => {
      commitFiles(made, { a: 'a' });
      sha = gitIn(made, ['rev-parse', 'main:a']).trim();
    },
    ask: async (by, id) => {
      const answer = await service.app.as(by).get(`/api/v4/projects/${id}/repository/blobs/${sha}${suffix}`);
      return answer.status;
    },
  });
});
