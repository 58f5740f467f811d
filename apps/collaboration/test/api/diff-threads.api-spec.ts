import { createHash } from 'node:crypto';
import type { SeededService } from '@rookery/testing';
import { startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { MergeRequestScene } from '../support/merge-request-scene';
import type { MergePlace } from '../support/merge-request-scene';

/** Threads at places in the diff of a merge request. Source: reference repositories 8.11. */
interface ShownNote extends Record<string, unknown> {
  readonly id: number;
  readonly body: string;
  readonly type: string | null;
  readonly position?: Record<string, unknown>;
}
interface Discussion {
  readonly id: string;
  readonly notes: readonly ShownNote[];
}

let service: SeededService;
let scene: MergeRequestScene;
let place: MergePlace;
let cast: Cast;
let path: string;
let refs: { readonly base_sha: string; readonly start_sha: string; readonly head_sha: string };

const numbered = (count: number): string[] => Array.from({ length: count }, (_, at) => `line ${at + 1}`);
const text = (lines: readonly string[]): string => `${lines.join('\n')}\n`;
const BINARY = Buffer.from([0, 1, 2, 3]);
const before = numbered(30);
/** Line 5 is removed, line 10 is changed, and a line is added after line 20. */
const after = before.flatMap((line) => {
  if (line === 'line 5') return [];
  if (line === 'line 10') return ['changed 10'];
  return line === 'line 20' ? [line, 'added'] : [line];
});

beforeAll(async () => {
  service = await startCollaboration();
  scene = await MergeRequestScene.start(service);
  place = await scene.place();
  ({ cast } = place);
  const main = { 'lines.txt': text(before), 'gone.txt': text(['a', 'b']), 'old.txt': text(before), 'still.txt': 'x\n' };
  await scene.files(place, 'main', { ...main, 'image.png': BINARY }, 'main');
  await scene.files(place, 'work', {
    ...{ 'lines.txt': text(after), 'gone.txt': null, 'old.txt': null, 'fresh.txt': text(['new']) },
    ...{ 'dir/new.txt': text(before.map((line) => (line === 'line 2' ? 'second' : line))) },
    'image.png': Buffer.from([0, 9, 9]),
  });
  const { body } = await as('developer')
    .post(place.path)
    .send({ title: 'A change', source_branch: 'work', target_branch: 'main' })
    .expect(201);
  path = `${place.path}/${(body as { iid: number }).iid}`;
  refs = (body as { diff_refs: typeof refs }).diff_refs;
});
afterAll(async () => {
  await scene.stop();
  await service.close();
});

const as = (name: keyof Cast) => service.app.as(service.seed.viewer(cast[name]));
const positionAt = (fields: Record<string, unknown>) => ({ ...refs, position_type: 'text', ...fields });
const start = (position: Record<string, unknown>, body = 'A word') =>
  as('guest').post(`${path}/discussions`).send({ body, position });
const started = async (position: Record<string, unknown>, body?: string): Promise<Discussion> =>
  (await start(position, body).expect(201)).body as Discussion;
const storedLineCode = async (thread: Discussion): Promise<string | null> => {
  const [row] = await service.database.query<{ line_code: string | null }>(
    'select line_code from note_positions where thread_id = $1',
    [thread.notes[0]!.id],
  );
  return row!.line_code;
};
const lineCode = (file: string, oldLine: number, newLine: number): string =>
  `${createHash('sha1').update(file).digest('hex')}_${oldLine}_${newLine}`;
const LINE_CODE = {
  message: `400 Bad request - Note {:line_code=>["can't be blank", "must be a valid line code"]}`,
};
const INCOMPLETE = { message: '400 Bad request - Note {:position=>["is incomplete"]}' };

test.each([
  ['an added line', { new_path: 'lines.txt', new_line: 9 }, lineCode('lines.txt', 11, 9)],
  [
    'a line that is only added',
    { old_path: 'lines.txt', new_path: 'lines.txt', new_line: 20 },
    lineCode('lines.txt', 21, 20),
  ],
  ['a removed line', { old_path: 'lines.txt', new_path: 'lines.txt', old_line: 5 }, lineCode('lines.txt', 5, 5)],
  ['a removed line that is replaced', { old_path: 'lines.txt', old_line: 10 }, lineCode('lines.txt', 10, 9)],
  ['an unchanged line', { new_path: 'lines.txt', old_line: 11, new_line: 10 }, lineCode('lines.txt', 11, 10)],
  ['an unfolded line', { new_path: 'lines.txt', old_line: 29, new_line: 29 }, lineCode('lines.txt', 29, 29)],
  [
    'a line of a renamed file',
    { old_path: 'old.txt', new_path: 'dir/new.txt', new_line: 2 },
    lineCode('dir/new.txt', 3, 2),
  ],
  ['the new path of a renamed file', { new_path: 'dir/new.txt', new_line: 2 }, lineCode('dir/new.txt', 3, 2)],
  ['the old path of a renamed file', { old_path: 'old.txt', old_line: 2 }, lineCode('dir/new.txt', 2, 2)],
  ['a deleted file', { old_path: 'gone.txt', new_path: 'gone.txt', old_line: 2 }, lineCode('gone.txt', 2, 1)],
  ['a new file', { new_path: 'fresh.txt', new_line: 1 }, lineCode('fresh.txt', 1, 1)],
])('a thread is at %s', async (_, fields, expected) => {
  const thread = await started(positionAt(fields));
  expect(thread.notes).toHaveLength(1);
  const none = { old_path: null, new_path: null, old_line: null, new_line: null, line_range: null };
  expect(thread.notes[0]).toMatchObject({
    ...{ type: 'DiffNote', noteable_type: 'MergeRequest', resolvable: true, resolved: false },
    ...{ commit_id: null, suggestions: [] },
  });
  expect(thread.notes[0]!.position).toEqual({ ...none, ...positionAt(fields) });
  expect(await storedLineCode(thread)).toBe(expected);
  expect((await as('guest').get(`${path}/discussions/${thread.id}`).expect(200)).body).toEqual(thread);
});

test.each([
  ['an unchanged line by one side', { new_path: 'lines.txt', new_line: 10 }],
  ['a line that was not removed', { old_path: 'lines.txt', old_line: 6 }],
  ['two lines that are not the same', { new_path: 'lines.txt', old_line: 11, new_line: 11 }],
  ['both sides of an added line', { new_path: 'lines.txt', old_line: 21, new_line: 20 }],
  ['a line after the end', { new_path: 'lines.txt', old_line: 31, new_line: 31 }],
  ['no line', { new_path: 'lines.txt' }],
  ['a file that is not in the diff', { new_path: 'still.txt', old_line: 1, new_line: 1 }],
  ['no file', { new_line: 1 }],
  ['a file of another type', { new_path: 'image.png', new_line: 1 }],
  ['a path that no file can have', { new_path: '../x', new_line: 1 }],
])('%s has no thread', async (_, fields) => {
  expect((await start(positionAt(fields)).expect(400)).body).toEqual(LINE_CODE);
});

test('commits of a position exist, and are named in full', async () => {
  const at = { new_path: 'lines.txt', new_line: 9 };
  const shas = ['0'.repeat(40), refs.head_sha.slice(0, 10), 'main', ''];
  for (const sha of shas)
    expect((await start(positionAt({ ...at, head_sha: sha })).expect(400)).body).toEqual(INCOMPLETE);
  const tree = (await scene.git.ok(place.folder, 'rev-parse', 'HEAD^{tree}')).trim();
  expect((await start(positionAt({ ...at, start_sha: tree })).expect(400)).body).toEqual(INCOMPLETE);
});

test('parameters of a position are checked', async () => {
  const refused = async (position: unknown) =>
    (await as('guest').post(`${path}/discussions`).send({ body: 'x', position }).expect(400)).body as unknown;
  expect(await refused({ new_path: 'lines.txt' })).toEqual({
    error:
      'position[base_sha] is missing, position[start_sha] is missing, position[head_sha] is missing, position[position_type] is missing',
  });
  expect(await refused('text')).toEqual({ error: 'position is invalid' });
  expect(await refused(positionAt({ position_type: 'line' }))).toEqual({
    error: 'position[position_type] does not have a valid value',
  });
  expect(await refused(positionAt({ new_line: 'x' }))).toEqual({ error: 'position[new_line] is invalid' });
  const range = { start: { line_code: 'x', type: 'new' }, end: { line_code: lineCode('a', 1, 1), type: 'new' } };
  expect(await refused(positionAt({ line_range: range }))).toEqual({
    error: 'position[line_range][start][line_code] is invalid',
  });
  expect(await refused(positionAt({ line_range: { start: {} } }))).toEqual({
    error: 'position[line_range][end] is missing',
  });
});

test('a thread on several lines keeps its range', async () => {
  const end = (newLine: number, oldLine: number | null) => ({
    ...{ line_code: lineCode('lines.txt', oldLine ?? 11, newLine), type: 'new', old_line: oldLine, new_line: newLine },
  });
  const line_range = { start: end(8, 9), end: end(9, null) };
  const thread = await started(positionAt({ new_path: 'lines.txt', new_line: 9, line_range }));
  expect(thread.notes[0]!.position).toMatchObject({ new_line: 9, line_range });
});

test('threads are at files and images', async () => {
  const file = await started(positionAt({ position_type: 'file', new_path: 'lines.txt' }));
  const common = { ...refs, old_path: null };
  expect(file.notes[0]!.position).toEqual({ ...common, new_path: 'lines.txt', position_type: 'file' });
  const size = { width: 10, height: 20, x: 1, y: 2 };
  const image = await started(positionAt({ position_type: 'image', new_path: 'image.png', ...size }));
  expect(image.notes[0]!.position).toEqual({ ...common, new_path: 'image.png', position_type: 'image', ...size });
  expect((await start(positionAt({ position_type: 'file', new_path: 'still.txt' })).expect(400)).body).toEqual(
    LINE_CODE,
  );
});

test('forms, multipart bodies and queries carry a position with numbers as text', async () => {
  const sent = positionAt({ new_path: 'lines.txt', new_line: '9' });
  const pairs = Object.entries(sent).map(([name, value]) => [`position[${name}]`, String(value)] as const);
  const query = new URLSearchParams([
    ['body', 'A word'],
    ...pairs.map(([name, value]): [string, string] => [name, value]),
  ]).toString();
  const form = as('guest').post(`${path}/discussions`).type('form').send(query);
  const multipart = pairs.reduce(
    (request, [name, value]) => request.field(name, value),
    as('guest').post(`${path}/discussions`).field('body', 'A word'),
  );
  for (const request of [form, multipart, as('guest').post(`${path}/discussions?${query}`)]) {
    const { body } = await request.expect(201);
    expect((body as Discussion).notes[0]!.position).toMatchObject({ ...refs, new_line: 9, old_line: null });
  }
});

test('a bot names the tip of the target as base and start', async () => {
  const moved = await scene.files(place, 'main', { 'other.txt': 'x\n' });
  const sent = { ...refs, base_sha: moved, start_sha: moved, position_type: 'text' };
  const thread = await started({ ...sent, new_path: 'lines.txt', new_line: 9 });
  expect(thread.notes[0]!.position).toMatchObject({ ...sent, old_path: null, new_path: 'lines.txt', new_line: 9 });
  expect((await start({ ...sent, new_path: 'lines.txt', new_line: 10 }).expect(400)).body).toEqual(LINE_CODE);
});

test('replies share the place of their thread, and other threads have none', async () => {
  const commit = refs.head_sha;
  const { body } = await as('guest')
    .post(`${path}/discussions`)
    .send({ body: 'x', position: positionAt({ new_path: 'lines.txt', new_line: 9 }), commit_id: commit })
    .expect(201);
  const thread = body as Discussion;
  expect(thread.notes[0]).toMatchObject({ commit_id: commit });
  const reply = await as('developer').post(`${path}/discussions/${thread.id}/notes`).send({ body: 'y' }).expect(201);
  expect(reply.body).toMatchObject({ type: 'DiffNote', position: thread.notes[0]!.position, suggestions: [] });
  const plain = await as('guest').post(`${path}/discussions`).send({ body: 'x' }).expect(201);
  const [note] = (plain.body as Discussion).notes;
  expect(note).toMatchObject({ type: 'DiscussionNote' });
  expect(note).not.toHaveProperty('position');
  expect(note).not.toHaveProperty('suggestions');
  const listed = (await as('guest').get(`${path}/notes`).expect(200)).body as ShownNote[];
  expect(listed.find(({ id }) => id === thread.notes[0]!.id)).toMatchObject({ type: 'DiffNote' });
});

test('the place goes with the last note of its thread', async () => {
  const thread = await started(positionAt({ new_path: 'lines.txt', new_line: 9 }));
  const places = async () =>
    service.database.query('select 1 from note_positions where thread_id = $1', [thread.notes[0]!.id]);
  const at = `${path}/discussions/${thread.id}/notes`;
  const reply = (await as('guest').post(at).send({ body: 'y' }).expect(201)).body as ShownNote;
  await as('guest').delete(`${at}/${thread.notes[0]!.id}`).expect(204);
  const left = (await as('guest').get(`${path}/discussions/${thread.id}`).expect(200)).body as Discussion;
  expect(left.notes).toMatchObject([{ id: reply.id, type: 'DiffNote', position: { new_line: 9 } }]);
  expect(await places()).toHaveLength(1);
  await as('guest').delete(`${at}/${reply.id}`).expect(204);
  expect(await places()).toHaveLength(0);
  await as('guest').get(`${path}/discussions/${thread.id}`).expect(404);
});

test('other merge requests, other kinds and outsiders have no such thread', async () => {
  const position = positionAt({ new_path: 'lines.txt', new_line: 9 });
  const missing = `${place.path}/999999/discussions`;
  const { body } = await as('guest').post(missing).send({ body: 'x', position }).expect(404);
  expect(body).toEqual({ message: '404 Not found' });
  await service.app.as(service.seed.anonymous()).post(`${path}/discussions`).send({ body: 'x', position }).expect(401);
  const hidden = await scene.place({ visibility: 'private' });
  const asGuest = service.app.as(service.seed.viewer(hidden.cast.guest));
  await asGuest.post(`${hidden.path}/1/discussions`).send({ body: 'x', position }).expect(403);
  await as('guest').post(`${hidden.path}/1/discussions`).send({ body: 'x', position }).expect(404);
  const issues = `/api/v4/projects/${place.project.id}/issues`;
  const issue = (await as('owner').post(issues).send({ title: 'x' }).expect(201)).body as { iid: number };
  const onIssue = await as('guest')
    .post(`${issues}/${issue.iid}/discussions`)
    .send({ body: 'x', position })
    .expect(201);
  expect((onIssue.body as Discussion).notes[0]).toMatchObject({ type: 'DiscussionNote' });
});

test('deletion of a merge request removes the places of its threads', async () => {
  await scene.files(place, 'short', { 'fresh.txt': 'x\n' });
  const sent = { title: 'Short', source_branch: 'short', target_branch: 'main' };
  const made = (await as('developer').post(place.path).send(sent).expect(201)).body as {
    id: number;
    iid: number;
    diff_refs: typeof refs;
  };
  const position = { ...made.diff_refs, position_type: 'text', new_path: 'fresh.txt', new_line: 1 };
  const body = '```suggestion\ny\n```';
  await as('guest').post(`${place.path}/${made.iid}/discussions`).send({ body, position }).expect(201);
  const left = async () =>
    service.database.query(
      `select 1 from note_positions where noteable_id = $1 union all select 1 from suggestions s
       where not exists (select 1 from notes n where n.id = s.note_id)`,
      [made.id],
    );
  expect(await left()).toHaveLength(1);
  await as('owner').delete(`${place.path}/${made.iid}`).expect(204);
  expect(await left()).toHaveLength(0);
});
