import type { DirectoryProject } from '@rookery/contracts';
import {
  registerForeignParentTests,
  registerListPagingTests,
  registerParameterEncodingTests,
  registerRefusalOrderTests,
} from '@rookery/testing';
import type { SeededService } from '@rookery/testing';
import { castOf, eventsOf, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';

let service: SeededService;
let project: DirectoryProject;
let cast: Cast;
let issue: { iid: number; id: number };
let notes: string;
let discussions: string;

beforeAll(async () => {
  service = await startCollaboration();
  project = await service.seed.project();
  cast = await castOf(service.seed, project);
});
afterAll(() => service.close());
beforeEach(async () => void (await anIssue()));

const as = (name: keyof Cast) => service.app.as(service.seed.viewer(cast[name]));
const anonymous = () => service.app.as(service.seed.anonymous());

interface Note {
  readonly id: number;
  readonly body: string;
  readonly type: string | null;
  readonly resolved?: boolean;
}
interface Discussion {
  readonly id: string;
  readonly individual_note: boolean;
  readonly notes: readonly Note[];
}

async function anIssue(fields: Record<string, unknown> = {}, by: keyof Cast = 'owner'): Promise<void> {
  const issues = `/api/v4/projects/${project.id}/issues`;
  const { body } = await as(by)
    .post(issues)
    .send({ title: 'An issue', ...fields })
    .expect(201);
  issue = body as typeof issue;
  notes = `${issues}/${issue.iid}/notes`;
  discussions = `${issues}/${issue.iid}/discussions`;
}
const note = async (by: keyof Cast, fields: Record<string, unknown> = { body: 'alone' }): Promise<Note> =>
  (await as(by).post(notes).send(fields).expect(201)).body as Note;
const thread = async (by: keyof Cast, fields: Record<string, unknown> = { body: 'first' }): Promise<Discussion> =>
  (await as(by).post(discussions).send(fields).expect(201)).body as Discussion;
const replyTo = (by: keyof Cast, id: string, fields: Record<string, unknown> = { body: 'an answer' }) =>
  as(by).post(`${discussions}/${id}/notes`).send(fields);
const listed = async (by: keyof Cast = 'guest'): Promise<readonly Discussion[]> =>
  (await as(by).get(discussions).expect(200)).body as readonly Discussion[];
const shown = async (id: string, by: keyof Cast = 'guest'): Promise<Discussion> =>
  (await as(by).get(`${discussions}/${id}`).expect(200)).body as Discussion;
const noteBodies = (discussion: Discussion): string[] => discussion.notes.map((one) => one.body);
const refused = async (request: PromiseLike<{ status: number; body: unknown }>): Promise<unknown[]> => {
  const { status, body } = await request;
  return [status, body];
};

describe('a thread', () => {
  test('starts with one note and gets replies', async () => {
    const begun = await thread('guest');
    expect(begun).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{40}$/),
      individual_note: false,
      notes: [expect.objectContaining({ body: 'first', type: 'DiscussionNote', resolvable: true, resolved: false })],
    });
    expect(begun.notes[0]).toMatchObject({ resolved_by: null, resolved_at: null, noteable_id: issue.id });
    const answer = await replyTo('guest', begun.id).expect(201);
    expect(answer.body).toMatchObject({ body: 'an answer', type: 'DiscussionNote', resolvable: true, resolved: false });
    expect(noteBodies(await shown(begun.id))).toEqual(['first', 'an answer']);
    const ofThread = await as('guest').get(`${discussions}/${begun.id}/notes`).expect(200);
    expect((ofThread.body as Note[]).map((one) => one.id)).toEqual([begun.notes[0]!.id, answer.body.id]);
    expect((await as('guest').get(`${discussions}/${begun.id}/notes/${answer.body.id}`)).body).toEqual(answer.body);
    // The notes list of the issue returns the same notes.
    expect((await as('guest').get(notes)).body).toHaveLength(2);
    expect((await as('guest').get(`${notes}/${answer.body.id}`)).body).toEqual(answer.body);
  });

  test('publishes note events, with the thread id for replies', async () => {
    const begun = await thread('guest');
    const { body: answer } = await replyTo('guest', begun.id);
    const events = (await eventsOf(service.database, 'collaboration.note.created.v1')).slice(-2);
    expect(events[0]).toMatchObject({ note_id: begun.notes[0]!.id });
    expect(events[0]).not.toHaveProperty('thread_id');
    expect(events[1]).toMatchObject({ note_id: answer.id, thread_id: begun.notes[0]!.id });
  });

  test('may be back-dated by owners', async () => {
    const created_at = '2020-02-03T04:05:06.789Z';
    expect((await thread('owner', { body: 'x', created_at })).notes[0]).toMatchObject({ created_at });
    const begun = await thread('owner');
    expect((await replyTo('owner', begun.id, { body: 'x', created_at })).body).toMatchObject({ created_at });
    expect((await replyTo('developer', begun.id, { body: 'x', created_at })).body.created_at).not.toBe(created_at);
  });

  test('continues under the same id when its first note is deleted', async () => {
    const begun = await thread('guest');
    const { body: second } = await replyTo('guest', begun.id, { body: 'second' });
    await replyTo('guest', begun.id, { body: 'third' }).expect(201);
    await as('guest').delete(`${notes}/${begun.notes[0]!.id}`).expect(204);
    expect(noteBodies(await shown(begun.id))).toEqual(['second', 'third']);
    expect((await listed()).map((one) => [one.id, noteBodies(one)])).toEqual([[begun.id, ['second', 'third']]]);
    await replyTo('guest', begun.id, { body: 'fourth' }).expect(201);
    await as('guest').delete(`${discussions}/${begun.id}/notes/${second.id}`).expect(204);
    expect(noteBodies(await shown(begun.id))).toEqual(['third', 'fourth']);
    const list = await as('guest').get(discussions);
    expect([list.body.length, list.get('x-total')]).toEqual([1, '1']);
  });

  test('is deleted with its last note', async () => {
    const begun = await thread('guest');
    await as('guest').delete(`${discussions}/${begun.id}/notes/${begun.notes[0]!.id}`).expect(204);
    expect(await refused(as('guest').get(`${discussions}/${begun.id}`))).toEqual([
      404,
      { message: '404 Discussion Not Found' },
    ]);
    expect(await listed()).toEqual([]);
  });
});

