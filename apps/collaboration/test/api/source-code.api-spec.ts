import { INTERNAL_PATHS } from '@rookery/contracts';
import type { SourceFileRequest } from '@rookery/contracts';
import type { Repository } from '@rookery/git';
import { internalAuthorization } from '@rookery/testing';
import type { SeededService } from '@rookery/testing';
import yauzl from 'yauzl';
import { startCollaboration } from '../support/app';
import { commitFiles, gitIn, repositoryOf } from '../support/files-repository';

let service: SeededService;
let project: { readonly id: number };
let repository: Repository;
let commit: string;
beforeAll(async () => {
  service = await startCollaboration({ REPOSITORY_ARCHIVES_PER_MINUTE_COUNT: '3' });
  const made = await service.seed.project({ default_branch: 'main' });
  project = made;
  repository = await repositoryOf(service, made);
  commitFiles(repository, { 'README.md': 'Eggs\n' });
  const files = { '.gitattributes': 'notes export-ignore\n', 'composer.json': '{"name":"nest/eggs"}\n', notes: 'x' };
  commit = commitFiles(repository, files, { branch: 'side' });
  gitIn(repository, ['tag', '-a', 'v1', '-m', 'One', 'side']);
});
afterAll(() => service.close());

const KEY = internalAuthorization('package', 'collaboration');
const readFile = (over: Partial<SourceFileRequest> = {}, authorization = KEY) =>
  service.app
    .bare()
    .post(INTERNAL_PATHS.sourceFile)
    .set('authorization', authorization)
    .send({ project_id: project.id, ref: 'refs/tags/v1', path: 'composer.json', max_bytes: 100, ...over });
const postSourceArchive = (over: object = {}, authorization = KEY) =>
  service.app
    .bare()
    .post(INTERNAL_PATHS.sourceArchive)
    .set('authorization', authorization)
    .send({ project_id: project.id, commit, prefix: 'eggs', ...over })
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
const MISSING = { commit: null, content: null, is_too_large: false };

it('reads a file at a tag or a branch, by the full name of the ref', async () => {
  const content = Buffer.from('{"name":"nest/eggs"}\n').toString('base64');
  for (const ref of ['refs/tags/v1', 'refs/heads/side'])
    expect((await readFile({ ref }).expect(200)).body).toEqual({ commit, content, is_too_large: false });
  for (const ref of ['side', 'v1', commit, commit.slice(0, 8), 'HEAD', 'refs/heads/v1', 'refs/heads/a..b', ''])
    expect([ref, (await readFile({ ref }).expect(200)).body]).toEqual([ref, MISSING]);
  expect((await readFile({ path: 'none.json' })).body).toEqual({ ...MISSING, commit });
  expect((await readFile({ max_bytes: 3 })).body).toEqual({ commit, content: null, is_too_large: true });
  expect((await readFile({ project_id: 987_654 }).expect(200)).body).toEqual(MISSING);
});

it('archives a commit, which stays when its tag is deleted', async () => {
  await readFile().expect(200);
  gitIn(repository, ['tag', '-d', 'v1']);
  gitIn(repository, ['branch', '-D', 'side']);
  expect(gitIn(repository, ['rev-parse', `refs/keep-around/${commit}`]).trim()).toBe(commit);
  const { body, headers } = await postSourceArchive().expect(200);
  expect(headers['content-type']).toBe('application/zip');
  expect(await entriesOf(body as Buffer)).toEqual(['eggs/', 'eggs/.gitattributes', 'eggs/composer.json']);
  for (const over of [{ commit: 'f'.repeat(40) }, { project_id: 987_654 }]) await postSourceArchive(over).expect(404);
});

it('counts archives and modules by caller and project, as the archives of the API', async () => {
  const module = (caller: string) =>
    service.app
      .bare()
      .post(INTERNAL_PATHS.sourceModule)
      .set('authorization', KEY)
      .send({ project_id: project.id, commit, folder: '', prefix: 'm@v1', caller });
  for (const _ of [1, 2]) await postSourceArchive({ caller: '5' }).expect(200);
  await module('5').expect(200);
  const { headers } = await postSourceArchive({ caller: '5' }).expect(429);
  expect(Number(headers['retry-after'])).toBeGreaterThan(0);
  await module('5').expect(429);
  await postSourceArchive({ caller: '6' }).expect(200);
});

it('refuses malformed requests and other callers', async () => {
  for (const over of [{ project_id: 'x' }, { path: '../a' }, { max_bytes: -1 }, { ref: 1 }])
    await readFile(over as never).expect(400);
  for (const over of [{ commit: 'main' }, { commit: '--help' }, { prefix: '../a' }, { prefix: 1 }, { project_id: 'x' }])
    await postSourceArchive(over).expect(400);
  const other = internalAuthorization('import', 'collaboration');
  await readFile({}, other).expect(403);
  await postSourceArchive({}, other).expect(403);
});
