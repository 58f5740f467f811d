import { createHash, randomBytes } from 'node:crypto';
import type { DirectoryProject } from '@rookery/contracts';
import type { Repository } from '@rookery/git';
import type { Viewer } from '@rookery/kernel';
import type { SeededService } from '@rookery/testing';
import type { Response } from 'supertest';
import { startCollaboration } from '../support/app';
import { codeAccess, commitFiles, gitIn, repositoryOf } from '../support/files-repository';

const LARGE = randomBytes(11 * 1024 * 1024);
const CYRILLIC = 'каталог/файл "x".txt';
let service: SeededService;
let viewer: Viewer;
let project: DirectoryProject;
let repository: Repository;
let fullPath: string;
let [first, second]: string[] = [];

beforeAll(async () => {
  service = await startCollaboration();
  viewer = service.seed.viewer(await service.seed.user());
  const group = await service.seed.group();
  project = await service.seed.project({ namespace_id: group.id });
  fullPath = `${group.full_path}/${project.path}`;
  repository = await repositoryOf(service, project);
  const files = {
    'lib/class.rb': 'one\ntwo\nthree\n',
    'bin/run': { mode: '100755', content: '#!/bin/sh\n' },
    [CYRILLIC]: 'text\n',
    'a.bin': Buffer.from([0, 1, 255]),
    'page.svg': '<svg onload="alert(1)"/>',
    link: { mode: '120000', content: 'lib' },
    module: { mode: '160000', content: 'a'.repeat(40) },
    empty: '',
  };
  first = commitFiles(repository, files, { message: 'First\n\nText\n' });
  second = commitFiles(
    repository,
    { ...files, 'lib/class.rb': 'one\nTWO\nthree\n', large: LARGE },
    { message: 'Second', at: 1_700_000_100 },
  );
  commitFiles(repository, { x: 'x' }, { branch: 'feature/ü' });
  gitIn(repository, ['tag', '-a', '-m', 'Release', 'v1.0', first]);
});
afterAll(() => service.close());

const url = (path: string, suffix = '', at: number | string = project.id): string =>
  `/api/v4/projects/${at}/repository/files/${encodeURIComponent(path)}${suffix}`;
const show = (path: string, query: object = { ref: 'main' }, suffix = ''): Promise<Response> =>
  service.app.as(viewer).get(url(path, suffix)).query(query);
const objectIdOf = (name: string): string => gitIn(repository, ['rev-parse', name]).trim();

function rookeryHeadersOf({ headers }: Response): Record<string, string> {
  const all = headers as Record<string, string>;
  return Object.fromEntries(Object.entries(all).filter(([name]) => name.startsWith('x-gitlab-')));
}

it('shows a file with its facts, in the body and in headers', async () => {
  const answer = await show('lib/class.rb');
  const content = Buffer.from('one\nTWO\nthree\n');
  const sha256 = createHash('sha256').update(content).digest('hex');
  expect(answer.body).toEqual({
    file_name: 'class.rb',
    file_path: 'lib/class.rb',
    size: 14,
    encoding: 'base64',
    content_sha256: sha256,
    ref: 'main',
    blob_id: objectIdOf('main:lib/class.rb'),
    commit_id: second,
    last_commit_id: second,
    execute_filemode: false,
    content: content.toString('base64'),
  });
  const expected = {
    'x-gitlab-blob-id': objectIdOf('main:lib/class.rb'),
    'x-gitlab-commit-id': second,
    'x-gitlab-content-sha256': sha256,
    'x-gitlab-encoding': 'base64',
    'x-gitlab-execute-filemode': 'false',
    'x-gitlab-file-name': 'class.rb',
    'x-gitlab-file-path': 'lib/class.rb',
    'x-gitlab-last-commit-id': second,
    'x-gitlab-ref': 'main',
    'x-gitlab-size': '14',
  };
  expect(rookeryHeadersOf(answer)).toEqual(expected);
  for (const suffix of ['', '/raw', '/blame']) {
    const head = await service.app.as(viewer).head(url('lib/class.rb', suffix)).query({ ref: 'main' });
    expect([head.status, rookeryHeadersOf(head)]).toEqual([200, expected]);
  }
});

it('names the last commit of a file and its mode', async () => {
  const { body } = await show('bin/run');
  expect(body).toMatchObject({ commit_id: second, last_commit_id: first, execute_filemode: true });
  expect((await show('bin/run', { ref: 'v1.0' })).body).toMatchObject({ commit_id: first, ref: 'v1.0' });
});

