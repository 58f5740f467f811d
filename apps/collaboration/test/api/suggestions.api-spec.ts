import { objectId } from '@rookery/git';
import type { SeededService } from '@rookery/testing';
import { ProjectRepositories } from '../../src/code/repositories/project-repositories';
import { RefIntents } from '../../src/code/repositories/ref-updates/ref-intents';
import { PushSettlement } from '../../src/code/repositories/ref-updates/settlement';
import { eventsOf, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { MergeRequestScene } from '../support/merge-request-scene';
import type { MergePlace } from '../support/merge-request-scene';

/** Suggestions, applied as commits. Source: reference repositories 8.13. */
interface Suggestion {
  readonly id: number;
  readonly from_line: number;
  readonly to_line: number;
  readonly appliable: boolean;
  readonly applied: boolean;
}
interface Note extends Record<string, unknown> {
  readonly id: number;
  readonly suggestions: readonly Suggestion[];
}
interface Discussion {
  readonly id: string;
  readonly notes: readonly Note[];
}
interface OpenedMergeRequest {
  readonly iid: number;
  readonly source: string;
  readonly refs: Record<string, string>;
}

let service: SeededService;
let scene: MergeRequestScene;
let place: MergePlace;
let cast: Cast;
let opened = 0;

beforeAll(async () => {
  service = await startCollaboration();
  scene = await MergeRequestScene.start(service);
  place = await scene.place({ merge_settings: { suggestion_commit_message: 'Take %{suggestions_count} of %{x}\n\n' } });
  ({ cast } = place);
});
afterAll(async () => {
  await scene.stop();
  await service.close();
});

const as = (name: keyof Cast) => service.app.as(service.seed.viewer(cast[name]));
const block = (text: string, range = ''): string => `\`\`\`suggestion${range}\n${text}\n\`\`\``;

/** A merge request that adds files. */
async function open(files: Readonly<Record<string, string | Buffer>>): Promise<OpenedMergeRequest> {
  const source = `source-${++opened}`;
  await scene.files(place, source, files, place.mainSha);
  const sent = { title: 'A change', source_branch: source, target_branch: 'main' };
  const { body } = await as('developer').post(place.path).send(sent).expect(201);
  const { iid, diff_refs: refs } = body as { iid: number; diff_refs: Record<string, string> };
  return { iid, source, refs };
}
async function start(
  { iid, refs }: OpenedMergeRequest,
  body: string,
  {
    path = 'a.txt',
    line = 1,
    by = 'guest' as keyof Cast,
    ...fields
  }: Record<string, unknown> & {
    path?: string;
    line?: number;
    by?: keyof Cast;
  } = {},
): Promise<Discussion> {
  const position = { ...refs, position_type: 'text', new_path: path, new_line: line, ...fields };
  return (await as(by).post(`${place.path}/${iid}/discussions`).send({ body, position }).expect(201))
    .body as Discussion;
}
const idIn = ({ notes }: Discussion, at = 0): number => notes[0]!.suggestions[at]!.id;
const shown = async ({ iid }: OpenedMergeRequest, { id }: Discussion): Promise<Discussion> =>
  (await as('guest').get(`${place.path}/${iid}/discussions/${id}`).expect(200)).body as Discussion;
const apply = (id: number, by: keyof Cast = 'developer', sent: object = {}) =>
  as(by).put(`/api/v4/suggestions/${id}/apply`).send(sent);
const applyAll = (ids: readonly number[], by: keyof Cast = 'developer', sent: object = {}) =>
  as(by)
    .put('/api/v4/suggestions/batch_apply')
    .send({ ids, ...sent });
const fetchOrigin = async (): Promise<void> => void (await scene.git.ok(place.folder, 'fetch', '--quiet', 'origin'));
const fileAt = async ({ source }: OpenedMergeRequest, path = 'a.txt'): Promise<string> => {
  await fetchOrigin();
  return scene.git.ok(place.folder, 'show', `origin/${source}:${path}`);
};
const logOf = async ({ source }: OpenedMergeRequest, format: string): Promise<string> => {
  await fetchOrigin();
  return (await scene.git.ok(place.folder, 'log', '-1', `--format=${format}`, `origin/${source}`)).trimEnd();
};
const identityOf = async (name: keyof Cast): Promise<string> => {
  const [row] = await service.database.query<{ name: string; username: string }>(
    'select name, username from directory_users where id = $1',
    [cast[name].id],
  );
  const host = new URL(process.env['EXTERNAL_URL'] ?? 'http://localhost').hostname;
  return `${row!.name} <${cast[name].id}-${row!.username}@users.noreply.${host}>`;
};

test('a suggestion becomes a commit of its author on the source branch', async () => {
  const request = await open({ 'a.txt': 'one\ntwo\nthree\n' });
  const thread = await start(request, `Better:\n${block('second')}`, { line: 2 });
  const id = idIn(thread);
  const open_ = { id, from_line: 2, to_line: 2, from_content: 'two\n', to_content: 'second\n' };
  expect(thread.notes[0]!.suggestions).toEqual([{ ...open_, appliable: true, applicable: true, applied: false }]);
  const { body } = await apply(id, 'maintainer').expect(200);
  expect(body).toEqual({ ...open_, appliable: false, applicable: false, applied: true });
  expect(await fileAt(request)).toBe('one\nsecond\nthree\n');
  expect(await logOf(request, '%an <%ae>')).toBe(await identityOf('guest'));
  expect(await logOf(request, '%cn <%ce>')).toBe(await identityOf('maintainer'));
  expect(await logOf(request, '%B')).toBe('Take 1 of %{x}');
  const now = await shown(request, thread);
  expect(now.notes[0]).toMatchObject({ resolved: true, resolved_by: { id: cast.maintainer.id } });
  expect(now.notes[0]!.suggestions).toMatchObject([{ applied: true, appliable: false }]);
  const tip = await logOf(request, '%H');
  const merge = (await as('guest').get(`${place.path}/${request.iid}`).expect(200)).body as Record<string, unknown>;
  expect(merge).toMatchObject({ sha: tip });
  const query = { activity_filter: 'only_activity', sort: 'asc' };
  const notes = (await as('guest').get(`${place.path}/${request.iid}/notes`).query(query).expect(200)).body as Note[];
  expect(notes.map((note) => String(note['body']).split('\n')[0])).toEqual(
    expect.arrayContaining(['added 1 commit', 'resolved all threads']),
  );
  const again = await apply(id).expect(400);
  expect(again.body).toEqual({ message: "Can't apply this suggestion." });
  const left = await service.database.query('select 1 from suggestion_intents where suggestion_id = $1', [id]);
  expect(left).toHaveLength(0);
});

test.each([
  ['a range', 'one\ntwo\nthree\nfour\n', 3, block('x', ':-1+1'), 'one\nx\n'],
  ['more lines than the file has', 'one\ntwo\n', 2, block('x', ':-5+5'), 'x\n'],
  ['nothing, which removes lines', 'one\ntwo\nthree\n', 2, block(' '), 'one\nthree\n'],
  ['all lines removed', 'one\n', 1, block(''), ''],
  ['CRLF', 'one\r\ntwo\r\n', 1, block('x\ny'), 'x\r\ny\r\ntwo\r\n'],
  ['a last line without end', 'one\ntwo', 2, block('x'), 'one\nx'],
  ['a fence inside', 'one\n', 1, '````suggestion\n```\nx\n```\n````', '```\nx\n```\n'],
  ['signs of other scripts', 'één\nzwei\n', 1, block('ünö'), 'ünö\nzwei\n'],
])('%s', async (_, content, line, body, expected) => {
  const request = await open({ 'a.txt': content });
  const thread = await start(request, body, { line });
  await apply(idIn(thread)).expect(200);
  expect(await fileAt(request)).toBe(expected);
});

test('bytes that are not UTF-8 and modes stay', async () => {
  const request = await open({ 'a.txt': Buffer.from([0xff, 0x0a, 0x61, 0x0a]), 'run.sh': 'x\n' });
  await scene.git.ok(place.folder, 'update-index', '--chmod=+x', 'run.sh');
  await scene.git.ok(place.folder, 'commit', '--quiet', '-m', 'Executable');
  await scene.git.ok(place.folder, 'reset', '--quiet', '--hard');
  await scene.git.ok(place.folder, 'push', '--quiet', 'origin', request.source);
  const { body } = await as('guest').get(`${place.path}/${request.iid}`).expect(200);
  const current = { ...request, refs: (body as { diff_refs: Record<string, string> }).diff_refs };
  const first = await start(current, block('b'), { line: 2 });
  const second = await start(current, block('y'), { path: 'run.sh' });
  await applyAll([idIn(first), idIn(second)]).expect(200);
  await fetchOrigin();
  const tip = `origin/${request.source}`;
  const listed = await scene.git.ok(place.folder, 'ls-tree', tip, 'run.sh');
  expect(listed).toMatch(/^100755 blob/);
  const hashed = (await scene.git.ok(place.folder, 'rev-parse', `${tip}:a.txt`)).trim();
  await scene.files(place, `probe-${opened}`, { 'a.txt': Buffer.from([0xff, 0x0a, 0x62, 0x0a]) }, place.mainSha);
  expect((await scene.git.ok(place.folder, 'rev-parse', 'HEAD:a.txt')).trim()).toBe(hashed);
});

test('several suggestions in several files become one commit with co-authors', async () => {
  const request = await open({ 'a.txt': '1\n2\n3\n4\n5\n', 'b.txt': 'x\n' });
  const low = await start(request, block('five'), { line: 5 });
  const high = await start(request, block('one\nand a half\n', ':+1'), { line: 1, by: 'reporter' });
  const other = await start(request, block('y'), { path: 'b.txt', by: 'developer' });
  const ids = [low, high, other].map((thread) => idIn(thread));
  const commit_message =
    '%{suggestions_count} %{files_count} %{file_paths} %{branch_name} %{username} %{user_full_name} %{project_path}\n\n%{co_authored_by}\n';
  const { body } = await applyAll(ids, 'developer', { commit_message }).expect(200);
  expect((body as Suggestion[]).map(({ id, applied }) => [id, applied])).toEqual(ids.map((id) => [id, true]));
  expect(await fileAt(request)).toBe('one\nand a half\n\n3\n4\nfive\n');
  expect(await fileAt(request, 'b.txt')).toBe('y\n');
  const [me] = await service.database.query<{ name: string; username: string }>(
    'select name, username from directory_users where id = $1',
    [cast.developer.id],
  );
  const first = `3 2 a.txt, b.txt ${request.source} ${me!.username} ${me!.name} ${place.project.path}`;
  const others = [await identityOf('guest'), await identityOf('reporter')].map((one) => `Co-authored-by: ${one}`);
  expect(await logOf(request, '%B')).toBe([first, '', ...others].join('\n'));
  expect(await logOf(request, '%an <%ae>')).toBe(await identityOf('developer'));
});

test('refusals of a batch', async () => {
  const request = await open({ 'a.txt': '1\n2\n3\n4\n' });
  const elsewhere = await open({ 'a.txt': '1\n2\n' });
  const first = idIn(await start(request, block('x', ':+1'), { line: 1 }));
  const second = idIn(await start(request, block('y'), { line: 2 }));
  const other = idIn(await start(elsewhere, block('z')));
  const refused = async (ids: readonly number[], status = 400) => (await applyAll(ids).expect(status)).body as unknown;
  expect(await refused([first, second])).toEqual({
    message: 'Suggestions are not applicable as their lines cannot overlap.',
  });
  expect(await refused([first, other])).toEqual({ message: 'Suggestions must all be on the same branch.' });
  const missing = { message: 'Suggestions are not applicable as one or more suggestions were not found.' };
  expect(await refused([first, 999_999], 404)).toEqual(missing);
  expect(await refused([first, first], 404)).toEqual(missing);
  const { body } = await as('developer').put('/api/v4/suggestions/batch_apply').send({}).expect(400);
  expect(body).toEqual({ error: 'ids is missing' });
  expect((await applyAll([]).expect(400)).body).toEqual({ error: 'ids is empty' });
  expect(await fileAt(request)).toBe('1\n2\n3\n4\n');
});

test('refusals of one suggestion', async () => {
  const request = await open({ 'a.txt': '1\n2\n3\n', 'b.ipynb': 'x\n', 'gone.txt': 'x\n' });
  const refused = async (id: number, status = 400) => (await apply(id).expect(status)).body as unknown;
  const same = idIn(await start(request, block('1')));
  expect(await refused(same)).toEqual({ message: 'This suggestion already matches its content.' });
  const notebook = idIn(await start(request, block('y'), { path: 'b.ipynb' }));
  expect(await refused(notebook)).toEqual({
    message: "This file was modified for readability, and can't accept suggestions. Edit it directly.",
  });
  const line = idIn(await start(request, block('x'), { line: 2 }));
  const range = idIn(await start(request, block('x', ':-1'), { line: 3 }));
  const kept = idIn(await start(request, block('y'), { path: 'gone.txt' }));
  await scene.files(place, request.source, { 'a.txt': '1\ntwo\n3\n', 'gone.txt': null });
  expect(await refused(line)).toEqual({ message: "Can't apply as this line was changed in a more recent version." });
  expect(await refused(range)).toEqual({
    message: "Can't apply as these lines were changed in a more recent version.",
  });
  expect(await refused(kept)).toEqual({ message: "Can't apply as this line was changed in a more recent version." });
  expect(await refused(999_999, 404)).toEqual({
    message: 'Suggestion is not applicable as the suggestion was not found.',
  });
  expect((await as('developer').put('/api/v4/suggestions/x/apply').expect(400)).body).toEqual({
    error: 'id is invalid',
  });
  await as('developer').put(`${place.path}/${request.iid}`).send({ state_event: 'close' }).expect(200);
  expect(await refused(same)).toEqual({
    message: 'This merge request is closed. To apply this suggestion, edit this file directly.',
  });
});

test('a branch that moved without its settlement refuses', async () => {
  const request = await open({ 'a.txt': '1\n' });
  const id = idIn(await start(request, block('x')));
  const repository = (await service.app.get(ProjectRepositories).findRepository(place.project.id))!;
  const ref = `refs/heads/${request.source}`;
  await repository.run({ args: ['update-ref', ref, place.mainSha] });
  expect((await apply(id).expect(400)).body).toEqual({ message: 'A file has been changed.' });
  await repository.run({ args: ['update-ref', '-d', ref] });
  const { body } = await apply(id).expect(400);
  expect(body).toEqual({ message: "Can't apply as the source branch was deleted." });
});

test('a merged request takes none', async () => {
  const request = await open({ 'merged.txt': '1\n' });
  const thread = await start(request, block('x'), { path: 'merged.txt' });
  await as('developer').put(`${place.path}/${request.iid}/merge`).expect(200);
  expect((await shown(request, thread)).notes[0]!.suggestions).toMatchObject([{ appliable: false, applied: false }]);
  expect((await apply(idIn(thread)).expect(400)).body).toEqual({
    message: 'This merge request was merged. To apply this suggestion, edit this file directly.',
  });
});

test('pushes elsewhere keep it appliable, also further down and after a rename', async () => {
  const request = await open({ 'a.txt': '1\n2\n', 'b.txt': 'x\n' });
  const thread = await start(request, block('two'), { line: 2 });
  await scene.files(place, request.source, { 'b.txt': 'y\n' });
  await scene.files(place, request.source, { 'a.txt': '0\n1\n2\n' });
  expect((await shown(request, thread)).notes[0]!.suggestions).toMatchObject([{ from_line: 3, appliable: true }]);
  await scene.files(place, request.source, { 'a.txt': null, 'c.txt': '0\n1\n2\n' });
  const [suggestion] = (await shown(request, thread)).notes[0]!.suggestions;
  // The file is new in the diff, so another name is another file if too little of it is the same.
  expect(suggestion).toMatchObject({ from_line: 3, appliable: true });
  await apply(suggestion!.id).expect(200);
  expect(await fileAt(request, 'c.txt')).toBe('0\n1\ntwo\n');
});

test('a range whose lines change is not appliable, until they are back', async () => {
  const request = await open({ 'a.txt': '1\n2\n3\n' });
  const thread = await start(request, block('x', ':-1'), { line: 3 });
  await scene.files(place, request.source, { 'a.txt': '1\ntwo\n3\n' });
  expect((await shown(request, thread)).notes[0]!.suggestions).toMatchObject([{ appliable: false }]);
  await scene.files(place, request.source, { 'a.txt': '1\n2\n3\n' });
  expect((await shown(request, thread)).notes[0]!.suggestions).toMatchObject([{ appliable: true }]);
});

test('removed lines, files and images take no suggestions; replies and edited notes do', async () => {
  const request = await open({ 'README.md': 'Other\n', 'a.txt': '1\n' });
  const removed = await start(request, block('x'), { path: 'README.md', new_line: null, old_line: 1 });
  expect(removed.notes[0]!.suggestions).toEqual([]);
  const onFile = await start(request, block('x'), { position_type: 'file' });
  expect(onFile.notes[0]!.suggestions).toEqual([]);
  const plain = await as('guest')
    .post(`${place.path}/${request.iid}/notes`)
    .send({ body: block('x') })
    .expect(201);
  expect(plain.body).not.toHaveProperty('suggestions');
  const thread = await start(request, 'Why?');
  const at = `${place.path}/${request.iid}/discussions/${thread.id}/notes`;
  const reply = (
    await as('reporter')
      .post(at)
      .send({ body: `${block('y')}\n${block('z')}` })
      .expect(201)
  ).body as Note;
  expect(reply.suggestions).toMatchObject([{ to_content: 'y\n' }, { to_content: 'z\n' }]);
  const edited = (
    await as('reporter')
      .put(`${at}/${reply.id}`)
      .send({ body: block('w') })
      .expect(200)
  ).body as Note;
  expect(edited.suggestions).toMatchObject([{ to_content: 'w\n', from_content: '1\n', appliable: true }]);
  await apply(edited.suggestions[0]!.id).expect(200);
  const after = (await as('reporter').put(`${at}/${reply.id}`).send({ body: 'Done' }).expect(200)).body as Note;
  expect(after.suggestions).toMatchObject([{ id: edited.suggestions[0]!.id, applied: true }]);
  expect(await fileAt(request)).toBe('w\n');
});

test('those who may push to the source branch apply, and others learn nothing of private projects', async () => {
  const request = await open({ 'a.txt': '1\n' });
  const id = idIn(await start(request, block('x')));
  for (const name of ['guest', 'planner', 'reporter'] as const)
    expect((await apply(id, name).expect(403)).body).toEqual({ message: '403 Forbidden' });
  await service.app.as(service.seed.anonymous()).put(`/api/v4/suggestions/${id}/apply`).expect(401);
  await as('maintainer')
    .post(`/api/v4/projects/${place.project.id}/protected_branches`)
    .send({ name: request.source, push_access_level: 40 })
    .expect(201);
  expect((await applyAll([id]).expect(403)).body).toEqual({ message: '403 Forbidden' });
  await apply(id, 'maintainer').expect(200);

  const [before, people] = [place, cast];
  place = await scene.place({ visibility: 'private' });
  ({ cast } = place);
  const hidden = await open({ 'a.txt': '1\n' });
  const secret = idIn(await start(hidden, block('x'), { by: 'reporter' }));
  [place, cast] = [before, people];
  const outside = await apply(secret).expect(404);
  expect(outside.body).toEqual({ message: 'Suggestion is not applicable as the suggestion was not found.' });
});

test('of two applications at the same time exactly one wins', async () => {
  const request = await open({ 'a.txt': '1\n2\n' });
  const id = idIn(await start(request, block('x')));
  const answers = await Promise.all([apply(id, 'developer'), apply(id, 'maintainer'), apply(id, 'owner')]);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
  expect(await fileAt(request)).toBe('x\n2\n');
  await fetchOrigin();
  const count = await scene.git.ok(place.folder, 'rev-list', '--count', `${place.mainSha}..origin/${request.source}`);
  expect(count.trim()).toBe('2');
});

test('a process that died after the branch moved leaves the rest to the job', async () => {
  const request = await open({ 'a.txt': '1\n' });
  const thread = await start(request, block('x'));
  const id = idIn(thread);
  const made = objectId(await scene.files(place, `prepared-${opened}`, { 'a.txt': 'x\n' }, `origin/${request.source}`));
  await service.database.query('insert into suggestion_intents (commit_id, suggestion_id) values ($1, $2)', [made, id]);
  const [push, ref] = [
    { projectId: place.project.id, userId: cast.maintainer.id, source: 'api' } as const,
    `refs/heads/${request.source}`,
  ];
  const update = { ref, oldId: objectId(request.refs['head_sha']!), newId: made };
  const pushId = await service.app.get(RefIntents).recordUpdates(push, [update]);
  expect((await shown(request, thread)).notes[0]!.suggestions).toMatchObject([{ applied: false }]);
  const repository = (await service.app.get(ProjectRepositories).findRepository(place.project.id))!;
  await repository.run({ args: ['update-ref', ref, made] });
  await service.app.get(PushSettlement).settlePush(repository, pushId, null);
  const [note] = (await shown(request, thread)).notes;
  expect(note).toMatchObject({
    resolved: true,
    resolved_by: { id: cast.maintainer.id },
    suggestions: [{ applied: true }],
  });
});

/** Moves or deletes the source branch without a settlement. */
async function moveUnsettled({ source }: OpenedMergeRequest, to: string | null): Promise<void> {
  const repository = (await service.app.get(ProjectRepositories).findRepository(place.project.id))!;
  const ref = `refs/heads/${source}`;
  await repository.run({ args: to === null ? ['update-ref', '-d', ref] : ['update-ref', ref, to] });
}
const MERGED = 'This merge request was merged. To apply this suggestion, edit this file directly.';
const CLOSED = 'This merge request is closed. To apply this suggestion, edit this file directly.';
const CHANGED = "Can't apply as this line was changed in a more recent version.";

/** Pairs of neighbouring reasons why a suggestion cannot be applied: both hold, and the first one is the answer. */
test.each<
  [
    string,
    {
      path?: string;
      text?: string;
      steps: (request: OpenedMergeRequest, id: number, path: string) => Promise<unknown>;
    },
    string,
  ]
>([
  [
    'applied, before merged',
    {
      steps: async ({ iid }, id) => {
        await apply(id).expect(200);
        await as('developer').put(`${place.path}/${iid}/merge`).expect(200);
      },
    },
    "Can't apply this suggestion.",
  ],
  [
    'merged, before a deleted branch',
    {
      steps: async (request) => {
        await as('developer').put(`${place.path}/${request.iid}/merge`).expect(200);
        await scene.drop(place, request.source);
      },
    },
    MERGED,
  ],
  ['closed, before a deleted branch', { steps: ({ source }) => scene.drop(place, source) }, CLOSED],
  [
    'a deleted branch, before changed lines',
    {
      steps: async (request) => {
        await scene.files(place, request.source, { 'case-4.txt': 'other\n' });
        await moveUnsettled(request, null);
      },
    },
    "Can't apply as the source branch was deleted.",
  ],
  [
    'changed lines, before the same content',
    { text: '1', steps: ({ source }, _id, path) => scene.files(place, source, { [path]: 'other\n' }) },
    CHANGED,
  ],
  [
    'the same content, before a notebook',
    { path: 'same.ipynb', text: '1', steps: () => Promise.resolve() },
    'This suggestion already matches its content.',
  ],
  [
    'a notebook, before a branch that has moved',
    { path: 'moved.ipynb', steps: (request) => moveUnsettled(request, place.mainSha) },
    "This file was modified for readability, and can't accept suggestions. Edit it directly.",
  ],
])('the reason %s', async (_, { path = `case-${opened}.txt`, text = 'x', steps }, message) => {
  const request = await open({ [path]: '1\n2\n' });
  const thread = await start(request, block(text), { path });
  await steps(request, idIn(thread), path);
  expect((await apply(idIn(thread)).expect(400)).body).toEqual({ message });
  expect((await applyAll([idIn(thread)]).expect(400)).body).toEqual({ message });
});

test('what cannot be applied is shown as not appliable', async () => {
  const request = await open({ 'shown.txt': '1\n2\n', 'shown.ipynb': '1\n' });
  const threads = [
    await start(request, block('1'), { path: 'shown.txt' }),
    await start(request, block('x'), { path: 'shown.ipynb' }),
    await start(request, block('x', ':-100+100'), { path: 'shown.txt', line: 2 }),
  ];
  const suggestions = async () =>
    Promise.all(threads.map(async (thread) => (await shown(request, thread)).notes[0]!.suggestions[0]!));
  const range = { from_line: 1, to_line: 102, from_content: '1\n2\n', to_content: 'x\n' };
  expect(await suggestions()).toMatchObject([
    { appliable: false, applicable: false, applied: false },
    { appliable: false, applicable: false },
    { ...range, appliable: true, applicable: true },
  ]);
  await as('developer').put(`${place.path}/${request.iid}`).send({ state_event: 'close' }).expect(200);
  expect((await suggestions()).map(({ appliable }) => appliable)).toEqual([false, false, false]);
});

test('ids are a list or a text; neighbouring lines do not overlap; one author is the author of the commit', async () => {
  const request = await open({ 'list.txt': '1\n2\n3\n' });
  const ids: number[] = [];
  for (const line of [1, 2, 3]) ids.push(idIn(await start(request, block(`${line}x`), { path: 'list.txt', line })));
  const batch = () => as('developer').put('/api/v4/suggestions/batch_apply');
  const message = { commit_message: ' \n ' };
  await batch()
    .send({ ids: `${ids[1]},${ids[0]}`, ...message })
    .expect(200);
  expect(await fileAt(request, 'list.txt')).toBe('1x\n2x\n3\n');
  expect(await logOf(request, '%an <%ae>')).toBe(await identityOf('guest'));
  expect(await logOf(request, '%B')).toBe('Take 2 of %{x}');
  await batch().type('form').send({ 'ids[]': ids[2] }).expect(200);
  expect(await fileAt(request, 'list.txt')).toBe('1x\n2x\n3x\n');
});

test('other suggestions about lines that were replaced are outdated', async () => {
  const request = await open({ 'both.txt': '1\n2\n3\n' });
  const at = (line: number, range = '') => start(request, block('x', range), { path: 'both.txt', line });
  const [first, same, around, other] = [await at(1), await at(1), await at(2, ':-1'), await at(3)];
  await apply(idIn(first)).expect(200);
  const states = [];
  for (const thread of [first, same, around, other])
    states.push((await shown(request, thread)).notes[0]!.suggestions[0]!.appliable);
  expect(states).toEqual([false, false, false, true]);
  expect((await apply(idIn(same)).expect(400)).body).toEqual({ message: CHANGED });
});

test('an application is a push of its user', async () => {
  const request = await open({ 'push.txt': '1\n' });
  const id = idIn(await start(request, block('x'), { path: 'push.txt' }));
  await apply(id, 'maintainer').expect(200);
  const tip = await logOf(request, '%H');
  const [push] = (await eventsOf(service.database, 'collaboration.push.completed.v1')).slice(-1);
  expect(push).toMatchObject({ project_id: place.project.id, user_id: cast.maintainer.id });
  const [step] = (await eventsOf(service.database, 'collaboration.merge_request.progressed.v1')).filter(
    (event) => event['merge_request_iid'] === request.iid && event['step'] === 'pushed',
  );
  expect(step).toMatchObject({ commit_count: 1 });
  const { body } = await as('guest').get(`${place.path}/${request.iid}/versions`).expect(200);
  expect((body as { head_commit_sha: string }[]).map((version) => version.head_commit_sha)).toEqual([
    tip,
    request.refs['head_sha'],
  ]);
});

test('a batch with one suggestion whose branch the user may not push to applies none', async () => {
  const [free, kept] = [await open({ 'free.txt': '1\n' }), await open({ 'kept.txt': '1\n' })];
  const ids = [
    idIn(await start(free, block('x'), { path: 'free.txt' })),
    idIn(await start(kept, block('x'), { path: 'kept.txt' })),
  ];
  const protect = { name: kept.source, push_access_level: 40 };
  await as('maintainer').post(`/api/v4/projects/${place.project.id}/protected_branches`).send(protect).expect(201);
  expect((await applyAll(ids).expect(403)).body).toEqual({ message: '403 Forbidden' });
  expect(await fileAt(free, 'free.txt')).toBe('1\n');
});

test('a suggestion on a request from a fork is a commit in the fork, with the message of the target', async () => {
  const fork = await scene.fork(place);
  const file = 'forked.txt';
  const heads = [await scene.files(fork, 'topic', { [file]: '1\n2\n' })];
  const sent = { title: 'From a fork', source_branch: 'topic', target_branch: 'main', allow_collaboration: false };
  const { body } = await service.app
    .as(service.seed.viewer(fork.cast.developer))
    .post(fork.path)
    .send({ ...sent, target_project_id: place.project.id })
    .expect(201);
  const { iid, diff_refs: refs } = body as { iid: number; diff_refs: Record<string, string> };
  const request = { iid, source: 'topic', refs };
  const id = idIn(await start(request, block('x'), { path: file }));
  const second = idIn(await start(request, block('y'), { path: file, line: 2 }));
  // Developers of the target may not push to the fork, unless its author permits that.
  expect((await apply(id).expect(403)).body).toEqual({ message: '403 Forbidden' });
  await service.app.as(service.seed.viewer(fork.cast.developer)).put(`/api/v4/suggestions/${id}/apply`).expect(200);
  heads.push(await scene.ref(fork, 'refs/heads/topic'));
  await scene.git.ok(fork.folder, 'fetch', '--quiet', 'origin');
  expect(await scene.git.ok(fork.folder, 'show', `origin/topic:${file}`)).toBe('x\n2\n');
  expect(await scene.git.ok(fork.folder, 'log', '-1', '--format=%s', 'origin/topic')).toBe('Take 1 of %{x}\n');
  expect(heads[0]).not.toBe(heads[1]);
  await service.app
    .as(service.seed.viewer(fork.cast.developer))
    .put(`${place.path}/${iid}`)
    .send({ allow_collaboration: true })
    .expect(200);
  await apply(second).expect(200);
  await scene.git.ok(fork.folder, 'fetch', '--quiet', 'origin');
  expect(await scene.git.ok(fork.folder, 'show', `origin/topic:${file}`)).toBe('x\ny\n');
});

test('a suggestion of an internal note does not exist for those who may not read the note', async () => {
  const fork = await scene.fork(place);
  const refs = { base_sha: place.mainSha, start_sha: place.mainSha };
  const head = await scene.files(fork, 'quiet', { 'quiet.txt': '1\n2\n' });
  const byFork = service.app.as(service.seed.viewer(fork.cast.developer));
  const sent = { title: 'From a fork', source_branch: 'quiet', target_branch: 'main', allow_collaboration: true };
  const { body } = await byFork
    .post(fork.path)
    .send({ ...sent, target_project_id: place.project.id })
    .expect(201);
  const position = { ...refs, head_sha: head, position_type: 'text', new_path: 'quiet.txt' };
  const discuss = async (text: string, line: number, internal: boolean): Promise<number> => {
    const discussion = { body: block(text), position: { ...position, new_line: line }, internal };
    const path = `${place.path}/${body.iid}/discussions`;
    return idIn((await as('reporter').post(path).send(discussion).expect(201)).body as Discussion);
  };
  const [shownId, internalId] = [await discuss('x', 1, false), await discuss('y', 2, true)];
  // The author of the fork may push to the source branch, but has no role in the target.
  const one = await byFork.put(`/api/v4/suggestions/${internalId}/apply`).send({}).expect(404);
  expect(one.body).toEqual({ message: 'Suggestion is not applicable as the suggestion was not found.' });
  const ids = [shownId, internalId];
  const batch = await byFork.put('/api/v4/suggestions/batch_apply').send({ ids }).expect(404);
  expect(batch.body).toEqual({
    message: 'Suggestions are not applicable as one or more suggestions were not found.',
  });
  expect(await scene.ref(fork, 'refs/heads/quiet')).toBe(head);
  await byFork.put(`/api/v4/suggestions/${shownId}/apply`).send({}).expect(200);
  expect((await apply(internalId).expect(200)).body).toMatchObject({ id: internalId, applied: true });
});
