import type { DirectoryNamespace } from '@rookery/contracts';
import type { Role, Viewer } from '@rookery/kernel';
import {
  registerForeignParentTests,
  registerListPagingTests,
  requestOf,
  registerVisibilityTests,
} from '@rookery/testing';
import type { Method, SeededService, SeededUser, RoleCase } from '@rookery/testing';
import type { Response } from 'supertest';
import { eventsOf, startCollaboration } from '../support/app';
import { epicPlaces } from '../support/epics';
import type { ShownEpic } from '../support/epics';

let service: SeededService;
let group: DirectoryNamespace;
let people: Record<'guest' | 'planner' | 'reporter' | 'developer' | 'maintainer' | 'owner', SeededUser>;
let epic: ShownEpic;
const { as, pathOf, standing, group: groupOf, open } = epicPlaces(() => service);
const who = (name: keyof typeof people): Viewer => service.seed.viewer(people[name]);
const answerOf = ({ status, body }: Response): [number, unknown] => [status, body];
const byId = (tail = ''): string => `${pathOf(group)}/${epic.id}${tail}`;
const byNumber = (tail = ''): string => `${pathOf(group)}/${epic.iid}${tail}`;
const writeNote = async (name: keyof typeof people, body: object): Promise<{ id: number }> =>
  (await as(who(name)).post(byId('/notes')).send(body).expect(201)).body as { id: number };
const listNoteBodies = async (name: keyof typeof people, query: object = {}): Promise<string[]> =>
  ((await as(who(name)).get(byId('/notes')).query(query).expect(200)).body as { body: string }[]).map(
    (note) => note.body,
  );

beforeAll(async () => {
  service = await startCollaboration();
  group = await groupOf({ visibility: 'internal' });
  const all = {} as typeof people;
  for (const role of ['guest', 'planner', 'reporter', 'developer', 'maintainer', 'owner'] as const satisfies Role[]) {
    all[role] = await service.seed.user();
    await service.seed.member(all[role], group, role);
  }
  people = all;
  // Ids and iids must differ, so that tests notice a mix-up.
  await service.database.query('alter sequence epics_id_seq restart with 7000');
});
afterAll(() => service.close());
beforeEach(async () => void (epic = await open(who('planner'), group)));

