import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ProjectScope } from '@rookery/api-v4';
import type { DirectoryProject } from '@rookery/contracts';
import { NO_OBJECT, readRef } from '@rookery/git';
import { Forbidden } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { runForWaiter } from '@rookery/platform';
import { GitClient } from '@rookery/testing';
import type { SeededService, SeededUser } from '@rookery/testing';
import { ProjectRepositories } from '../../src/code/repositories/project-repositories';
import { PushLimits } from '../../src/code/repositories/ref-updates/push-limits';
import { RefChanges } from '../../src/code/repositories/ref-updates/ref-changes';
import { RefIntents } from '../../src/code/repositories/ref-updates/ref-intents';
import { startCollaboration } from '../support/app';
import { GitFront } from '../support/git-front';

let service: SeededService;
let front: GitFront;
let git: GitClient;
let users: Record<'developer' | 'maintainer' | 'admin', SeededUser>;
let at = 0;

beforeAll(async () => {
  service = await startCollaboration();
  git = await GitClient.make();
  front = await new GitFront(service.app, () => service.seed.anonymous()).start();
  users = {
    developer: await service.seed.user(),
    maintainer: await service.seed.user(),
    admin: await service.seed.user({ admin: true }),
  };
  for (const [name, user] of Object.entries(users)) front.accept(name, () => service.seed.viewer(user));
});
afterAll(async () => {
  await front.stop();
  await git.close();
  await service.close();
});

type Name = keyof typeof users;

interface Place {
  readonly project: DirectoryProject;
  readonly fullPath: string;
  readonly folder: string;
  push(by: Name, ...args: string[]): Promise<{ code: number | null; output: string }>;
  api(
    by: Name,
    method: 'get' | 'post' | 'put' | 'patch' | 'delete',
    path: string,
    body?: object,
  ): Promise<[number, unknown]>;
}

async function createEmptyPlace(): Promise<Place> {
  const group = await service.seed.group();
  const project = await service.seed.project({ namespace_id: group.id, default_branch: null });
  await service.seed.member(users.developer, project, 'developer');
  await service.seed.member(users.maintainer, project, 'maintainer');
  const fullPath = `${group.full_path}/${project.path}`;
  const folder = `work-${++at}`;
  await git.init(folder, front.url(`${fullPath}.git`, 'maintainer'));
  return {
    ...{ project, fullPath, folder },
    push: (by, ...args) => git.run(folder, 'push', front.url(`${fullPath}.git`, by), ...args),
    async api(by, method, path, body) {
      const agent = service.app.as(service.seed.viewer(users[by]));
      const answer = await agent[method](`/api/v4/projects/${project.id}${path}`).send(body);
      return [answer.status, answer.body];
    },
  };
}

/** A repository whose default branch has its first rule. */
async function createFilledPlace(): Promise<Place> {
  const made = await createEmptyPlace();
  expect((await made.push('maintainer', 'main')).code).toBe(0);
  return made;
}

const PUSH = 'You are not allowed to push code to protected branches on this project.';
const refusedWith = (text: string) => ({ code: 1, output: expect.stringContaining(`remote: Rookery: ${text}`) });

describe('an empty repository', () => {
  it('gets its first branch from a maintainer, and a developer is told whom to ask', async () => {
    const { push, fullPath } = await createEmptyPlace();
    const refused = await push('developer', 'main:feature');
    expect(refused.code).toBe(1);
    const said = refused.output.split('\n').map((line) => line.replace(/^remote: ?/, '').trimEnd());
    const from = said.indexOf(`A default branch (e.g. main) does not yet exist for ${fullPath}`);
    expect(said.slice(from, from + 4)).toEqual([
      `A default branch (e.g. main) does not yet exist for ${fullPath}`,
      'Ask a project Owner or Maintainer to create a default branch:',
      '',
      expect.stringMatching(`^  http.*/${fullPath}/-/project_members$`),
    ]);
    expect((await push('maintainer', 'main')).code).toBe(0);
    expect((await push('developer', 'main:feature')).code).toBe(0);
  });

  it('gets a rule for its default branch with the first push, and only then', async () => {
    const { push, api, folder } = await createEmptyPlace();
    expect((await push('maintainer', 'main:develop', 'main:zeta')).code).toBe(0);
    const rules = async () =>
      ((await api('developer', 'get', '/protected_branches'))[1] as { name: string }[]).map(({ name }) => name);
    expect(await rules()).toEqual(['develop']);
    expect((await api('maintainer', 'delete', '/protected_branches/develop'))[0]).toBe(204);
    await git.commit(folder, 'Second');
    expect((await push('developer', 'main:develop')).code).toBe(0);
    expect(await rules()).toEqual([]);
  });

  it('keeps rules that were made before', async () => {
    const { push, api } = await createEmptyPlace();
    const body = { name: 'm*', push_access_level: 30 };
    expect((await api('maintainer', 'post', '/protected_branches', body))[0]).toBe(201);
    expect((await push('developer', 'main')).code).toBe(0);
    const [, rules] = await api('developer', 'get', '/protected_branches');
    expect(rules).toMatchObject([{ name: 'm*' }]);
  });

  it('refuses the API like a push', async () => {
    const { api, fullPath } = await createEmptyPlace();
    const [status, body] = await api('developer', 'post', '/repository/branches', { branch: 'x', ref: 'main' });
    const message = (body as { message: string }).message;
    expect([status, message]).toEqual([400, expect.stringContaining(`does not yet exist for ${fullPath}`)]);
  });
});