it.each(['main', 'HEAD', 'refs/heads/main', 'v1.0', 'SHA', 'short SHA'])('accepts the revision %s', async (name) => {
  const ref = name === 'SHA' ? second! : name === 'short SHA' ? second!.slice(0, 8) : name;
  for (const suffix of ['', '/raw']) {
    const answer = await show('bin/run', { ref }, suffix);
    expect([answer.status, answer.headers['x-gitlab-ref']]).toEqual([200, ref]);
  }
});

it('finds odd names, and encodes them in headers', async () => {
  const answer = await show(CYRILLIC);
  expect(answer.body).toMatchObject({ file_path: CYRILLIC, file_name: 'файл "x".txt' });
  expect(decodeURIComponent(answer.headers['x-gitlab-file-path'] as string)).toBe(CYRILLIC);
  expect((await show('x', { ref: 'feature/ü' })).headers['x-gitlab-ref']).toBe('feature/%C3%BC');
  const byPath = await service.app
    .as(viewer)
    .get(url('bin/run', '', encodeURIComponent(fullPath)))
    .query({ ref: 'main' });
  expect(byPath.status).toBe(200);
});

it('shows a link as its target, and an empty file', async () => {
  expect(Buffer.from((await show('link')).body.content as string, 'base64').toString()).toBe('lib');
  expect((await show('empty')).body).toMatchObject({ size: 0, content: '' });
});

it('sends the bytes of a file with the headers that clients expect', async () => {
  const raw = await show('lib/class.rb', {}, '/raw');
  expect(raw.text).toBe('one\nTWO\nthree\n');
  expect(raw.headers).toMatchObject({
    'cache-control': 'max-age=0, private, must-revalidate, no-store, no-cache',
    pragma: 'no-cache',
    expires: 'Fri, 01 Jan 1990 00:00:00 GMT',
    'content-type': 'text/plain; charset=utf-8',
    'content-disposition': `inline; filename="class.rb"; filename*=UTF-8''class.rb`,
    'x-content-type-options': 'nosniff',
    'x-gitlab-ref': 'HEAD',
    'content-length': '14',
  });
  expect((await show('/lib/class.rb', { lfs: true }, '/raw')).text).toBe('one\nTWO\nthree\n');
});

it.each([
  ['page.svg', 'text/plain; charset=utf-8', 'inline'],
  ['a.bin', 'application/octet-stream', 'attachment'],
  ['large', 'application/octet-stream', 'attachment'],
  ['empty', 'text/plain; charset=utf-8', 'inline'],
])('sends %s as %s', async (name, type, disposition) => {
  const answer = await service.app.as(viewer).get(url(name, '/raw')).responseType('blob');
  expect(answer.headers['content-type']).toBe(type);
  expect(answer.headers['content-disposition']).toMatch(new RegExp(`^${disposition}; `));
  const { stdout } = await repository.run({ args: ['cat-file', 'blob', objectIdOf(`main:${name}`)] });
  expect((answer.body as Buffer).equals(stdout)).toBe(true);
});

it('limits files above 10 MiB to five a minute, except as raw bytes', async () => {
  for (let count = 0; count < 5; count += 1) {
    const { status, body } = await show('large');
    expect(status).toBe(200);
    expect(Buffer.from(body.content as string, 'base64').equals(LARGE)).toBe(true);
    expect(body.content_sha256).toBe(createHash('sha256').update(LARGE).digest('hex'));
  }
  const refused = await show('large');
  const text = `Requests for files larger than 10485760 bytes are limited to 5 a minute. Use ${url('large', '/raw')} instead.`;
  expect([refused.status, refused.body]).toEqual([429, { message: { error: text } }]);
  expect((await service.app.as(viewer).head(url('large')).query({ ref: 'main' })).status).toBe(200);
});

