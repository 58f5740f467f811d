import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DirectoryProject } from '@rookery/contracts';
import type { Repository } from '@rookery/git';
import type { Viewer } from '@rookery/kernel';
import type { SeededService } from '@rookery/testing';
import type { Response } from 'supertest';
import { startCollaboration } from '../support/app';
import { codeAccess, commitFiles, gitIn, repositoryOf } from '../support/files-repository';

let service: SeededService;
let viewer: Viewer;
let project: DirectoryProject;
let repository: Repository;
let tip: string;
let folder: string;

beforeAll(async () => {
  service = await startCollaboration();
  viewer = service.seed.viewer(await service.seed.user());
  project = await service.seed.project({ path: 'nest' });
  repository = await repositoryOf(service, project);
  commitFiles(repository, { other: 'x' }, { branch: 'feature/ü' });
  tip = commitFiles(repository, {
    'README.md': 'hello\n',
    'src/main.c': 'main',
    'src/deep/x.c': 'x',
    'test/t.c': 't',
    secret: 's',
    '.gitattributes': 'secret export-ignore\nversion export-subst\n',
    version: '$Format:%H$',
  });
  gitIn(repository, ['tag', 'v1.0', tip]);
  folder = mkdtempSync(join(tmpdir(), 'rookery-archives-'));
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await service.close();
});

const archivePath = (suffix = '', at: number = project.id): string =>
  `/api/v4/projects/${at}/repository/archive${suffix}`;
const get = (suffix = '', query: object = {}): Promise<Response> =>
  service.app.as(viewer).get(archivePath(suffix)).query(query).responseType('blob');
const attachmentName = ({ headers }: Response): string =>
  /filename="([^"]+)"/.exec(headers['content-disposition'] as string)![1]!;

/** Names and contents of a tar archive. */
function unpack(answer: Response, ...args: string[]): string[] {
  const file = join(folder, 'archive');
  writeFileSync(file, answer.body as Buffer);
  const listed = execFileSync('tar', [...args, '-tf', file]).toString();
  return listed.split('\n').filter((name) => name !== '' && !name.endsWith('/'));
}

it.each([
  ['', 'tar.gz', '\x1f\x8b'],
  ['.tar.gz', 'tar.gz', '\x1f\x8b'],
  ['.tgz', 'tar.gz', '\x1f\x8b'],
  ['.gz', 'tar.gz', '\x1f\x8b'],
  ['.tar', 'tar', `nest-main-`],
  ['.tar.bz2', 'tar.bz2', 'BZh'],
  ['.tbz', 'tar.bz2', 'BZh'],
  ['.tbz2', 'tar.bz2', 'BZh'],
  ['.tb2', 'tar.bz2', 'BZh'],
  ['.bz2', 'tar.bz2', 'BZh'],
  ['.zip', 'zip', 'PK'],
])('answers archive%s with a %s', async (suffix, extension, magic) => {
  const answer = await get(suffix);
  expect([answer.status, attachmentName(answer)]).toEqual([200, `nest-main-${tip}.${extension}`]);
  expect((answer.body as Buffer).toString('latin1').startsWith(magic) || extension === 'tar').toBe(true);
  expect(answer.headers['content-type']).toBe(extension === 'zip' ? 'application/zip' : 'application/octet-stream');
  const asParameter = await get('', suffix === '' ? {} : { format: suffix.slice(1) });
  expect((asParameter.body as Buffer).equals(answer.body as Buffer)).toBe(true);
});

it('holds the files of the commit in one folder, with the attributes of git', async () => {
  const answer = await get('.tar.gz');
  const top = `nest-main-${tip}`;
  expect(unpack(answer, '-z').sort()).toEqual(
    ['.gitattributes', 'README.md', 'src/deep/x.c', 'src/main.c', 'test/t.c', 'version'].map(
      (name) => `${top}/${name}`,
    ),
  );
  const version = execFileSync('tar', ['-xzOf', join(folder, 'archive'), `${top}/version`]).toString();
  expect(version).toBe(tip);
});

