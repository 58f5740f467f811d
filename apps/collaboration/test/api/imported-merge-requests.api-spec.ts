import type { DirectoryProject } from '@rookery/contracts';
import { INTERNAL_PATHS } from '@rookery/contracts';
import { GitClient, internalAuthorization } from '@rookery/testing';
import type { SeededService, SeededUser } from '@rookery/testing';
import type { Response } from 'supertest';
import { startCollaboration } from '../support/app';

let service: SeededService;
let git: GitClient;
let owner: SeededUser;
let robin: SeededUser;
let merlin: SeededUser;
let places = 0;
beforeAll(async () => {
  service = await startCollaboration();
  git = await GitClient.make();
  owner = await service.seed.user();
  [robin, merlin] = [await service.seed.user(), await service.seed.user()];
});
afterAll(async () => {
  await git.close();
  await service.close();
});

const KEY = internalAuthorization('import', 'collaboration');
const AT = '2024-01-02T03:04:05.000Z';
const LATER = '2024-02-03T04:05:06.000Z';

/** A project into which a repository was pushed: `main`, the open branch `feature`, and heads of three merge requests. */
interface Place {
  readonly project: DirectoryProject;
  readonly path: string;
  readonly folder: string;
  readonly main: string;
  readonly feature: string;
  /** Head of a merge request whose branch is in another repository. */
  readonly foreign: string;
  /** Head and merge commit of a merge request that was merged into `main`. */
  readonly merged: string;
  readonly mergeCommit: string;
}

async function place(): Promise<Place> {
  const group = await service.seed.group();
  const project = await service.seed.project({ default_branch: 'main', namespace_id: group.id });
  await service.seed.member(owner, project, 'owner');
  const folder = `work-${++places}`;
  await git.init(folder, `${service.app.baseUrl}/internal/repositories/${project.id}`);
  const main = (await git.ok(folder, 'rev-parse', 'HEAD')).trim();
  const branch = async (name: string, titles: readonly string[]) => {
    await git.ok(folder, 'checkout', '--quiet', '-B', name, main);
    let id = main;
    for (const title of titles) id = await git.commit(folder, title, `${name}.txt`);
    return id;
  };
  const feature = await branch('feature', ['One', 'Two']);
  const foreign = await branch('foreign', ['Closes #1']);
  const merged = await branch('merged', ['Three']);
  await git.ok(folder, 'checkout', '--quiet', '-B', 'main', main);
  await git.ok(folder, 'merge', '--quiet', '--no-ff', '-m', 'Merge', 'merged');
  const mergeCommit = (await git.ok(folder, 'rev-parse', 'HEAD')).trim();
  await git.ok(folder, ...push, 'main', 'feature');
  await git.ok(folder, ...push, 'foreign:refs/imports/3', 'merged:refs/imports/4', 'feature:refs/imports/2');
  return { project, path: `${group.full_path}/${project.path}`, folder, main, feature, foreign, merged, mergeCommit };
}

const push = ['-c', `http.extraHeader=Authorization: ${KEY}`, 'push', '--quiet', 'origin'];
const request = (number: number, { main, feature }: Place, over: object = {}) => ({
  ...{ number, author_id: robin.id, title: `Change ${number}`, description: 'Text', state: 'opened', is_locked: false },
  ...{ source_branch: 'feature', target_branch: 'main', is_foreign: false, source_owner: 'robin' },
  ...{ head_sha: feature, base_sha: main, merge_commit_sha: null, merged_by_id: null },
  ...{ created_at: AT, updated_at: LATER, closed_at: null, merged_at: null },
  ...{ assignee_ids: [], reviewer_ids: [], labels: [], milestone: null },
  ...over,
});
const foreignBranchFields = ({ foreign }: Place) => ({
  ...{ source_branch: 'patch', is_foreign: true, source_owner: 'merlin', head_sha: foreign },
});
const mergedFields = ({ merged, mergeCommit }: Place) => ({
  ...{ state: 'merged', source_branch: 'merged', head_sha: merged, merge_commit_sha: mergeCommit },
  ...{ merged_by_id: merlin.id, merged_at: LATER, closed_at: LATER },
});
const note = (id: number, over: object) => ({
  ...{ id, issue: null, merge_request: null, author_id: merlin.id, body: `Note ${id}`, created_at: AT, updated_at: AT },
  ...over,
});

