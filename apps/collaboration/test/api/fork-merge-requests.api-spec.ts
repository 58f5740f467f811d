import { projectDeleted } from '@rookery/contracts';
import { startNats, until } from '@rookery/testing';
import type { PrivateNats, SeededService, SeededUser } from '@rookery/testing';
import { eventsOf, startCollaboration } from '../support/app';
import { MergeRequestScene } from '../support/merge-request-scene';
import type { MergePlace } from '../support/merge-request-scene';
import { publish } from '../support/publish';
import { startWorker } from '../support/worker';
import type { Worker } from '../support/worker';

let service: SeededService;
let scene: MergeRequestScene;
let nats: PrivateNats;
let worker: Worker;
beforeAll(async () => {
  nats = await startNats();
  service = await startCollaboration();
  worker = await startWorker({ databaseUrl: service.databaseUrl, nats });
  scene = await MergeRequestScene.start(service);
});
afterAll(async () => {
  await scene.stop();
  await worker.stop();
  await service.close();
  await nats.drop();
});

const as = (user: SeededUser) => service.app.as(service.seed.viewer(user));
const mergeRequestFields = (target: MergePlace, more: object = {}): object => ({
  ...{ source_branch: 'topic', target_branch: 'main', title: 'From a fork', target_project_id: target.project.id },
  ...more,
});
const open = (from: MergePlace, by: SeededUser, fields: object) => as(by).post(from.path).send(fields);
const answerOf = async (request: PromiseLike<{ status: number; body: unknown }>): Promise<unknown[]> => {
  const { status, body } = await request;
  return [status, body];
};

/** A project, a fork with the branch `topic`, and a merge request between them. */
async function openFromFork(over: object = {}, more: object = {}) {
  const target = await scene.place();
  const fork = await scene.fork(target, over);
  const [head] = await scene.branch(fork, 'topic');
  const { status, body } = await open(fork, fork.cast.developer, mergeRequestFields(target, more));
  expect([status, body.message]).toEqual([201, undefined]);
  return { target, fork, head: head!, body, path: `${target.path}/${body.iid}` };
}

describe('a merge request from a fork', () => {
  it('is one of the target, whose repository has its commits', async () => {
    const { target, fork, head, body, path } = await openFromFork();
    expect(body).toMatchObject({
      ...{ project_id: target.project.id, target_project_id: target.project.id, source_project_id: fork.project.id },
      ...{ sha: head, merge_status: 'can_be_merged', detailed_merge_status: 'mergeable', changes_count: '1' },
      ...{ diff_refs: { base_sha: target.mainSha, head_sha: head, start_sha: target.mainSha } },
      ...{ allow_collaboration: false, allow_maintainer_to_push: false },
      references: { short: `!${body.iid}`, relative: `!${body.iid}`, full: `${target.fullPath}!${body.iid}` },
    });
    expect(await scene.ref(target, `refs/merge-requests/${body.iid}/head`)).toBe(head);
    expect(await scene.ref(target, 'refs/heads/topic')).toBe('');
    const { body: commits } = await as(target.cast.guest).get(`${path}/commits`).expect(200);
    expect(commits.map(({ id }: { id: string }) => id)).toEqual([head]);
    const listed = await as(target.cast.guest).get(target.path).query({ source_project_id: fork.project.id });
    expect(listed.body.map(({ iid }: { iid: number }) => iid)).toEqual([body.iid]);
    expect((await as(fork.cast.developer).get(fork.path)).body).toEqual([]);
    const [event] = (await eventsOf(service.database, 'collaboration.merge_request.created.v1')).slice(-1);
    expect(event).toMatchObject({ project_id: target.project.id });
  });

  it('may have the same branch name on both sides, and a fork of the fork or another fork as its target', async () => {
    const target = await scene.place();
    const [fork, other] = [await scene.fork(target), await scene.fork(target)];
    await scene.push(fork, 'main', ['Own']);
    await service.database.query('delete from protected_branches where project_id = $1', [fork.project.id]);
    for (const to of [target, other]) {
      const { status } = await open(fork, fork.cast.developer, mergeRequestFields(to, { source_branch: 'main' }));
      expect(status).toBe(201);
    }
  });

  it('ignores people, labels and milestones of callers without a role in the target', async () => {
    const target = await scene.place();
    const fork = await scene.fork(target);
    await scene.branch(fork, 'topic');
    const more = { labels: 'a', assignee_ids: [target.cast.developer.id], reviewer_ids: [target.cast.developer.id] };
    const { body } = await open(fork, fork.cast.developer, mergeRequestFields(target, more)).expect(201);
    expect(body).toMatchObject({ labels: [], assignees: [], reviewers: [] });
  });

  it.each<[string, (to: { target: MergePlace; fork: MergePlace }) => Promise<object>, number, object]>([
    [
      'a project outside of the network',
      async () => ({ target_project_id: (await scene.place()).project.id }),
      422,
      { message: ['Source project is not a fork of the target project'] },
    ],
    [
      'a hidden project of the network',
      async ({ target }) => ({ target_project_id: (await scene.fork(target, { visibility: 'private' })).project.id }),
      422,
      { message: ['Source project is not a fork of the target project'] },
    ],
    [
      'a target without merge requests',
      async ({ target }) => ({
        target_project_id: (await scene.fork(target, { merge_requests_access_level: 'disabled' })).project.id,
      }),
      403,
      { message: '403 Forbidden' },
    ],
    [
      'an archived target',
      async ({ target }) => ({ target_project_id: (await archivedFork(target)).project.id }),
      403,
      { message: '403 Forbidden' },
    ],
    [
      'a branch that the fork lacks',
      () => Promise.resolve({ source_branch: 'absent' }),
      400,
      { message: { source_branch: ['does not exist'] } },
    ],
    [
      'a branch that the target lacks',
      () => Promise.resolve({ target_branch: 'topic' }),
      400,
      { message: { target_branch: ['does not exist'] } },
    ],
  ])('is refused for %s', async (_, fields, status, body) => {
    const target = await scene.place();
    const fork = await scene.fork(target);
    await scene.branch(fork, 'topic');
    const sent = mergeRequestFields(target, await fields({ target, fork }));
    expect(await answerOf(open(fork, fork.cast.developer, sent))).toEqual([status, body]);
  });

  it('is refused twice for one pair, and to readers of the source', async () => {
    const { target, fork, body } = await openFromFork();
    expect(await answerOf(open(fork, fork.cast.developer, mergeRequestFields(target)))).toEqual([
      409,
      { message: [`Another open merge request already exists for this source branch: !${body.iid}`] },
    ]);
    for (const user of [fork.cast.reporter, target.cast.owner])
      expect(await answerOf(open(fork, user, mergeRequestFields(target)))).toEqual([403, { message: '403 Forbidden' }]);
  });
});