describe('an individual note', () => {
  test('is a discussion, and becomes a thread with a reply', async () => {
    const alone = await note('guest');
    const [discussion] = await listed();
    expect(discussion).toEqual({ id: discussion!.id, individual_note: true, notes: [alone] });
    expect(alone.type).toBeNull();
    const { body: answer } = await replyTo('stranger', discussion!.id).expect(201);
    const [converted] = await listed();
    expect(converted).toMatchObject({ id: discussion!.id, individual_note: false });
    expect(converted!.notes.map((one) => [one.id, one.type])).toEqual([
      [alone.id, 'DiscussionNote'],
      [answer.id, 'DiscussionNote'],
    ]);
  });

  test('with two replies at once becomes one thread', async () => {
    await note('guest');
    const [{ id }] = (await listed()) as [Discussion];
    const answers = await Promise.all(Array.from({ length: 10 }, (_, i) => replyTo('owner', id, { body: `${i}` })));
    expect(answers.map((answer) => answer.status)).toEqual(Array(10).fill(201));
    const [converted, ...others] = await listed();
    expect(others).toEqual([]);
    expect([converted!.id, converted!.notes.length]).toEqual([id, 11]);
  });

  test('deleted during a reply is either replaced by the reply, or the reply is refused', async () => {
    for (let round = 0; round < 10; round++) {
      await anIssue();
      const alone = await note('guest');
      const [{ id }] = (await listed()) as [Discussion];
      const [gone, answer] = await Promise.all([as('guest').delete(`${notes}/${alone.id}`), replyTo('owner', id)]);
      expect([gone.status, [201, 404].includes(answer.status)]).toEqual([204, true]);
      const left = await listed();
      expect(left.map(noteBodies)).toEqual(answer.status === 201 ? [['an answer']] : []);
      const total = (await as('guest').get(notes)).get('x-total');
      expect(total).toBe(answer.status === 201 ? '1' : '0');
    }
  });

  test('written by the system cannot be replied to', async () => {
    await as('owner').put(notes.replace('/notes', '')).send({ state_event: 'close' }).expect(200);
    const [said] = (await listed()) as [Discussion];
    expect([noteBodies(said), said.individual_note]).toEqual([['closed'], true]);
    expect(await refused(replyTo('owner', said.id))).toEqual([
      400,
      { message: '400 Bad request - Discussion can not be replied to.' },
    ]);
  });
});

