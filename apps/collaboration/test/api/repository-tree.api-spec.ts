import type { DirectoryProject } from '@rookery/contracts';
import type { Repository } from '@rookery/git';
import type { Viewer } from '@rookery/kernel';
import type { SeededService } from '@rookery/testing';
import type { Response } from 'supertest';
import { startCollaboration } from '../support/app';
import { codeAccess, commitFiles, gitIn, repositoryOf } from '../support/files-repository';
import type { Files } from '../support/files-repository';

const TREE_ID = '^[0-9a-f]{40}$';
let service: SeededService;
let viewer: Viewer;
let project: DirectoryProject;
let repository: Repository;
let fullPath: string;

const FILES: Files = {
  'README.md': 'hello\n',
  'a.b': 'x',
  'a/deep/run.sh': { mode: '100755', content: '#!/bin/sh\n' },
  'a/x.txt': 'x',
  'lib/class.rb': 'class\n',
  'lib/ü "q".rb': 'quoted',
  link: { mode: '120000', content: 'README.md' },
  module: { mode: '160000', content: 'a'.repeat(40) },
};

beforeAll(async () => {
  service = await startCollaboration();
  viewer = service.seed.viewer(await service.seed.user());
  const group = await service.seed.group();
  project = await service.seed.project({ namespace_id: group.id });
  fullPath = `${group.full_path}/${project.path}`;
  repository = await repositoryOf(service, project);
  commitFiles(repository, { 'only/here.txt': 'x' }, { branch: 'feature/ü"x' });
  commitFiles(repository, FILES);
  gitIn(repository, ['tag', 'v1.0', 'main']);
});
afterAll(() => service.close());

const list = (query: object = {}, at: number | string = project.id): Promise<Response> =>
  service.app.as(viewer).get(`/api/v4/projects/${at}/repository/tree`).query(query);
const paths = ({ body }: Response): string[] => (body as { path: string }[]).map(({ path }) => path);

it('lists folders, then files, then submodules, each with its mode', async () => {
  const { body, headers } = await list();
  const id = expect.stringMatching(TREE_ID) as string;
  expect(body).toEqual([
    { id, name: 'a', type: 'tree', path: 'a', mode: '040000' },
    { id, name: 'lib', type: 'tree', path: 'lib', mode: '040000' },
    { id, name: 'README.md', type: 'blob', path: 'README.md', mode: '100644' },
    { id, name: 'a.b', type: 'blob', path: 'a.b', mode: '100644' },
    { id, name: 'link', type: 'blob', path: 'link', mode: '120000' },
    { id: 'a'.repeat(40), name: 'module', type: 'commit', path: 'module', mode: '160000' },
  ]);
  expect(headers).toMatchObject({ 'x-total': '6', 'x-total-pages': '1', 'x-page': '1', 'x-per-page': '20' });
  expect(body[2].id).toBe(gitIn(repository, ['rev-parse', 'main:README.md']).trim());
});

it('lists everything below a folder, with paths from the root', async () => {
  expect(paths(await list({ recursive: true }))).toEqual([
    'a',
    'a/deep',
    'lib',
    'README.md',
    'a.b',
    'a/deep/run.sh',
    'a/x.txt',
    'lib/class.rb',
    'lib/ü "q".rb',
    'link',
    'module',
  ]);
  const below = await list({ recursive: 'true', path: 'a' });
  expect(paths(below)).toEqual(['a/deep', 'a/deep/run.sh', 'a/x.txt']);
  expect(below.body[1]).toMatchObject({ name: 'run.sh', mode: '100755' });
});

it.each([
  [{ path: 'lib' }, ['lib/class.rb', 'lib/ü "q".rb']],
  [{ path: 'lib/' }, ['lib/class.rb', 'lib/ü "q".rb']],
  [{ path: 'a/deep' }, ['a/deep/run.sh']],
  [{ path: '/', per_page: 1 }, ['a']],
  [{ path: '', per_page: 1 }, ['a']],
  [{ ref: '', per_page: 1 }, ['a']],
  [{ ref: 'HEAD', per_page: 1 }, ['a']],
  [{ ref: 'v1.0', per_page: 1 }, ['a']],
  [{ ref: 'refs/heads/main', per_page: 1 }, ['a']],
  [{ ref: 'feature/ü"x' }, ['only']],
])('finds the folder of %j', async (query, expected) => {
  expect(paths(await list(query))).toEqual(expected);
});

it('accepts commits, abbreviated ones too, and the full path of the project', async () => {
  const tip = gitIn(repository, ['rev-parse', 'main']).trim();
  for (const ref of [tip, tip.slice(0, 9)])
    expect(paths(await list({ ref, path: 'a' }))).toEqual(['a/deep', 'a/x.txt']);
  expect(paths(await list({ path: 'a/deep' }, encodeURIComponent(fullPath)))).toEqual(['a/deep/run.sh']);
});

it('counts pages by offset', async () => {
  const second = await list({ recursive: true, per_page: 4, page: 2 });
  expect(paths(second)).toEqual(['a.b', 'a/deep/run.sh', 'a/x.txt', 'lib/class.rb']);
  expect(second.headers).toMatchObject({
    'x-total': '11',
    'x-total-pages': '3',
    'x-next-page': '3',
    'x-prev-page': '1',
  });
  expect(second.headers['link']).toContain('rel="last"');
  const beyond = await list({ recursive: true, per_page: 4, page: 9 });
  expect([beyond.body, beyond.headers['x-next-page']]).toEqual([[], '']);
});