describe('a push to a protected branch', () => {
  it('is for those whom the rule names', async () => {
    const { push, api, folder } = await createFilledPlace();
    await git.commit(folder, 'Second');
    expect(await push('developer', 'main')).toEqual(refusedWith(PUSH));
    expect(await push('developer', 'main:fine', 'main')).toEqual(refusedWith(PUSH));
    expect((await push('maintainer', 'main')).code).toBe(0);
    await api('maintainer', 'patch', '/protected_branches/main', { allowed_to_push: [{ access_level: 30 }] });
    await git.commit(folder, 'Third');
    expect((await push('developer', 'main')).code).toBe(0);
    const [, heads] = await api('developer', 'get', '/repository/branches');
    expect(heads).toMatchObject([
      { name: 'main', protected: true, can_push: true, developers_can_push: true, developers_can_merge: false },
    ]);
  });

  it('replaces commits only where the rule allows it', async () => {
    const { push, api, folder } = await createFilledPlace();
    await git.commit(folder, 'Second');
    expect((await push('maintainer', 'main')).code).toBe(0);
    await git.ok(folder, 'commit', '--quiet', '--amend', '-m', 'Other');
    const text = 'You are not allowed to force push code to a protected branch on this project.';
    expect(await push('maintainer', '--force', 'main')).toEqual(refusedWith(text));
    expect(await push('admin', '--force', 'main')).toEqual(refusedWith(text));
    expect(await push('maintainer', '--force', 'HEAD~1:main')).toEqual(refusedWith(text));
    await api('maintainer', 'patch', '/protected_branches/main', { allow_force_push: true });
    expect(await push('developer', '--force', 'main')).toEqual(refusedWith(PUSH));
    expect((await push('maintainer', '--force', 'main')).code).toBe(0);
  });

  it('creates and deletes branches by the rule of their name', async () => {
    const { push, api, folder } = await createFilledPlace();
    await api('maintainer', 'post', '/protected_branches', { name: 'release/*', merge_access_level: 30 });
    await git.commit(folder, 'Second');
    expect(await push('developer', 'main:release/1')).toEqual(
      refusedWith('You can only use an existing protected branch ref as the basis of a new protected branch.'),
    );
    expect(await push('developer', 'HEAD~1:refs/heads/release/1')).toEqual(
      refusedWith('You can only create protected branches using the web interface and API.'),
    );
    const branch = { branch: 'release/1', ref: 'main' };
    expect(await api('developer', 'post', '/repository/branches', branch)).toMatchObject([
      201,
      { protected: true, can_push: false, developers_can_merge: true, developers_can_push: false },
    ]);
    expect((await push('maintainer', 'main:release/2')).code).toBe(0);
    const text =
      'You are not allowed to delete protected branches from this project. Only a project maintainer or owner can delete a protected branch.';
    expect(await push('developer', ':release/1')).toEqual(refusedWith(text));
    expect(await push('maintainer', ':release/1')).toEqual(
      refusedWith('You can only delete protected branches using the web interface.'),
    );
    const one = `/repository/branches/${encodeURIComponent('release/1')}`;
    expect(await api('developer', 'delete', one)).toEqual([400, { message: text }]);
    expect((await api('maintainer', 'delete', one))[0]).toBe(204);
  });

  it('is no merged branch to delete', async () => {
    const { push, api } = await createFilledPlace();
    await api('maintainer', 'post', '/protected_branches', { name: 'kept*' });
    expect((await push('maintainer', 'main:kept', 'main:gone')).code).toBe(0);
    expect((await api('developer', 'delete', '/repository/merged_branches'))[0]).toBe(202);
    const [, left] = await api('developer', 'get', '/repository/branches');
    expect((left as { name: string }[]).map(({ name }) => name)).toEqual(['kept', 'main']);
  });
});