describe('notes', () => {
  it('are created, shown, listed, changed and deleted by the id of the epic', async () => {
    const made = await as(who('guest')).post(byId('/notes')).send({ body: 'A *word*' });
    const { id } = made.body as { id: number };
    const whole = {
      id,
      type: null,
      body: 'A *word*',
      attachment: null,
      author: expect.objectContaining({ id: people.guest.id }),
      created_at: expect.stringMatching(/\.\d{3}Z$/),
      updated_at: expect.stringMatching(/\.\d{3}Z$/),
      system: false,
      noteable_id: epic.id,
      noteable_type: 'Epic',
      project_id: null,
      noteable_iid: null,
      resolvable: false,
      confidential: false,
      internal: false,
      imported: false,
      imported_from: 'none',
      commands_changes: {},
    };
    expect(answerOf(made)).toEqual([201, whole]);
    expect(answerOf(await as(who('owner')).get(byId(`/notes/${id}`)))).toEqual([200, whole]);
    expect(answerOf(await as(who('owner')).get(byId('/notes')))).toEqual([200, [whole]]);
    const alias = byId('/notes').replace('/epics/', '/-/epics/');
    expect(answerOf(await as(who('owner')).get(alias))).toEqual([200, [whole]]);
    const changed = await as(who('guest'))
      .put(byId(`/notes/${id}`))
      .send({ body: 'Another' })
      .expect(200);
    expect((changed.body as { body: string }).body).toBe('Another');
    expect(
      answerOf(
        await as(who('guest'))
          .put(byId(`/notes/${id}`))
          .send({ confidential: true }),
      ),
    ).toEqual([400, { error: 'body is missing' }]);
    await as(who('maintainer'))
      .put(byId(`/notes/${id}`))
      .send({ body: 'Moderated' })
      .expect(200);
    await as(who('developer'))
      .put(byId(`/notes/${id}`))
      .send({ body: 'x' })
      .expect(403);
    await as(who('guest'))
      .delete(byId(`/notes/${id}`))
      .expect(204);
    expect(answerOf(await as(who('guest')).get(byId(`/notes/${id}`)))).toEqual([404, { message: '404 Not found' }]);
    const [eventBy] = (await eventsOf(service.database, 'collaboration.note.created.v1')).slice(-1);
    const on = { noteable_type: 'Epic', noteable_id: epic.id, noteable_iid: epic.iid };
    expect(eventBy).toMatchObject({ ...on, project_id: null, group_id: group.id });
  });

  it('do not accept the iid of the epic', async () => {
    expect(epic.iid).not.toBe(epic.id);
    expect(answerOf(await as(who('owner')).get(byNumber('/notes')))).toEqual([404, { message: '404 Epic Not Found' }]);
  });

  it('that are internal are for reporters and above', async () => {
    await writeNote('reporter', { body: 'Between us', internal: true });
    await as(who('planner')).post(byId('/notes')).send({ body: 'x', internal: true }).expect(403);
    expect(await listNoteBodies('planner')).toEqual([]);
    expect(await listNoteBodies('reporter')).toEqual(['Between us']);
  });

  it('describe changes of the epic', async () => {
    const change = { title: 'Another goal', description: 'More', confidential: true, state_event: 'close' };
    await as(who('planner')).put(byNumber()).send(change).expect(200);
    await as(who('planner')).put(byNumber()).send({ state_event: 'reopen', confidential: false }).expect(200);
    await as(who('planner')).put(byNumber()).send({ labels: 'wood', start_date_fixed: '2026-01-01' }).expect(200);
    expect(await listNoteBodies('guest', { sort: 'asc', activity_filter: 'only_activity' })).toEqual([
      'changed title from **A goal** to **A{+nother+} goal**',
      'changed the description',
      'made the epic confidential',
      'closed',
      'made the epic visible to everyone',
      'reopened',
    ]);
    expect(await listNoteBodies('guest', { activity_filter: 'only_comments' })).toEqual([]);
  });

  it('of a hidden epic are 404', async () => {
    epic = await open(who('planner'), group, { confidential: true });
    for (const tail of ['/notes', '/discussions', '/resource_label_events']) {
      expect(answerOf(await as(who('guest')).get(byId(tail)))).toEqual([404, { message: '404 Epic Not Found' }]);
      await as(who('planner')).get(byId(tail)).expect(200);
    }
    expect((await as(who('guest')).post(byId('/notes')).send({ body: 'x' })).status).toBe(404);
  });

  registerVisibilityTests({
    app: () => service.app,
    from: async (level, how) => {
      const place = await groupOf({ visibility: level });
      const { id } = await open(await standing(place, 'owner'), place);
      return {
        viewer: await standing(place, how),
        path: `${pathOf(place)}/${id}/notes`,
        method: 'POST',
        body: { body: 'x' },
      };
    },
    seen: () => 201,
    anonymous: 401,
  });
  describe('in lists', () => {
    beforeEach(async () => {
      for (let at = 0; at < 5; at++) await writeNote('guest', { body: `Note ${at}` });
    });
    registerListPagingTests(() => ({
      app: service.app,
      viewer: { ...who('guest'), directory: service.seed.anonymous().directory },
      path: byId('/notes'),
      rows: 5,
    }));
  });
});

describe('discussions', () => {
  it('are started, replied to, resolved and reopened', async () => {
    const begun = await as(who('guest')).post(byId('/discussions')).send({ body: 'Why?' }).expect(201);
    const { id } = begun.body as { id: string };
    await as(who('planner'))
      .post(byId(`/discussions/${id}/notes`))
      .send({ body: 'Because' })
      .expect(201);
    const shown = await as(who('guest'))
      .get(byId(`/discussions/${id}`))
      .expect(200);
    const { notes } = shown.body as { notes: { id: number; body: string; resolvable: boolean }[] };
    expect(notes.map((note) => [note.body, note.resolvable])).toEqual([
      ['Why?', true],
      ['Because', true],
    ]);
    const reporter = await as(who('reporter'))
      .put(byId(`/discussions/${id}`))
      .send({ resolved: true });
    expect(reporter.status).toBe(403);
    for (const resolved of [true, false]) {
      const { body } = await as(who('developer'))
        .put(byId(`/discussions/${id}`))
        .send({ resolved })
        .expect(200);
      expect((body as { notes: { resolved: boolean }[] }).notes.map((note) => note.resolved)).toEqual([
        resolved,
        resolved,
      ]);
    }
    const one = byId(`/discussions/${id}/notes/${notes[1]!.id}`);
    await as(who('planner')).put(one).send({ body: 'Because of eggs' }).expect(200);
    expect(((await as(who('guest')).get(one).expect(200)).body as { body: string }).body).toBe('Because of eggs');
    expect(
      (
        await as(who('guest'))
          .get(byId(`/discussions/${id}/notes`))
          .expect(200)
      ).body,
    ).toHaveLength(2);
    await as(who('planner')).delete(one).expect(204);
    expect((await as(who('guest')).get(byId('/discussions')).expect(200)).body).toHaveLength(1);
  });
});

