import { registerForeignParentTests, registerListPagingTests } from '@rookery/testing';
import type { SeededService } from '@rookery/testing';
import { startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { MergeRequestScene } from '../support/merge-request-scene';
import type { MergePlace } from '../support/merge-request-scene';

/** Notes of reviews that are not published yet. Source: reference repositories 8.15. */
interface Draft extends Record<string, unknown> {
  readonly id: number;
}
interface Discussion {
  readonly id: string;
  readonly individual_note: boolean;
  readonly notes: readonly Record<string, unknown>[];
}

let service: SeededService;
let scene: MergeRequestScene;
let place: MergePlace;
let cast: Cast;
let request: string;
let drafts: string;
let made = 0;
let position: Record<string, unknown>;
let requestId: number;

beforeAll(async () => {
  service = await startCollaboration();
  scene = await MergeRequestScene.start(service);
  place = await scene.place();
  ({ cast } = place);
});
afterAll(async () => {
  await scene.stop();
  await service.close();
});
beforeEach(async () => {
  const source = `source-${++made}`;
  await scene.files(place, source, { 'a.txt': 'one\ntwo\n' }, place.mainSha);
  const sent = { title: 'A change', source_branch: source, target_branch: 'main' };
  const { body } = await as('developer').post(place.path).send(sent).expect(201);
  const { id, iid, diff_refs } = body as { id: number; iid: number; diff_refs: object };
  requestId = id;
  request = `${place.path}/${iid}`;
  drafts = `${request}/draft_notes`;
  position = { ...diff_refs, position_type: 'text', new_path: 'a.txt', new_line: 1 };
});

const as = (name: keyof Cast) => service.app.as(service.seed.viewer(cast[name]));
const draft = async (fields: object, by: keyof Cast = 'reporter'): Promise<Draft> =>
  (await as(by).post(drafts).send(fields).expect(201)).body as Draft;
const listed = async (by: keyof Cast = 'reporter'): Promise<Draft[]> =>
  (await as(by).get(drafts).expect(200)).body as Draft[];
const discussions = async (): Promise<Discussion[]> =>
  (await as('guest').get(`${request}/discussions`).expect(200)).body as Discussion[];

test('publish_review of an approval publishes the drafts of the caller', async () => {
  await draft({ note: 'Of another user' }, 'reporter');
  for (const note of ['One', 'Two']) await draft({ note }, 'maintainer');
  await as('maintainer').post(`${request}/approve`).send({ publish_review: true, sha: place.mainSha }).expect(409);
  expect(await listed('maintainer')).toHaveLength(2);
  const { body } = await as('maintainer').post(`${request}/approve`).send({ publish_review: true }).expect(201);
  expect((body as { approved_by: unknown[] }).approved_by).toHaveLength(1);
  expect(await listed('maintainer')).toEqual([]);
  expect(await listed('reporter')).toHaveLength(1);
  const notes = (await discussions()).map(({ notes: [first] }) => first!['body']);
  expect(notes).toEqual(expect.arrayContaining(['One', 'Two']));
  await draft({ note: 'Three' }, 'developer');
  await as('developer').post(`${request}/approve`).expect(201);
  expect(await listed('developer')).toHaveLength(1);
});

const EMPTY = {
  ...{ base_sha: null, start_sha: null, head_sha: null, old_path: null, new_path: null, position_type: 'text' },
  ...{ old_line: null, new_line: null, line_range: null },
};

test('a draft is added, listed, shown, changed and deleted by its author alone', async () => {
  const added = await draft({ note: 'A word' });
  expect(added).toEqual({
    ...{ id: added.id, author_id: cast.reporter.id, merge_request_id: requestId, note: 'A word' },
    ...{ resolve_discussion: false, discussion_id: null, commit_id: null, line_code: null, position: EMPTY },
  });
  expect(await listed()).toEqual([added]);
  expect((await as('reporter').get(`${drafts}/${added.id}`).expect(200)).body).toEqual(added);
  const changed = await as('reporter').put(`${drafts}/${added.id}`).send({ note: 'Another' }).expect(200);
  expect(changed.body).toEqual({ ...added, note: 'Another' });
  expect(await listed('owner')).toEqual([]);
  const missing = { message: '404 Not found' };
  const at = `${drafts}/${added.id}`;
  expect((await as('owner').get(at).expect(404)).body).toEqual(missing);
  expect((await as('owner').put(at).send({ note: 'x' }).expect(404)).body).toEqual(missing);
  expect((await as('owner').put(`${at}/publish`).expect(404)).body).toEqual(missing);
  expect((await as('owner').delete(at).expect(404)).body).toEqual(missing);
  expect(await discussions()).toEqual([]);
  await as('reporter').delete(at).expect(204);
  expect((await as('reporter').delete(at).expect(404)).body).toEqual(missing);
});

test('texts, places and discussions of drafts are checked', async () => {
  const refused = async (fields: object) =>
    (await as('reporter').post(drafts).send(fields).expect(400)).body as unknown;
  expect(await refused({})).toEqual({ error: 'note is missing' });
  expect(await refused({ note: ' ' })).toEqual({ message: { note: ["can't be blank"] } });
  expect(await refused({ note: 'x', in_reply_to_discussion_id: '0'.repeat(40) })).toEqual({
    message: { base: ['Thread to reply to cannot be found'] },
  });
  expect(await refused({ note: 'x', position: { ...position, new_line: 9 } })).toEqual({
    message: `400 Bad request - Note {:line_code=>["can't be blank", "must be a valid line code"]}`,
  });
  const added = await draft({ note: 'x' });
  const { body } = await as('reporter').put(`${drafts}/${added.id}`).send({ note: '' }).expect(400);
  expect(body).toEqual({ message: { note: ["can't be blank"] } });
});

test('one draft becomes a note', async () => {
  const plain = await draft({ note: 'A word' });
  const placed = await draft({ note: '```suggestion\n1\n```', position });
  expect(placed).toMatchObject({ position, line_code: expect.stringMatching(/^[0-9a-f]{40}_1_1$/) as string });
  const moved = await as('reporter')
    .put(`${drafts}/${placed.id}`)
    .send({ position: { ...position, new_line: 2 } })
    .expect(200);
  expect(moved.body).toMatchObject({ note: '```suggestion\n1\n```', position: { new_line: 2 } });
  await as('reporter').put(`${drafts}/${plain.id}/publish`).expect(204);
  await as('reporter').put(`${drafts}/${placed.id}/publish`).expect(204);
  await as('reporter').put(`${drafts}/${placed.id}/publish`).expect(404);
  expect(await listed()).toEqual([]);
  const author = { id: cast.reporter.id };
  expect(await discussions()).toMatchObject([
    { individual_note: true, notes: [{ body: 'A word', type: null, author }] },
    { notes: [{ type: 'DiffNote', position: { new_line: 2 }, suggestions: [{ from_content: 'two\n' }], author }] },
  ]);
});

test('a review is published at once, in its order, with answers that resolve', async () => {
  const thread = (await as('guest').post(`${request}/discussions`).send({ body: 'Why?', position }).expect(201))
    .body as Discussion;
  const answer = await draft(
    { note: 'Fixed', in_reply_to_discussion_id: thread.id, resolve_discussion: true },
    'developer',
  );
  expect(answer).toMatchObject({ discussion_id: thread.id, resolve_discussion: true });
  await draft({ note: '/estimate 2h\nLast words', commit_id: position['head_sha'] }, 'developer');
  await draft({ note: 'Mine' }, 'reporter');
  const before = Number(
    (await service.database.query<{ id: string }>('select coalesce(max(id), 0) as id from outbox'))[0]!.id,
  );
  await as('developer').post(`${drafts}/bulk_publish`).expect(204);
  const events = await service.database.query(`select 1 from outbox where id > $1 and subject like '%note.created%'`, [
    before,
  ]);
  expect(events).toHaveLength(2);
  expect(await listed('developer')).toEqual([]);
  expect(await listed('reporter')).toHaveLength(1);
  const all = await discussions();
  expect(all[0]!.notes).toMatchObject([
    { body: 'Why?', resolved: true, resolved_by: { id: cast.developer.id } },
    { body: 'Fixed', resolved: true, type: 'DiffNote' },
  ]);
  expect(all.flatMap(({ notes }) => notes.map(({ body }) => body))).toEqual(
    expect.arrayContaining(['Last words', 'resolved all threads']),
  );
  expect((await as('guest').get(request).expect(200)).body).toMatchObject({ time_stats: { time_estimate: 7200 } });
  await as('developer').post(`${drafts}/bulk_publish`).expect(204);
  expect(await discussions()).toHaveLength(all.length);
});

test('a review is published as a whole or not at all, and once', async () => {
  const thread = (await as('guest').post(`${request}/discussions`).send({ body: 'Why?' }).expect(201))
    .body as Discussion;
  await draft({ note: 'First' });
  await draft({ note: 'Answer', in_reply_to_discussion_id: thread.id });
  await as('guest')
    .delete(`${request}/notes/${String(thread.notes[0]!['id'])}`)
    .expect(204);
  const { body } = await as('reporter').post(`${drafts}/bulk_publish`).expect(404);
  expect(body).toEqual({ message: '404 Discussion Not Found' });
  expect(await discussions()).toEqual([]);
  const [first, answer] = await listed();
  await as('reporter').delete(`${drafts}/${answer!.id}`).expect(204);
  const answers = await Promise.all([1, 2, 3].map(() => as('reporter').put(`${drafts}/${first!.id}/publish`)));
  expect(answers.map(({ status }) => status).sort()).toEqual([204, 404, 404]);
  expect(await discussions()).toHaveLength(1);
});

test('a draft follows the code when it is published', async () => {
  await draft({ note: 'Here', position });
  await scene.files(place, `source-${made}`, { 'a.txt': 'zero\none\ntwo\n' });
  await as('reporter').post(`${drafts}/bulk_publish`).expect(204);
  expect(await discussions()).toMatchObject(
    expect.arrayContaining([expect.objectContaining({ notes: [expect.objectContaining({ type: 'DiffNote' })] })]) as [],
  );
  const thread = (await discussions()).find(({ notes }) => notes[0]!['type'] === 'DiffNote');
  expect(thread!.notes[0]).toMatchObject({ position: { new_line: 2 } });
});

test('those who may comment write drafts; archived projects and locked discussions take none', async () => {
  await service.app.as(service.seed.anonymous()).get(drafts).expect(401);
  await draft({ note: 'x' }, 'guest');
  await as('developer').put(request).send({ discussion_locked: true }).expect(200);
  await as('stranger').post(drafts).send({ note: 'x' }).expect(403);
  await draft({ note: 'x' }, 'guest');
  const hidden = await scene.place({ visibility: 'private' });
  const guest = service.app.as(service.seed.viewer(hidden.cast.guest));
  await guest.get(`${hidden.path}/1/draft_notes`).expect(403);
  await as('guest').get(`${hidden.path}/1/draft_notes`).expect(404);
  await as('reporter').get(`${place.path}/999999/draft_notes`).expect(404);
});

describe('drafts of another merge request', () => {
  registerForeignParentTests({
    app: () => service.app,
    viewer: () => service.seed.viewer(cast.reporter),
    requests: async () => {
      const { id } = await draft({ note: 'Elsewhere' });
      const [other] = (await as('guest').get(place.path).query({ state: 'opened' }).expect(200)).body as {
        iid: number;
      }[];
      const iid = Number(request.split('/').at(-1));
      const path = `${place.path}/${other!.iid === iid ? iid - 1 : other!.iid}/draft_notes/${id}`;
      return [
        { method: 'GET', path },
        { method: 'PUT', path, body: { note: 'x' } },
        { method: 'PUT', path: `${path}/publish` },
        { method: 'DELETE', path },
      ];
    },
  });
});

describe('pages', () => {
  beforeEach(async () => {
    for (const note of ['1', '2', '3', '4', '5', '6', '7']) await draft({ note });
  });
  registerListPagingTests(() => ({
    app: service.app,
    viewer: service.seed.viewer(cast.reporter),
    path: drafts,
    rows: 7,
  }));
});

test('drafts of one author have a size together, because they are published at once', async () => {
  const text = 'x'.repeat(1_000_000);
  const [first] = [await draft({ note: text }), await draft({ note: text }), await draft({ note: text })];
  await draft({ note: text });
  const refused = [400, { message: { base: ['Maximum size of draft notes exceeded'] } }];
  const more = await as('reporter').post(drafts).send({ note: text });
  expect([more.status, more.body]).toEqual(refused);
  await draft({ note: text }, 'developer');
  const small = await draft({ note: 'small' });
  const longer = await as('reporter').put(`${drafts}/${small.id}`).send({ note: text });
  expect([longer.status, longer.body]).toEqual(refused);
  await as('reporter').put(`${drafts}/${first!.id}`).send({ note: text }).expect(200);
});
