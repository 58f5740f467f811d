import type { DirectoryNamespace } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';
import {
  registerForeignParentTests,
  registerListPagingTests,
  registerParameterEncodingTests,
  registerRefusalOrderTests,
  requestOf,
  untilBlocked,
  registerVisibilityTests,
} from '@rookery/testing';
import type { Method, SeededService, SeededUser, RoleCase } from '@rookery/testing';
import { Client } from 'pg';
import type { Response } from 'supertest';
import { startCollaboration } from '../support/app';
import { epicPlaces } from '../support/epics';
import type { ShownEpic } from '../support/epics';
import { manualOrderTests } from '../support/manual-order';

interface ShownChild extends ShownEpic {
  readonly parent_id: number | null;
  readonly parent_iid: number | null;
  readonly _links: { readonly parent: string | null };
}

let service: SeededService;
let root: DirectoryNamespace;
let group: DirectoryNamespace;
let hidden: DirectoryNamespace;
let elsewhere: DirectoryNamespace;
let planner: SeededUser;
let owner: SeededUser;
let parent: ShownEpic;
const places = epicPlaces(() => service);
const { as, bodiesOf, pathOf, standing, open, who } = places;
const groupOf = (over: Parameters<typeof places.group>[0] = {}) => places.group({ plan: 'ultimate', ...over });
const answerOf = ({ status, body }: Response): [number, unknown] => [status, body];
const at = (tail: number | string = '', of = parent, place = group): string =>
  `${pathOf(place)}/${of.iid}/epics${tail === '' ? '' : `/${tail}`}`;
const epicIn = (place = group, fields: object = {}): Promise<ShownChild> =>
  open(who(owner), place, fields) as Promise<ShownChild>;
const assigned = async (child: Pick<ShownEpic, 'id'>, to = parent, place = group): Promise<ShownChild> =>
  (
    await as(who(owner))
      .post(at(child.id, to, place))
      .send({})
      .expect(201)
  ).body as ShownChild;
const listed = async (of = parent, user = planner): Promise<ShownChild[]> =>
  (await as(who(user)).get(at('', of)).expect(200)).body as ShownChild[];
const shown = async (epic: ShownEpic, place = group, user = planner): Promise<ShownChild> =>
  (
    await as(who(user))
      .get(`${pathOf(place)}/${epic.iid}`)
      .expect(200)
  ).body as ShownChild;
const change = (epic: ShownEpic, fields: object, user = planner, place = group) =>
  as(who(user))
    .put(`${pathOf(place)}/${epic.iid}`)
    .send(fields);
const notesOf = ({ id }: ShownEpic, place = group, user = planner): Promise<string[]> =>
  bodiesOf(who(user), `${pathOf(place)}/${id}/notes`);
const GONE = [404, { message: '404 Not found' }];
const FORBIDDEN = [403, { message: '403 Forbidden' }];
const UNKNOWN = [404, { message: 'No matching epic found. Make sure that you are adding a valid epic URL.' }];
const expectedConflict = (why: string) => [409, { message: why }];
const CANNOT = 'This epic cannot be added.';
const DEEP = `${CANNOT} One or more epics would exceed the maximum depth (7) from its most distant ancestor.`;
const ANCESTOR = `${CANNOT} It is already an ancestor of the parent epic.`;
const confidentialBelow = [
  400,
  {
    message: {
      confidential: ['A non-confidential epic cannot be assigned to a confidential parent epic'],
    },
  },
];

beforeAll(async () => {
  service = await startCollaboration();
  root = await groupOf();
  group = await groupOf({ parent: root });
  hidden = await groupOf({ parent: root, visibility: 'private' });
  elsewhere = await groupOf();
  planner = await service.seed.user();
  owner = await service.seed.user();
  await service.seed.member(planner, group, 'planner');
  await service.seed.member(owner, root, 'owner');
  await service.seed.member(owner, elsewhere, 'owner');
});
afterAll(() => service.close());
beforeEach(async () => void (parent = await epicIn()));