describe('resource events', () => {
  it('are listed by the id of the epic, oldest first', async () => {
    const labels = { add_labels: 'wood' };
    await as(who('planner'))
      .put(byNumber())
      .send({ ...labels, state_event: 'close' })
      .expect(200);
    await as(who('owner')).put(byNumber()).send({ remove_labels: 'wood', state_event: 'reopen' }).expect(200);
    const label = { id: expect.any(Number), name: 'wood', color: '#6699cc', description: null };
    const eventOf = (by: SeededUser) => ({
      id: expect.any(Number),
      user: expect.objectContaining({ id: by.id }),
      created_at: expect.stringMatching(/Z$/),
      resource_type: 'Epic',
      resource_id: epic.id,
    });
    const expected = {
      '/resource_label_events': [
        { ...eventOf(people.planner), label, action: 'add' },
        { ...eventOf(people.owner), label, action: 'remove' },
      ],
      '/resource_state_events': [
        { ...eventOf(people.planner), state: 'closed' },
        { ...eventOf(people.owner), state: 'reopened' },
      ],
    };
    for (const [tail, items] of Object.entries(expected)) {
      const { body } = await as(who('guest')).get(byId(tail)).expect(200);
      expect(body).toEqual(items);
      const [first] = body as { id: number }[];
      expect(
        (
          await as(who('guest'))
            .get(byId(`${tail}/${first!.id}`))
            .expect(200)
        ).body,
      ).toEqual(items[0]);
      expect(answerOf(await as(who('guest')).get(byId(`${tail}/0`)))).toEqual([404, { message: '404 Not found' }]);
    }
  });
});

describe('emoji', () => {
  it('are awarded to epics and their notes by the iid of the epic', async () => {
    const made = await as(who('guest')).post(byNumber('/award_emoji')).send({ name: 'thumbsup' });
    const award = {
      id: expect.any(Number),
      name: 'thumbsup',
      user: expect.objectContaining({ id: people.guest.id }),
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
      awardable_id: epic.id,
      awardable_type: 'Epic',
      url: null,
    };
    expect(answerOf(made)).toEqual([201, award]);
    expect(answerOf(await as(who('guest')).post(byNumber('/award_emoji')).send({ name: 'thumbsup' }))).toEqual([
      404,
      { message: '404 Award Emoji Name has already been taken Not Found' },
    ]);
    expect((await as(who('owner')).get(byNumber()).expect(200)).body).toMatchObject({ upvotes: 1, downvotes: 0 });
    const found = await as(who('guest')).get(pathOf(group)).query({ my_reaction_emoji: 'thumbsup' });
    expect((found.body as ShownEpic[]).map(({ id }) => id)).toEqual([epic.id]);
    const { id } = made.body as { id: number };
    expect(answerOf(await as(who('owner')).get(byNumber(`/award_emoji/${id}`)))).toEqual([200, award]);
    expect((await as(who('owner')).delete(byNumber(`/award_emoji/${id}`))).status).toBe(401);
    await as(who('guest'))
      .delete(byNumber(`/award_emoji/${id}`))
      .expect(204);
    expect((await as(who('owner')).get(byNumber()).expect(200)).body).toMatchObject({ upvotes: 0 });

    const note = await writeNote('guest', { body: 'x' });
    const below = byNumber(`/notes/${note.id}/award_emoji`);
    const { body } = await as(who('owner')).post(below).send({ name: 'tada' }).expect(201);
    expect(body).toMatchObject({ awardable_type: 'Note', awardable_id: note.id });
    expect((await as(who('guest')).get(below).expect(200)).body).toEqual([body]);
  });
});

