import { randomBytes } from 'node:crypto';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inQuarantine, writeBlobs } from '@rookery/git';
import type { Repository } from '@rookery/git';
import type { SeededService } from '@rookery/testing';
import { RepositoriesJob } from '../../src/code/repositories/repositories.job';
import { eventsOf, startCollaboration } from '../support/app';
import { commitFiles, gitIn, repositoryOf } from '../support/files-repository';

let service: SeededService;
beforeAll(async () => {
  service = await startCollaboration();
});
afterAll(() => service.close());

const { signal } = new AbortController();
const job = () => service.app.get(RepositoriesJob);

/** Numbers of a repository as `git count-objects` prints them. */
function countGitObjects(repository: Repository): Record<string, number> {
  const lines = gitIn(repository, ['count-objects', '-v']).trim().split('\n');
  return Object.fromEntries(lines.map((line) => line.split(': ')).map(([name, value]) => [name, Number(value)]));
}

interface RepositoryContent {
  readonly packs?: number;
  readonly looseObjects?: number;
  readonly looseRefs?: number;
  /** Bytes of a pack that no maintenance has seen. */
  readonly newPack?: number;
}

/** Number of requests of a job so far. */
async function requestsOf(name: string): Promise<number> {
  return (await service.database.query('select 1 from background_jobs where name = $1', [name])).length;
}

/** A project whose repository has a number of packs or of loose objects. */
async function place(stored: RepositoryContent) {
  const group = await service.seed.group();
  const project = await service.seed.project({ namespace_id: group.id });
  const repository = await repositoryOf(service, project);
  commitFiles(repository, { a: 'a' });
  gitIn(repository, ['repack', '-adq']);
  for (let pack = 1; pack < (stored.packs ?? 1); pack += 1) {
    const id = gitIn(repository, ['hash-object', '-w', '--stdin'], `pack ${pack}`);
    gitIn(repository, ['pack-objects', '-q', 'objects/pack/pack'], id);
    gitIn(repository, ['prune-packed', '-q']);
  }
  const contents = Array.from({ length: stored.looseObjects ?? 0 }, (_, index) => Buffer.from(`loose ${index}`));
  if (contents.length > 0)
    await inQuarantine(repository, async ({ repository: view, keep }) => {
      await writeBlobs(view, contents, 2 ** 20);
      await keep();
    });
  if (stored.newPack) {
    const id = gitIn(repository, ['hash-object', '-w', '--stdin'], randomBytes(stored.newPack).toString('latin1'));
    gitIn(repository, ['pack-objects', '-q', 'objects/pack/pack'], id);
    gitIn(repository, ['prune-packed', '-q']);
  }
  const topics = Array.from({ length: stored.looseRefs ?? 0 }, (_, index) => `create refs/heads/${index} main\n`);
  if (topics.length > 0) gitIn(repository, ['update-ref', '--stdin'], topics.join(''));
  return { repository, params: { project_id: project.id } };
}

it.each<[string, RepositoryContent, number]>([
  ['many packs', { packs: 51 }, 1],
  ['many loose objects', { looseObjects: 501 }, 1],
  ['many loose refs', { looseRefs: 1000 }, 1],
  ['a large pack that no maintenance has seen', { newPack: 17 * 2 ** 20 }, 1],
  ['few packs', { packs: 50 }, 0],
  ['few loose refs', { looseRefs: 999 }, 0],
  ['few loose objects', { looseObjects: 500 }, 0],
])('a measured repository with %s', async (_, stored, expected) => {
  const { repository, params } = await place(stored);
  const packs = stored.newPack ? 2 : (stored.packs ?? 1);
  expect(countGitObjects(repository)).toMatchObject({ packs, count: stored.looseObjects ?? 0 });
  const before = await requestsOf('maintain-repository');
  await job().measure({ params });
  await job().measure({ params });
  expect((await requestsOf('maintain-repository')) - before).toBe(expected);
});

it('is packed and measured again, and then needs no maintenance', async () => {
  const { repository, params } = await place({ packs: 51, looseObjects: 30 });
  const [measurements, maintenances] = [
    await requestsOf('measure-repository'),
    await requestsOf('maintain-repository'),
  ];
  await job().maintain({ params, signal });
  expect(countGitObjects(repository)).toMatchObject({ packs: 1, count: 0 });
  expect(gitIn(repository, ['fsck', '--strict', '--no-dangling'])).toBe('');
  expect(await requestsOf('measure-repository')).toBe(measurements);
  expect(await requestsOf('maintain-repository')).toBe(maintenances);
  const measured = await eventsOf(service.database, 'collaboration.project_storage.measured.v1');
  const { 'size-pack': size } = countGitObjects(repository);
  expect(measured.at(-1)).toMatchObject({ project_id: params.project_id, repository_size: size! * 1024 });
  await job().measure({ params });
  expect(await requestsOf('maintain-repository')).toBe(maintenances);
});

it('needs no maintenance again after a large pack was seen', async () => {
  const { repository, params } = await place({ newPack: 17 * 2 ** 20, looseRefs: 1000 });
  await job().maintain({ params, signal });
  const before = await requestsOf('maintain-repository');
  await job().measure({ params });
  expect(await requestsOf('maintain-repository')).toBe(before);
  expect(gitIn(repository, ['commit-graph', 'verify', '--no-progress'])).toBe('');
});

it('asks for no further maintenance of packs that it must not pack', async () => {
  const { repository, params } = await place({ packs: 51 });
  const packs = join(repository.directory, 'objects/pack');
  const names = readdirSync(packs).filter((name) => name.endsWith('.pack'));
  for (const name of names) writeFileSync(join(packs, name.replace(/pack$/, 'keep')), '');
  const requests = () => Promise.all(['measure-repository', 'maintain-repository'].map(requestsOf));
  const before = await requests();
  await job().maintain({ params, signal });
  expect(countGitObjects(repository)).toMatchObject({ packs: 51 });
  expect(await requests()).toEqual(before);
  const measured = await eventsOf(service.database, 'collaboration.project_storage.measured.v1');
  expect(measured.at(-1)).toMatchObject({ project_id: params.project_id });
});

it('is asked for also where the commits cannot be counted', async () => {
  const { repository, params } = await place({ packs: 51 });
  const tree = gitIn(repository, ['rev-parse', 'main^{tree}']).trim();
  const by = 'Wren <wren@example.org> 1700000000 +0000';
  const broken = `tree ${tree}\nparent ${'1'.repeat(40)}\nauthor ${by}\ncommitter ${by}\n\nBroken\n`;
  const id = gitIn(repository, ['hash-object', '-t', 'commit', '-w', '--stdin'], broken).trim();
  writeFileSync(join(repository.directory, 'refs/heads/main'), `${id}\n`);
  const before = await requestsOf('maintain-repository');
  await expect(job().measure({ params })).rejects.toThrow();
  expect(await requestsOf('maintain-repository')).toBe(before + 1);
});

it('is left alone after its project was deleted', async () => {
  const before = await requestsOf('measure-repository');
  await job().maintain({ params: { project_id: 987_654 }, signal });
  expect(await requestsOf('measure-repository')).toBe(before);
});