async function archivedFork(target: MergePlace): Promise<MergePlace> {
  const fork = await scene.fork(target);
  await service.database.query('update directory_projects set archived = true where id = $1', [fork.project.id]);
  return fork;
}

describe('a push to the fork', () => {
  it('adds a version, a note and the commits in the target', async () => {
    const { target, fork, head, body, path } = await openFromFork();
    const [second] = await scene.push(fork, 'topic', ['Second']);
    const { body: after } = await as(target.cast.guest).get(path).expect(200);
    expect(after).toMatchObject({ sha: second, merge_status: 'can_be_merged', changes_count: '2' });
    expect(await scene.ref(target, `refs/merge-requests/${body.iid}/head`)).toBe(second);
    const { body: versions } = await as(target.cast.guest).get(`${path}/versions`).expect(200);
    expect(versions.map((one: { head_commit_sha: string }) => one.head_commit_sha)).toEqual([second, head]);
    const { body: notes } = await as(target.cast.guest).get(`${path}/notes`).expect(200);
    expect(notes[0].body).toMatch(/^added 1 commit\n/);
    expect(notes[0].body).toContain(`/${target.fullPath}/-/merge_requests/${body.iid}/diffs?diff_id=`);
  });

  it('names the target in the note about its commits', async () => {
    const { target, fork, path } = await openFromFork();
    await scene.push(target, 'main', ['Upstream']);
    const { git } = scene;
    await git.ok(
      fork.folder,
      'pull',
      '--quiet',
      '--rebase',
      scene.urlFor(target.fullPath, target.cast.maintainer),
      'main',
    );
    await git.ok(fork.folder, 'push', '--quiet', '--force', 'origin', 'topic');
    const { body: notes } = await as(target.cast.guest).get(`${path}/notes`).expect(200);
    const group = target.fullPath.split('/')[0];
    expect(notes[0].body).toContain(`1 commit from branch <code>${group}:main</code>`);
  });

  it('that deletes the branch closes it', async () => {
    const { target, fork, path } = await openFromFork();
    await scene.drop(fork, 'topic');
    expect((await as(target.cast.guest).get(path)).body.state).toBe('closed');
    expect(await answerOf(as(target.cast.developer).put(path).send({ state_event: 'reopen' }))).toEqual([
      200,
      expect.objectContaining({ state: 'closed' }),
    ]);
  });
});