it('checks the rules of a push again after a search for large files', async () => {
  const { project, folder, push, api } = await createFilledPlace();
  await writeFile(join(git.folder, folder, 'random'), randomBytes(200 * 1024));
  await git.ok(folder, 'add', 'random');
  await git.ok(folder, 'commit', '--quiet', '-m', 'Random');
  const spy = jest.spyOn(service.app.get(PushLimits), 'warningOfFiles').mockImplementationOnce(async () => {
    expect((await api('maintainer', 'post', '/protected_branches', { name: 'feature' }))[0]).toBe(201);
    return null;
  });
  try {
    const text = 'You are not allowed to create protected branches on this project.';
    expect(await push('developer', 'main:feature')).toEqual(refusedWith(text));
  } finally {
    spy.mockRestore();
  }
  const pushes = 'select 1 from pushes where project_id = $1';
  expect(await service.database.query(pushes, [project.id])).toHaveLength(1);
});

it('protects tags', async () => {
  const { push, api } = await createFilledPlace();
  await api('maintainer', 'post', '/protected_tags', { name: 'v*' });
  const text = 'You are not allowed to create this tag as it is protected.';
  expect(await push('developer', 'main:refs/tags/v1')).toEqual(refusedWith(text));
  const tag = { tag_name: 'v1', ref: 'main' };
  expect(await api('developer', 'post', '/repository/tags', tag)).toEqual([400, { message: text }]);
  expect(await api('maintainer', 'post', '/repository/tags', tag)).toMatchObject([201, { protected: true }]);
  await git.commit(`work-${at}`, 'Second');
  expect(await push('maintainer', '--force', 'main:refs/tags/v1')).toEqual(
    refusedWith('Protected tags cannot be updated.'),
  );
  expect(await push('maintainer', ':refs/tags/v1')).toEqual(
    refusedWith('You can only delete protected tags using the web interface.'),
  );
  expect((await api('maintainer', 'delete', '/repository/tags/v1'))[0]).toBe(204);
  expect((await push('developer', 'main:refs/tags/other')).code).toBe(0);
});

describe('the deprecated routes', () => {
  it('protect a branch, change its rule, and remove it', async () => {
    const { push, api } = await createFilledPlace();
    expect((await push('maintainer', 'main:a/b')).code).toBe(0);
    const put = (verb: string, body: object = {}, by: Name = 'maintainer') =>
      api(by, 'put', `/repository/branches/${encodeURIComponent('a/b')}/${verb}`, body);
    const shown = (isProtected: boolean, canPush: boolean, canMerge: boolean) => [
      200,
      expect.objectContaining({
        ...{ name: 'a/b', protected: isProtected, developers_can_push: canPush, developers_can_merge: canMerge },
      }),
    ];
    expect(await put('protect')).toEqual(shown(true, false, false));
    expect(await put('protect', { developers_can_push: 'true' })).toEqual(shown(true, true, false));
    expect(await put('protect', { developers_can_merge: true })).toEqual(shown(true, true, true));
    expect(await put('protect', { developers_can_push: false })).toEqual(shown(true, false, true));
    expect(await put('unprotect')).toEqual(shown(false, false, false));
    expect(await put('unprotect')).toEqual(shown(false, false, false));
    const none = { message: '404 Branch Not Found' };
    expect(await api('maintainer', 'put', '/repository/branches/none/protect')).toEqual([404, none]);
    expect(await api('maintainer', 'put', '/repository/branches/none/unprotect')).toEqual([404, none]);
    for (const verb of ['protect', 'unprotect'])
      expect(await put(verb, {}, 'developer')).toEqual([403, { message: '403 Forbidden' }]);
    await api('maintainer', 'post', '/protected_branches', { name: 'a/b', unprotect_access_level: 60 });
    expect(await put('unprotect')).toEqual([403, { message: '403 Forbidden' }]);
  });
});