it('an epic is added to a parent, listed there and removed again', async () => {
  const child = await epicIn();
  const made = await as(who(planner)).post(at(child.id)).send({});
  const api = (child as unknown as { _links: { self: string } })._links.self.replace(/\/epics\/.*/, '');
  const below = {
    ...child,
    ...{ parent_id: parent.id, parent_iid: parent.iid, updated_at: expect.any(String) },
    _links: { ...child._links, parent: `${api}/epics/${parent.iid}` },
  };
  expect(answerOf(made)).toEqual([201, below]);
  expect(await listed()).toEqual([below]);
  expect(await shown(child)).toEqual({ ...below, subscribed: false });
  const all = (await as(who(planner)).get(pathOf(group)).expect(200)).body as ShownChild[];
  expect(all.find(({ id }) => id === child.id)).toEqual(below);
  expect(answerOf(await as(who(planner)).post(at(child.id)).send({}))).toEqual(
    expectedConflict('Epic(s) already assigned'),
  );
  const removed = await as(who(planner)).delete(at(child.id)).send({});
  expect(answerOf(removed)).toEqual([200, { ...child, updated_at: expect.any(String) }]);
  expect(await listed()).toEqual([]);
  expect(answerOf(await as(who(planner)).delete(at(child.id)))).toEqual(GONE);
  const [ofChild, ofParent] = [`&${child.iid}`, `&${parent.iid}`];
  expect(await notesOf(parent)).toEqual([`added epic ${ofChild} as child epic`, `removed child epic ${ofChild}`]);
  expect(await notesOf(child)).toEqual([`added epic ${ofParent} as parent epic`, `removed parent epic ${ofParent}`]);
});

it('dates of a confidential child in another group count only for users who can read it', async () => {
  const sibling = await groupOf({ parent: root, visibility: 'public' });
  const reader = await service.seed.user();
  await service.seed.member(reader, group, 'planner');
  await service.seed.member(owner, sibling, 'owner');
  const above = await epicIn();
  const day = async (user: SeededUser) => ((await shown(above, group, user)) as { due_date?: string | null }).due_date;
  const due = { due_date_is_fixed: true, due_date_fixed: '2031-05-05' };
  const child = await epicIn(sibling, { confidential: true });
  await assigned(child, above);
  // Its descendants do not count either, even in the group of the reader.
  await assigned(await epicIn(group, { confidential: true, ...due }), child, sibling);
  expect([await day(owner), await day(reader)]).toEqual(['2031-05-05', null]);
  await change(child, due, owner, sibling).expect(200);
  expect([await day(owner), await day(reader)]).toEqual(['2031-05-05', null]);
  await service.seed.member(reader, sibling, 'planner');
  expect(await day(reader)).toBe('2031-05-05');
});

it('a new child has the confidentiality of its parent unless given', async () => {
  const { status, body } = await as(who(planner)).post(at()).query({ title: 'Twigs' }).send({ confidential: true });
  const base = `${(parent as unknown as { web_url: string }).web_url}`.replace(/\/groups\/.*/, '/groups/');
  const { id, iid } = body as ShownEpic;
  expect([status, body]).toEqual([
    201,
    {
      id,
      iid: parent.iid + 1,
      title: 'Twigs',
      group_id: group.id,
      parent_id: parent.id,
      has_children: false,
      has_issues: false,
      reference: `&${iid}`,
      url: `${base}${group.full_path}/-/epics/${iid}`,
      relation_url: `${base}${group.full_path}/-/epics/${parent.iid}/links/${id}`,
    },
  ]);
  const made = body as ShownEpic;
  expect(await shown(made)).toMatchObject({ parent_id: parent.id, confidential: true, title: 'Twigs' });
  expect(await notesOf(parent)).toEqual([`added epic &${made.iid} as child epic`]);
  const secret = await epicIn(group, { confidential: true });
  const { body: inherited } = await as(who(planner)).post(at('', secret)).send({ title: 'Hidden' }).expect(201);
  expect(await shown(inherited as ShownEpic)).toMatchObject({ parent_id: secret.id, confidential: true });
  const openly = await as(who(planner)).post(at('', secret)).send({ title: 'Open', confidential: false });
  expect(answerOf(openly)).toEqual(confidentialBelow);
  const { iid: next } = await epicIn();
  expect(next).toBe((inherited as ShownEpic).iid + 1);
});

it.each<[string, object, unknown]>([
  ['nothing', {}, { error: 'title is missing' }],
  ['a blank title', { title: ' ' }, { message: { title: ["can't be blank"] } }],
  ['a long title', { title: 'é'.repeat(256) }, { message: { title: ['is too long (maximum is 255 characters)'] } }],
  ['no flag', { title: 'x', confidential: 'perhaps' }, { error: 'confidential is invalid' }],
])('a child with %s is refused', async (_, sent, expected) => {
  expect(answerOf(await as(who(planner)).post(at()).send(sent))).toEqual([400, expected]);
  expect(await listed()).toEqual([]);
});