const postImport = (body: object) =>
  service.app.bare().post(INTERNAL_PATHS.importObjects).set('authorization', KEY).send(body);
const write = async ({ project }: Place, kind: string, objects: readonly object[]) =>
  (await postImport({ project_id: project.id, import_type: 'remote', kind, objects }).expect(200)).body
    .failed as object[];
const as = (user: SeededUser) => service.app.as(service.seed.viewer(user));
const show = async ({ project }: Place, path: string) =>
  (await as(owner).get(`/api/v4/projects/${project.id}${path}`).expect(200)).body as Record<string, unknown>[] &
    Record<string, unknown>;
const advertisedRefs = async ({ project }: Place) => {
  const door = service.app.bare().get(`/internal/repositories/${project.id}/info/refs?service=git-receive-pack`);
  return (await door.set('authorization', KEY).buffer(true).parse(parseAsText).expect(200)).body as string;
};
const parseAsText = (answer: Response, done: (error: Error | null, body: string) => void): void => {
  let text = '';
  answer.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  answer.on('end', () => done(null, text));
};

it('writes merge requests with their branches, commits, people, times and states', async () => {
  const at = await place();
  await write(at, 'label', [{ name: 'bug', color: '#d73a4a', description: null }]);
  await write(at, 'milestone', [
    { ...{ number: 7, title: 'v1', description: null, state: 'active', due_on: null }, created_at: AT, updated_at: AT },
  ]);
  const people = { assignee_ids: [merlin.id, robin.id], reviewer_ids: [merlin.id], labels: ['bug'], milestone: 7 };
  expect(
    await write(at, 'merge_request', [
      request(2, at, { ...people, description: 'By @merlin\n- [x] done', title: 'Draft: Change 2' }),
      request(3, at, foreignBranchFields(at)),
      request(4, at, mergedFields(at)),
      request(9, at, { state: 'closed', closed_at: LATER, source_branch: 'gone', head_sha: 'a'.repeat(40) }),
    ]),
  ).toEqual([]);
  const common = { imported: true, imported_from: 'remote', created_at: AT, updated_at: LATER, target_branch: 'main' };
  expect(await show(at, '/merge_requests/2')).toMatchObject({
    ...{
      ...common,
      iid: 2,
      title: 'Draft: Change 2',
      draft: true,
      state: 'opened',
      description: 'By `@merlin`\n- [x] done',
    },
    ...{ source_branch: 'feature', sha: at.feature, source_project_id: at.project.id, author: { id: robin.id } },
    ...{ assignees: [{ id: merlin.id }, { id: robin.id }], reviewers: [{ id: merlin.id }], labels: ['bug'] },
    ...{ milestone: { iid: 7 }, task_completion_status: { count: 1, completed_count: 1 }, changes_count: '1' },
  });
  expect(await show(at, '/merge_requests/3')).toMatchObject({
    ...{ ...common, state: 'opened', sha: at.foreign, source_project_id: at.project.id },
    source_branch: `GH-${at.foreign.slice(0, 8)}-merlin/3/fork/patch`,
  });
  expect(await show(at, '/merge_requests/4')).toMatchObject({
    ...{ ...common, state: 'merged', sha: at.merged, merge_commit_sha: at.mergeCommit, merged_at: LATER },
    ...{ merged_by: { id: merlin.id }, closed_at: null, source_branch: 'merged' },
  });
  expect(await show(at, '/merge_requests/9')).toMatchObject({ state: 'closed', closed_at: LATER, sha: null });
  expect((await show(at, '/merge_requests/4/commits')).map((commit) => commit['id'])).toEqual([at.merged]);
  expect(
    (await show(at, '/merge_requests/2/versions')).map((one) => [one['head_commit_sha'], one['created_at']]),
  ).toEqual([[at.feature, AT]]);
  expect(await show(at, '/merge_requests/9/commits')).toEqual([]);
  const created = await as(owner)
    .post(`/api/v4/projects/${at.project.id}/merge_requests`)
    .send({ source_branch: 'feature', target_branch: `GH-${at.foreign.slice(0, 8)}-merlin/3/fork/patch`, title: 'Own' })
    .expect(201);
  expect(created.body.iid).toBe(10);
});

