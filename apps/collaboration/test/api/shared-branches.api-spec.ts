import type { SeededService, SeededUser } from '@rookery/testing';
import { PushPipelines } from '../../src/code/push-pipelines/push-pipelines';
import { PushReceiver } from '../../src/code/repositories/ref-updates/push-receiver';
import { startCollaboration } from '../support/app';
import { MergeRequestScene } from '../support/merge-request-scene';
import type { MergePlace } from '../support/merge-request-scene';

let service: SeededService;
let scene: MergeRequestScene;
beforeAll(async () => {
  service = await startCollaboration();
  scene = await MergeRequestScene.start(service);
});
afterAll(async () => {
  await scene.stop();
  await service.close();
});

const NOT_PUSHED = 'You are not allowed to push code to this project.';
const as = (user: SeededUser) => service.app.as(service.seed.viewer(user));
const query = (sql: string, ...values: unknown[]) => service.database.query(sql, values);
const answerOf = async (request: PromiseLike<{ status: number; body: unknown }>): Promise<unknown[]> => {
  const { status, body } = await request;
  return [status, body];
};

interface Opened {
  readonly target: MergePlace;
  readonly fork: MergePlace;
  readonly path: string;
  readonly iid: number;
  readonly shown: { readonly allow_collaboration: boolean; readonly allow_maintainer_to_push: boolean };
}

/** A merge request from the branch `topic` of a fork. */
async function openSharedMergeRequest(
  fields: object = { allow_collaboration: true },
  { targetIs = {}, forkIs = {} }: { targetIs?: object; forkIs?: object } = {},
): Promise<Opened> {
  const target = await scene.place(targetIs);
  const fork = await scene.fork(target, forkIs);
  if ((forkIs as { visibility?: string }).visibility === 'private')
    await service.seed.member(fork.cast.developer, target.project, 'reporter');
  await scene.branch(fork, 'topic');
  const sent = { source_branch: 'topic', target_branch: 'main', title: 'Shared', target_project_id: target.project.id };
  const { body } = await as(fork.cast.developer)
    .post(fork.path)
    .send({ ...sent, ...fields })
    .expect(201);
  return { target, fork, path: `${target.path}/${body.iid}`, iid: body.iid, shown: body };
}

let count = 0;
/** Pushes of a user to the fork: a new commit on the branch, or refs as they are. */
async function push(fork: MergePlace, by: SeededUser, ...refs: string[]) {
  const { folder } = fork;
  await scene.git.ok(folder, 'fetch', '--quiet', 'origin');
  await scene.git.ok(folder, 'checkout', '--quiet', '--detach', 'origin/topic');
  const title = `Push ${++count}`;
  await scene.git.commit(folder, title, title);
  const url = scene.urlFor(fork.fullPath, by);
  const { code, output } = await scene.git.run(
    folder,
    'push',
    url,
    ...(refs.length ? refs : ['HEAD:refs/heads/topic']),
  );
  return { code, output, id: (await scene.git.ok(folder, 'rev-parse', 'HEAD')).trim() };
}