it('a child of another parent moves, with system notes on all three; groups of the hierarchy are allowed', async () => {
  const other = await epicIn(root);
  const child = await epicIn(group);
  await assigned(child, other, root);
  const moved = await assigned(child);
  expect(moved.parent_id).toBe(parent.id);
  expect(
    (
      await as(who(owner))
        .get(at('', other, root))
        .expect(200)
    ).body,
  ).toEqual([]);
  const full = (epic: ShownEpic): string => epic.references.full;
  expect(await notesOf(other, root, owner)).toEqual([
    `added epic ${full(child)} as child epic`,
    `removed child epic ${full(child)}`,
  ]);
  expect(await notesOf(child)).toEqual([
    `added epic ${full(other)} as parent epic`,
    `removed parent epic ${full(other)}`,
    `added epic &${parent.iid} as parent epic`,
  ]);
  expect((await listed())[0]!.references.relative).toBe(`&${child.iid}`);
  await assigned(await epicIn(root));
  const [first] = await listed();
  expect(first!.references.relative).toBe(first!.references.full);
});

describe('a child is refused', () => {
  const put = async (child: ShownEpic, to: ShownEpic) => answerOf(await as(who(owner)).post(at(child.id, to)).send({}));

  it('if it is the epic itself, an ancestor, or of another hierarchy', async () => {
    const [child, grandchild] = [await epicIn(), await epicIn()];
    await assigned(child);
    await assigned(grandchild, child);
    expect(await put(parent, parent)).toEqual(expectedConflict(`${CANNOT} An epic cannot be added to itself.`));
    expect(await put(parent, child)).toEqual(expectedConflict(ANCESTOR));
    expect(await put(parent, grandchild)).toEqual(expectedConflict(ANCESTOR));
    const stranger = await epicIn(elsewhere);
    const other = expectedConflict(`${CANNOT} It must belong to the same group hierarchy as the parent epic.`);
    expect(await put(stranger, parent)).toEqual(other);
    expect(answerOf(await as(who(planner)).post(at(0)).send({}))).toEqual(UNKNOWN);
  });

  it('if it would make an eighth level, descendants included', async () => {
    const chain = [parent];
    for (let level = 2; level <= 7; level++) {
      chain.push(await epicIn());
      await assigned(chain.at(-1)!, chain.at(-2)!);
    }
    const one = await epicIn();
    expect(await put(one, chain[6]!)).toEqual(expectedConflict(DEEP));
    const made = await as(who(planner)).post(at('', chain[6])).send({ title: 'Deep' });
    expect(answerOf(made)).toEqual(expectedConflict(DEEP));
    await assigned(one, chain[5]!);
    const top = await epicIn();
    expect(await put(parent, top)).toEqual(expectedConflict(DEEP));
    expect(answerOf(await change(parent, { parent_id: top.id }))).toEqual(expectedConflict(DEEP));
    expect((await shown(parent)).parent_id).toBeNull();
  });

  it('if it is not confidential and its parent is', async () => {
    const secret = await epicIn(group, { confidential: true });
    const child = await epicIn();
    expect(await put(child, secret)).toEqual(confidentialBelow);
    expect(answerOf(await change(child, { parent_id: secret.id }))).toEqual(confidentialBelow);
    const made = await as(who(planner)).post(pathOf(group)).send({ title: 'x', parent_id: secret.id });
    expect(answerOf(made)).toEqual(confidentialBelow);
    const both = await change(child, { parent_id: secret.id, confidential: true });
    expect(answerOf(both)).toEqual([200, expect.objectContaining({ parent_id: secret.id, confidential: true })]);
    expect(answerOf(await change(child, { confidential: false }))).toEqual(confidentialBelow);
    const removedParent = await change(child, { parent_id: null, confidential: false });
    expect(answerOf(removedParent)).toEqual([200, expect.objectContaining({ parent_id: null, confidential: false })]);
    await assigned(child);
    expect(answerOf(await change(parent, { confidential: true }))).toEqual([
      400,
      { message: { confidential: ['A confidential epic takes confidential child epics only'] } },
    ]);
  });
});