it('finds commits whose ids the host abbreviates', async () => {
  const at = await place();
  const merged = { ...request(40, at, mergedFields(at)), closed_at: null } as Record<string, unknown>;
  const short = Object.fromEntries(
    ['head_sha', 'base_sha', 'merge_commit_sha'].map((name) => [name, String(merged[name]).slice(0, 12)]),
  );
  const gone = { state: 'closed', closed_at: LATER, source_branch: 'gone', head_sha: 'a'.repeat(12) };
  expect(
    await write(at, 'merge_request', [
      { ...merged, ...short },
      request(41, at, { ...gone, state: 'merged', merge_commit_sha: 'b'.repeat(12), merged_at: LATER }),
    ]),
  ).toEqual([]);
  const note = { author_id: merlin.id, start_line: null, reply_to: null, created_at: AT, updated_at: AT };
  const on = { merge_request: 40, body: 'Here', path: 'README.md', side: 'new', line: 1, commit_id: short['head_sha'] };
  const files = (await show(at, '/merge_requests/40/diffs')).map((file) => file['new_path']);
  expect(await write(at, 'diff_note', [{ ...note, ...on, id: 400, path: files[0] }])).toEqual([]);
  expect(await show(at, '/merge_requests/40')).toMatchObject({ sha: at.merged, merge_commit_sha: at.mergeCommit });
  expect(await show(at, '/merge_requests/40/discussions')).toMatchObject([
    { notes: [{ body: 'Here', position: { head_sha: at.merged, new_line: 1 } }] },
  ]);
  expect(await show(at, '/merge_requests/41')).toMatchObject({ sha: null, merge_commit_sha: null });
});

it('names the heads in the repository, and keeps the refs of the import away from clients', async () => {
  const at = await place();
  const stored = () =>
    service.database.query<{ iid: number; published_sha: string }>(
      'select iid, published_sha from merge_requests where project_id = $1 order by iid',
      [at.project.id],
    );
  expect(await advertisedRefs(at)).toContain('refs/imports/3');
  const path = `/${at.path}.git/info/refs?service=git-upload-pack`;
  const { body } = await as(owner).get(path).buffer(true).parse(parseAsText).expect(200);
  expect(body).toContain('refs/heads/feature');
  expect(body).not.toContain('refs/imports');
  await write(at, 'merge_request', [request(3, at, foreignBranchFields(at)), request(4, at, mergedFields(at))]);
  expect(await stored()).toEqual([
    { iid: 3, published_sha: at.foreign },
    { iid: 4, published_sha: at.merged },
  ]);
  expect(await advertisedRefs(at)).not.toMatch(/refs\/imports\/[34]/);
  expect((await show(at, `/repository/commits/${at.merged}/merge_requests`)).map((one) => one['iid'])).toEqual([4]);
  const pushed = await git.run(at.folder, ...push, 'main:refs/imports/x', 'main:refs/imports/0');
  expect(pushed.code).not.toBe(0);
});

it('writes comments on merge requests, and counts them', async () => {
  const at = await place();
  await write(at, 'merge_request', [request(2, at)]);
  const notes = [note(51, { merge_request: 2 }), note(52, { merge_request: 8 }), note(53, { issue: 2 }), note(54, {})];
  expect(await write(at, 'note', notes)).toEqual([
    { index: 2, message: 'Its issue was not imported.' },
    { index: 3, message: 'Its issue was not imported.' },
    { index: 1, message: 'Its merge request was not imported.' },
  ]);
  expect(await show(at, '/merge_requests/2/notes')).toMatchObject([
    { body: 'Note 51', author: { id: merlin.id }, imported: true, imported_from: 'remote', created_at: AT },
  ]);
  expect(await show(at, '/merge_requests/2')).toMatchObject({ user_notes_count: 1 });
});

