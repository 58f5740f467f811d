import type { SeededService } from '@rookery/testing';
import { startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { MergeRequestScene } from '../support/merge-request-scene';
import type { MergePlace } from '../support/merge-request-scene';

/** Diff threads that follow the code to new versions. Source: reference repositories 8.12. */
interface DiffRefs {
  readonly base_sha: string;
  readonly start_sha: string;
  readonly head_sha: string;
}
interface ShownNote extends Record<string, unknown> {
  readonly id: number;
  readonly body: string;
  readonly position: DiffRefs & Record<string, unknown>;
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
let branches = 0;
let source: string;
let target: string;

beforeAll(async () => {
  service = await startCollaboration();
  scene = await MergeRequestScene.start(service);
  place = await scene.place({ merge_settings: { only_allow_merge_if_all_discussions_are_resolved: true } });
  ({ cast } = place);
});
afterAll(async () => {
  await scene.stop();
  await service.close();
});

const as = (name: keyof Cast) => service.app.as(service.seed.viewer(cast[name]));
const text = (lines: readonly string[]): string => `${lines.join('\n')}\n`;
const OLD = Array.from({ length: 20 }, (_, at) => `line ${at + 1}`);
/** Line 5 is removed, and a line is added after line 10. */
const NEW = OLD.flatMap((line) => (line === 'line 5' ? [] : line === 'line 10' ? [line, 'added'] : [line]));
const withoutLines = (lines: readonly string[], ...dropped: string[]): string[] =>
  lines.filter((line) => !dropped.includes(line));
const shiftDownTwoLines = (lines: readonly string[]): string[] => ['first', 'second', ...lines];

/** A merge request that changes a file, with branches of its own. */
async function openMergeRequest(file = 'code.txt'): Promise<DiffRefs> {
  [source, target] = [`source-${++branches}`, `target-${branches}`];
  await scene.files(place, target, { [file]: text(OLD), 'README.md': 'x\n' }, place.mainSha);
  await scene.files(place, source, { [file]: text(NEW), 'other.txt': 'x\n' }, `origin/${target}`);
  const sent = { title: 'A change', source_branch: source, target_branch: target };
  const { body } = await as('developer').post(place.path).send(sent).expect(201);
  path = `${place.path}/${(body as { iid: number }).iid}`;
  return (body as { diff_refs: DiffRefs }).diff_refs;
}
const start = async (refs: DiffRefs, fields: Record<string, unknown>): Promise<Discussion> => {
  const position = { ...refs, position_type: 'text', new_path: 'code.txt', old_path: 'code.txt', ...fields };
  return (await as('guest').post(`${path}/discussions`).send({ body: 'A word', position }).expect(201))
    .body as Discussion;
};
const shown = async ({ id }: Discussion): Promise<Discussion> =>
  (await as('guest').get(`${path}/discussions/${id}`).expect(200)).body as Discussion;
const request = async (): Promise<Record<string, unknown> & { diff_refs: DiffRefs }> =>
  (await as('guest').get(path).expect(200)).body as never;
const readPositionRow = async ({
  notes,
}: Discussion): Promise<{ is_active: boolean; change: Record<string, unknown> | null }> => {
  const [row] = await service.database.query<{ is_active: boolean; change: Record<string, unknown> | null }>(
    'select is_active, change from note_positions where thread_id = $1',
    [notes[0]!.id],
  );
  return row!;
};

const ADDED = { old_path: null, new_line: 10 };
const REMOVED = { old_line: 5 };
const UNCHANGED = { old_line: 10, new_line: 9 };
const UNFOLDED = { old_line: 19, new_line: 19 };
/** `source` and `target` are the new contents of the file on the branches; without them a branch does not move. */
interface FileChange {
  readonly source?: readonly string[];
  readonly target?: readonly string[];
}

test.each<[string, Record<string, unknown>, FileChange, Record<string, unknown>]>([
  ['added, and still added', ADDED, { source: shiftDownTwoLines(NEW) }, { old_line: null, new_line: 12 }],
  ['removed, and still removed', REMOVED, { source: shiftDownTwoLines(NEW) }, { old_line: 5, new_line: null }],
  ['unchanged, and further below', UNCHANGED, { source: shiftDownTwoLines(NEW) }, { old_line: 10, new_line: 11 }],
  ['unfolded, and further below', UNFOLDED, { source: shiftDownTwoLines(NEW) }, { old_line: 19, new_line: 21 }],
  ['unchanged, and moved by the target', UNCHANGED, { target: shiftDownTwoLines(OLD) }, { old_line: 12, new_line: 11 }],
  ['removed, and moved by the target', REMOVED, { target: shiftDownTwoLines(OLD) }, { old_line: 7, new_line: null }],
  [
    'added, and then in the target too',
    ADDED,
    { target: OLD.flatMap((line) => (line === 'line 10' ? [line, 'added'] : [line])) },
    { old_line: 11, new_line: 10 },
  ],
  [
    'unchanged, and then removed from the target',
    { old_line: 14, new_line: 14 },
    { target: withoutLines(OLD, 'line 14') },
    { old_line: null, new_line: 14 },
  ],
])('a line that was %s stays active', async (_, fields, move, expected) => {
  const refs = await openMergeRequest();
  const thread = await start(refs, fields);
  await pushChange(move);
  const { diff_refs } = await request();
  expect(diff_refs).not.toEqual(refs);
  const now = await shown(thread);
  expect(now.notes).toHaveLength(1);
  const paths = { old_path: 'code.txt', new_path: 'code.txt' };
  expect(now.notes[0]!.position).toEqual({
    ...diff_refs,
    ...paths,
    ...expected,
    position_type: 'text',
    line_range: null,
  });
  expect(await readPositionRow(thread)).toEqual({ is_active: true, change: null });
});

test.each<[string, Record<string, unknown>, FileChange, Record<string, unknown>]>([
  ['added, and is gone', ADDED, { source: withoutLines(NEW, 'added') }, { old_line: 10, new_line: null }],
  [
    'added, and is changed',
    ADDED,
    { source: NEW.map((line) => (line === 'added' ? 'other' : line)) },
    { old_line: 10 },
  ],
  ['added, and the target has the same file', ADDED, { target: NEW }, { old_line: null, new_line: 10 }],
  [
    'removed, and is back',
    REMOVED,
    { source: OLD.flatMap((line) => (line === 'line 10' ? [line, 'added'] : [line])) },
    { old_line: null, new_line: 5 },
  ],
  [
    'removed, and is gone from the target',
    REMOVED,
    { target: withoutLines(OLD, 'line 5') },
    { old_line: 5, new_line: null },
  ],
  ['unchanged, and is gone', UNCHANGED, { source: withoutLines(NEW, 'line 10') }, { old_line: 9, new_line: null }],
  ['unchanged, and the file has left the diff', UNCHANGED, { source: OLD }, { old_line: null, new_line: 10 }],
])('a line that was %s is outdated', async (_, fields, move, change) => {
  const refs = await openMergeRequest();
  const thread = await start(refs, fields);
  await pushChange(move);
  const now = await shown(thread);
  expect(now.notes[0]!.position).toEqual(thread.notes[0]!.position);
  expect(await readPositionRow(thread)).toMatchObject({ is_active: false, change });
  const [version] = (await as('guest').get(`${path}/versions`).expect(200)).body as { id: number }[];
  const url = `/${place.fullPath}/-/merge_requests/${path.split('/').at(-1)}/diffs?diff_id=${version!.id}`;
  expect(now.notes.slice(1)).toMatchObject([
    { system: true, type: 'DiffNote', resolvable: false, body: `changed this line in [version 2 of the diff](${url})` },
  ]);
  const counted = (await as('guest').get(`${path}/discussions`).expect(200)).headers['x-total'];
  const listed = (await as('guest').get(`${path}/discussions`).expect(200)).body as unknown[];
  expect(Number(counted)).toBe(listed.length);
  // A later version changes nothing.
  await scene.files(place, source, { 'more.txt': 'x\n' });
  expect(await shown(thread)).toEqual(now);
});

/** Pushes new contents. The source is put on top of the target when that moves. */
async function pushChange({ source: head, target: base }: FileChange): Promise<void> {
  if (base === undefined) {
    await scene.files(place, source, { 'code.txt': text(head!) });
    return;
  }
  await scene.files(place, target, { 'code.txt': text(base) });
  const headText = await scene.git.ok(place.folder, 'show', `${source}:code.txt`);
  const content = base[0] === 'first' ? text(shiftDownTwoLines(NEW)) : headText;
  await scene.files(place, source, { 'code.txt': content, 'other.txt': 'x\n' }, `origin/${target}`);
}

test('threads follow renames, and keep their range', async () => {
  const refs = await openMergeRequest();
  const end = { line_code: `${'0'.repeat(40)}_1_1`, type: 'new' };
  const line_range = { start: { ...end, old_line: 9, new_line: 8 }, end: { ...end, old_line: null, new_line: 10 } };
  const thread = await start(refs, { ...ADDED, line_range });
  await scene.files(place, source, { 'code.txt': null, 'renamed.txt': text(shiftDownTwoLines(NEW)) });
  const { position } = (await shown(thread)).notes[0]!;
  expect(position).toMatchObject({ old_path: 'code.txt', new_path: 'renamed.txt', new_line: 12 });
  expect(position['line_range']).toMatchObject({ start: { old_line: 9, new_line: 10 }, end: { new_line: 12 } });
  await scene.files(place, source, { 'renamed.txt': null });
  expect(await readPositionRow(thread)).toMatchObject({ is_active: false });
});

test('threads on files and images follow them, and end with them', async () => {
  const refs = await openMergeRequest();
  const file = await start(refs, { position_type: 'file' });
  const image = await start(refs, { position_type: 'image', x: 1, y: 1, width: 2, height: 2 });
  await scene.files(place, source, { 'more.txt': 'x\n' });
  const { diff_refs } = await request();
  for (const thread of [file, image]) expect((await shown(thread)).notes[0]!.position).toMatchObject(diff_refs);
  await scene.files(place, source, { 'code.txt': text(shiftDownTwoLines(NEW)) });
  expect([await readPositionRow(file), await readPositionRow(image)]).toMatchObject([
    { is_active: true },
    { is_active: false },
  ]);
  expect((await shown(image)).notes[1]!.body).toContain('changed this file in [version 3 of the diff]');
  await scene.files(place, source, { 'code.txt': text(OLD) });
  expect(await readPositionRow(file)).toMatchObject({ is_active: false });
});

test('a thread at an older version is at the latest one at once, or outdated', async () => {
  const refs = await openMergeRequest();
  await scene.files(place, source, { 'code.txt': text(shiftDownTwoLines(NEW)) });
  const { diff_refs } = await request();
  const thread = await start(refs, ADDED);
  expect(thread.notes[0]!.position).toMatchObject({ ...diff_refs, new_line: 12 });
  await scene.files(place, source, { 'code.txt': text(withoutLines(NEW, 'added')) });
  const late = await start(refs, ADDED);
  expect(late.notes[0]!.position).toMatchObject({ ...refs, new_line: 10 });
  expect(await readPositionRow(late)).toMatchObject({ is_active: false });
});

test('a new target, and the reopening after a push, move threads too; a closed request keeps them', async () => {
  const refs = await openMergeRequest();
  const thread = await start(refs, ADDED);
  const other = `other-${branches}`;
  await scene.files(place, other, { 'code.txt': text(withoutLines(OLD, 'line 2')) }, `origin/${target}`);
  await as('developer').put(path).send({ target_branch: other }).expect(200);
  const retargeted = (await request()).diff_refs;
  expect((await shown(thread)).notes[0]!.position).toMatchObject({ ...retargeted, new_line: 10 });
  await as('developer').put(path).send({ state_event: 'close' }).expect(200);
  await scene.files(place, source, { 'code.txt': text(shiftDownTwoLines(NEW)) });
  expect((await shown(thread)).notes[0]!.position).toMatchObject(retargeted);
  await as('developer').put(path).send({ state_event: 'reopen' }).expect(200);
  expect((await shown(thread)).notes[0]!.position).toMatchObject({ ...(await request()).diff_refs, new_line: 12 });
});

test('threads that are open block, and the last one that is resolved leaves a note', async () => {
  const refs = await openMergeRequest();
  expect(await request()).toMatchObject({ blocking_discussions_resolved: true });
  const [first, second] = [await start(refs, ADDED), await start(refs, REMOVED)];
  await scene.files(place, source, { 'code.txt': text(withoutLines(NEW, 'added')) });
  expect(await request()).toMatchObject({ blocking_discussions_resolved: false });
  const notes = async (): Promise<string[]> => {
    const query = { sort: 'asc', activity_filter: 'only_activity' };
    const { body } = await as('guest').get(`${path}/notes`).query(query).expect(200);
    return (body as ShownNote[]).map((note) => note.body).filter((one) => one === 'resolved all threads');
  };
  const resolve = async (thread: Discussion, resolved: boolean) =>
    (await as('developer').put(`${path}/discussions/${thread.id}`).send({ resolved }).expect(200)).body as Discussion;
  expect((await resolve(first, true)).notes).toMatchObject([{ resolved: true }, { system: true, resolvable: false }]);
  expect(await request()).toMatchObject({ blocking_discussions_resolved: false });
  expect(await notes()).toEqual([]);
  await resolve(second, true);
  expect(await request()).toMatchObject({ blocking_discussions_resolved: true });
  expect(await notes()).toEqual(['resolved all threads']);
  await resolve(second, true);
  expect(await notes()).toHaveLength(1);
  await resolve(second, false);
  expect(await request()).toMatchObject({ blocking_discussions_resolved: false });
  const systemNote = (await shown(first)).notes[1]!;
  const { body } = await as('developer')
    .put(`${path}/discussions/${first.id}/notes/${systemNote.id}`)
    .send({ resolved: true })
    .expect(400);
  expect(body).toEqual({ message: '400 Bad request - Note is not resolvable' });
  await as('developer').post(`${path}/notes`).send({ body: 'No thread' }).expect(201);
  await resolve(second, true);
  const listed = (await as('guest').get(place.path).query({ source_branch: source }).expect(200)).body as unknown[];
  expect(listed).toMatchObject([{ blocking_discussions_resolved: true }]);
});

test('a project may resolve threads that become outdated', async () => {
  const before = place;
  place = await scene.place({ merge_settings: { resolve_outdated_diff_discussions: true } });
  ({ cast } = place);
  const refs = await openMergeRequest();
  const thread = await start(refs, ADDED);
  await scene.files(place, source, { 'code.txt': text(withoutLines(NEW, 'added')) });
  const pusher = { id: cast.maintainer.id };
  expect((await shown(thread)).notes).toMatchObject([{ resolved: true, resolved_by: pusher }, { system: true }]);
  const { body } = await as('guest').get(`${path}/notes`).query({ activity_filter: 'only_activity' }).expect(200);
  expect((body as ShownNote[]).map((note) => note.body)).toContain('resolved all threads');
  [place, cast] = [before, before.cast];
});

test('an outdated thread takes replies after its first comment is deleted, and disappears with its last comment', async () => {
  const refs = await openMergeRequest();
  const thread = await start(refs, ADDED);
  await scene.files(place, source, { 'code.txt': text(withoutLines(NEW, 'added')) });
  const at = `${path}/discussions/${thread.id}/notes`;
  const reply = async (body: string): Promise<ShownNote> =>
    (await as('developer').post(at).send({ body }).expect(201)).body as ShownNote;
  const first = await reply('A reply');
  const bodies = async (): Promise<string[]> => (await shown(thread)).notes.map((note) => note.body);
  await as('guest').delete(`${at}/${thread.notes[0]!.id}`).expect(204);
  const second = await reply('Another reply');
  expect(await bodies()).toEqual([expect.stringContaining('changed this line in'), 'A reply', 'Another reply']);
  const totals = async (): Promise<string[]> => {
    const lists = [`${path}/discussions`, `${path}/notes?activity_filter=only_activity`, `${path}/notes`];
    const answers = await Promise.all(lists.map((list) => as('guest').get(list).expect(200)));
    for (const { headers, body } of answers) expect(Number(headers['x-total'])).toBe((body as unknown[]).length);
    return answers.map(({ headers }) => headers['x-total'] as string);
  };
  const [discussions, activity] = (await totals()).map(Number);
  for (const { id } of [first, second]) await as('developer').delete(`${at}/${id}`).expect(204);
  await as('guest').get(`${path}/discussions/${thread.id}`).expect(404);
  expect((await totals()).map(Number).slice(0, 2)).toEqual([discussions! - 1, activity! - 1]);
  const left = await service.database.query('select 1 from note_positions where thread_id = $1', [thread.notes[0]!.id]);
  expect(left).toHaveLength(0);
});