describe('parent_id', () => {
  it('sets and removes the parent, with system notes', async () => {
    const child = (await open(who(planner), group, { parent_id: `${parent.id}` })) as ShownChild;
    expect([child.parent_id, child.parent_iid]).toEqual([parent.id, parent.iid]);
    expect(await listed()).toHaveLength(1);
    const { body: same } = await change(child, { parent_id: parent.id }).expect(200);
    expect((same as ShownChild).updated_at).toBe(child.updated_at);
    const { body } = await change(child, { parent_id: '' }).expect(200);
    expect((body as ShownChild).parent_id).toBeNull();
    expect(await listed()).toEqual([]);
    expect(await notesOf(parent)).toEqual([
      `added epic &${child.iid} as child epic`,
      `removed child epic &${child.iid}`,
    ]);
    expect(await notesOf(child)).toEqual([
      `added epic &${parent.iid} as parent epic`,
      `removed parent epic &${parent.iid}`,
    ]);
    const events = await service.database.query<{ type: string }>(
      `select type from outbox where aggregate_id = $1 and aggregate_type = 'epic' order by id`,
      [child.id],
    );
    expect(events.map(({ type }) => type)).toEqual([
      'rookery.collaboration.epic.created.v1',
      'rookery.collaboration.epic.updated.v1',
    ]);
  });

  it('neither shows nor removes a parent that the caller cannot read', async () => {
    const secret = await epicIn(hidden);
    for (const parent_id of [secret.id, 0]) {
      const child = (await open(who(planner), group, { parent_id })) as ShownChild;
      expect(child.parent_id).toBeNull();
      await assigned(child);
      await change(child, { parent_id }).expect(200);
      expect((await shown(child)).parent_id).toBe(parent.id);
    }
    const child = await epicIn();
    await assigned(child, secret, hidden);
    expect(await shown(child)).toMatchObject({ parent_id: null, parent_iid: null, _links: { parent: null } });
    const all = (await as(who(planner)).get(pathOf(group)).expect(200)).body as ShownChild[];
    expect(all.find(({ id }) => id === child.id)).toMatchObject({ parent_id: null, _links: { parent: null } });
    await change(child, { parent_id: null }).expect(200);
    expect((await shown(child, group, owner)).parent_id).toBe(secret.id);
    expect(await notesOf(child)).toEqual(['added epic something that you may not see as parent epic']);
    await assigned(child);
    expect(await notesOf(child)).toEqual([
      'added epic something that you may not see as parent epic',
      'removed parent epic something that you may not see',
      `added epic &${parent.iid} as parent epic`,
    ]);
  });

  it('must be an epic that the caller may change', async () => {
    const above = await epicIn(root);
    const sent = { title: 'x', parent_id: above.id };
    expect(answerOf(await as(who(planner)).post(pathOf(group)).send(sent))).toEqual(FORBIDDEN);
    expect(answerOf(await change(parent, { parent_id: above.id }))).toEqual(FORBIDDEN);
    expect(answerOf(await change(parent, { parent_id: 'x' }))).toEqual([400, { error: 'parent_id is invalid' }]);
  });

  it('is ignored in a plan without child epics; existing parents are shown', async () => {
    const place = await groupOf();
    await service.seed.member(owner, place, 'owner');
    const [above, child] = [await epicIn(place), await epicIn(place)];
    await assigned(child, above, place);
    await service.seed.put('namespaces', { ...place, plan: 'premium' });
    const other = (await open(who(owner), place, { parent_id: above.id })) as ShownChild;
    expect(other.parent_id).toBeNull();
    expect((await shown(child, place, owner)).parent_id).toBe(above.id);
    await change(child, { parent_id: null }, owner, place).expect(200);
    expect((await shown(child, place, owner)).parent_id).toBeNull();
  });
});

