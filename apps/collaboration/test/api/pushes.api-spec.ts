import { utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { ProjectScope } from '@rookery/api-v4';
import type { DirectoryProject } from '@rookery/contracts';
import { NO_OBJECT, PushHooks, readRefs, updateRefs } from '@rookery/git';
import type { ObjectId, PushChecks } from '@rookery/git';
import { Forbidden, NotFound, Unavailable } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { GitClient, internalAuthorization } from '@rookery/testing';
import type { SeededService, SeededUser } from '@rookery/testing';
import { ProjectRepositories } from '../../src/code/repositories/project-repositories';
import { PushLimits } from '../../src/code/repositories/ref-updates/push-limits';
import { PushReceiver } from '../../src/code/repositories/ref-updates/push-receiver';
import { RefIntents } from '../../src/code/repositories/ref-updates/ref-intents';
import { PushSettlement } from '../../src/code/repositories/ref-updates/settlement';
import { RepositoriesJob } from '../../src/code/repositories/repositories.job';
import { eventsOf, startCollaboration } from '../support/app';
import { GitFront } from '../support/git-front';

const PUSHED = 'collaboration.push.completed.v1';

let service: SeededService;
let front: GitFront;
let git: GitClient;
let maintainer: SeededUser;
let developer: SeededUser;
let at = 0;

beforeAll(async () => {
  service = await startCollaboration();
  git = await GitClient.make();
  front = await new GitFront(service.app, () => service.seed.anonymous()).start();
  [maintainer, developer] = [await service.seed.user(), await service.seed.user()];
  front.accept('maintainer', () => service.seed.viewer(maintainer));
  front.accept('developer', () => service.seed.viewer(developer));
});
afterAll(async () => {
  await front.stop();
  await git.close();
  await service.close();
});

async function place(): Promise<{ project: DirectoryProject; folder: string }> {
  const group = await service.seed.group();
  const project = await service.seed.project({ namespace_id: group.id, default_branch: null });
  await service.seed.member(maintainer, project, 'maintainer');
  await service.seed.member(developer, project, 'developer');
  const folder = `work-${++at}`;
  await git.init(folder, front.url(`${group.full_path}/${project.path}.git`, 'maintainer'));
  return { project, folder };
}

/** A project as maintainers meet it. */
const toProjectScope = (project: DirectoryProject): ProjectScope =>
  ({
    ...{ ...project, level: 40, fullPath: 'a/b' },
    namespace: { plan: 'free', traversalIds: [project.namespace_id] },
  }) as unknown as ProjectScope;

interface PushEventData {
  readonly push_id: number;
  readonly project_id: number;
  readonly user_id: number;
  readonly default_branch: string | null;
}

async function pushesOf({ id }: DirectoryProject): Promise<PushEventData[]> {
  const events = (await eventsOf(service.database, PUSHED)) as unknown as PushEventData[];
  return events.filter(({ project_id: projectId }) => projectId === id);
}

const updatesOf = (pushId: number) =>
  service.database.query<{ ref: string; state: string; commit_count: number; commit_title: string; is_bulk: boolean }>(
    'select ref, state, commit_count, commit_title, is_bulk from ref_updates where push_id = $1 order by ref',
    [pushId],
  );

it('settles each push once, with the facts of its refs', async () => {
  const { project, folder } = await place();
  await git.commit(folder, 'Second');
  await git.ok(folder, 'tag', 'v1');
  await git.ok(folder, 'push', '--quiet', 'origin', 'main', 'v1');
  await git.commit(folder, 'Third');
  await git.ok(folder, 'push', '--quiet', 'origin', 'main', 'main:other');
  await git.ok(folder, 'push', '--quiet', 'origin', ':other');
  const pushes = await pushesOf(project);
  expect(pushes).toEqual(
    pushes.map((push) =>
      expect.objectContaining({ user_id: maintainer.id, default_branch: 'main', push_id: push.push_id }),
    ),
  );
  const updates = await Promise.all(pushes.map(({ push_id: id }) => updatesOf(id)));
  const done = { state: 'done', is_bulk: false };
  expect(updates).toEqual([
    [
      { ref: 'refs/heads/main', commit_count: 2, commit_title: 'Second', ...done },
      { ref: 'refs/tags/v1', commit_count: 0, commit_title: 'Second', ...done },
    ],
    [
      { ref: 'refs/heads/main', commit_count: 1, commit_title: 'Third', ...done },
      { ref: 'refs/heads/other', commit_count: 0, commit_title: 'Third', ...done },
    ],
    [{ ref: 'refs/heads/other', commit_count: 0, commit_title: null, ...done }],
  ]);
});

it('marks more than three refs of a kind and action as bulk', async () => {
  const { project, folder } = await place();
  await git.ok(folder, 'push', '--quiet', 'origin', ...['main', 'main:a', 'main:b', 'main:c', 'main:refs/tags/t']);
  const [{ push_id: id } = { push_id: 0 }] = await pushesOf(project);
  expect((await updatesOf(id)).map(({ ref, is_bulk: isBulk }) => [ref, isBulk])).toEqual([
    ...['a', 'b', 'c', 'main'].map((name) => [`refs/heads/${name}`, true]),
    ['refs/tags/t', false],
  ]);
});

it('makes a pushed branch the default one, and keeps it', async () => {
  const { project, folder } = await place();
  await git.ok(folder, 'push', '--quiet', 'origin', 'main:trunk', 'main:develop');
  await git.ok(folder, 'push', '--quiet', 'origin', 'main');
  expect((await pushesOf(project)).map(({ default_branch: branch }) => branch)).toEqual(['develop', 'develop']);
  expect(await git.ok(folder, 'ls-remote', '--symref', 'origin', 'HEAD')).toContain('ref: refs/heads/develop\tHEAD');
});

it('refuses what the rules forbid, with its reason, and without any change', async () => {
  const { project, folder } = await place();
  await git.ok(folder, 'push', '--quiet', 'origin', 'main', 'main:refs/tags/v1');
  await git.commit(folder, 'Second');
  const origin = (await git.ok(folder, 'remote', 'get-url', 'origin')).trim();
  const byDeveloper = origin.replace('maintainer', 'developer');
  for (const [url, refs, reason] of [
    [origin, [':main'], 'The default branch of a project cannot be deleted.'],
    [origin, ['main:fine', 'main:refs/pipelines/1'], 'You cannot push to refs/pipelines/1.'],
    [byDeveloper, ['main:refs/tags/v1'], 'You are not allowed to change existing tags on this project.'],
  ] as const) {
    const { code, output } = await git.run(folder, 'push', '--force', url, ...refs);
    expect([code, output]).toEqual([1, expect.stringContaining(`remote: Rookery: ${reason}`)]);
    expect(output).toContain('pre-receive hook declined');
  }
  expect(await pushesOf(project)).toHaveLength(1);
  expect(await git.ok(folder, 'ls-remote', '--heads', 'origin')).not.toContain('fine');
  await git.ok(folder, 'push', '--quiet', '--force', origin, 'main:refs/tags/v1');
});

it('lets one of two pushes to the same value win', async () => {
  const { project, folder } = await place();
  await git.ok(folder, 'push', '--quiet', 'origin', 'main');
  const commits = [await git.commit(folder, 'Second'), ''];
  await git.ok(folder, 'reset', '--quiet', '--hard', 'HEAD~1');
  commits[1] = await git.commit(folder, 'Other');
  const outcomes = await Promise.all(commits.map((id) => git.run(folder, 'push', 'origin', `${id}:main`)));
  expect(outcomes.map(({ code }) => code).sort()).toEqual([0, 1]);
  expect(await pushesOf(project)).toHaveLength(2);
});

describe('a push whose caller loses the permission meanwhile', () => {
  afterEach(() => (front.receive = null));

  it.each([
    ['the right to push', new NotFound('Project'), 'You are not allowed to push code to this project.'],
    ['another right', new Unavailable('rights changed'), 'Your permissions changed during the push.'],
    ['an active project', new Forbidden('It is archived.'), 'It is archived.'],
  ])('changes nothing after the loss of %s', async (_, loss, text) => {
    const { project, folder } = await place();
    const repository = await service.app
      .get(ProjectRepositories)
      .openRepository({ id: project.id, defaultBranch: null });
    front.receive = (request, response) => {
      const scope = toProjectScope(project);
      const viewer = service.seed.viewer(maintainer) as SignedInViewer;
      const push = { project: scope, viewer, input: request, notice: null };
      const lost = { ...push, recheckRights: () => Promise.reject(loss) };
      response.writeHead(200, { 'content-type': 'application/x-git-receive-pack-result' });
      void service.app
        .get(PushReceiver)
        .receivePush(repository, lost)
        .then((answer) => answer.pipe(response));
    };
    const { code, output } = await git.run(folder, 'push', 'origin', 'main');
    expect([code, output]).toEqual([1, expect.stringContaining(`remote: Rookery: ${text}`)]);
    expect(await readRefs(repository, ['refs/heads/main'])).toEqual(new Map());
    expect(await pushesOf(project)).toEqual([]);
    expect(await service.database.query('select 1 from pushes where project_id = $1', [project.id])).toEqual([]);
  });
});

describe('the decision about a push', () => {
  /** Checks of a push of the branch `late`, and a push of it with many new bytes. */
  async function decision(viewer: SignedInViewer | null, recheckRights = () => Promise.resolve()) {
    const { project, folder } = await place();
    await git.ok(folder, 'push', '--quiet', 'origin', 'main');
    const newId = (await git.ok(folder, 'rev-parse', 'HEAD')).trim() as ObjectId;
    const repository = await service.app
      .get(ProjectRepositories)
      .openRepository({ id: project.id, defaultBranch: 'main' });
    const expecting = jest.spyOn(service.app.get(PushHooks), 'expectPush').mockImplementationOnce(() => {
      throw new Error('Only the checks are needed.');
    });
    const push = { project: toProjectScope(project), viewer, input: Readable.from([]), notice: null };
    const receiver = service.app.get(PushReceiver);
    await expect(receiver.receivePush(repository, { ...push, recheckRights })).rejects.toThrow();
    const checks: PushChecks = expecting.mock.calls[0]![1];
    expecting.mockRestore();
    const ended = new AbortController();
    const updates = [{ ref: 'refs/heads/late', oldId: NO_OBJECT, newId }];
    const sent = { updates, quarantined: repository, storedBytes: 1024 ** 2, options: [], signal: ended.signal };
    return { project, checks, ended, sent };
  }

  it('checks the permissions of the pusher after the search for large files', async () => {
    let isLost = false;
    const recheckRights = () => (isLost ? Promise.reject(new NotFound('Project')) : Promise.resolve());
    const viewer = service.seed.viewer(maintainer) as SignedInViewer;
    const { project, checks, sent } = await decision(viewer, recheckRights);
    const spy = jest.spyOn(service.app.get(PushLimits), 'warningOfFiles').mockImplementationOnce(async () => {
      isLost = true;
      return null;
    });
    expect(await checks.beforeUpdate(sent)).toBe('Rookery: You are not allowed to push code to this project.');
    spy.mockRestore();
    expect(await service.database.query('select 1 from pushes where project_id = $1', [project.id])).toHaveLength(1);
  });

  it('leaves no open intent if it takes too long', async () => {
    const { project, checks, ended, sent } = await decision(service.seed.viewer(maintainer) as SignedInViewer);
    const intents = service.app.get(RefIntents);
    const record = intents.recordWithinQuota.bind(intents);
    const spy = jest.spyOn(intents, 'recordWithinQuota').mockImplementationOnce(async (...args) => {
      const outcome = await record(...args);
      ended.abort();
      return outcome;
    });
    await checks.beforeUpdate(sent);
    spy.mockRestore();
    const rows = await service.database.query(
      `select p.settled_at is not null as settled, u.state from pushes p join ref_updates u on u.push_id = p.id
       where p.project_id = $1 and u.ref = 'refs/heads/late'`,
      [project.id],
    );
    expect(rows).toEqual([{ settled: true, state: 'refused' }]);
  });

  it('searches for large files only if a user reads the warning', async () => {
    const decisions = [await decision(null), await decision(service.seed.viewer(maintainer) as SignedInViewer)];
    const spy = jest.spyOn(service.app.get(PushLimits), 'warningOfFiles');
    const searches: number[] = [];
    for (const { checks, sent } of decisions) {
      expect(await checks.beforeUpdate(sent)).toBeNull();
      searches.push(spy.mock.calls.length);
    }
    spy.mockRestore();
    expect(searches).toEqual([0, 1]);
  });
});

it('goes on after a lock that a killed process left', async () => {
  const { project, folder } = await place();
  await git.ok(folder, 'push', '--quiet', 'origin', 'main');
  const { directory } = await service.app
    .get(ProjectRepositories)
    .openRepository({ id: project.id, defaultBranch: 'main' });
  const lock = join(directory, 'refs/heads/main.lock');
  await writeFile(lock, '');
  await git.commit(folder, 'Second');
  expect((await git.run(folder, 'push', '--quiet', 'origin', 'main')).output).toContain('cannot lock ref');
  const longAgo = new Date(Date.now() - 6 * 60_000);
  await utimes(lock, longAgo, longAgo);
  await git.ok(folder, 'push', '--quiet', 'origin', 'main');
});

it('settles a push although its first settlement failed, and does not fail the push', async () => {
  const { project, folder } = await place();
  const settle = jest.spyOn(service.app.get(PushSettlement), 'settlePush');
  try {
    settle.mockRejectedValueOnce(new Error('the database is away'));
    await git.ok(folder, 'push', '--quiet', 'origin', 'main');
    for (const end = Date.now() + 60_000; (await pushesOf(project)).length === 0 && Date.now() < end;)
      await new Promise((resolve) => setTimeout(resolve, 10));
  } finally {
    settle.mockRestore();
  }
  const [push, ...others] = await pushesOf(project);
  expect(await updatesOf(push!.push_id)).toMatchObject([{ ref: 'refs/heads/main', state: 'done' }]);
  expect(others).toEqual([]);
});

describe('after the death of a process between the intent and the settlement', () => {
  async function intended(moves: boolean) {
    const { project, folder } = await place();
    await git.ok(folder, 'push', '--quiet', 'origin', 'main');
    const [oldId, newId] = [(await git.ok(folder, 'rev-parse', 'HEAD')).trim(), await git.commit(folder, 'Second')];
    await git.ok(folder, 'push', '--quiet', 'origin', 'main:objects');
    const repository = (await service.app.get(ProjectRepositories).findRepository(project.id))!;
    const update = { ref: 'refs/heads/main', oldId: oldId as ObjectId, newId: newId as ObjectId };
    const id = await service.app
      .get(RefIntents)
      .recordUpdates({ projectId: project.id, userId: maintainer.id, source: 'git' }, [update]);
    if (moves) expect(await updateRefs(repository, [update], { atomic: true })).toMatchObject([{ moved: true }]);
    return { project, folder, id, repository, update };
  }
  const expire = (id: number) =>
    service.database.query("update pushes set leased_until = now() - interval '1 second' where id = $1", [id]);
  const settle = () => service.app.get(RepositoriesJob).settle();

  it('settles what happened, once', async () => {
    const { project, id } = await intended(true);
    const before = (await pushesOf(project)).length;
    expect(await settle()).toBe(0);
    await expire(id);
    expect([await settle(), await settle()]).toEqual([1, 0]);
    expect((await pushesOf(project)).slice(before)).toMatchObject([{ push_id: id, user_id: maintainer.id }]);
    expect(await updatesOf(id)).toMatchObject([{ state: 'done', commit_count: 1, commit_title: 'Second' }]);
  });

  it('settles what happened below later pushes', async () => {
    const { project, folder, id } = await intended(true);
    await git.commit(folder, 'Third');
    await git.ok(folder, 'push', '--quiet', 'origin', 'main');
    await expire(id);
    await settle();
    expect(await updatesOf(id)).toMatchObject([{ state: 'done' }]);
    expect((await pushesOf(project)).at(-1)).toMatchObject({ push_id: id });
  });

  it('refuses what did not happen, without an event', async () => {
    const { project, id } = await intended(false);
    const before = await pushesOf(project);
    await expire(id);
    await settle();
    expect(await updatesOf(id)).toMatchObject([{ state: 'refused', commit_count: null }]);
    expect(await pushesOf(project)).toEqual(before);
  });
});

it('tells identity the facts of a repository for badges', async () => {
  const { project, folder } = await place();
  await git.ok(folder, 'tag', 'v1');
  const id = await git.commit(folder, 'Second');
  await git.ok(folder, 'push', '--quiet', 'origin', 'main', 'v1');
  const { body } = await service.app
    .bare()
    .post('/internal/repositories/facts')
    .set('authorization', internalAuthorization('identity', 'collaboration'))
    .send({ project_ids: [project.id] })
    .expect(200);
  const facts = { project_id: project.id, default_branch: 'main', commit_sha: id, latest_tag: 'v1' };
  expect(body).toEqual({ projects: [facts] });
});

describe('a name of a commit, for the package service', () => {
  const ask = (body: object, caller: 'package' | 'identity' = 'package') =>
    service.app
      .bare()
      .post('/internal/repositories/resolve-ref')
      .set('authorization', internalAuthorization(caller, 'collaboration'))
      .send(body);
  let id: number;
  let [first, second] = ['', ''];
  beforeAll(async () => {
    const { project, folder } = await place();
    id = project.id;
    first = (await git.ok(folder, 'rev-parse', 'HEAD')).trim();
    await git.ok(folder, 'tag', '-a', '-m', 'Release', 'v1');
    await git.ok(folder, 'branch', 'feature/a');
    second = await git.commit(folder, 'Second');
    await git.ok(folder, 'push', '--quiet', 'origin', 'main', 'feature/a', 'v1');
  });

  it('is a branch, a tag, a full ref, an id or the default branch', async () => {
    const cases: readonly (readonly [string | null, string, string | null, boolean])[] = [
      ['main', second, 'main', false],
      ['feature/a', first, 'feature/a', false],
      ['v1', first, 'v1', true],
      ['refs/heads/main', second, 'main', false],
      ['refs/tags/v1', first, 'v1', true],
      [first, first, null, false],
      [second.slice(0, 10), second, null, false],
      ['HEAD', second, null, false],
      [null, second, 'main', false],
    ];
    for (const [name, sha, ref, isTag] of cases) {
      const { body } = await ask({ project_id: id, name }).expect(200);
      const committed_at = expect.stringMatching(/Z$/);
      expect([name, body]).toEqual([name, { commit: { sha, ref, is_tag: isTag, committed_at, branch: null } }]);
    }
  });

  it('is null for unknown names and for projects without a repository', async () => {
    for (const name of ['nope', '', '-x', 'main^', 'f'.repeat(40), 'refs/pipelines/1', '\u0000'])
      expect([name, (await ask({ project_id: id, name })).body]).toEqual([name, { commit: null }]);
    expect((await ask({ project_id: 987654321, name: 'main' })).body).toEqual({ commit: null });
  });

  it('comes with the first branch that contains it, on request', async () => {
    const branchOf = async (name: string) =>
      (await ask({ project_id: id, name, finds_branch: true })).body.commit?.branch;
    expect([await branchOf(first), await branchOf(second)]).toEqual(['feature/a', 'main']);
  });

  it('is told to the package service alone, for valid questions', async () => {
    expect((await ask({ project_id: id, name: 'main' }, 'identity')).status).toBe(403);
    expect((await ask({ project_id: 'x', name: 'main' })).body).toEqual({ error: 'project_id is invalid' });
    expect((await ask({ project_id: id })).body).toEqual({ error: 'name is invalid' });
  });
});

it('measures the repository, and removes its folder after its project', async () => {
  const { project, folder } = await place();
  await git.commit(folder, 'Second');
  await git.ok(folder, 'push', '--quiet', 'origin', 'main');
  const requested = await service.database.query('select distinct name from background_jobs');
  expect(requested).toEqual([{ name: 'measure-repository' }]);
  const job = service.app.get(RepositoriesJob);
  await job.measure({ params: { project_id: project.id } });
  const measured = await eventsOf(service.database, 'collaboration.project_storage.measured.v1');
  expect(measured.at(-1)).toMatchObject({
    project_id: project.id,
    commit_count: 2,
    repository_size: expect.any(Number),
  });
  const repositories = service.app.get(ProjectRepositories);
  await service.database.query(
    `with gone as (delete from repositories where project_id = $1 returning project_id, storage)
     insert into removed_repositories (project_id, storage) select project_id, storage from gone`,
    [project.id],
  );
  await job.sweep();
  expect(await repositories.findRepository(project.id)).toBeNull();
  expect(await service.database.query('select 1 from removed_repositories')).toEqual([]);
});