describe('merging', () => {
  it('brings the commits to the target, and removes the branch only for those who may', async () => {
    const { target, fork, head, path } = await openFromFork();
    const { body } = await as(target.cast.maintainer)
      .put(`${path}/merge`)
      .send({ should_remove_source_branch: true })
      .expect(200);
    expect(body).toMatchObject({ state: 'merged', source_project_id: fork.project.id });
    expect(await scene.ref(target, 'refs/heads/main')).toBe(body.merge_commit_sha);
    expect(await scene.ref(fork, 'refs/heads/topic')).toBe(head);
    const own = await openFromFork();
    await service.seed.member(own.target.cast.maintainer, own.fork.project, 'developer');
    await as(own.target.cast.maintainer)
      .put(`${own.path}/merge`)
      .send({ should_remove_source_branch: true })
      .expect(200);
    expect(await scene.ref(own.fork, 'refs/heads/topic')).toBe('');
    expect(await answerOf(as(fork.cast.developer).put(`${path}/merge`))).toEqual([
      401,
      { message: '401 Unauthorized' },
    ]);
  });

  it('by a push of the head to the target marks it as merged', async () => {
    const { target, head, path } = await openFromFork();
    const { git } = scene;
    await git.ok(target.folder, 'fetch', '--quiet', 'origin', 'refs/merge-requests/1/head');
    await git.ok(target.folder, 'push', '--quiet', 'origin', 'FETCH_HEAD:refs/heads/main');
    expect((await as(target.cast.guest).get(path)).body).toMatchObject({ state: 'merged', sha: head });
  });

  it('is not possible after a conflict, and a rebase pushes to the fork with rights there', async () => {
    const { target, fork, path } = await openFromFork();
    await scene.push(target, 'main', ['Upstream']);
    const tip = await scene.ref(target, 'refs/heads/main');
    await service.seed.member(fork.cast.developer, target.project, 'developer');
    expect(await answerOf(as(target.cast.developer).put(`${path}/rebase`))).toEqual([
      403,
      { message: '403 Forbidden - Cannot push to source branch' },
    ]);
    await as(fork.cast.developer).put(`${path}/rebase`).expect(202);
    const { body } = await as(target.cast.guest).get(path).query({ include_diverged_commits_count: true }).expect(200);
    expect(body).toMatchObject({ merge_error: null, diverged_commits_count: 0, diff_refs: { base_sha: tip } });
    expect(await scene.ref(fork, 'refs/heads/topic')).toBe(body.sha);
    await scene.push(fork, 'topic', ['Ours'], 'both');
    await scene.push(target, 'main', ['Theirs'], 'both');
    // A single read waits 300 ms for the check at most, which a busy machine may exceed.
    const hasConflicts = async () => (await as(target.cast.guest).get(path)).body.has_conflicts === true;
    await until(hasConflicts, 'the conflict');
  });
});

describe('a private fork', () => {
  it('shows readers of the target the commits of its request alone', async () => {
    const { target, fork, head, path } = await openFromFork({ visibility: 'private' });
    const [hidden] = await scene.branch(fork, 'hidden', ['Secret']);
    const outsider = as(target.cast.stranger);
    const { body } = await outsider.get(path).expect(200);
    expect(body).toMatchObject({ sha: head, source_project_id: fork.project.id });
    await outsider.get(`/api/v4/projects/${target.project.id}/repository/commits/${hidden}`).expect(404);
    await outsider.get(`/api/v4/projects/${fork.project.id}/repository/commits/${head}`).expect(404);
    expect(JSON.stringify(body)).not.toContain(fork.fullPath);
  });
});

describe('commits that a private fork got while its merge request was closed', () => {
  it('are shown by nobody who does not read the fork', async () => {
    const { target, fork, head, path } = await openFromFork({ visibility: 'private' });
    const developer = as(target.cast.developer);
    await developer.put(path).send({ state_event: 'close' }).expect(200);
    const [later] = await scene.push(fork, 'topic', ['Secret']);
    await developer.get(path).query({ include_diverged_commits_count: true }).expect(200);
    await developer.get(`/api/v4/projects/${target.project.id}/repository/commits/${later}`).expect(404);
    const refused = await developer.put(path).send({ state_event: 'reopen' }).expect(200);
    expect(refused.body).toMatchObject({ state: 'closed', sha: head });
    await developer.get(`/api/v4/projects/${target.project.id}/repository/commits/${later}`).expect(404);
    const reopened = await as(fork.cast.developer).put(path).send({ state_event: 'reopen' }).expect(200);
    expect(reopened.body).toMatchObject({ state: 'opened', sha: later });
  });
});

describe('a deleted fork', () => {
  it('closes its open merge request, which keeps its commits', async () => {
    const { target, fork, head, path } = await openFromFork();
    await service.database.query('delete from directory_projects where id = $1', [fork.project.id]);
    const { id } = fork.project;
    const data = { project_id: id };
    await publish(nats, projectDeleted.of({ aggregateId: id, actorId: fork.cast.owner.id, data }));
    await worker.drained();
    const { body } = await as(target.cast.guest).get(path).expect(200);
    expect(body).toMatchObject({ state: 'closed', source_project_id: null, sha: head });
    expect((await as(target.cast.guest).get(`${path}/changes`).expect(200)).body.changes).toHaveLength(1);
    const [event] = (await eventsOf(service.database, 'collaboration.merge_request.closed.v1')).slice(-1);
    expect(event).toMatchObject({ project_id: target.project.id });
    expect((await as(target.cast.developer).put(path).send({ state_event: 'reopen' })).body.state).toBe('closed');
  });
});