describe('the order', () => {
  const order = async (): Promise<string[]> => (await listed()).map(({ title }) => title);
  const refusal = 'Epic could not be moved!';
  const ids = manualOrderTests({
    put: async (title) => (await assigned(await epicIn(group, { title }))).id,
    order,
    move: (id, wish) => as(who(planner)).put(at(id)).send(wish),
    refusal,
  });
  const move = (title: string, wish: object) => as(who(planner)).put(at(ids[title])).send(wish);

  it('can be changed any number of times', async () => {
    for (let count = 0; count < 14; count++) {
      await move('c', { move_before_id: ids['a'], move_after_id: ids['b'] }).expect(200);
      await move('b', { move_before_id: ids['a'], move_after_id: ids['c'] }).expect(200);
      expect(await order()).toEqual(['a', 'b', 'c']);
    }
  });

  it('hides children that the caller cannot read', async () => {
    const secret = await assigned(await epicIn(hidden));
    for (const other of [secret.id, parent.id]) {
      for (const wish of [{ move_before_id: other }, { move_after_id: other }]) {
        expect(answerOf(await move('a', wish))).toEqual([400, { message: { error: refusal } }]);
      }
    }
    const { body, headers } = await move('a', { move_before_id: ids['c'] }).expect(200);
    expect((body as ShownEpic[]).map((epic) => epic.title)).toEqual(['b', 'c', 'a']);
    expect(headers['x-total']).toBe('3');
    expect((await listed(parent, owner)).map(({ id }) => id)).toEqual([secret.id, ids['b'], ids['c'], ids['a']]);
    expect(await notesOf(parent)).toContain('added epic something that you may not see as child epic');
    expect(answerOf(await as(who(planner)).delete(at(secret.id)))).toEqual(GONE);
    expect(answerOf(await as(who(planner)).put(at(secret.id)).send({ move_before_id: ids['a'] }))).toEqual(GONE);
    expect(answerOf(await as(who(planner)).post(at(secret.id)))).toEqual(UNKNOWN);
  });
});