describe('blame', () => {
  const author = { author_name: 'Wren', author_email: 'wren@example.org' };
  const committer = { committer_name: 'Wren', committer_email: 'wren@example.org' };

  it('groups neighbouring lines by commit', async () => {
    const { body, headers } = await show('lib/class.rb', { ref: 'main' }, '/blame');
    const old = {
      id: first,
      parent_ids: [],
      message: 'First\n\nText\n',
      authored_date: '2023-11-15T00:13:20.000+02:00',
      committed_date: '2023-11-15T00:13:20.000+02:00',
      ...author,
      ...committer,
    };
    expect(body).toEqual([
      { commit: old, lines: ['one'] },
      { commit: expect.objectContaining({ id: second, parent_ids: [first], message: 'Second' }), lines: ['TWO'] },
      { commit: old, lines: ['three'] },
    ]);
    expect(headers['x-gitlab-file-path']).toBe('lib/class.rb');
  });

  it.each([
    [{ 'range[start]': 2, 'range[end]': 2 }, [['TWO']]],
    [{ 'range[start]': 2, 'range[end]': 99 }, [['TWO'], ['three']]],
    [{ 'range[start]': 50, 'range[end]': 99 }, []],
  ])('reads the range %j', async (range, expected) => {
    const { body } = await show('lib/class.rb', { ref: 'main', ...range }, '/blame');
    expect((body as { lines: string[] }[]).map(({ lines }) => lines)).toEqual(expected);
  });

  it('of an empty file is empty', async () => {
    expect((await show('empty', { ref: 'main' }, '/blame')).body).toEqual([]);
  });

  it.each([
    [{ 'range[start]': 3, 'range[end]': 2 }, { message: 'range[start] must be less than or equal to range[end]' }],
    [{ 'range[start]': 0, 'range[end]': 2 }, { error: 'range[start] does not have a valid value' }],
    [{ 'range[start]': 1 }, { error: 'range[end] is missing' }],
    [{ 'range[start]': 'x', 'range[end]': 2 }, { error: 'range[start] is invalid' }],
  ])('refuses the range %j', async (range, expected) => {
    const { status, body } = await show('lib/class.rb', { ref: 'main', ...range }, '/blame');
    expect([status, body]).toEqual([400, expected]);
  });
});

describe('refusals', () => {
  it.each([
    ['lib/class.rb', { ref: 'nothing' }, '404 Commit Not Found'],
    ['lib/class.rb', { ref: '-x' }, '404 Commit Not Found'],
    ['nothing', { ref: 'main' }, '404 File Not Found'],
    ['lib/nothing', { ref: 'main' }, '404 File Not Found'],
    ['lib', { ref: 'main' }, '404 File Not Found'],
    ['module', { ref: 'main' }, '404 File Not Found'],
    ['lib//class.rb', { ref: 'main' }, '404 File Not Found'],
    ['./lib/class.rb', { ref: 'main' }, '404 File Not Found'],
  ])('answer 404 for %s at %j', async (path, query, message) => {
    for (const suffix of ['', '/raw', '/blame']) {
      const { status, body } = await show(path, query, suffix);
      expect([status, body]).toEqual([404, { message }]);
    }
  });

  it.each(['../x', 'a/../b', '..'])('answer 400 for the path %s', async (path) => {
    for (const suffix of ['', '/raw', '/blame']) {
      const { status, body } = await show(path, { ref: 'main' }, suffix);
      expect([status, body]).toEqual([400, { error: 'file_path should be a valid file path' }]);
    }
  });

  it('answer 400 for an absolute path, except as raw bytes', async () => {
    for (const suffix of ['', '/blame']) {
      const { status, body } = await show('/lib/class.rb', { ref: 'main' }, suffix);
      expect([status, body]).toEqual([400, { error: 'file_path should be a valid file path' }]);
    }
  });

  it.each([
    [{}, 'ref is missing, ref is empty'],
    [{ ref: ' ' }, 'ref is empty'],
  ])('answer 400 for the revision %j', async (query, error) => {
    for (const suffix of ['', '/blame']) {
      const { status, body } = await show('lib/class.rb', query, suffix);
      expect([status, body]).toEqual([400, { error }]);
    }
  });

  it('answer 404 in an empty repository and in an unknown project', async () => {
    const empty = await service.seed.project();
    const answer = await service.app
      .as(viewer)
      .get(url('a', '', empty.id))
      .query({ ref: 'main' });
    expect([answer.status, answer.body]).toEqual([404, { message: '404 Commit Not Found' }]);
    const unknown = await service.app
      .as(viewer)
      .get(url('a', '', 999_999))
      .query({ ref: 'main' });
    expect([unknown.status, unknown.body]).toEqual([404, { message: '404 Project Not Found' }]);
  });
});

it('opens to tokens that read repositories', async () => {
  const scoped = { ...viewer, scopes: ['read_repository'] };
  for (const suffix of ['', '/raw', '/blame'])
    await service.app.as(scoped).get(url('bin/run', suffix)).query({ ref: 'main' }).expect(200);
});

describe.each(['', '/raw', '/blame'])('access to files%s', (suffix) => {
  codeAccess('reads', {
    service: () => service,
    fill: (made) => void commitFiles(made, { a: 'a\n' }),
    ask: async (by, id) =>
      (
        await service.app
          .as(by)
          .get(url('a', suffix, id))
          .query({ ref: 'main' })
      ).status,
  });
});
