import type { SeededService } from '@rookery/testing';
import { startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { MergeRequestScene } from '../support/merge-request-scene';
import type { MergePlace } from '../support/merge-request-scene';

interface Version {
  readonly id: number;
  readonly head_commit_sha: string;
  readonly patch_id_sha: string | null;
}

/** Commits, diffs, versions and reviewers of a merge request with two versions. */
let service: SeededService;
let scene: MergeRequestScene;
let place: MergePlace;
let cast: Cast;
let path: string;
let commits: string[];

beforeAll(async () => {
  service = await startCollaboration();
  scene = await MergeRequestScene.start(service);
  place = await scene.place({ visibility: 'private' });
  ({ cast } = place);
  commits = await scene.branch(place, 'feature', ['One', 'Two']);
  const sent = { title: 'A change', source_branch: 'feature', target_branch: 'main', reviewer_ids: [cast.reporter.id] };
  await as('developer').post(place.path).send(sent).expect(201);
  commits.push(...(await scene.push(place, 'feature', ['Three'])));
  path = `${place.path}/1`;
});
afterAll(async () => {
  await scene.stop();
  await service.close();
});

const as = (name: keyof Cast) => service.app.as(service.seed.viewer(cast[name]));
const get = (tail: string, query: Record<string, unknown> = {}) => as('reporter').get(`${path}/${tail}`).query(query);
const expectedDiff = (title: string) => ({
  diff: `@@ -0,0 +1 @@\n+${title}\n`,
  collapsed: false,
  too_large: false,
  new_path: `feature-${title}`,
  old_path: `feature-${title}`,
  a_mode: '0',
  b_mode: '100644',
  new_file: true,
  renamed_file: false,
  deleted_file: false,
  generated_file: false,
});

/** Patch id of the changes from `main` to a commit, as a git client prints it. */
async function printedPatchId(head: string): Promise<string> {
  const command = `!git diff-tree -p ${place.mainSha} ${head} | git patch-id --stable`;
  const printed = await scene.git.ok(place.folder, '-c', `alias.patches=${command}`, 'patches');
  return printed.split(' ', 1)[0]!;
}

test('commits come newest first, with totals', async () => {
  const { body, headers } = await get('commits', { per_page: 2 }).expect(200);
  expect(headers).toMatchObject({ 'x-total': '3', 'x-next-page': '2' });
  expect(body).toMatchObject([
    { id: commits[2], parent_ids: [commits[1]], title: 'Three', trailers: {} },
    { id: commits[1], short_id: commits[1]!.slice(0, 8), title: 'Two' },
  ]);
  expect((await get('commits', { per_page: 2, page: 2 })).body).toMatchObject([{ id: commits[0] }]);
  expect((await get('commits', { page: 5 })).body).toEqual([]);
});

test('diffs have pages; changes are the merge request with its diff', async () => {
  const { body, headers } = await get('diffs', { per_page: 2 }).expect(200);
  expect(headers).toMatchObject({ 'x-total': '3', 'x-next-page': '2' });
  expect(body).toEqual([expectedDiff('One'), expectedDiff('Three')]);
  const unified = await get('diffs', { unidiff: true, per_page: 1 });
  expect(unified.body).toMatchObject([{ diff: '--- /dev/null\n+++ b/feature-One\n@@ -0,0 +1 @@\n+One\n' }]);
  for (const query of [{}, { access_raw_diffs: true }]) {
    const changes = await get('changes', query).expect(200);
    expect(changes.body).toMatchObject({
      iid: 1,
      changes_count: '3',
      changes: [expectedDiff('One'), expectedDiff('Three'), expectedDiff('Two')],
      overflow: false,
      subscribed: true,
    });
  }
});

test('the raw diff is what git prints', async () => {
  const response = await get('raw_diffs').buffer(true).expect(200);
  expect(response.headers['content-type']).toMatch(/^text\/plain/);
  const printed = await scene.git.ok(place.folder, 'diff', '--full-index', `${place.mainSha}...${commits[2]}`);
  expect(response.text).toBe(printed);
});

test('versions are listed newest first, and shown with commits and files', async () => {
  const { body, headers } = await get('versions').expect(200);
  expect(headers).toMatchObject({ 'x-total': '2' });
  const [second, first] = body as [Version, Version];
  expect(second).toEqual({
    id: expect.any(Number),
    head_commit_sha: commits[2],
    base_commit_sha: place.mainSha,
    start_commit_sha: place.mainSha,
    created_at: expect.any(String),
    merge_request_id: expect.any(Number),
    state: 'collected',
    real_size: '3',
    patch_id_sha: await printedPatchId(commits[2]!),
  });
  expect(first.patch_id_sha).toBe(await printedPatchId(commits[1]!));
  const shown = await get(`versions/${first.id}`).expect(200);
  expect(shown.body).toMatchObject({
    ...first,
    commits: [{ id: commits[1] }, { id: commits[0] }],
    diffs: [expectedDiff('One'), expectedDiff('Two')],
  });
  expect((await get('versions/999999').expect(404)).body).toEqual({ message: '404 Not found' });
});

test('the same changes on another commit are a version with the same patch id', async () => {
  const own = await scene.place();
  await scene.branch(own, 'moved', ['One', 'Two']);
  const sent = { title: 'Moved', source_branch: 'moved', target_branch: 'main' };
  const author = service.app.as(service.seed.viewer(own.cast.developer));
  await author.post(own.path).send(sent).expect(201);
  const [target] = await scene.push(own, 'main', ['Else']);
  await scene.git.ok(own.folder, 'rebase', '--quiet', 'main', 'moved');
  await scene.git.ok(own.folder, 'push', '--quiet', '--force', 'origin', 'moved');
  const { body } = await author.get(`${own.path}/1/versions`).expect(200);
  const [rebased, first] = body as [Version, Version];
  expect(body).toMatchObject([{ base_commit_sha: target }, { base_commit_sha: own.mainSha }]);
  expect(rebased.patch_id_sha).toMatch(/^[0-9a-f]{40}$/);
  expect(rebased.patch_id_sha).toBe(first.patch_id_sha);
  const [pushed] = await scene.push(own, 'moved', ['Three']);
  const [last] = (await author.get(`${own.path}/1/versions`)).body as [Version];
  expect(last).toMatchObject({ head_commit_sha: pushed, patch_id_sha: expect.stringMatching(/^[0-9a-f]{40}$/) });
  expect(last.patch_id_sha).not.toBe(first.patch_id_sha);
});

test('a version is reached through its own merge request only', async () => {
  await scene.branch(place, 'other');
  const sent = { title: 'Other', source_branch: 'other', target_branch: 'main' };
  await as('developer').post(place.path).send(sent).expect(201);
  const [version] = (await get('versions')).body as Version[];
  const foreign = await as('developer').get(`${place.path}/2/versions/${version!.id}`).expect(404);
  expect(foreign.body).toEqual({ message: '404 Not found' });
});

test('reviewers have states', async () => {
  expect((await get('reviewers').expect(200)).body).toEqual([
    {
      user: expect.objectContaining({ id: cast.reporter.id, username: cast.reporter.username }),
      state: 'unreviewed',
      created_at: expect.any(String),
    },
  ]);
});

const TAILS = ['commits', 'diffs', 'changes', 'raw_diffs', 'versions', 'versions/1', 'reviewers'];
test.each(TAILS)('%s: who may read the code, and missing merge requests', async (tail) => {
  for (const name of ['guest', 'planner'] as const)
    expect((await as(name).get(`${path}/${tail}`).expect(403)).body).toEqual({ message: '403 Forbidden' });
  expect((await as('stranger').get(`${path}/${tail}`).expect(404)).body).toEqual({ message: '404 Project Not Found' });
  const anonymous = await service.app.as(service.seed.anonymous()).get(`${path}/${tail}`);
  expect(anonymous.status).toBe(tail.startsWith('versions') ? 401 : 404);
  const missing = await as('reporter').get(`${place.path}/99/${tail}`).expect(404);
  expect(missing.body).toEqual({ message: '404 Not found' });
});

test('a merge request without commits has none', async () => {
  await scene.git.ok(place.folder, 'push', '--quiet', 'origin', `${place.mainSha}:refs/heads/empty`);
  const sent = { title: 'Empty', source_branch: 'empty', target_branch: 'main' };
  const { body } = await as('developer').post(place.path).send(sent).expect(201);
  const own = `${place.path}/${(body as { iid: number }).iid}`;
  for (const tail of ['commits', 'diffs']) expect((await as('reporter').get(`${own}/${tail}`)).body).toEqual([]);
  expect((await as('reporter').get(`${own}/changes`)).body).toMatchObject({ changes: [], overflow: false });
  expect((await as('reporter').get(`${own}/raw_diffs`).buffer(true).expect(200)).text).toBe('');
  const [version] = (await as('reporter').get(`${own}/versions`)).body as Version[];
  const shown = await as('reporter').get(`${own}/versions/${version!.id}`).expect(200);
  expect(shown.body).toMatchObject({ state: 'empty', real_size: '0', patch_id_sha: null, commits: [], diffs: [] });
});

const MIB = 1024 * 1024;
test.each<[string, () => Readonly<Record<string, string>>]>([
  ['a file above 50 MiB', () => ({ large: 'x'.repeat(50 * MIB) })],
  ['files above 50 MiB together', () => ({ large: 'x'.repeat(26 * MIB), larger: 'y'.repeat(26 * MIB) })],
])('the whole diff is refused with %s, and cut without access_raw_diffs', async (_, large) => {
  const own = await scene.place();
  await scene.files(own, 'large', { ...large(), small: 'small\n' });
  const viewer = service.app.as(service.seed.viewer(own.cast.developer));
  await viewer.post(own.path).send({ title: 'Large', source_branch: 'large', target_branch: 'main' }).expect(201);
  const refusal = { message: '413 Request Entity Too Large' };
  const changes = await viewer.get(`${own.path}/1/changes`).query({ access_raw_diffs: true });
  expect([changes.status, changes.body]).toEqual([413, refusal]);
  const [version] = (await viewer.get(`${own.path}/1/versions`).expect(200)).body as [Version];
  const shown = await viewer.get(`${own.path}/1/versions/${version.id}`);
  expect([shown.status, shown.body]).toEqual([413, refusal]);
  const { body } = await viewer.get(`${own.path}/1/changes`).expect(200);
  expect(body.changes[0]).toMatchObject({ new_path: 'large', diff: '', too_large: true });
  expect(body.changes.at(-1)).toMatchObject({ diff: '@@ -0,0 +1 @@\n+small\n', too_large: false });
});