describe('the wish to share the source branch', () => {
  it.each([
    ['as allow_collaboration', { allow_collaboration: true }, true],
    ['as allow_maintainer_to_push', { allow_maintainer_to_push: true }, true],
    ['with the newer name before the older', { allow_collaboration: false, allow_maintainer_to_push: true }, false],
    ['without it', {}, false],
  ])('is shown %s', async (_, fields, expected) => {
    const { shown, path, target } = await openSharedMergeRequest(fields);
    expect(shown).toMatchObject({ allow_collaboration: expected, allow_maintainer_to_push: expected });
    const { body } = await as(target.cast.guest).get(path).expect(200);
    expect(body).toMatchObject({ allow_collaboration: expected, allow_maintainer_to_push: expected });
  });

  it('has no effect within one project, whose merge requests do not show it', async () => {
    const target = await scene.place();
    await scene.branch(target, 'topic');
    const sent = { source_branch: 'topic', target_branch: 'main', title: 'Own', allow_collaboration: true };
    const { body } = await as(target.cast.developer).post(target.path).send(sent).expect(201);
    expect(body).not.toHaveProperty('allow_collaboration');
    expect(
      await query('select 1 from merge_requests where allow_collaboration and project_id = $1', target.project.id),
    ).toEqual([]);
  });

  it('has no effect for a protected branch, and for a fork that is less open than the target', async () => {
    const { fork, path } = await openSharedMergeRequest({});
    await query(
      `insert into protected_branches (project_id, name, push_levels, merge_levels, unprotect_levels) values ($1, 't*', '{30}', '{30}', '{40}')`,
      fork.project.id,
    );
    const wish = { allow_collaboration: true };
    const { body } = await as(fork.cast.developer).put(path).send(wish).expect(200);
    expect(body.allow_collaboration).toBe(false);
    const closed = await openSharedMergeRequest(wish, { forkIs: { visibility: 'private' } });
    expect(closed.shown.allow_collaboration).toBe(false);
    const both = await openSharedMergeRequest(wish, {
      targetIs: { visibility: 'private' },
      forkIs: { visibility: 'private' },
    });
    expect(both.shown.allow_collaboration).toBe(true);
  });

  it('is granted by those who push to the fork, and withdrawn by all who edit the merge request', async () => {
    const { target, fork, path } = await openSharedMergeRequest({});
    const send = async (by: SeededUser, wish: boolean) =>
      (await as(by).put(path).send({ allow_maintainer_to_push: wish }).expect(200)).body.allow_collaboration;
    expect(await send(target.cast.owner, true)).toBe(false);
    expect(await send(fork.cast.developer, true)).toBe(true);
    // The right does not extend to those who have it through the merge request alone.
    expect(await send(target.cast.developer, false)).toBe(false);
    expect(await send(target.cast.developer, true)).toBe(false);
  });
});

describe('a developer of the target', () => {
  it('pushes to the branch by git, also other commits in place of its own', async () => {
    const { target, fork, path } = await openSharedMergeRequest();
    const { developer } = target.cast;
    const first = await push(fork, developer);
    expect([first.code, first.output]).toEqual([0, expect.anything()]);
    expect((await as(developer).get(path)).body).toMatchObject({ sha: first.id, state: 'opened' });
    expect((await push(fork, developer, '--force', 'origin/main:refs/heads/topic')).code).toBe(0);
    expect(await scene.ref(fork, 'refs/heads/topic')).toBe(fork.mainSha);
  });

  it.each([
    ['another branch', ['HEAD:refs/heads/main']],
    ['a new branch', ['HEAD:refs/heads/new']],
    ['a tag', ['HEAD:refs/tags/v1']],
    ['notes', ['HEAD:refs/notes/commits']],
    ['the deletion of the branch', [':refs/heads/topic']],
    ['the branch with another one', ['HEAD:refs/heads/topic', 'HEAD:refs/heads/new']],
  ])('does not push %s', async (_, refs) => {
    const { target, fork } = await openSharedMergeRequest();
    const before = await scene.git.ok('.', 'ls-remote', scene.urlFor(fork.fullPath, fork.cast.owner));
    const { code, output } = await push(fork, target.cast.developer, '--force', ...refs);
    expect([code, output]).toEqual([1, expect.stringContaining(`remote: Rookery: ${NOT_PUSHED}`)]);
    expect(await scene.git.ok('.', 'ls-remote', scene.urlFor(fork.fullPath, fork.cast.owner))).toBe(before);
  });

  it('writes files and commits to the branch through the API, and to no other', async () => {
    const { target, fork, path } = await openSharedMergeRequest();
    const api = as(target.cast.developer);
    const root = `/api/v4/projects/${fork.project.id}/repository`;
    const fields = (branch: string) => ({ branch, content: 'x', commit_message: 'By the target' });
    await api.post(`${root}/files/a.txt`).send(fields('topic')).expect(201);
    await api
      .put(`${root}/files/a.txt`)
      .send({ ...fields('topic'), content: 'y' })
      .expect(200);
    await api.delete(`${root}/files/a.txt`).send({ branch: 'topic', commit_message: 'Gone' }).expect(204);
    const actions = [{ action: 'create', file_path: 'b.txt', content: 'b' }];
    const commit = { branch: 'topic', commit_message: 'Both', actions };
    const { body: made } = await api.post(`${root}/commits`).send(commit).expect(201);
    expect((await api.get(path)).body.sha).toBe(made.id);
    await api.post(`${root}/commits/${made.id}/revert`).send({ branch: 'topic' }).expect(201);
    expect(await answerOf(api.post(`${root}/files/a.txt`).send(fields('main')))).toEqual([
      400,
      { message: 'You are not allowed to push into this branch' },
    ]);
    expect(
      await answerOf(api.post(`${root}/commits`).send({ ...commit, branch: 'new', start_branch: 'topic' })),
    ).toEqual([403, { message: '403 Forbidden - You are not allowed to push into this branch' }]);
    expect(await answerOf(api.post(`${root}/commits/${made.id}/cherry_pick`).send({ branch: 'main' }))).toEqual([
      403,
      { message: '403 Forbidden - You are not allowed to push into this branch' },
    ]);
    for (const request of [
      api.post(`${root}/branches`).send({ branch: 'new', ref: 'topic' }),
      api.delete(`${root}/branches/topic`),
      api.delete(`${root}/merged_branches`),
      api.post(`${root}/tags`).send({ tag_name: 'v1', ref: 'topic' }),
    ])
      expect(await answerOf(request)).toEqual([403, { message: '403 Forbidden' }]);
    const { body: shown } = await api.get(`${root}/branches`).expect(200);
    expect(shown.map((one: { name: string; can_push: boolean }) => [one.name, one.can_push])).toEqual([
      ['main', false],
      ['topic', true],
    ]);
  });

  it('rebases, but neither removes the branch nor merges into it', async () => {
    const { target, fork, path } = await openSharedMergeRequest();
    await scene.push(target, 'main', ['Upstream']);
    await as(target.cast.developer).put(`${path}/rebase`).expect(202);
    const { body } = await as(target.cast.developer).get(path).query({ include_diverged_commits_count: true });
    expect(body).toMatchObject({ merge_error: null, diverged_commits_count: 0 });
    await scene.branch(fork, 'inner');
    const inner = { source_branch: 'inner', target_branch: 'topic', title: 'Inner' };
    const { body: second } = await as(fork.cast.developer).post(fork.path).send(inner).expect(201);
    expect(await answerOf(as(target.cast.developer).put(`${fork.path}/${second.iid}/merge`))).toEqual([
      401,
      { message: '401 Unauthorized' },
    ]);
    await as(target.cast.developer).put(`${path}/merge`).send({ should_remove_source_branch: true }).expect(200);
    expect(await scene.ref(fork, 'refs/heads/topic')).toBe(body.sha);
  });
});