it.each([true, false])('follows links page by page, recursive: %s', async (recursive) => {
  const all = paths(await list({ recursive, per_page: 100 }));
  const seen: string[] = [];
  let url: string | undefined =
    `/api/v4/projects/${project.id}/repository/tree?pagination=keyset&per_page=2&recursive=${recursive}`;
  let count = 0;
  while (url !== undefined) {
    const answer: Response = await service.app.as(viewer).get(url);
    count += 1;
    seen.push(...paths(answer));
    for (const name of ['x-page', 'x-total', 'x-next-page']) expect(answer.headers[name]).toBeUndefined();
    const link = answer.headers['link'] as string | undefined;
    expect(link === undefined || /^<[^>]+>; rel="next"$/.test(link)).toBe(true);
    url =
      link &&
      link
        .slice(1)
        .replace(/^https?:\/\/[^/]+/, '')
        .split('>')[0];
  }
  expect(seen).toEqual(all);
  expect(count).toBe(Math.ceil(all.length / 2));
});

it('continues after an entry that is gone meanwhile', async () => {
  const other = await service.seed.project();
  const changing = await repositoryOf(service, other);
  commitFiles(changing, { a: '1', b: '2', c: '3', d: '4' });
  const first = await list({ pagination: 'keyset', per_page: 2 }, other.id);
  const token = /page_token=([^&>]+)/.exec(first.headers['link'] as string)![1]!;
  commitFiles(changing, { a: '1', c: '3', d: '4' });
  const second = await list({ pagination: 'keyset', per_page: 2, page_token: token }, other.id);
  expect(paths(second)).toEqual(['c', 'd']);
  expect((await list({ pagination: 'keyset', page_token: '%%' }, other.id)).status).toBe(200);
});

it('answers with everything at once, if the listing is recursive', async () => {
  const everything = await list({ recursive: true, pagination: 'none', per_page: 1 });
  expect(everything.body).toHaveLength(11);
  for (const name of ['link', 'x-page', 'x-total', 'x-per-page']) expect(everything.headers[name]).toBeUndefined();
  const refused = await list({ pagination: 'none' });
  expect([refused.status, refused.body]).toEqual([
    400,
    { error: 'pagination cannot be "none" unless "recursive" is true' },
  ]);
  const unknown = await list({ pagination: 'other' });
  expect([unknown.status, unknown.body]).toEqual([400, { error: 'pagination does not have a valid value' }]);
});

it.each([
  [{ ref: 'nothing' }, '404 Tree Not Found'],
  [{ ref: '-x' }, '404 Tree Not Found'],
  [{ ref: 'main~1' }, '404 Tree Not Found'],
  [{ path: 'nothing' }, '404 invalid revision or path Not Found'],
  [{ path: 'README.md' }, '404 invalid revision or path Not Found'],
  [{ path: 'module' }, '404 invalid revision or path Not Found'],
  [{ path: '../x' }, '404 invalid revision or path Not Found'],
  [{ path: '/lib' }, '404 invalid revision or path Not Found'],
  [{ path: 'lib//' }, '404 invalid revision or path Not Found'],
])('answers 404 for %j', async (query, message) => {
  const { status, body } = await list(query);
  expect([status, body]).toEqual([404, { message }]);
});

it('answers 404 for an empty repository, and for a project that the caller does not see', async () => {
  const empty = await service.seed.project();
  const refused = await list({}, empty.id);
  expect([refused.status, refused.body]).toEqual([404, { message: '404 Tree Not Found' }]);
  const hidden = await list({}, 999_999);
  expect([hidden.status, hidden.body]).toEqual([404, { message: '404 Project Not Found' }]);
});

it('opens to tokens that read repositories', async () => {
  const scoped = { ...viewer, scopes: ['read_repository'] };
  await service.app.as(scoped).get(`/api/v4/projects/${project.id}/repository/tree`).expect(200);
  await service.app.as(scoped).head(`/api/v4/projects/${project.id}/repository/tree`).expect(200);
});

it('pages through a large repository without reading it again', async () => {
  const large = await service.seed.project();
  const files = Object.fromEntries(Array.from({ length: 12_000 }, (_, n) => [`d${n % 40}/f${n}.txt`, 'x']));
  commitFiles(await repositoryOf(service, large), files);
  const page = await list({ recursive: true, per_page: 100, page: 120 }, large.id);
  expect(page.body).toHaveLength(100);
  // Above 10,000 entries there is no total.
  expect([page.headers['x-total'], page.headers['x-next-page']]).toEqual([undefined, '121']);
  expect((await list({ recursive: true, pagination: 'none' }, large.id)).body).toHaveLength(12_040);
});

describe('access', () => {
  codeAccess('reads', {
    service: () => service,
    fill: (made) => void commitFiles(made, { a: 'a' }),
    ask: async (by, id) => (await service.app.as(by).get(`/api/v4/projects/${id}/repository/tree`)).status,
  });
});