describe('the list', () => {
  test('counts discussions, oldest first, and not notes', async () => {
    const first = await thread('guest', { body: 'a' });
    await note('guest', { body: 'b' });
    for (const body of ['a2', 'a3', 'a4']) await replyTo('guest', first.id, { body }).expect(201);
    await thread('guest', { body: 'c' });
    const one = await as('guest').get(discussions).query({ per_page: 2 });
    expect((one.body as Discussion[]).map(noteBodies)).toEqual([['a', 'a2', 'a3', 'a4'], ['b']]);
    expect([one.get('x-total'), one.get('x-total-pages'), one.get('x-next-page')]).toEqual(['3', '2', '2']);
    const two = await as('guest').get(discussions).query({ per_page: 2, page: 2 });
    expect((two.body as Discussion[]).map(noteBodies)).toEqual([['c']]);
  });

  test('leaves no empty entries for internal notes', async () => {
    const open = await thread('guest', { body: 'public' });
    const hidden = await note('reporter', { body: 'internal', internal: true });
    const [, discussion] = (await listed('reporter')) as [Discussion, Discussion];
    const answer = await replyTo('reporter', discussion.id, { body: 'more' }).expect(201);
    expect(answer.body).toMatchObject({ internal: true, confidential: true });
    for (const name of ['guest', 'planner', 'stranger'] as const) {
      const list = await as(name).get(discussions);
      expect([(list.body as Discussion[]).map(noteBodies), list.get('x-total')]).toEqual([[['public']], '1']);
    }
    const all = await as('reporter').get(discussions);
    expect([(all.body as Discussion[]).map(noteBodies), all.get('x-total')]).toEqual([
      [['public'], ['internal', 'more']],
      '2',
    ]);
    expect(open.id).not.toBe(discussion.id);
    const noDiscussion = [404, { message: '404 Discussion Not Found' }];
    const guest = as('guest');
    const at = `${discussions}/${discussion.id}`;
    expect(await refused(guest.get(at))).toEqual(noDiscussion);
    expect(await refused(guest.get(`${at}/notes`))).toEqual([404, { message: '404 Notes Not Found' }]);
    for (const id of [hidden.id, answer.body.id]) {
      expect(await refused(guest.get(`${at}/notes/${id}`))).toEqual(noDiscussion);
      expect((await guest.put(`${at}/notes/${id}`).send({ body: 'x' })).status).toBe(404);
      expect((await guest.put(`${at}/notes/${id}`).send({ resolved: true })).status).toBe(404);
      expect((await guest.delete(`${at}/notes/${id}`)).status).toBe(404);
    }
    expect(await refused(replyTo('guest', discussion.id))).toEqual(noDiscussion);
    expect(await refused(guest.put(at).send({ resolved: true }))).toEqual(noDiscussion);
  });

  test('contains internal threads, while internal replies in public threads are refused', async () => {
    const begun = await thread('reporter', { body: 'x', internal: true });
    expect(begun.notes[0]).toMatchObject({ internal: true });
    expect(await listed()).toEqual([]);
    expect((await as('guest').post(discussions).send({ body: 'x', internal: true })).status).toBe(403);
    const open = await thread('guest');
    expect((await replyTo('reporter', open.id, { body: 'secret', internal: true })).status).toBe(403);
    expect(noteBodies(await shown(open.id))).toEqual(['first']);
  });
});