/** A project as developers meet it. */
const toProjectScope = (project: DirectoryProject): ProjectScope =>
  ({
    ...{ ...project, level: 30, fullPath: 'a/b' },
    namespace: { plan: 'free', traversalIds: [project.namespace_id] },
  }) as unknown as ProjectScope;

it('lets a merge through the API pass with the right to merge', async () => {
  const { project, push, api, folder } = await createFilledPlace();
  await api('maintainer', 'patch', '/protected_branches/main', { allowed_to_merge: [{ access_level: 30 }] });
  await git.commit(folder, 'Second');
  expect((await push('developer', 'main:feature')).code).toBe(0);
  const repository = (await service.app.get(ProjectRepositories).findRepository(project.id))!;
  const [oldId, newId] = [
    await readRef(repository, 'refs/heads/main'),
    await readRef(repository, 'refs/heads/feature'),
  ];
  const change = {
    ...{ project: toProjectScope(project), viewer: service.seed.viewer(users.developer) as SignedInViewer },
    write: () => Promise.resolve([{ ref: 'refs/heads/main', oldId: oldId ?? NO_OBJECT, newId: newId! }]),
  };
  const changes = service.app.get(RefChanges);
  expect(await changes.changeRefs(repository, change)).toEqual({ moved: false, why: null, refusal: PUSH });
  expect(await changes.changeRefs(repository, { ...change, isMerge: true })).toEqual({ moved: true });
});

it('checks a change through the API again when its intent is recorded', async () => {
  const { project, push } = await createFilledPlace();
  expect((await push('developer', 'main:feature')).code).toBe(0);
  const repository = (await service.app.get(ProjectRepositories).findRepository(project.id))!;
  const newId = (await readRef(repository, 'refs/heads/feature'))!;
  const intents = service.app.get(RefIntents);
  const record = intents.recordUpdates.bind(intents);
  const spy = jest.spyOn(intents, 'recordUpdates').mockImplementationOnce(async (...args) => {
    await service.database.query(
      `insert into protected_branches (project_id, name, push_levels, merge_levels, unprotect_levels)
       values ($1, 'late', '{40}', '{40}', '{40}')`,
      [project.id],
    );
    return record(...args);
  });
  try {
    const outcome = await service.app.get(RefChanges).changeRefs(repository, {
      project: toProjectScope(project),
      viewer: service.seed.viewer(users.developer) as SignedInViewer,
      write: () => Promise.resolve([{ ref: 'refs/heads/late', oldId: NO_OBJECT, newId }]),
    });
    expect(outcome).toEqual({ moved: false, why: null, refusal: expect.any(String) });
  } finally {
    spy.mockRestore();
  }
  expect(await readRef(repository, 'refs/heads/late')).toBeNull();
  expect(
    await service.database.query(
      `select u.state, p.settled_at is not null as settled from ref_updates u join pushes p on p.id = u.push_id
       where p.project_id = $1 and u.ref = 'refs/heads/late'`,
      [project.id],
    ),
  ).toEqual([{ state: 'refused', settled: true }]);
});

it('settles a change whose caller loses the permission once its intent is stored', async () => {
  const { project, push } = await createFilledPlace();
  expect((await push('developer', 'main:feature')).code).toBe(0);
  const repository = (await service.app.get(ProjectRepositories).findRepository(project.id))!;
  const newId = (await readRef(repository, 'refs/heads/feature'))!;
  let isLost = false;
  const rights = {
    recheckBeforeRead: () => null,
    recheckBeforeWrite: () => (isLost ? Promise.reject(new Forbidden()) : null),
    validForMs: () => 1000,
    recordCommit: () => void (isLost = true),
  };
  const change = () =>
    service.app.get(RefChanges).changeRefs(repository, {
      ...{ project: toProjectScope(project), viewer: service.seed.viewer(users.developer) as SignedInViewer },
      write: () => Promise.resolve([{ ref: 'refs/heads/lost', oldId: NO_OBJECT, newId }]),
    });
  const outcome = await runForWaiter({ kind: 'client', deadline: Date.now() + 60_000, rights }, change);
  expect([outcome, isLost]).toEqual([{ moved: true }, true]);
  const open = 'select 1 from pushes where project_id = $1 and settled_at is null';
  expect(await service.database.query(open, [project.id])).toEqual([]);
});