describe('subscriptions', () => {
  it('are created and removed, and not changed twice', async () => {
    const { body } = await as(who('guest')).post(byNumber('/subscribe')).expect(201);
    expect(body).toMatchObject({ id: epic.id, subscribed: true });
    const again = await as(who('guest')).post(byNumber('/subscribe'));
    expect([again.status, again.text]).toEqual([304, '']);
    expect((await as(who('guest')).get(byNumber()).expect(200)).body).toMatchObject({ subscribed: true });
    const left = await as(who('guest')).post(byNumber('/unsubscribe')).expect(201);
    expect(left.body).toMatchObject({ subscribed: false });
    await as(who('planner')).post(byNumber('/subscribe')).expect(304);
  });

  it('participants are listed', async () => {
    await writeNote('guest', { body: 'x' });
    const { body } = await as(who('guest')).get(byNumber('/participants')).expect(200);
    expect((body as { id: number }[]).map(({ id }) => id)).toEqual([people.guest.id, people.planner.id]);
  });
});

const ROUTES: readonly (readonly [Method, 'id' | 'iid', string, object])[] = [
  ['GET', 'id', '/notes', {}],
  ['POST', 'id', '/notes', { body: 'x' }],
  ['GET', 'id', '/notes/1', {}],
  ['PUT', 'id', '/notes/1', { body: 'x' }],
  ['DELETE', 'id', '/notes/1', {}],
  ['GET', 'id', '/discussions', {}],
  ['POST', 'id', '/discussions', { body: 'x' }],
  ['GET', 'id', '/discussions/x', {}],
  ['PUT', 'id', '/discussions/x', { resolved: true }],
  ['GET', 'id', '/discussions/x/notes', {}],
  ['POST', 'id', '/discussions/x/notes', { body: 'x' }],
  ['GET', 'id', '/discussions/x/notes/1', {}],
  ['PUT', 'id', '/discussions/x/notes/1', { body: 'x' }],
  ['DELETE', 'id', '/discussions/x/notes/1', {}],
  ['GET', 'id', '/resource_label_events', {}],
  ['GET', 'id', '/resource_label_events/1', {}],
  ['GET', 'id', '/resource_state_events', {}],
  ['GET', 'id', '/resource_state_events/1', {}],
  ['GET', 'iid', '/award_emoji', {}],
  ['POST', 'iid', '/award_emoji', { name: 'tada' }],
  ['GET', 'iid', '/award_emoji/1', {}],
  ['DELETE', 'iid', '/award_emoji/1', {}],
  ['GET', 'iid', '/notes/1/award_emoji', {}],
  ['POST', 'iid', '/notes/1/award_emoji', { name: 'tada' }],
  ['GET', 'iid', '/notes/1/award_emoji/1', {}],
  ['DELETE', 'iid', '/notes/1/award_emoji/1', {}],
  ['POST', 'iid', '/subscribe', {}],
  ['POST', 'iid', '/unsubscribe', {}],
  ['GET', 'iid', '/participants', {}],
];

describe('every route below an epic', () => {
  beforeEach(async () => void (await writeNote('owner', { body: 'x' })));
  it.each(ROUTES)('%s by %s %s needs a token, the group and its plan', async (method, by, tail, body) => {
    const free = await groupOf({ plan: 'free' });
    const hidden = await groupOf({ plan: 'free', visibility: 'private' });
    const ask = async (place: DirectoryNamespace, how: RoleCase) => {
      const path = `${pathOf(place)}/${epic[by]}${tail}`;
      return answerOf(await requestOf(as(await standing(place, how)), method, path).send(body));
    };
    expect(await ask(group, 'anonymous')).toEqual([401, { message: '401 Unauthorized' }]);
    expect(await ask(hidden, 'outsider')).toEqual([404, { message: '404 Group Not Found' }]);
    expect(await ask(free, 'owner')).toEqual([403, { message: '403 Forbidden' }]);
  });

  registerForeignParentTests({
    app: () => service.app,
    viewer: () => ({ ...who('owner'), directory: service.seed.anonymous().directory }),
    requests: async () => {
      const other = await groupOf();
      await service.seed.member(people.owner, other, 'owner');
      const [note] = (await as(who('owner')).get(byId('/notes')).expect(200)).body as [{ id: number }];
      return ROUTES.map(([method, by, tail, body]) => ({
        method,
        path: `${pathOf(other)}/${epic[by]}${tail.replace('/notes/1', `/notes/${note.id}`)}`,
        body: body as Record<string, unknown>,
      }));
    },
    untouched: async () => listNoteBodies('owner'),
  });
});