describe('resolving', () => {
  const RESOLVES: [keyof Cast, boolean][] = [
    ['stranger', false],
    ['guest', false],
    ['planner', false],
    ['reporter', false],
    ['developer', true],
    ['maintainer', true],
    ['owner', true],
    ['admin', true],
  ];
  test.each(RESOLVES)("another's thread by %s: %s", async (name, may) => {
    await anIssue({}, 'external');
    const begun = await thread('external');
    const answer = await as(name).put(`${discussions}/${begun.id}`).send({ resolved: true });
    expect(answer.status).toBe(may ? 200 : 403);
    if (!may) expect(answer.body).toEqual({ message: '403 Forbidden' });
    const one = await as(name).put(`${discussions}/${begun.id}/notes/${begun.notes[0]!.id}`).send({ resolved: true });
    expect(one.status).toBe(may ? 200 : 403);
  });

  test('is also for the author of the issue and of the thread', async () => {
    await anIssue({}, 'guest');
    const begun = await thread('stranger');
    await as('guest').put(`${discussions}/${begun.id}`).send({ resolved: true }).expect(200);
    await as('stranger').put(`${discussions}/${begun.id}`).send({ resolved: false }).expect(200);
    await as('reporter').put(`${discussions}/${begun.id}`).send({ resolved: true }).expect(403);
  });

  test('marks every note and is idempotent; reopening clears it', async () => {
    const begun = await thread('guest');
    await replyTo('guest', begun.id).expect(201);
    const at = `${discussions}/${begun.id}`;
    const { body: resolved } = await as('developer').put(at).send({ resolved: true }).expect(200);
    for (const one of (resolved as Discussion).notes) {
      expect(one).toMatchObject({ resolved: true, resolved_by: { id: cast.developer.id } });
    }
    expect((await as('owner').put(at).send({ resolved: 'true' }).expect(200)).body).toEqual(resolved);
    const { body: later } = await replyTo('guest', begun.id, { body: 'later' }).expect(201);
    expect(later).toMatchObject({ resolved: true, resolved_by: { id: cast.developer.id } });
    const { body: open } = await as('developer').put(at).send({ resolved: false }).expect(200);
    expect((open as Discussion).notes.map((one) => one.resolved)).toEqual([false, false, false]);
    expect((open as Discussion).notes[0]).toMatchObject({ resolved_by: null, resolved_at: null });
  });

  test('one note leaves the others', async () => {
    const begun = await thread('guest');
    const { body: answer } = await replyTo('guest', begun.id);
    const { body: resolved } = await as('developer')
      .put(`${discussions}/${begun.id}/notes/${answer.id}`)
      .send({ resolved: true })
      .expect(200);
    expect(resolved).toMatchObject({ id: answer.id, resolved: true, resolved_by: { id: cast.developer.id } });
    expect((await shown(begun.id)).notes.map((one) => one.resolved)).toEqual([false, true]);
  });

  test('an individual note is refused', async () => {
    const alone = await note('guest');
    const [{ id }] = (await listed()) as [Discussion];
    expect(await refused(as('owner').put(`${discussions}/${id}/notes/${alone.id}`).send({ resolved: true }))).toEqual([
      400,
      { message: '400 Bad request - Note is not resolvable' },
    ]);
    expect((await as('owner').put(`${discussions}/${id}`).send({ resolved: true })).status).toBe(403);
    expect(alone).not.toHaveProperty('resolved');
  });

  test('during a deletion never fails with a 5xx', async () => {
    for (let round = 0; round < 10; round++) {
      const begun = await thread('guest');
      const at = `${discussions}/${begun.id}`;
      const [gone, all, one] = await Promise.all([
        as('guest').delete(`${notes}/${begun.notes[0]!.id}`),
        as('developer').put(at).send({ resolved: true }),
        as('developer').put(`${at}/notes/${begun.notes[0]!.id}`).send({ resolved: true }),
      ]);
      expect(gone.status).toBe(204);
      expect([200, 404]).toContain(all.status);
      expect([200, 404]).toContain(one.status);
    }
  });

  test('an edit during a deletion is refused without a 5xx', async () => {
    for (let round = 0; round < 10; round++) {
      const alone = await note('guest');
      const [gone, edit] = await Promise.all([
        as('guest').delete(`${notes}/${alone.id}`),
        as('owner').put(`${notes}/${alone.id}`).send({ body: 'edited' }),
      ]);
      expect(gone.status).toBe(204);
      expect([200, 404]).toContain(edit.status);
    }
  });
});