it('has the same bytes and the same name for the default branch, named or not', async () => {
  const [unnamed, named, again] = [await get(), await get('', { sha: 'main' }), await get()];
  expect((unnamed.body as Buffer).equals(named.body as Buffer)).toBe(true);
  expect((unnamed.body as Buffer).equals(again.body as Buffer)).toBe(true);
  expect(attachmentName(named)).toBe(attachmentName(unnamed));
  expect(named.headers['etag']).toBe(unnamed.headers['etag']);
  const tagged = await get('.tar.gz', { sha: 'v1.0' });
  expect(attachmentName(tagged)).toBe(`nest-v1.0-${tip}.tar.gz`);
  expect(tagged.headers['etag']).not.toBe(unnamed.headers['etag']);
});

it('names branches with a slash', async () => {
  const other = gitIn(repository, ['rev-parse', 'feature/ü']).trim();
  const answer = await get('.zip', { sha: 'feature/ü' });
  expect(answer.headers['content-disposition']).toContain(`filename*=UTF-8''nest-feature-%C3%BC-${other}.zip`);
});

it.each([
  [{ path: 'src' }, ['src/deep/x.c', 'src/main.c'], '-src'],
  [{ path: 'src/deep/' }, ['src/deep/x.c'], '-src-deep'],
  [{ path: 'src', exclude_paths: 'src/deep' }, ['src/main.c'], '-src'],
  [{ exclude_paths: 'src/deep,test/,/odd,README.md' }, ['.gitattributes', 'src/main.c', 'version'], ''],
  [{ exclude_paths: '*' }, ['.gitattributes', 'README.md', 'src/deep/x.c', 'src/main.c', 'test/t.c', 'version'], ''],
])('limits the archive by %j', async (query, names, suffix) => {
  const answer = await get('.tar', query);
  const top = `nest-main-${tip}${suffix}`;
  expect(attachmentName(answer)).toBe(`${top}.tar`);
  expect(unpack(answer).sort()).toEqual(names.map((name) => `${top}/${name}`));
});

it('leaves out everything', async () => {
  const answer = await get('.tar', { path: 'test', exclude_paths: 'test' });
  expect([answer.status, unpack(answer)]).toEqual([200, []]);
});

it('answers HEAD, and 304 for a version that the client has', async () => {
  const head = await service.app.as(viewer).head(archivePath('.zip'));
  expect([head.status, head.headers['content-type']]).toEqual([200, 'application/zip']);
  const etag = head.headers['etag'] as string;
  await service.app.as(viewer).get(archivePath('.zip')).set('if-none-match', etag).expect(304);
});

it.each([
  [{ sha: 'nothing' }, ''],
  [{ sha: '-x' }, '.zip'],
  [{ path: 'nothing' }, ''],
  [{ path: '../x' }, '.tar.gz'],
])('answers 404 for %j', async (query, suffix) => {
  const { status, body } = await service.app.as(viewer).get(archivePath(suffix)).query(query);
  expect([status, body]).toEqual([404, { message: '404 File Not Found' }]);
});

it('answers 404 for an empty repository, and 400 for an unknown format', async () => {
  const empty = await service.seed.project();
  const missing = await service.app.as(viewer).get(archivePath('.zip', empty.id));
  expect([missing.status, missing.body]).toEqual([404, { message: '404 File Not Found' }]);
  for (const [suffix, query] of [
    ['.rar', {}],
    ['', { format: 'rar' }],
  ] as const) {
    const { status, body } = await service.app.as(viewer).get(archivePath(suffix)).query(query);
    expect([status, body]).toEqual([400, { error: 'format does not have a valid value' }]);
  }
});

it('opens to tokens that read repositories', async () => {
  const scoped = { ...viewer, scopes: ['read_repository'] };
  for (const suffix of ['', '.zip']) await service.app.as(scoped).get(archivePath(suffix)).expect(200);
});

it('limits archives of one user and project to 60 a minute', async () => {
  const other = service.seed.viewer(await service.seed.user());
  const path = archivePath('.tar');
  for (let count = 0; count < 60; count += 1) await service.app.as(other).get(path).expect(200);
  const { status, body } = await service.app.as(other).get(path);
  expect([status, body]).toEqual([
    429,
    { message: { error: 'This archive has been requested too many times. Try again later.' } },
  ]);
  await service.app.as(viewer).get(path).expect(200);
});

describe.each(['', '.zip'])('access to archive%s', (suffix) => {
  codeAccess('reads', {
    service: () => service,
    fill: (made) => void commitFiles(made, { a: 'a' }),
    ask: async (by, id) => (await service.app.as(by).get(archivePath(suffix, id))).status,
  });
});