describe('the right to push', () => {
  it.each(['reporter', 'guest', 'stranger', 'external'] as const)('is not one of a %s', async (name) => {
    const { target, fork } = await openSharedMergeRequest();
    const { code, output } = await push(fork, target.cast[name]);
    expect([code, output]).toEqual([128, expect.stringContaining(NOT_PUSHED)]);
    const file = { branch: 'topic', content: 'x', commit_message: 'x' };
    const root = `/api/v4/projects/${fork.project.id}/repository`;
    expect(await answerOf(as(target.cast[name]).post(`${root}/files/a.txt`).send(file))).toEqual([
      403,
      { message: '403 Forbidden' },
    ]);
  });

  it.each<[string, (opened: Opened) => Promise<unknown>]>([
    ['closing', ({ target, path }) => as(target.cast.developer).put(path).send({ state_event: 'close' }).expect(200)],
    ['merging', ({ target, path }) => as(target.cast.maintainer).put(`${path}/merge`).expect(200)],
    [
      'the end of the wish',
      ({ fork, path }) => as(fork.cast.developer).put(path).send({ allow_collaboration: false }).expect(200),
    ],
    [
      'the loss of the role',
      ({ target }) => query('delete from directory_memberships where user_id = $1', target.cast.developer.id),
    ],
    [
      'the loss of the role of the user who shared it',
      ({ fork }) => query('delete from directory_memberships where user_id = $1', fork.cast.developer.id),
    ],
    [
      'a block of the user who shared it',
      ({ fork }) => query(`update directory_users set state = 'blocked' where id = $1`, fork.cast.developer.id),
    ],
    [
      'the end of the fork relation',
      ({ fork }) => query('update directory_projects set fork = null where id = $1', fork.project.id),
    ],
    [
      'a rule for the branch',
      ({ fork }) =>
        query(
          `insert into protected_branches (project_id, name, push_levels, merge_levels, unprotect_levels) values ($1, 'topic', '{30}', '{30}', '{40}')`,
          fork.project.id,
        ),
    ],
    [
      'an archived target',
      ({ target }) => query('update directory_projects set archived = true where id = $1', target.project.id),
    ],
    [
      'a target without merge requests',
      ({ target }) =>
        query(
          `update directory_projects set merge_requests_access_level = 'disabled' where id = $1`,
          target.project.id,
        ),
    ],
    [
      'a fork that is less open than the target',
      ({ fork }) => query(`update directory_projects set visibility = 'internal' where id = $1`, fork.project.id),
    ],
  ])('ends with %s', async (_, end) => {
    const made = await openSharedMergeRequest();
    const { developer } = made.target.cast;
    expect((await push(made.fork, developer)).code).toBe(0);
    await end(made);
    const { code, output } = await push(made.fork, developer);
    expect([code, output]).toEqual([128, expect.stringContaining(NOT_PUSHED)]);
  });

  it('starts again with another user who shares the branch', async () => {
    const { target, fork, path } = await openSharedMergeRequest();
    await query('delete from directory_memberships where user_id = $1', fork.cast.developer.id);
    expect((await push(fork, target.cast.developer)).code).toBe(128);
    await service.seed.member(fork.cast.maintainer, target.project, 'developer');
    await as(fork.cast.maintainer).put(path).send({ allow_collaboration: true }).expect(200);
    expect((await push(fork, target.cast.developer)).code).toBe(0);
  });

  it('extends to forks of forks', async () => {
    const target = await scene.place();
    const between = await scene.fork(target);
    const outer = await scene.fork(between);
    await scene.branch(outer, 'topic');
    const sent = { source_branch: 'topic', target_branch: 'main', title: 'Shared', allow_collaboration: true };
    for (const { project } of [between, target])
      await as(outer.cast.developer)
        .post(outer.path)
        .send({ ...sent, target_project_id: project.id })
        .expect(201);
    expect((await push(outer, between.cast.developer)).code).toBe(0);
    expect((await push(outer, target.cast.developer)).code).toBe(0);
  });

  it('does not come from a fork that is the target, whose owner left the project', async () => {
    const origin = await scene.place();
    const leaver = origin.cast.developer;
    const own = await scene.fork(origin, { visibility: 'private' });
    await service.seed.member(leaver, own.project, 'owner');
    await scene.branch(origin, 'topic');
    const sent = { source_branch: 'topic', target_branch: 'main', title: 'Kept', allow_collaboration: true };
    const { body } = await as(leaver)
      .post(origin.path)
      .send({ ...sent, target_project_id: own.project.id })
      .expect(201);
    expect(body.allow_collaboration).toBe(false);
    await query(
      'update merge_requests set allow_collaboration = true, collaboration_granted_by_id = $2 where id = $1',
      ...[body.id, origin.cast.owner.id],
    );
    await query(
      `delete from directory_memberships where user_id = $1 and source_id = $2 and source_type = 'project'`,
      ...[leaver.id, origin.project.id],
    );
    const { code, output } = await push(origin, leaver);
    expect([code, output]).toEqual([128, expect.stringContaining(NOT_PUSHED)]);
  });

  it('ends during a push', async () => {
    const { target, fork, iid } = await openSharedMergeRequest();
    const before = await scene.ref(fork, 'refs/heads/topic');
    const receiver = service.app.get(PushReceiver);
    const receive = receiver.receivePush.bind(receiver);
    const spy = jest.spyOn(receiver, 'receivePush').mockImplementationOnce(async (...args) => {
      const closed = `state = 'closed', closed_at = now()`;
      await query(`update merge_requests set ${closed} where project_id = $1 and iid = $2`, target.project.id, iid);
      return receive(...args);
    });
    try {
      const { code, output } = await push(fork, target.cast.developer);
      expect([code, output]).toEqual([1, expect.stringContaining(`remote: Rookery: ${NOT_PUSHED}`)]);
    } finally {
      spy.mockRestore();
    }
    expect(await scene.ref(fork, 'refs/heads/topic')).toBe(before);
  });

  it('starts no pipeline of the fork', async () => {
    const { target, fork } = await openSharedMergeRequest();
    await scene.files(fork, 'topic', { '.gitlab-ci.yml': 'job:\n  script: [make]\n' });
    const pushes = () =>
      query('select id from pushes where project_id = $1 order by id desc limit 1', fork.project.id) as Promise<
        { id: number }[]
      >;
    const refsOf = async () => (await service.app.get(PushPipelines).listForPush((await pushes())[0]!.id)).refs;
    expect(await refsOf()).toHaveLength(1);
    expect((await push(fork, target.cast.developer)).code).toBe(0);
    expect(await refsOf()).toEqual([]);
  });
});