describe('refusals', () => {
  test('exactly one of text and state', async () => {
    const begun = await thread('guest');
    const at = `${discussions}/${begun.id}/notes/${begun.notes[0]!.id}`;
    expect(await refused(as('guest').put(at).send({}))).toEqual([
      400,
      { error: 'body, resolved are missing, exactly one parameter must be provided' },
    ]);
    expect(await refused(as('guest').put(at).send({ body: 'x', resolved: true }))).toEqual([
      400,
      { error: 'body, resolved are mutually exclusive' },
    ]);
    expect(await refused(as('guest').put(at).send({ body: ' ' }))).toEqual([400, { error: 'body is empty' }]);
    expect((await as('guest').put(at).send({ body: 'better' })).body).toMatchObject({ body: 'better' });
    expect(await refused(as('guest').put(`${discussions}/${begun.id}`).send({}))).toEqual([
      400,
      { error: 'resolved is missing' },
    ]);
  });

  test.each([
    [{}, { error: 'body is missing' }],
    [{ body: ' ' }, blankNoteRefusal()],
  ])('%j is refused for a new thread', async (wish, body) => {
    expect(await refused(as('owner').post(discussions).send(wish))).toEqual([400, body]);
    const begun = await thread('owner');
    expect(await refused(replyTo('owner', begun.id, wish))).toEqual([400, body]);
  });

  test.each(['0', 'x', 'f'.repeat(40), '%00', `${'0'.repeat(24)}${(1).toString(16).padStart(16, '0')}`])(
    'the discussion %s is 404',
    async (id) => {
      const begun = await thread('owner');
      for (const request of [
        as('owner').get(`${discussions}/${id}`),
        as('owner').put(`${discussions}/${id}`).send({ resolved: true }),
        as('owner').get(`${discussions}/${id}/notes/${begun.notes[0]!.id}`),
        replyTo('owner', id),
      ]) {
        const { status, body } = await request;
        expect([400, 404]).toContain(status);
        if (status === 404) expect(body).toEqual({ message: '404 Discussion Not Found' });
      }
    },
  );

  test('a note of another discussion is not found in this one', async () => {
    const [one, other] = [await thread('owner'), await thread('owner')];
    const at = `${discussions}/${one.id}/notes/${other.notes[0]!.id}`;
    const notFound = [404, { message: '404 Not found' }];
    expect(await refused(as('owner').get(at))).toEqual(notFound);
    expect(await refused(as('owner').put(at).send({ body: 'x' }))).toEqual(notFound);
    expect(await refused(as('owner').put(at).send({ resolved: true }))).toEqual(notFound);
    expect(await refused(as('owner').delete(at))).toEqual(notFound);
  });

  test('anonymous callers get 401', async () => {
    const begun = await thread('owner');
    const at = `${discussions}/${begun.id}`;
    for (const request of [
      anonymous().get(discussions),
      anonymous().get(at),
      anonymous().get(`${at}/notes`),
      anonymous().post(discussions).send({ body: 'x' }),
      anonymous().put(at).send({ resolved: true }),
      anonymous().delete(`${at}/notes/${begun.notes[0]!.id}`),
    ]) {
      expect(await refused(request)).toEqual([401, { message: '401 Unauthorized' }]);
    }
  });

  test('confidential issues hide discussions, locked ones are for members, and archived ones read-only', async () => {
    await anIssue({ confidential: true });
    const secret = await thread('owner');
    for (const request of [
      as('guest').get(discussions),
      as('guest').get(`${discussions}/${secret.id}`),
      as('guest').post(discussions).send({ body: 'x' }),
      replyTo('guest', secret.id),
      as('guest').put(`${discussions}/${secret.id}`).send({ resolved: true }),
    ]) {
      expect(await refused(request)).toEqual([404, { message: '404 Issue Not Found' }]);
    }
    await anIssue();
    const begun = await thread('stranger');
    await as('owner').put(notes.replace('/notes', '')).send({ discussion_locked: true }).expect(200);
    await replyTo('stranger', begun.id).expect(403);
    await as('stranger').post(discussions).send({ body: 'x' }).expect(403);
    await as('stranger').put(`${discussions}/${begun.id}`).send({ resolved: true }).expect(403);
    await replyTo('guest', begun.id).expect(201);
    await service.seed.put('projects', { ...project, archived: true });
    try {
      await replyTo('owner', begun.id).expect(403);
      await as('owner').post(discussions).send({ body: 'x' }).expect(403);
      await as('owner').put(`${discussions}/${begun.id}`).send({ resolved: true }).expect(403);
      await as('guest').get(discussions).expect(200);
    } finally {
      await service.seed.put('projects', project);
    }
  });

  test('a deletion honours If-Unmodified-Since', async () => {
    const begun = await thread('guest');
    const at = `${discussions}/${begun.id}/notes/${begun.notes[0]!.id}`;
    await as('guest').delete(at).set('if-unmodified-since', 'Sat, 01 Jan 2000 00:00:00 GMT').expect(412);
    await as('guest').delete(at).expect(204);
    await as('guest').delete(at).expect(404);
  });
});

