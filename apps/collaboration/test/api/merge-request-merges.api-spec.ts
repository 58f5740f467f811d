import { isObjectId } from '@rookery/git';
import type { ObjectId } from '@rookery/git';
import type { SeededService } from '@rookery/testing';
import { ProjectRepositories } from '../../src/code/repositories/project-repositories';
import { RefIntents } from '../../src/code/repositories/ref-updates/ref-intents';
import { PushSettlement } from '../../src/code/repositories/ref-updates/settlement';
import { eventsOf, ROLES, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { MergeRequestScene } from '../support/merge-request-scene';
import type { MergePlace } from '../support/merge-request-scene';

interface ShownMergeRequest {
  readonly iid: number;
  readonly sha: string;
  readonly merge_commit_sha: string;
  readonly squash_commit_sha: string;
  readonly [field: string]: unknown;
}

let service: SeededService;
let scene: MergeRequestScene;
let place: MergePlace;
let cast: Cast;
let path: string;
let opened = 0;

beforeAll(async () => {
  service = await startCollaboration();
  scene = await MergeRequestScene.start(service);
  place = await scene.place();
  ({ cast, path } = place);
});
afterAll(async () => {
  await scene.stop();
  await service.close();
});

const as = (name: keyof Cast) => service.app.as(service.seed.viewer(cast[name]));
async function open(
  fields: Record<string, unknown> = {},
  titles?: readonly string[],
): Promise<{ iid: number; source: string; commits: string[] }> {
  const source = `source-${++opened}`;
  const commits = await scene.branch(place, source, titles);
  const sent = { title: 'A change', source_branch: source, target_branch: 'main', ...fields };
  const { body } = await as('developer').post(path).send(sent).expect(201);
  return { iid: (body as ShownMergeRequest).iid, source, commits };
}
const shown = async (iid: number): Promise<ShownMergeRequest> =>
  (await as('developer').get(`${path}/${iid}`)).body as ShownMergeRequest;
const merge = (iid: number, body: Record<string, unknown> = {}, name: keyof Cast = 'developer') =>
  as(name).put(`${path}/${iid}/merge`).send(body);
const repository = async () => (await service.app.get(ProjectRepositories).findRepository(place.project.id))!;
/** Reads a commit of the server: its parents, author, committer and message. */
async function commit(id: string): Promise<{ parents: string[]; author: string; committer: string; message: string }> {
  const args = ['show', '--no-patch', '--format=%P%n%an <%ae>%n%cn <%ce>%n%B', id];
  const [parents, author, committer, ...message] = (await (await repository()).run({ args })).stdout
    .toString()
    .split('\n');
  const body = message.join('\n').replace(/\n+$/, '');
  return { parents: parents!.split(' '), author: author!, committer: committer!, message: body };
}
const tip = (branch: string): Promise<string> => scene.ref(place, `refs/heads/${branch}`);
const notesOf = async (iid: number): Promise<string[]> => {
  const query = { sort: 'asc', activity_filter: 'only_activity' };
  const { body } = await as('owner').get(`${path}/${iid}/notes`).query(query);
  return (body as { body: string }[]).map((note) => note.body);
};

describe('merging', () => {
  test('writes a merge commit, removes the source branch and answers the merged request', async () => {
    const { iid, source, commits } = await open({ remove_source_branch: true });
    const before = await tip('main');
    const { body } = await merge(iid, { sha: commits[0] }).expect(200);
    const merged = body as ShownMergeRequest;
    expect(merged).toMatchObject({
      state: 'merged',
      merged_by: { id: cast.developer.id },
      merge_user: { id: cast.developer.id },
      merged_at: expect.any(String),
      sha: commits[0],
      squash_commit_sha: null,
      detailed_merge_status: 'not_open',
      merge_when_pipeline_succeeds: false,
      merge_error: null,
      force_remove_source_branch: true,
      should_remove_source_branch: null,
    });
    expect(await tip('main')).toBe(merged.merge_commit_sha);
    expect(await tip(source)).toBe('');
    const person = `${cast.developer.name} <${cast.developer.id}-${cast.developer.username}@users.noreply.localhost>`;
    expect(await commit(merged.merge_commit_sha)).toEqual({
      parents: [before, commits[0]],
      author: person,
      committer: person,
      message: `Merge branch '${source}' into 'main'\n\nA change\n\nSee merge request ${place.fullPath}!${iid}`,
    });
    expect(await notesOf(iid)).toEqual(['merged']);
    expect((await eventsOf(service.database, 'collaboration.merge_request.merged.v1')).at(-1)).toMatchObject({
      merge_request_iid: iid,
    });
    expect((await merge(iid).expect(405)).body).toEqual({ message: '405 Method Not Allowed' });
    expect(await shown(iid)).toMatchObject({ state: 'merged', sha: commits[0] });
  });

  test('takes messages of the caller to the byte; blank ones count as none', async () => {
    const { iid, source } = await open({ remove_source_branch: true });
    const message = 'Title\r\n\r\nBody';
    const sent = { merge_commit_message: message, squash_commit_message: ' ', should_remove_source_branch: false };
    const { body } = await as('developer').put(`${path}/${iid}/merge`).query(sent).expect(200);
    const raw = await (
      await repository()
    ).run({ args: ['cat-file', 'commit', (body as ShownMergeRequest).merge_commit_sha] });
    expect(raw.stdout.toString().endsWith(`\n\n${message}`)).toBe(true);
    expect(body).toMatchObject({ should_remove_source_branch: false });
    expect(await tip(source)).not.toBe('');
  });

  test('squashes several commits into one of the author; one commit stays', async () => {
    const { iid, commits } = await open({ squash: true }, ['One', 'Two']);
    const before = await tip('main');
    const { body } = await merge(iid, {}, 'maintainer').expect(200);
    const merged = body as ShownMergeRequest;
    expect(merged).toMatchObject({ squash: true, sha: commits[1] });
    const { parents, author, committer, message } = await commit(merged.squash_commit_sha);
    expect([parents, message]).toEqual([[before], 'A change']);
    expect([author, committer]).toEqual([
      expect.stringContaining(cast.developer.name),
      expect.stringContaining(cast.maintainer.name),
    ]);
    expect((await commit(merged.merge_commit_sha)).parents).toEqual([before, merged.squash_commit_sha]);
    const single = await open();
    const alone = (await merge(single.iid, { squash: true }).expect(200)).body as ShownMergeRequest;
    expect(alone).toMatchObject({ squash: true, squash_commit_sha: single.commits[0] });
    const named = await open();
    const own = (await merge(named.iid, { squash: true, squash_commit_message: 'Own' }).expect(200))
      .body as ShownMergeRequest;
    expect((await commit(own.squash_commit_sha)).message).toBe('Own');
  });

  test('refusals come in their order', async () => {
    const { iid, source, commits } = await open();
    for (const name of ['guest', 'planner', 'reporter', 'stranger'] as const)
      expect((await merge(iid, { sha: 'x' }, name).expect(401)).body).toEqual({ message: '401 Unauthorized' });
    const draft = await open({ title: 'Draft: x' });
    expect((await merge(draft.iid, { sha: 'x' }).expect(405)).body).toEqual({ message: '405 Method Not Allowed' });
    const later = await open({ merge_after: '2099-01-01T00:00:00Z' });
    await merge(later.iid).expect(405);
    const stale = await merge(iid, { sha: place.mainSha }).expect(409);
    expect(stale.body).toEqual({ message: `SHA does not match HEAD of source branch: ${commits[0]}` });
    await scene.push(place, source, ['Mine'], 'shared');
    await scene.git.ok(place.folder, 'fetch', '--quiet', 'origin');
    await scene.git.ok(place.folder, 'checkout', '--quiet', '-B', 'main', 'origin/main');
    await scene.push(place, 'main', ['Theirs'], 'shared');
    const conflict = await merge(iid, { sha: 'x' }).expect(422);
    expect(conflict.body).toEqual({ message: 'Branch cannot be merged' });
    await as('developer').put(`${path}/${iid}`).send({ state_event: 'close' }).expect(200);
    await merge(iid).expect(405);
    expect((await merge(999_999).expect(404)).body).toEqual({ message: '404 Not found' });
    const empty = `empty-${++opened}`;
    await scene.git.ok(place.folder, 'push', '--quiet', 'origin', `main:refs/heads/${empty}`);
    const sent = { title: 'Empty', source_branch: empty, target_branch: 'main' };
    const { body } = await as('developer').post(path).send(sent).expect(201);
    await merge((body as ShownMergeRequest).iid).expect(405);
  });

  test('rules of the target branch decide who may merge', async () => {
    const { iid } = await open({ target_branch: 'main' });
    const rule = (push: number, mergeLevel: number) =>
      service.database.query(
        `insert into protected_branches (project_id, name, push_levels, merge_levels, unprotect_levels) values ($1, 'ma*', $2, $3, $3)`,
        [place.project.id, [push], [mergeLevel]],
      );
    await rule(40, 40);
    expect((await shown(iid)).user).toEqual({ can_merge: false });
    expect((await merge(iid).expect(401)).body).toEqual({ message: '401 Unauthorized' });
    await as('reporter').post(`${path}/${iid}/cancel_merge_when_pipeline_succeeds`).expect(401);
    await service.database.query('delete from protected_branches where project_id = $1', [place.project.id]);
    await rule(0, 30);
    expect((await shown(iid)).user).toEqual({ can_merge: true });
    expect((await merge(iid).expect(200)).body).toMatchObject({ state: 'merged' });
    await service.database.query('delete from protected_branches where project_id = $1', [place.project.id]);
  });

  test.each(ROLES)('in a private project as %s', async (role) => {
    const own = await scene.place({ visibility: 'private' });
    await scene.branch(own, 'feature');
    const viewer = (name: keyof Cast) => service.app.as(service.seed.viewer(own.cast[name]));
    const sent = { title: 'A change', source_branch: 'feature', target_branch: 'main' };
    await viewer('developer').post(own.path).send(sent).expect(201);
    const statuses = { guest: 403, planner: 403, reporter: 401, developer: 200, maintainer: 200, owner: 200 };
    await viewer(role).put(`${own.path}/1/merge`).expect(statuses[role]);
  });

  test('parallel merges into one branch: each is in the history once', async () => {
    const made = [];
    for (let number = 0; number < 5; number++) made.push(await open());
    const answers = await Promise.all(made.map(({ iid }) => merge(iid)));
    expect(answers.map(({ status }) => status)).toEqual(made.map(() => 200));
    const log = await (await repository()).run({ args: ['rev-list', 'refs/heads/main'] });
    const history = log.stdout.toString().split('\n');
    for (const { commits } of made) expect(history.filter((id) => id === commits[0])).toHaveLength(1);
  });

  test('a process that dies after the ref moved: the job completes the merge with its commits', async () => {
    const { iid, commits } = await open();
    const git = await repository();
    const before = (await tip('main')) as ObjectId;
    const tree = (await git.run({ args: ['rev-parse', `${commits[0]}^{tree}`] })).stdout.toString().trim();
    const variables = Object.fromEntries(
      ['AUTHOR', 'COMMITTER'].flatMap((role) => [
        [`GIT_${role}_NAME`, 'Wren'],
        [`GIT_${role}_EMAIL`, 'wren@example.org'],
      ]),
    );
    const args = ['commit-tree', tree, '-p', before, '-m', 'Squashed'];
    const made = (await git.run({ args, variables })).stdout.toString().trim() as ObjectId;
    const intent = JSON.stringify({ tip: made, mergeCommitSha: null, squashCommitSha: made });
    const where = [place.project.id, iid];
    const set = 'update merge_requests set merge_intent = $3 where project_id = $1 and iid = $2';
    await service.database.query(set, [...where, intent]);
    const push = { projectId: place.project.id, userId: cast.maintainer.id, source: 'api' } as const;
    const update = { ref: 'refs/heads/main', oldId: before, newId: made };
    const id = await service.app.get(RefIntents).recordUpdates(push, [update]);
    expect(await shown(iid)).toMatchObject({ state: 'opened' });
    await git.run({ args: ['update-ref', 'refs/heads/main', made] });
    await service.app.get(PushSettlement).settlePush(git, id, null);
    expect(await shown(iid)).toMatchObject({
      state: 'merged',
      merged_by: { id: cast.maintainer.id },
      merge_commit_sha: null,
      squash_commit_sha: made,
    });
    await scene.git.ok(place.folder, 'fetch', '--quiet', 'origin');
  });
});

describe('merging later', () => {
  test('a CI file in the head means a pipeline to come; it can be canceled', async () => {
    const { iid, source } = await open();
    await scene.push(place, source, ['jobs: {}'], '.gitlab-ci.yml');
    const { body } = await merge(iid, { merge_when_pipeline_succeeds: true }).expect(200);
    expect(body).toMatchObject({
      state: 'opened',
      merge_when_pipeline_succeeds: true,
      merge_user: { id: cast.developer.id },
      merged_by: null,
    });
    const cancel = (name: keyof Cast) => as(name).post(`${path}/${iid}/cancel_merge_when_pipeline_succeeds`);
    expect((await cancel('reporter').expect(401)).body).toEqual({ message: '401 Unauthorized' });
    expect((await cancel('developer').expect(201)).body).toEqual({ status: 'success' });
    expect((await cancel('developer').expect(201)).body).toEqual({ status: 'success' });
    expect(await shown(iid)).toMatchObject({ merge_when_pipeline_succeeds: false, merge_user: null });
    expect((await notesOf(iid)).slice(1)).toEqual([
      expect.stringMatching(/^enabled an automatic merge when all merge checks for [0-9a-f]{40} pass$/),
      'canceled the automatic merge',
    ]);
    await merge(iid, { auto_merge: true }).expect(200);
    await scene.push(place, source, ['More']);
    expect(await shown(iid)).toMatchObject({ merge_when_pipeline_succeeds: false });
    expect((await notesOf(iid)).at(-1)).toBe('aborted the automatic merge because source branch was updated');
  });

  test('another target ends it', async () => {
    const { iid } = await open({ title: 'Draft: x' });
    await scene.branch(place, 'another-target', []);
    await merge(iid, { auto_merge: true }).expect(200);
    await as('developer').put(`${path}/${iid}`).send({ target_branch: 'another-target' }).expect(200);
    expect(await shown(iid)).toMatchObject({ merge_when_pipeline_succeeds: false, merge_user: null });
    expect((await notesOf(iid)).slice(-2)).toEqual([
      'changed target branch from `main` to `another-target`',
      'aborted the automatic merge because target branch was changed',
    ]);
  });

  test('PUT cancels it too, as older clients do', async () => {
    const { iid } = await open({ title: 'Draft: x' });
    await merge(iid, { auto_merge: true }).expect(200);
    const cancel = (name: keyof Cast) => as(name).put(`${path}/${iid}/cancel_merge_when_pipeline_succeeds`);
    expect((await cancel('reporter').expect(401)).body).toEqual({ message: '401 Unauthorized' });
    expect((await cancel('developer').expect(201)).body).toEqual({ status: 'success' });
    expect(await shown(iid)).toMatchObject({ merge_when_pipeline_succeeds: false });
  });

  test('a head that was pushed with ci.skip has no pipeline to come', async () => {
    const { iid, source } = await open();
    await scene.git.ok(place.folder, 'checkout', '--quiet', source);
    await scene.git.commit(place.folder, 'jobs: {}', '.gitlab-ci.yml');
    await scene.git.ok(place.folder, 'push', '--quiet', '-o', 'ci.skip', 'origin', source);
    expect((await merge(iid, { auto_merge: true }).expect(200)).body).toMatchObject({ state: 'merged' });
  });

  test('without a pipeline to come it merges at once; a draft waits', async () => {
    const { iid } = await open();
    const { body } = await merge(iid, { merge_when_pipeline_succeeds: 'true' }).expect(200);
    expect(body).toMatchObject({ state: 'merged', merge_when_pipeline_succeeds: false });
    const draft = await open({ title: 'Draft: x' });
    expect((await merge(draft.iid, { auto_merge: true }).expect(200)).body).toMatchObject({
      state: 'opened',
      merge_when_pipeline_succeeds: true,
    });
    await as('developer').put(`${path}/${draft.iid}`).send({ state_event: 'close' }).expect(200);
    expect((await notesOf(draft.iid)).slice(-2)).toEqual([
      'aborted the automatic merge because merge request was closed',
      'closed',
    ]);
  });
});

describe('rebase and trial merge', () => {
  test('a rebase writes the commits on top of the target, with their authors', async () => {
    const { iid, source } = await open({}, ['One', 'Two']);
    const onMain = await open();
    await merge(onMain.iid).expect(200);
    const { body } = await as('maintainer').put(`${path}/${iid}/rebase`).query({ skip_ci: true }).expect(202);
    expect(body).toEqual({ rebase_in_progress: true });
    const rebased = await shown(iid);
    const [target, head] = [await tip('main'), await tip(source)];
    expect(rebased).toMatchObject({ sha: head, merge_error: null, diff_refs: { base_sha: target } });
    const two = await commit(head);
    expect(two).toMatchObject({ author: 'Wren <wren@example.org>', message: 'Two' });
    expect(two.committer).toContain(cast.maintainer.name);
    expect((await commit(two.parents[0]!)).parents).toEqual([target]);
    await as('developer').put(`${path}/${iid}/rebase`).expect(202);
    expect((await shown(iid)).sha).toBe(head);
    await merge(iid).expect(200);
    expect((await as('developer').put(`${path}/${iid}/rebase`).expect(409)).body).toEqual({
      message: '409 Conflict: Resource lock',
    });
  });

  test('a conflict is told by merge_error; who may not push is refused', async () => {
    const { iid, source } = await open();
    await scene.push(place, source, ['Mine'], 'rebased');
    await scene.git.ok(place.folder, 'fetch', '--quiet', 'origin');
    await scene.git.ok(place.folder, 'checkout', '--quiet', '-B', 'main', 'origin/main');
    await scene.push(place, 'main', ['Theirs'], 'rebased');
    await as('developer').put(`${path}/${iid}/rebase`).expect(202);
    const asked = await as('developer').get(`${path}/${iid}`).query({ include_rebase_in_progress: true });
    expect(asked.body).toMatchObject({
      rebase_in_progress: false,
      merge_error: 'Rebase failed: Rebase locally, resolve all conflicts, then push the branch.',
    });
    expect((await as('reporter').put(`${path}/${iid}/rebase`).expect(403)).body).toEqual({
      message: '403 Forbidden - Cannot push to source branch',
    });
    const trial = await as('developer').get(`${path}/${iid}/merge_ref`).expect(400);
    expect(trial.body).toEqual({ message: 'Merge request is not mergeable' });
  });

  test('a trial merge is a ref that clients can fetch', async () => {
    const { iid, commits } = await open();
    const { body } = await as('developer').get(`${path}/${iid}/merge_ref`).expect(200);
    const { commit_id: id } = body as { commit_id: string };
    expect(isObjectId(id)).toBe(true);
    expect((await commit(id)).parents).toEqual([await tip('main'), commits[0]]);
    expect(await scene.ref(place, `refs/merge-requests/${iid}/merge`)).toBe(id);
    expect((await as('reporter').get(`${path}/${iid}/merge_ref`).expect(403)).body).toEqual({
      message: '403 Forbidden',
    });
    expect((await as('developer').get(`${path}/999999/merge_ref`).expect(404)).body).toEqual({
      message: '404 Not found',
    });
  });
});

describe('the merge requests of a commit', () => {
  const of = async (sha: string, name: keyof Cast = 'developer') => {
    const answer = await as(name).get(`/api/v4/projects/${place.project.id}/repository/commits/${sha}/merge_requests`);
    return {
      status: answer.status,
      total: answer.get('x-total'),
      iids: (answer.body as ShownMergeRequest[]).map?.(({ iid }) => iid),
    };
  };

  it('are those that contain it, before and after the merge, and not later ones', async () => {
    const { iid, commits } = await open({}, ['One', 'Two']);
    for (const sha of commits) expect(await of(sha)).toEqual({ status: 200, total: '1', iids: [iid] });
    const { body } = await merge(iid).expect(200);
    const later = await open();
    for (const sha of [...commits, (body as ShownMergeRequest).merge_commit_sha])
      expect(await of(sha)).toEqual({ status: 200, total: '1', iids: [iid] });
    expect((await of(`${later.source}`)).iids).toEqual([later.iid]);
    expect((await of(place.mainSha)).iids).toEqual([]);
    expect((await of('0'.repeat(40))).status).toBe(404);
  });
});
