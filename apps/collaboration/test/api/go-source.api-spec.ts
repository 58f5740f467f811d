import { INTERNAL_PATHS } from '@rookery/contracts';
import type { SourceCommitRequest, SourceTagsRequest } from '@rookery/contracts';
import type { Repository } from '@rookery/git';
import { internalAuthorization } from '@rookery/testing';
import type { SeededService } from '@rookery/testing';
import yauzl from 'yauzl';
import { startCollaboration } from '../support/app';
import { commitFiles, gitIn, repositoryOf } from '../support/files-repository';

let service: SeededService;
let project: { readonly id: number };
let repository: Repository;
let first: string;
let second: string;
const GO_MOD = 'module example.com/eggs\n';
beforeAll(async () => {
  service = await startCollaboration();
  const made = await service.seed.project({ default_branch: 'main' });
  project = made;
  repository = await repositoryOf(service, made);
  first = commitFiles(repository, { 'README.md': 'Eggs\n' });
  gitIn(repository, ['tag', 'v2.0.0', first]);
  second = commitFiles(repository, {
    ...{ 'go.mod': GO_MOD, 'eggs.go': 'package eggs\n', LICENSE: 'MIT\n', '.gitattributes': '*.go export-ignore\n' },
    ...{ 'sub/go.mod': 'module example.com/eggs/sub\n', 'sub/sub.go': 'package sub\n' },
    link: { mode: '120000', content: 'eggs.go' },
  });
  gitIn(repository, ['tag', '-a', 'v1.0.0', '-m', 'One', second]);
  gitIn(repository, ['tag', 'sub/v1.0.0', second]);
});
afterAll(() => service.close());

const KEY = internalAuthorization('package', 'collaboration');
const postInternal = (path: string, asked: object, authorization = KEY) =>
  service.app
    .bare()
    .post(path)
    .set('authorization', authorization)
    .send({ project_id: project.id, ...asked });
const COMMIT = { paths: ['go.mod', 'none/go.mod'], max_bytes: 100, keeps: false, finds_tags: false };
const readCommit = (asked: Partial<SourceCommitRequest>, authorization = KEY) =>
  postInternal(INTERNAL_PATHS.sourceCommit, { ...COMMIT, ...asked }, authorization);
const listTags = (asked: Partial<SourceTagsRequest>, authorization = KEY) =>
  postInternal(INTERNAL_PATHS.sourceTags, { prefix: '', path: 'go.mod', merged_into: null, ...asked }, authorization);
const openModule = (asked: object, authorization = KEY) =>
  postInternal(INTERNAL_PATHS.sourceModule, { commit: second, folder: '', prefix: 'm@v1', ...asked }, authorization)
    .buffer(true)
    .parse((response, done) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () => done(null, Buffer.concat(parts)));
    });
const entriesOf = (zip: Buffer): Promise<string[]> =>
  new Promise((resolve, reject) => {
    yauzl.fromBuffer(zip, {}, (error, file) => {
      if (error) return reject(error);
      const names: string[] = [];
      file.on('entry', (entry: { fileName: string }) => names.push(entry.fileName));
      file.on('end', () => resolve(names));
    });
  });

it('finds a commit with files by each kind of name', async () => {
  const goMod = Buffer.from(GO_MOD).toString('base64');
  for (const rev of ['refs/tags/v1.0.0', 'main', 'v1.0.0', second, second.slice(0, 12), null]) {
    const { body } = await readCommit({ rev }).expect(200);
    expect([rev, body.commit]).toEqual([
      rev,
      { id: second, committed_at: expect.any(String), contents: [goMod, null], tags: [] },
    ]);
    expect(Number.isNaN(Date.parse(body.commit.committed_at))).toBe(false);
  }
  const tagged = await readCommit({ rev: 'main', finds_tags: true, max_bytes: 3 });
  expect(tagged.body.commit).toMatchObject({ contents: ['', null], tags: ['sub/v1.0.0', 'v1.0.0'] });
  for (const rev of ['none', 'refs/tags/main', 'refs/heads/a..b', 'f'.repeat(40)])
    expect((await readCommit({ rev }).expect(200)).body).toEqual({ commit: null });
  expect((await readCommit({ rev: 'main', project_id: 987_654 })).body).toEqual({ commit: null });
});

it('keeps a commit if that is asked for', async () => {
  await readCommit({ rev: 'v2.0.0', keeps: true }).expect(200);
  const kept = gitIn(repository, ['for-each-ref', '--format=%(objectname)', 'refs/keep-around']).trim();
  expect(kept).toBe(first);
});

it('lists tags of versions, the highest first, with or without a file', async () => {
  expect((await listTags({}).expect(200)).body.tags).toEqual([
    { name: 'v2.0.0', has_file: false },
    { name: 'v1.0.0', has_file: true },
  ]);
  expect((await listTags({ prefix: 'sub/' })).body.tags).toEqual([{ name: 'sub/v1.0.0', has_file: true }]);
  expect((await listTags({ merged_into: first })).body.tags).toEqual([{ name: 'v2.0.0', has_file: false }]);
  expect((await listTags({ project_id: 987_654 })).body.tags).toEqual([]);
});

it('streams the files of a module, always with the same bytes', async () => {
  const { body, headers } = await openModule({}).expect(200);
  expect(headers['content-type']).toBe('application/zip');
  expect((await entriesOf(body as Buffer)).sort()).toEqual([
    ...['m@v1/.gitattributes', 'm@v1/LICENSE', 'm@v1/eggs.go', 'm@v1/go.mod'],
  ]);
  expect((await openModule({})).body).toEqual(body);
  const sub = await openModule({ folder: 'sub', prefix: 'm/sub@v1' });
  expect((await entriesOf(sub.body as Buffer)).sort()).toEqual([
    ...['m/sub@v1/LICENSE', 'm/sub@v1/go.mod', 'm/sub@v1/sub.go'],
  ]);
});

it('answers 404 without the commit, and for a module that Go refuses', async () => {
  for (const asked of [{ commit: 'f'.repeat(40) }, { project_id: 987_654 }]) await openModule(asked).expect(404);
  const commit = commitFiles(repository, { 'A.go': '', 'a.go': '' }, { branch: 'twins' });
  await openModule({ commit }).expect(404);
});

it('refuses malformed requests and other callers', async () => {
  for (const asked of [
    { rev: 1 },
    { rev: 'main', paths: ['../a'] },
    { rev: 'main', paths: 1 },
    { rev: 'main', max_bytes: -1 },
  ])
    await readCommit(asked as never).expect(400);
  for (const asked of [{ prefix: 1 }, { path: '' }, { merged_into: '--all' }])
    await listTags(asked as never).expect(400);
  for (const asked of [{ commit: 'main' }, { folder: '../a' }, { prefix: '' }, { project_id: 'x' }])
    await openModule(asked).expect(400);
  const other = internalAuthorization('import', 'collaboration');
  for (const request of [readCommit({ rev: 'main' }, other), listTags({}, other), openModule({}, other)])
    await request.expect(403);
});