describe('concurrent writes', () => {
  it('two epics made children of each other do not make a cycle', async () => {
    for (let round = 0; round < 5; round++) {
      const [one, other] = [await epicIn(), await epicIn()];
      const put = (child: ShownEpic, to: ShownEpic) => as(who(planner)).post(at(child.id, to)).send({});
      const statuses = (await Promise.all([put(one, other), put(other, one)])).map(({ status }) => status);
      expect(statuses.sort()).toEqual([201, 409]);
    }
  });

  it('two chains joined at both ends stay within the depth limit', async () => {
    const chainOf = async (length: number): Promise<ShownEpic[]> => {
      const chain = [await epicIn()];
      while (chain.length < length) {
        chain.push(await epicIn());
        await assigned(chain.at(-1)!, chain.at(-2)!);
      }
      return chain;
    };
    const [high, middle, low] = [await chainOf(3), await chainOf(3), await chainOf(3)];
    const join = (top: ShownEpic, above: ShownEpic) => change(top, { parent_id: above.id });
    const statuses = await Promise.all([join(middle[0]!, high[2]!), join(low[0]!, middle[2]!)]);
    expect(statuses.map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  /** Makes a request wait for a lock of another transaction. `look` queries the locks that the request holds. */
  const whileLocked = async (held: string, request: () => PromiseLike<Response>, look: string): Promise<unknown[]> => {
    const other = new Client({ connectionString: service.databaseUrl });
    await other.connect();
    try {
      await other.query('begin');
      await other.query(held);
      const answer = Promise.resolve(request());
      await untilBlocked((sql) => service.database.query(sql));
      const { rows } = await other.query(look);
      await other.query('commit');
      expect((await answer).status).toBeLessThan(300);
      return rows;
    } finally {
      await other.end();
    }
  };
  const tree = (): string => `hashtextextended('epic tree ${root.id}', 0)`;

  it('a command locks the tree before the epic', async () => {
    const child = await epicIn();
    const say = () =>
      as(who(planner))
        .post(`${pathOf(group)}/${child.id}/notes`)
        .send({ body: `/award thumbsup\n/todo\n/parent_epic &${parent.iid}` });
    const free = `select 1 from epics where id = ${child.id} for update nowait`;
    expect(await whileLocked(`select pg_advisory_xact_lock(${tree()})`, say, free)).toHaveLength(1);
  });

  it.each([
    ['the route', (child: ShownEpic) => as(who(planner)).post(at(child.id)).send({})],
    ['the parameter', (child: ShownEpic) => change(child, { parent_id: parent.id })],
    ['a new one', () => as(who(planner)).post(pathOf(group)).send({ title: 'New', parent_id: parent.id })],
    ['a new child', () => as(who(planner)).post(at()).send({ title: 'New' })],
  ])('notes are counted after all other locks are taken: %s', async (_, write) => {
    const child = await epicIn();
    await assigned(await epicIn());
    await as(who(planner)).post(at(child.id)).send({});
    await as(who(planner)).delete(at(child.id)).send({});
    const free = `select 1 from note_creations where user_id = ${planner.id} for update nowait`;
    const held = `select 1 from epics where id = ${parent.id} for update`;
    expect(await whileLocked(held, () => write(child), free)).toHaveLength(1);
    const counted = `select 1 from note_creations where user_id = ${planner.id} for update`;
    const isFree = `select pg_try_advisory_xact_lock(${tree()}) as is_free`;
    await as(who(planner)).delete(at(child.id)).send({});
    expect(await whileLocked(counted, () => write(child), isFree)).toEqual([{ is_free: false }]);
  });

  it('epics are locked in the order of their ids, as for moves of issues', async () => {
    const child = await epicIn();
    const above = await epicIn();
    const free = `select 1 from epics where id = ${above.id} for update nowait`;
    const put = () => as(who(planner)).post(at(child.id, above)).send({});
    expect(await whileLocked(`select 1 from epics where id = ${child.id} for update`, put, free)).toHaveLength(1);
  });

  it('twenty new children have iids without gaps and distinct positions', async () => {
    const before = (await epicIn()).iid;
    const made = await Promise.all(
      Array.from({ length: 20 }, (_, count) =>
        as(who(planner))
          .post(at())
          .send({ title: `${count}` }),
      ),
    );
    expect(made.map(({ status }) => status)).toEqual(made.map(() => 201));
    const iids = made.map(({ body }) => (body as ShownEpic).iid).sort((a, b) => a - b);
    expect(iids).toEqual(Array.from({ length: 20 }, (_, count) => before + 1 + count));
    expect(await listed()).toHaveLength(20);
    const [row] = await service.database.query<{ places: number }>(
      'select count(distinct relative_position)::int as places from epics where parent_id = $1',
      [parent.id],
    );
    expect(row!.places).toBe(20);
  });

  it('a parent does not become confidential while a public child is added', async () => {
    for (let round = 0; round < 5; round++) {
      const [above, child] = [await epicIn(), await epicIn()];
      const statuses = await Promise.all([
        change(above, { confidential: true }),
        as(who(planner)).post(at(child.id, above)).send({}),
      ]);
      expect(statuses.filter(({ status }) => status < 300)).toHaveLength(1);
    }
  });
});

describe('deleting an epic', () => {
  it('leaves its children without a parent', async () => {
    const child = await epicIn();
    await assigned(child);
    await as(who(owner))
      .delete(`${pathOf(group)}/${parent.iid}`)
      .expect(204);
    expect(await shown(child)).toMatchObject({ parent_id: null, parent_iid: null });
  });

  it("removes it from its parent's children", async () => {
    const child = await epicIn();
    await assigned(child);
    await as(who(owner))
      .delete(`${pathOf(group)}/${child.iid}`)
      .expect(204);
    expect(await listed()).toEqual([]);
  });
});

describe('commands', () => {
  const say = async (on: ShownEpic, text: string, user = planner, place = group) =>
    answerOf(
      await as(who(user))
        .post(`${pathOf(place)}/${on.id}/notes`)
        .send({ body: text }),
    );
  const done = (summary: string) => [202, { commands_changes: {}, summary: [summary] }];
  const failed = (command: string, why: string) => [
    400,
    { message: { commands_only: [`Could not apply /${command}: ${why}.`] } },
  ];

  it('add and remove children and parents', async () => {
    const child = await epicIn();
    expect(await say(parent, `/child_epic &${child.iid}`)).toEqual(done(`Added epic &${child.iid} as child epic.`));
    expect((await listed()).map(({ id }) => id)).toEqual([child.id]);
    expect(await say(parent, `/remove_child_epic &${child.iid}`)).toEqual(done(`Removed child epic &${child.iid}.`));
    expect(await listed()).toEqual([]);
    const named = `${group.full_path}&${parent.iid}`;
    expect(await say(child, `/parent_epic ${named}`)).toEqual(done(`Added epic &${parent.iid} as parent epic.`));
    expect((await shown(child)).parent_id).toBe(parent.id);
    expect(await say(child, '/remove_parent_epic')).toEqual(done(`Removed parent epic &${parent.iid}.`));
    expect((await shown(child)).parent_id).toBeNull();
    expect(await notesOf(parent)).toEqual([
      `added epic &${child.iid} as child epic`,
      `removed child epic &${child.iid}`,
      `added epic &${child.iid} as child epic`,
      `removed child epic &${child.iid}`,
    ]);
  });

  it('are refused in the same cases as their routes', async () => {
    const child = await epicIn();
    const secret = await epicIn(hidden);
    await assigned(child);
    expect(await say(child, `/child_epic &${parent.iid}`)).toEqual(failed('child_epic', ANCESTOR.slice(0, -1)));
    expect(await say(child, '/parent_epic nothing')).toEqual(failed('parent_epic', 'it names no epic'));
    const fullReference = secret.references.full;
    for (const command of ['child_epic', 'parent_epic', 'remove_child_epic']) {
      expect(await say(child, `/${command} ${fullReference}`)).toEqual(failed(command, 'it was not found'));
      expect(await say(child, `/${command} &999999`)).toEqual(failed(command, 'it was not found'));
    }
    expect(await say(parent, '/remove_parent_epic')).toEqual(failed('remove_parent_epic', 'it was not found'));
    const above = await epicIn(root);
    const isNot = failed('parent_epic', 'you are not allowed to');
    expect(await say(parent, `/parent_epic ${above.references.full}`)).toEqual(isNot);
    const guest = await service.seed.user();
    await service.seed.member(guest, group, 'guest');
    const none = failed('remove_parent_epic', 'you are not allowed to');
    expect(await say(child, '/remove_parent_epic', guest)).toEqual(none);
    expect((await shown(child)).parent_id).toBe(parent.id);
  });

  it('are text on issues', async () => {
    const project = await service.seed.project({ namespace_id: group.id });
    const issues = `/api/v4/projects/${project.id}/issues`;
    const { body: issue } = await as(who(planner)).post(issues).send({ title: 'An egg' }).expect(201);
    const { body } = await as(who(planner)).post(`${issues}/${issue.iid}/notes`).send({ body: '/child_epic &1' });
    expect((body as { body: string }).body).toBe('/child_epic &1');
  });
});

describe('permissions', () => {
  type Row = readonly [who: RoleCase, open: Rights, internal: Rights, closed: Rights];
  type Rights = readonly [read: number, write: number, hiddenChildren: number];
  const unknown: Rights = [401, 401, 0];
  const stranger: Rights = [404, 404, 0];
  const reads: Rights = [200, 403, 0];
  const writes: Rights = [200, 201, 1];
  const MATRIX: readonly Row[] = [
    ['anonymous', unknown, unknown, unknown],
    ['outsider', reads, reads, stranger],
    ['external', reads, stranger, stranger],
    ['guest', reads, reads, reads],
    ['planner', writes, writes, writes],
    ['reporter', writes, writes, writes],
    ['developer', writes, writes, writes],
    ['maintainer', writes, writes, writes],
    ['owner', writes, writes, writes],
    ['admin', writes, writes, writes],
  ];
  const CASES = MATRIX.flatMap(([how, ...rights]) =>
    (['public', 'internal', 'private'] as const).map((level, index) => [how, level, ...rights[index]!] as const),
  );

  it.each(CASES)('%s in a %s group: reads %d, writes %d', async (how, level, read, write, secrets) => {
    const place = await groupOf({ visibility: level });
    await service.seed.member(owner, place, 'owner');
    const above = await epicIn(place);
    const path = (tail: number | string = ''): string => at(tail, above, place);
    const [child, other] = [await epicIn(place), await epicIn(place)];
    await assigned(await epicIn(place, { confidential: true }), above, place);
    await assigned(other, above, place);
    const viewer = await standing(place, how);
    const done = write === 201 ? 200 : write;
    const page = await as(viewer).get(path());
    expect(page.status).toBe(read);
    if (read === 200) expect(page.body).toHaveLength(1 + secrets);
    if (read === 200) expect(page.headers['x-total']).toBe(`${1 + secrets}`);
    expect((await as(viewer).post(path()).send({ title: 'x' })).status).toBe(write);
    expect((await as(viewer).post(path(child.id)).send({})).status).toBe(write);
    if (write !== 201) await assigned(child, above, place);
    expect((await as(viewer).put(path(child.id)).send({ move_before_id: other.id })).status).toBe(done);
    expect((await as(viewer).delete(path(child.id))).status).toBe(done);
    const { status } = await as(viewer)
      .put(`${pathOf(place)}/${child.iid}`)
      .send({ parent_id: above.id });
    expect(status).toBe(done);
  });

  it('a child that the caller can read but not change cannot be added, moved or removed', async () => {
    const above = await epicIn(root);
    expect(answerOf(await as(who(planner)).post(at(above.id)))).toEqual(UNKNOWN);
    await assigned(above);
    expect(answerOf(await as(who(planner)).delete(at(above.id)))).toEqual(FORBIDDEN);
    expect((await listed()).map(({ id }) => id)).toEqual([above.id]);
  });

  it.each<[Method, string]>([
    ['GET', ''],
    ['POST', ''],
    ['POST', '1'],
    ['PUT', '1'],
    ['DELETE', '1'],
  ])('%s %s needs the plan and a readable epic, by every path', async (method, tail) => {
    const sent = { title: 'x', move_before_id: 1 };
    const ask = async (path: string, viewer: Viewer) =>
      answerOf(await requestOf(as(viewer), method, path).send(method === 'GET' ? {} : sent));
    for (const plan of ['free', 'premium'] as const) {
      const place = await groupOf({ plan });
      expect(await ask(at(tail, parent, place), await standing(place, 'owner'))).toEqual(FORBIDDEN);
    }
    const secret = await epicIn(group, { confidential: true });
    const guest = await standing(group, 'guest');
    const path = at(tail, secret);
    for (const one of [path, path.replace('/epics/', '/-/epics/'), path.replace(/\/epics(\/1)?$/, '/links$1')]) {
      expect(await ask(one, guest)).toEqual(GONE);
    }
  });

  it('the alias paths do the same', async () => {
    const links = at().replace(/epics$/, 'links');
    const { body } = await as(who(planner)).post(links).query({ title: 'There' }).send({}).expect(201);
    const { id } = body as ShownEpic;
    const other = await assigned(await epicIn());
    expect((await as(who(planner)).get(links).expect(200)).body).toEqual(await listed());
    await as(who(planner)).put(`${links}/${id}`).send({ move_after_id: other.id }).expect(200);
    expect((await listed()).map((child) => child.id)).toEqual([id, other.id]);
    await as(who(planner)).delete(`${links}/${id}`).expect(200);
    const dashed = at().replace('/epics/', '/-/epics/');
    await as(who(planner)).post(`${dashed}/${id}`).expect(201);
    const encoded = dashed.replace(`/${group.id}/`, `/${encodeURIComponent(group.full_path)}/`);
    expect(((await as(who(planner)).get(encoded).expect(200)).body as ShownEpic[])[0]!.id).toBe(id);
  });

  registerVisibilityTests({
    app: () => service.app,
    from: async (level, how) => {
      const place = await groupOf({ visibility: level });
      const one = await open(await standing(place, 'owner'), place);
      return {
        viewer: { ...(await standing(place, how)), directory: service.seed.anonymous().directory },
        path: at('', one, place),
      };
    },
    anonymous: 401,
  });

  registerRefusalOrderTests(
    () => service.app,
    async () => {
      const place = await groupOf({ visibility: 'private' });
      const [outsider, allowed] = [await standing(group, 'outsider'), await standing(place, 'planner')];
      const reader = await standing(place, 'guest');
      const own = await open(allowed, place);
      const { directory } = service.seed.anonymous();
      return {
        method: 'POST',
        path: at('', own, place),
        good: { title: 'x' },
        bad: {},
        anonymous: service.seed.anonymous(),
        outsider: { ...outsider, directory },
        reader: { ...reader, directory },
        allowed: { ...allowed, directory },
      };
    },
  );

  registerParameterEncodingTests({
    app: () => service.app,
    to: () => ({
      viewer: who(planner),
      method: 'POST',
      path: at(),
      params: { title: 'a + b & c', confidential: true },
    }),
    seen: ({ title, parent_id }) => [title, parent_id === parent.id],
    expected: ['a + b & c', true],
  });
});

describe('through another epic', () => {
  registerForeignParentTests({
    app: () => service.app,
    viewer: () => who(planner),
    requests: async () => {
      const [other, sibling] = [await epicIn(), await assigned(await epicIn())];
      const { id } = await assigned(await epicIn());
      return [
        { method: 'PUT', path: at(id, other), body: { move_before_id: sibling.id } },
        { method: 'DELETE', path: at(id, other) },
      ];
    },
  });
});

describe('pages', () => {
  beforeEach(async () => {
    for (let count = 0; count < 5; count++) await assigned(await epicIn());
  });
  registerListPagingTests(() => ({ app: service.app, viewer: who(planner), path: at(), rows: 5 }));
});