it('changes nothing when it writes the same objects again, also after deletions and with several writers', async () => {
  const at = await place();
  const all = [request(2, at), request(3, at, foreignBranchFields(at)), request(4, at, mergedFields(at))];
  const answers = await Promise.all([1, 2, 3].map(() => write(at, 'merge_request', all)));
  expect(answers).toEqual([[], [], []]);
  await as(owner).delete(`/api/v4/projects/${at.project.id}/merge_requests/4`).expect(204);
  const state = async () => [
    await show(at, '/merge_requests?scope=all'),
    await show(at, '/merge_requests/3/versions'),
    await show(at, '/repository/branches'),
  ];
  const before = await state();
  expect(before.map((list) => list.length)).toEqual([2, 1, 3]);
  const changed = all.map((one) => ({ ...one, title: 'Other', state: 'closed' }));
  expect(await write(at, 'merge_request', changed)).toEqual([]);
  expect(await state()).toEqual(before);
});

it('lists merge requests that break a rule or whose number or branches are in use', async () => {
  const at = await place();
  await as(owner)
    .post(`/api/v4/projects/${at.project.id}/merge_requests`)
    .send({ source_branch: 'feature', target_branch: 'main', title: 'Own' })
    .expect(201);
  const used = 'Its number or its branches are used by another merge request.';
  expect(
    await write(at, 'merge_request', [
      request(1, at, mergedFields(at)),
      request(2, at),
      request(3, at, { title: ' ' }),
      request(4, at, { source_branch: 'a..b' }),
      request(5, at, { ...mergedFields(at), target_branch: '-x' }),
    ]),
  ).toEqual([
    { index: 2, message: "Title can't be blank." },
    { index: 3, message: 'Source branch is invalid.' },
    { index: 4, message: 'Target branch is invalid.' },
    { index: 0, message: used },
    { index: 1, message: used },
  ]);
});

it('causes no to-do, no e-mail, no entry in the feed and no event about merge requests', async () => {
  const at = await place();
  const count = (table: string) =>
    service.database
      .query<{ count: number }>(`select count(*)::int as count from ${table}`)
      .then(([row]) => row!.count);
  const tables = ['todos', 'activity_events', 'resource_label_events', 'resource_milestone_events', 'subscriptions'];
  const before = await Promise.all(tables.map(count));
  const [last] = await service.database.query<{ id: number }>('select coalesce(max(id), 0) as id from outbox');
  const text = `@${owner.username} /merge\n\nCloses #1`;
  await write(at, 'merge_request', [
    request(2, at, { description: text, assignee_ids: [owner.id], reviewer_ids: [owner.id] }),
    request(3, at, foreignBranchFields(at)),
  ]);
  await write(at, 'note', [note(1, { merge_request: 2, body: text })]);
  expect(await Promise.all(tables.map(count))).toEqual(before);
  const events = await service.database.query<{ subject: string; payload: object }>(
    `select subject, payload from outbox where id > $1`,
    [last!.id],
  );
  expect(events.map(({ subject }) => subject)).toEqual(['collaboration.push.completed.v1']);
  expect(events[0]!.payload).toMatchObject({ user_id: null });
});

it('refuses malformed merge requests and too many of them', async () => {
  const at = await place();
  const body = { project_id: at.project.id, import_type: 'remote', kind: 'merge_request' };
  for (const objects of [
    [{ ...request(2, at), head_sha: null }],
    [{ ...request(2, at), state: 'locked' }],
    Array.from({ length: 21 }, (_, number) => request(number + 1, at)),
  ]) {
    expect((await postImport({ ...body, objects }).expect(400)).body).toEqual({ error: 'objects is invalid' });
  }
  await service.seed.put('projects', { ...at.project, archived: true });
  await postImport({ ...body, objects: [request(2, at)] }).expect(404);
});
