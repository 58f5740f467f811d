import { randomUUID } from 'node:crypto';
import { projectCreated } from '@rookery/contracts';
import type { DirectoryProject } from '@rookery/contracts';
import { GitClient, startNats, until } from '@rookery/testing';
import type { PrivateNats, SeededService, SeededUser } from '@rookery/testing';
import { ProjectRepositories } from '../../src/code/repositories/project-repositories';
import { RepositoriesJob } from '../../src/code/repositories/repositories.job';
import { eventsOf, startCollaboration } from '../support/app';
import { gitIn } from '../support/commits-fixture';
import { GitFront } from '../support/git-front';
import { publish } from '../support/publish';
import { startWorker } from '../support/worker';
import type { Worker } from '../support/worker';

/** Source: reference repositories 1.5. */
let service: SeededService;
let nats: PrivateNats;
let worker: Worker;
let front: GitFront;
let git: GitClient;
let creator: SeededUser;
let reader: SeededUser;

beforeAll(async () => {
  nats = await startNats();
  service = await startCollaboration();
  const { directory } = await service.app.get(ProjectRepositories).openRepository({ id: 1, defaultBranch: 'main' });
  const [storage] = directory.split('/@hashed/');
  worker = await startWorker({ databaseUrl: service.databaseUrl, nats, env: { ROOKERY_REPOSITORIES: storage! } });
  git = await GitClient.make();
  front = await new GitFront(service.app, () => service.seed.anonymous()).start();
  [creator, reader] = [await service.seed.user(), await service.seed.user()];
  front.accept('creator', () => service.seed.viewer(creator));
});
afterAll(async () => {
  await front.stop();
  await git.close();
  await worker.stop();
  await service.close();
  await nats.drop();
});

async function createProject(over: Partial<DirectoryProject> = {}): Promise<DirectoryProject> {
  const project = await service.seed.project({
    ...{ creator_id: creator.id, name: 'Big eggs', description: 'All of them.', initialize_with_readme: true },
    ...over,
  });
  await service.seed.member(creator, project, 'owner');
  return project;
}

const read = ({ id }: DirectoryProject, path: string) =>
  service.app.as(service.seed.viewer(reader)).get(`/api/v4/projects/${id}${path}`);
const pushesOf = async ({ id }: DirectoryProject) =>
  (await eventsOf(service.database, 'collaboration.push.completed.v1')).filter((data) => data['project_id'] === id);

it('has a README of its name and description from the first request on, as a push of its creator', async () => {
  const project = await createProject();
  const { text } = await read(project, '/repository/files/README.md/raw').expect(200);
  expect(text).toBe('# Big eggs\n\nAll of them.\n');
  const [commit, ...others] = (await read(project, '/repository/commits').expect(200)).body;
  expect([commit, others]).toMatchObject([
    { title: 'Initial commit', author_name: creator.name, parent_ids: [], committer_name: creator.name },
    [],
  ]);
  const { body } = await read(project, '/repository/branches').expect(200);
  expect(body).toMatchObject([{ name: 'main', default: true, protected: true, commit: { id: commit.id } }]);
  expect(await pushesOf(project)).toMatchObject([{ user_id: creator.id, default_branch: 'main' }]);
});

it('is written once for many first requests', async () => {
  const project = await createProject({ description: null });
  const answers = await Promise.all(Array.from({ length: 12 }, () => read(project, '/repository/tree')));
  for (const { status, body } of answers) expect([status, body]).toMatchObject([200, [{ path: 'README.md' }]]);
  expect(await pushesOf(project)).toHaveLength(1);
  const [row] = await service.database.query('select needs_readme from repositories where project_id = $1', [
    project.id,
  ]);
  expect(row).toEqual({ needs_readme: false });
});

it('is on the default branch that the creator named, and git clones it', async () => {
  const project = await createProject({ default_branch: 'trunk', description: null });
  const [home] = await service.database.query<{ full_path: string }>(
    'select full_path from directory_namespaces where id = $1',
    [project.namespace_id],
  );
  await git.ok('.', 'clone', '--quiet', front.url(`${home!.full_path}/${project.path}.git`, 'creator'), 'trunk');
  expect(await git.ok('trunk', 'log', '--format=%D %s')).toMatch(/HEAD -> trunk, .*Initial commit/);
});

it('stays with its event when the first request fails, also with an idempotency key', async () => {
  const project = await createProject();
  const { status } = await service.app
    .as(service.seed.viewer(creator))
    .post(`/api/v4/projects/${project.id}/merge_requests`)
    .set('idempotency-key', randomUUID())
    .send({ title: 'Nothing yet', source_branch: 'topic', target_branch: 'main' });
  expect(status).toBe(400);
  expect(await pushesOf(project)).toHaveLength(1);
  await read(project, '/repository/files/README.md').query({ ref: 'main' }).expect(200);
});

it('is found by other services that are the first to ask', async () => {
  const project = await createProject();
  const repository = await service.app.get(ProjectRepositories).findRepository(project.id);
  expect(gitIn(repository!, ['log', '--format=%s', 'main'])).toBe('Initial commit');
  const plain = await createProject({ initialize_with_readme: false });
  expect(await service.app.get(ProjectRepositories).findRepository(plain.id)).toBeNull();
});

it('is written without a request, after the creation', async () => {
  const project = await createProject();
  const facts = { namespace_id: project.namespace_id, creator_id: creator.id, created_at: project.created_at };
  const data = { project_id: project.id, ...facts, initialize_with_readme: true };
  await publish(nats, projectCreated.of({ aggregateId: project.id, actorId: creator.id, data }));
  await worker.drained();
  // The effect has asked for a measurement, which opens the repository.
  const jobs = await service.database.query(`select 1 from background_jobs where name = 'measure-repository'`);
  expect(jobs.length).toBeGreaterThan(0);
  await service.app.get(RepositoriesJob).measure({ params: { project_id: project.id } });
  // The worker runs the job as well: the commit may be that of the other process, which settles it a moment later.
  await until(async () => {
    await worker.drained();
    const { body } = await service.app
      .as(service.seed.viewer(creator))
      .get(`/api/v4/projects/${project.id}/events`)
      .expect(200);
    return body.some(({ action_name: action }: { action_name: string }) => action === 'pushed new');
  }, 'the push event');
  expect(await pushesOf(project)).toHaveLength(1);
});

it('does not come back after the branch was replaced', async () => {
  const project = await createProject();
  await read(project, '/repository/tree').expect(200);
  const repository = await service.app
    .get(ProjectRepositories)
    .openRepository({ id: project.id, defaultBranch: 'main' });
  gitIn(repository, ['update-ref', '-d', 'refs/heads/main']);
  await read(project, '/repository/tree').expect(404);
  expect((await read(project, '/repository/branches').expect(200)).body).toEqual([]);
});