describe('shared suites for lists and writes', () => {
  let path: string;
  let begun: Discussion;
  beforeAll(async () => {
    await anIssue();
    path = discussions;
    for (let i = 0; i < 7; i++) begun = await thread('owner', { body: `${i}` });
  });
  registerListPagingTests(() => ({ app: service.app, viewer: service.seed.viewer(cast.owner), path, rows: 7 }));
  registerParameterEncodingTests({
    app: () => service.app,
    to: () => ({
      viewer: service.seed.viewer(cast.owner),
      method: 'POST',
      path: `${discussions}`,
      params: { body: 'a + b & c', internal: true },
    }),
    seen: (body) => (body as unknown as Discussion).notes.map((one) => [one.body, 'internal' in one && one.internal]),
    expected: [['a + b & c', true]],
  });
  registerRefusalOrderTests(
    () => service.app,
    async () => ({
      method: 'POST',
      good: { body: 'x', internal: true },
      bad: { body: ['x'] },
      anonymous: service.seed.anonymous(),
      outsider: service.seed.viewer(cast.external),
      reader: service.seed.viewer(cast.guest),
      allowed: service.seed.viewer(cast.owner),
      ...(await createHiddenDiscussion()),
    }),
  );
  registerForeignParentTests({
    app: () => service.app,
    viewer: () => service.seed.viewer(cast.owner),
    requests: async () => {
      await anIssue();
      const at = `${discussions}/${begun.id}`;
      const one = `${at}/notes/${begun.notes[0]!.id}`;
      return [
        { method: 'GET', path: at },
        { method: 'PUT', path: at, body: { resolved: true } },
        { method: 'GET', path: `${at}/notes` },
        { method: 'POST', path: `${at}/notes`, body: { body: 'x' } },
        { method: 'GET', path: one },
        { method: 'PUT', path: one, body: { body: 'x' } },
        { method: 'DELETE', path: one },
      ];
    },
    untouched: async () => (await as('owner').get(`${path}/${begun.id}`)).body as unknown,
  });
});

/** A private project, which must stay hidden from outsiders. */
async function createHiddenDiscussion(): Promise<{ path: string }> {
  const there = await service.seed.project({ visibility: 'private' });
  for (const [name, role] of [
    ['guest', 'guest'],
    ['owner', 'owner'],
  ] as const) {
    await service.seed.member(cast[name], there, role);
  }
  const issues = `/api/v4/projects/${there.id}/issues`;
  const { body } = await as('owner').post(issues).send({ title: 'x' }).expect(201);
  return { path: `${issues}/${(body as { iid: number }).iid}/discussions` };
}

function blankNoteRefusal(): { message: string } {
  return { message: `400 Bad request - Note {:note=>["can't be blank"]}` };
}
