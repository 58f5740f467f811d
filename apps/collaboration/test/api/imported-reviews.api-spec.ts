import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DirectoryProject } from '@rookery/contracts';
import { INTERNAL_PATHS } from '@rookery/contracts';
import { GitClient, internalAuthorization } from '@rookery/testing';
import type { SeededService, SeededUser } from '@rookery/testing';
import { startCollaboration } from '../support/app';

let service: SeededService;
let git: GitClient;
let owner: SeededUser;
let robin: SeededUser;
let merlin: SeededUser;
let places = 0;
beforeAll(async () => {
  service = await startCollaboration({ NOTES_PER_NOTEABLE_COUNT: '8' });
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
const PUSH = ['-c', `http.extraHeader=Authorization: ${KEY}`, 'push', '--quiet', 'origin'];
const LINES = Array.from({ length: 20 }, (_, at) => `line ${at + 1}`);

/** A project with one imported merge request, number 2, that changes line 3 of `a.txt` in two commits. */
interface Place {
  readonly project: DirectoryProject;
  readonly base: string;
  readonly first: string;
  readonly head: string;
}

async function place(): Promise<Place> {
  const project = await service.seed.project({ default_branch: 'main' });
  await service.seed.member(owner, project, 'owner');
  const folder = `work-${++places}`;
  await git.init(folder, `${service.app.baseUrl}/internal/repositories/${project.id}`);
  const commit = async (lines: readonly string[]) => {
    await writeFile(join(git.folder, folder, 'a.txt'), `${lines.join('\n')}\n`);
    await git.ok(folder, 'add', '--all');
    await git.ok(folder, 'commit', '--quiet', '-m', 'Change');
    return (await git.ok(folder, 'rev-parse', 'HEAD')).trim();
  };
  const base = await commit(LINES);
  await git.ok(folder, 'checkout', '--quiet', '-b', 'feature');
  const first = await commit(LINES.with(2, 'first'));
  const head = await commit(LINES.with(2, 'second').with(9, 'tenth'));
  await git.ok(folder, ...PUSH, 'main', 'feature', 'feature:refs/imports/2');
  const at = { project, base, first, head };
  expect(await write(at, 'merge_request', [importedMergeRequest(at)])).toEqual([]);
  return at;
}

const importedMergeRequest = ({ base, head }: Place) => ({
  ...{ number: 2, author_id: robin.id, title: 'Change', description: null, state: 'opened', is_locked: false },
  ...{ source_branch: 'feature', target_branch: 'main', is_foreign: false, source_owner: 'robin' },
  ...{ head_sha: head, base_sha: base, merge_commit_sha: null, merged_by_id: null, reviewer_ids: [merlin.id] },
  ...{ created_at: AT, updated_at: AT, closed_at: null, merged_at: null, assignee_ids: [], labels: [] },
  milestone: null,
});
const review = (id: number, state: string, over: object = {}) => ({
  ...{ id, merge_request: 2, author_id: merlin.id, state, body: null, created_at: AT },
  ...over,
});
const line = (id: number, { head }: Place, over: object = {}) => ({
  ...{ id, merge_request: 2, author_id: merlin.id, body: `Note ${id}`, path: 'a.txt', side: 'new', line: 3 },
  ...{ start_line: null, commit_id: head, reply_to: null, created_at: AT, updated_at: LATER },
  ...over,
});
const postImport = (body: object) =>
  service.app.bare().post(INTERNAL_PATHS.importObjects).set('authorization', KEY).send(body);
const write = async ({ project }: Place, kind: string, objects: readonly object[]) =>
  (await postImport({ project_id: project.id, import_type: 'remote', kind, objects }).expect(200)).body
    .failed as object[];
type Body = Record<string, unknown>[] & Record<string, unknown>;
const show = async ({ project }: Place, path: string) => {
  const client = service.app.as(service.seed.viewer(owner));
  return (await client.get(`/api/v4/projects/${project.id}/merge_requests/2${path}`).expect(200)).body as Body;
};
interface ShownNote {
  readonly body: string;
  readonly type: string | null;
  readonly position?: Record<string, unknown>;
  readonly suggestions?: Record<string, unknown>[];
}
const threads = async (at: Place) =>
  (await show(at, '/discussions')).map((one) => ({ notes: one['notes'] as ShownNote[] }));

it('writes reviews as notes, with approvals and states of reviewers', async () => {
  const at = await place();
  expect(
    await write(at, 'review', [
      review(1, 'approved'),
      review(2, 'changes_requested', { body: 'No @robin', author_id: robin.id }),
      review(3, 'commented', { body: 'Well', created_at: LATER }),
      review(4, 'approved', { merge_request: 7 }),
    ]),
  ).toEqual([{ index: 3, message: 'Its merge request was not imported.' }]);
  const notes = await show(at, '/notes?sort=asc&order_by=created_at');
  expect(notes.map((one) => [one['body'], one['created_at'], one['imported_from'], one['system']])).toEqual([
    ['**Review:** Approved', AT, 'remote', false],
    ['**Review:** Changes requested\n\nNo `@robin`', AT, 'remote', false],
    ['**Review:** Commented\n\nWell', LATER, 'remote', false],
  ]);
  const { approved_by: approved } = await show(at, '/approvals');
  expect((approved as { user: { id: number } }[]).map(({ user }) => user.id)).toEqual([merlin.id]);
  const reviewers = await show(at, '/reviewers');
  expect(reviewers.map((one) => [(one['user'] as { id: number }).id, one['state']])).toEqual([
    [merlin.id, 'approved'],
    [robin.id, 'requested_changes'],
  ]);
  expect(await show(at, '')).toMatchObject({ user_notes_count: 3 });
});

it('lets the last review of a user decide, also across requests, and changes nothing the second time', async () => {
  const at = await place();
  const all = [
    [review(1, 'approved'), review(2, 'dismissed', { author_id: robin.id }), review(3, 'approved')],
    [review(4, 'changes_requested', { created_at: LATER }), review(5, 'approved', { author_id: robin.id })],
  ];
  for (const objects of all) expect(await write(at, 'review', objects)).toEqual([]);
  const state = async () => [await show(at, '/approvals'), await show(at, '/reviewers'), await show(at, '/notes')];
  const before = await state();
  expect((before[0]!['approved_by'] as { user: { id: number } }[]).map(({ user }) => user.id)).toEqual([robin.id]);
  for (const objects of all) expect(await write(at, 'review', objects)).toEqual([]);
  expect(await state()).toEqual(before);
});

it('writes comments on lines as threads at their places', async () => {
  const at = await place();
  expect(
    await write(at, 'diff_note', [
      line(1, at),
      line(2, at, { reply_to: 1, created_at: LATER, author_id: robin.id }),
      line(3, at, { side: 'old', line: 10 }),
      line(4, at, { line: 12, start_line: 11 }),
      line(5, at, { line: null }),
      line(6, at, { path: 'none`.txt', line: 4 }),
    ]),
  ).toEqual([]);
  // A reply that comes with a later page joins its thread, too.
  expect(await write(at, 'diff_note', [line(7, at, { reply_to: 3, created_at: LATER })])).toEqual([]);
  const found = await threads(at);
  expect(found.map(({ notes }) => notes.map(({ body, type }) => [body, type]))).toEqual([
    [
      ['Note 1', 'DiffNote'],
      ['Note 2', 'DiffNote'],
    ],
    [
      ['Note 3', 'DiffNote'],
      ['Note 7', 'DiffNote'],
    ],
    [['Note 4', 'DiffNote']],
    [['Note 5', 'DiffNote']],
    [['*On `none.txt`, line 4*\n\nNote 6', 'DiscussionNote']],
  ]);
  const shas = { base_sha: at.base, start_sha: at.base, head_sha: at.head, old_path: 'a.txt', new_path: 'a.txt' };
  expect(found.slice(0, 4).map(({ notes }) => notes[0]!.position)).toMatchObject([
    { ...shas, position_type: 'text', old_line: null, new_line: 3, line_range: null },
    { ...shas, position_type: 'text', old_line: 10, new_line: null },
    {
      ...{ ...shas, position_type: 'text', old_line: 12, new_line: 12 },
      line_range: { start: { old_line: 11, new_line: 11, type: null }, end: { old_line: 12, new_line: 12 } },
    },
    { ...shas, position_type: 'file' },
  ]);
  expect(await show(at, '')).toMatchObject({ user_notes_count: 7 });
});

it('follows comments on older commits to the head, and keeps those whose line has changed outdated', async () => {
  const at = await place();
  await write(at, 'diff_note', [
    line(1, at, { commit_id: at.first, line: 3 }),
    line(2, at, { commit_id: at.first, line: 5 }),
    line(3, at, { commit_id: 'f'.repeat(40) }),
  ]);
  const rows = await service.database.query<{ is_active: boolean; head: string; line: number }>(
    `select p.is_active, p.shown->>'head_sha' as head, (p.shown->>'new_line')::int as line from note_positions p
     join merge_requests m on m.id = p.noteable_id where m.project_id = $1 order by p.thread_id`,
    [at.project.id],
  );
  expect(rows).toEqual([
    { is_active: false, head: at.first, line: 3 },
    { is_active: true, head: at.head, line: 5 },
  ]);
  expect((await threads(at)).at(-1)!.notes[0]!.body).toBe('*On `a.txt`, line 3*\n\nNote 3');
});

it('imports suggestions', async () => {
  const at = await place();
  await write(at, 'diff_note', [line(1, at, { body: '```suggestion:-1+0\nA\nB\n```' })]);
  const [{ notes }] = (await threads(at)) as unknown as [{ notes: ShownNote[] }];
  expect(notes[0]!.suggestions).toMatchObject([
    { from_line: 2, to_line: 3, from_content: 'line 2\nsecond\n', to_content: 'A\nB\n', applied: false },
  ]);
});

it('changes nothing when it writes the same comments again, and keeps to the limit of comments', async () => {
  const at = await place();
  const all = [line(1, at), line(2, at, { reply_to: 1 }), line(1, at), line(3, at, { reply_to: 99 })];
  const answers = await Promise.all([1, 2, 3].map(() => write(at, 'diff_note', all)));
  expect(answers).toEqual([[], [], []]);
  const before = await threads(at);
  expect(before.map(({ notes }) => notes.length)).toEqual([2, 1]);
  expect(await write(at, 'diff_note', all)).toEqual([]);
  expect(await threads(at)).toEqual(before);
  const more = [4, 5, 6, 7, 8, 9].map((id) => line(id, at));
  expect(await write(at, 'diff_note', [...more, line(10, at, { body: ' ', reply_to: 1 })])).toEqual([
    { index: 6, message: 'Text is blank or too long.' },
    { index: 5, message: 'Its merge request has too many comments.' },
  ]);
  expect(await write(at, 'review', [review(1, 'approved')])).toEqual([
    { index: 0, message: 'Its merge request has too many comments.' },
  ]);
});

it('causes no to-do, no e-mail, no entry in the feed and no event', async () => {
  const at = await place();
  const count = async () =>
    service.database
      .query(`select (select count(*) from todos) as todos, (select count(*) from activity_events) as feed,
      (select count(*) from outbox) as events, (select count(*) from note_creations) as limits`);
  const before = await count();
  const body = `@${owner.username} /close`;
  await write(at, 'diff_note', [line(1, at, { body })]);
  await write(at, 'review', [review(1, 'changes_requested', { body })]);
  expect(await count()).toEqual(before);
  expect(await show(at, '')).toMatchObject({ state: 'opened' });
});
