import { existsSync } from 'node:fs';
import { projectDeleted, projectForked } from '@rookery/contracts';
import type { DirectoryProject } from '@rookery/contracts';
import { GitClient, startNats } from '@rookery/testing';
import type { PrivateNats, SeededService, SeededUser } from '@rookery/testing';
import { ProjectRepositories } from '../../src/code/repositories/project-repositories';
import { RepositoriesJob } from '../../src/code/repositories/repositories.job';
import { eventsOf, startCollaboration } from '../support/app';
import { commitFiles, gitIn } from '../support/commits-fixture';
import { GitFront } from '../support/git-front';
import { publish } from '../support/publish';
import { startWorker } from '../support/worker';
import type { Worker } from '../support/worker';

let service: SeededService;
let nats: PrivateNats;
let worker: Worker;
let front: GitFront;
let git: GitClient;
let owner: SeededUser;

beforeAll(async () => {
  nats = await startNats();
  service = await startCollaboration();
  worker = await startWorker({ databaseUrl: service.databaseUrl, nats });
  git = await GitClient.make();
  front = await new GitFront(service.app, () => service.seed.anonymous()).start();
  owner = await service.seed.user();
  front.accept('owner', () => service.seed.viewer(owner));
});
afterAll(async () => {
  await front.stop();
  await git.close();
  await worker.stop();
  await service.close();
  await nats.drop();
});

const repositories = (): ProjectRepositories => service.app.get(ProjectRepositories);

/** A project with two branches, a tag and a commit that only a hidden ref names. */
async function createOrigin(): Promise<{ project: DirectoryProject; hidden: string; main: string }> {
  const project = await service.seed.project({ visibility: 'private' });
  const repository = await repositories().openRepository({ id: project.id, defaultBranch: 'main' });
  const main = commitFiles(repository, { 'README.md': 'read\n' });
  commitFiles(repository, { a: 'a\n' }, { branch: 'side', parents: [main] });
  gitIn(repository, ['tag', 'v1', main]);
  const hidden = commitFiles(repository, { secret: 's\n' }, { branch: 'secret' });
  gitIn(repository, ['update-ref', 'refs/keep-around/x', hidden]);
  gitIn(repository, ['update-ref', '-d', 'refs/heads/secret']);
  return { project, hidden, main };
}

async function forkOf(source: DirectoryProject, branch: string | null = null): Promise<DirectoryProject> {
  const networkId = source.fork?.network_id ?? source.id;
  const project = await service.seed.project({
    visibility: 'private',
    fork: { project_id: source.id, network_id: networkId, branch },
  });
  await service.seed.member(owner, project, 'owner');
  return project;
}

const read = (project: DirectoryProject, path: string) =>
  service.app.as(service.seed.viewer(owner)).get(`/api/v4/projects/${project.id}/repository${path}`);
const names = (body: unknown): string[] => (body as { name: string }[]).map(({ name }) => name);

it('has the branches and tags of its source from the first request on, and nothing hidden', async () => {
  const { project: source, hidden, main } = await createOrigin();
  const fork = await forkOf(source);
  expect(names((await read(fork, '/branches').expect(200)).body)).toEqual(['main', 'side']);
  expect(names((await read(fork, '/tags').expect(200)).body)).toEqual(['v1']);
  expect((await read(fork, '/commits/main').expect(200)).body.id).toBe(main);
  await read(fork, `/commits/${hidden}`).expect(404);
  const { body } = await service.app
    .as(service.seed.viewer(owner))
    .get(`/api/v4/projects/${fork.id}/protected_branches`)
    .expect(200);
  expect(names(body)).toEqual(['main']);
});

it('is copied once for many first requests, and is measured', async () => {
  const { project: source } = await createOrigin();
  const fork = await forkOf(source);
  const answers = await Promise.all(Array.from({ length: 8 }, () => read(fork, '/tree')));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  const requested = await service.database.query(
    `select j.name from background_jobs j join repositories r on r.project_id = $1 and r.copies_project_id is null
     where j.name = 'measure-repository'`,
    [fork.id],
  );
  expect(requested.length).toBeGreaterThan(0);
  await service.app.get(RepositoriesJob).measure({ params: { project_id: fork.id } });
  const measured = await eventsOf(service.database, 'collaboration.project_storage.measured.v1');
  expect(measured.at(-1)).toMatchObject({ project_id: fork.id, commit_count: 1 });
});

it('is cloned and pushed to by git, without effect on the source', async () => {
  const { project: source, main } = await createOrigin();
  const fork = await forkOf(source);
  const [home] = await service.database.query<{ full_path: string }>(
    'select full_path from directory_namespaces where id = $1',
    [fork.namespace_id],
  );
  await git.ok('.', 'clone', '--quiet', front.url(`${home!.full_path}/${fork.path}.git`, 'owner'), 'cloned');
  await git.commit('cloned', 'Own change', 'own');
  await git.ok('cloned', 'push', '--quiet', 'origin', 'HEAD:refs/heads/topic');
  expect(names((await read(fork, '/branches')).body)).toEqual(['main', 'side', 'topic']);
  const kept = await repositories().openRepository({ id: source.id, defaultBranch: 'main' });
  expect(gitIn(kept, ['rev-parse', 'main'])).toBe(main);
  expect(gitIn(kept, ['for-each-ref', 'refs/heads/topic'])).toBe('');
});

it('has one branch if only that is wanted, and none for a name that the source lacks', async () => {
  const { project: source } = await createOrigin();
  expect(names((await read(await forkOf(source, 'side'), '/branches')).body)).toEqual(['side']);
  for (const name of ['absent', '../x', '-x'])
    expect(names((await read(await forkOf(source, name), '/branches')).body)).toEqual([]);
});

it('of a fork that no request has touched has the commits of the first project', async () => {
  const { project: source } = await createOrigin();
  const fork = await forkOf(await forkOf(source));
  expect(names((await read(fork, '/branches')).body)).toEqual(['main', 'side']);
});

it('stays whole when its source is deleted before it was copied', async () => {
  const { project: source } = await createOrigin();
  const fork = await forkOf(source);
  const facts = { project_id: fork.id, source_project_id: source.id, namespace_id: fork.namespace_id };
  await service.database.query(
    'insert into repositories (project_id, storage, copies_project_id) values ($1, $2, $3)',
    [fork.id, 'default', source.id],
  );
  await service.database.query('delete from directory_projects where id = $1', [source.id]);
  await publish(nats, projectDeleted.of({ aggregateId: source.id, actorId: 1, data: { project_id: source.id } }));
  await worker.drained();
  const job = service.app.get(RepositoriesJob);
  await job.sweep();
  const data = { ...facts, creator_id: owner.id, forked_at: new Date().toISOString() };
  await publish(nats, projectForked.of({ aggregateId: fork.id, actorId: owner.id, data }));
  await worker.drained();
  const copy = await repositories().openRepository({ id: fork.id, defaultBranch: 'main' });
  expect(existsSync(copy.directory)).toBe(true);
  await job.sweep();
  expect(await service.database.query('select 1 from removed_repositories where project_id = $1', [source.id])).toEqual(
    [],
  );
  expect(gitIn(copy, ['fsck', '--strict'])).toBe('');
  expect(names((await read(fork, '/branches')).body)).toEqual(['main', 'side']);
});
