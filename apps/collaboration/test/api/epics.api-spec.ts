import type { DirectoryNamespace } from '@rookery/contracts';
import { InstanceSettings } from '@rookery/instance';
import type { Viewer } from '@rookery/kernel';
import {
  registerForeignParentTests,
  registerParameterEncodingTests,
  registerRefusalOrderTests,
  requestOf,
  registerVisibilityTests,
} from '@rookery/testing';
import type { SeededService, RoleCase } from '@rookery/testing';
import type { Response } from 'supertest';
import { startCollaboration } from '../support/app';
import { epicPlaces } from '../support/epics';
import type { ShownEpic } from '../support/epics';

let service: SeededService;
let group: DirectoryNamespace;
let owner: Viewer;
let planner: Viewer;
let guest: Viewer;
const { as, pathOf, standing, group: groupOf, open } = epicPlaces(() => service);
const answerOf = ({ status, body }: Response): [number, unknown] => [status, body];
const GONE = [404, { message: '404 Not found' }];
const FORBIDDEN = [403, { message: '403 Forbidden' }];

beforeAll(async () => {
  service = await startCollaboration();
  group = await groupOf({ visibility: 'private' });
  [owner, planner, guest] = [
    await standing(group, 'owner'),
    await standing(group, 'planner'),
    await standing(group, 'guest'),
  ];
});
afterAll(() => service.close());

const EDITORS = {
  start_date_is_fixed: false,
  start_date_fixed: null,
  start_date_from_inherited_source: null,
  start_date_from_milestones: null,
  due_date_is_fixed: false,
  due_date_fixed: null,
  due_date_from_inherited_source: null,
  due_date_from_milestones: null,
};

it('an epic is created, shown, changed, closed, reopened and deleted', async () => {
  const place = await groupOf();
  const author = await service.seed.user({ name: 'Avia' });
  await service.seed.member(author, place, 'planner');
  const viewer = service.seed.viewer(author);
  const sent = { title: 'Nests', description: 'All **nests**', labels: 'wood,twigs', confidential: true };
  const made = await as(viewer).post(pathOf(place)).send(sent);
  const { id } = made.body as ShownEpic;
  const base = (made.body as { web_url: string }).web_url.replace(/\/groups\/.*/, '');
  const api = `${base}/api/v4/groups/${place.id}`;
  const person = expect.objectContaining({ id: author.id, username: author.username, name: 'Avia', state: 'active' });
  const whole = {
    id,
    work_item_id: id,
    iid: 1,
    group_id: place.id,
    parent_id: null,
    parent_iid: null,
    title: 'Nests',
    description: 'All **nests**',
    state: 'opened',
    confidential: true,
    imported: false,
    imported_from: 'none',
    web_url: `${base}/groups/${place.full_path}/-/epics/1`,
    web_edit_url: `/groups/${place.full_path}/-/epics/1`,
    reference: '&1',
    references: { short: '&1', relative: '&1', full: `${place.full_path}&1` },
    author: person,
    start_date: null,
    due_date: null,
    end_date: null,
    created_at: expect.stringMatching(/\.\d{3}Z$/),
    updated_at: expect.stringMatching(/\.\d{3}Z$/),
    closed_at: null,
    labels: ['twigs', 'wood'],
    upvotes: 0,
    downvotes: 0,
    color: '#1068bf',
    text_color: '#FFFFFF',
    _links: { self: `${api}/epics/1`, epic_issues: `${api}/epics/1/issues`, group: api, parent: null },
    ...EDITORS,
  };
  expect(answerOf(made)).toEqual([201, whole]);
  const path = `${pathOf(place)}/1`;
  expect(answerOf(await as(viewer).get(path))).toEqual([200, { ...whole, subscribed: true }]);
  expect(answerOf(await as(viewer).get(pathOf(place)))).toEqual([200, [whole]]);
  await as(viewer).head(path).expect(200);

  const change = {
    title: 'Eggs',
    description: null,
    confidential: false,
    start_date_is_fixed: true,
    start_date_fixed: '2026-03-01',
    due_date_fixed: '2026-02-01T22:00:00Z',
    add_labels: ' moss , twigs',
    remove_labels: 'wood,unheard',
    state_event: 'close',
  };
  const changed = {
    ...whole,
    ...{ title: 'Eggs', description: null, confidential: false, state: 'closed', labels: ['moss', 'twigs'] },
    ...{ start_date: '2026-03-01', start_date_is_fixed: true, start_date_fixed: '2026-03-01' },
    due_date_fixed: '2026-02-01',
    closed_at: expect.stringMatching(/\.\d{3}Z$/),
  };
  expect(answerOf(await as(viewer).put(path).send(change))).toEqual([200, changed]);
  const due = { due_date_is_fixed: true, state_event: 'close' };
  const early = { ...changed, due_date: '2026-02-01', end_date: '2026-02-01', due_date_is_fixed: true };
  expect(answerOf(await as(viewer).put(path).send(due))).toEqual([200, early]);
  const clear = { state_event: 'reopen', start_date: '', end_date: null, labels: '' };
  const plain = { ...early, ...{ state: 'opened', closed_at: null, labels: [] } };
  const noDates = { start_date: null, start_date_fixed: null, due_date: null, end_date: null, due_date_fixed: null };
  expect(answerOf(await as(viewer).put(path).send(clear))).toEqual([200, { ...plain, ...noDates }]);

  const removed = await as(viewer).delete(path).set('Content-Type', 'application/json');
  expect([removed.status, removed.text]).toEqual([204, '']);
  for (const method of ['GET', 'PUT', 'DELETE'] as const) {
    expect(answerOf(await requestOf(as(viewer), method, path).send({ title: 'x' }))).toEqual(GONE);
  }
  expect((await open(viewer, place)).iid).toBe(2);
});

it('is found by the path of the group and by both routes', async () => {
  const { iid } = await open(planner, group, { title: 'Twice' });
  const encoded = encodeURIComponent(group.full_path);
  for (const path of [`${encoded}/epics`, `${encoded}/-/epics`, `${group.id}/-/epics`]) {
    const { body } = await as(planner).get(`/api/v4/groups/${path}/${iid}`).expect(200);
    expect((body as ShownEpic).title).toBe('Twice');
    expect((await as(planner).get(`/api/v4/groups/${path}`)).body).toEqual((await as(planner).get(pathOf(group))).body);
  }
  const alias = `/api/v4/groups/${group.id}/-/epics`;
  const { body } = await as(planner).post(alias).send({ title: 'There' }).expect(201);
  const there = `${alias}/${(body as ShownEpic).iid}`;
  await as(planner).put(there).send({ title: 'Here' }).expect(200);
  await as(planner).delete(there).expect(204);
});

it('iids have no gaps when many are created at once', async () => {
  const place = await groupOf();
  const viewer = await standing(place, 'reporter');
  const made = await Promise.all(
    Array.from({ length: 50 }, (_, at) => open(viewer, place, { title: `${at}`, labels: 'x' })),
  );
  expect(made.map(({ iid }) => iid).sort((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, at) => at + 1));
  const { body: labels } = await as(viewer).get(`/api/v4/groups/${place.id}/labels`).expect(200);
  expect((labels as { name: string }[]).map(({ name }) => name)).toEqual(['x']);
});

it("unknown labels are created in the epic's group, existing ones of ancestor groups are used", async () => {
  const above = await groupOf();
  const below = await groupOf({ parent: above });
  const viewer = await standing(above, 'planner');
  await as(viewer).post(`/api/v4/groups/${above.id}/labels`).send({ name: 'known', color: '#ff0000' }).expect(201);
  const { iid } = await open(viewer, below, { labels: ['known', 'new, newer'] });
  const { body } = await as(viewer).get(`/api/v4/groups/${below.id}/labels`).query({ include_ancestor_groups: false });
  expect((body as { name: string }[]).map(({ name }) => name)).toEqual(['new', 'newer']);
  const { body: one } = await as(viewer).get(`${pathOf(below)}/${iid}`);
  expect((one as ShownEpic).labels).toEqual(['known', 'new', 'newer']);
  const { body: listed } = await as(viewer).get(pathOf(above)).query({ with_labels_details: true });
  expect((listed as ShownEpic[])[0]!.labels[0]).toEqual({
    id: expect.any(Number),
    name: 'known',
    description: null,
    description_html: '',
    text_color: '#FFFFFF',
    color: '#ff0000',
  });
});

it('a label of a former ancestor group is not shown', async () => {
  const above = await groupOf();
  const below = await groupOf({ parent: above });
  const admin = await standing(above, 'admin');
  await as(admin).post(`/api/v4/groups/${above.id}/labels`).send({ name: 'left' }).expect(201);
  await open(admin, below, { labels: 'left,kept' });
  await service.seed.put('namespaces', { ...below, parent_id: null, traversal_ids: [below.id] });
  const { body } = await as(admin).get(pathOf(below)).expect(200);
  expect((body as ShownEpic[])[0]!.labels).toEqual(['kept']);
  expect((await as(admin).get(pathOf(below)).query({ labels: 'left' })).body).toEqual([]);
});

describe('a colour', () => {
  const set = (on: boolean) => {
    const gates = { boolean: on, actors: [], groups: [], percentage_of_actors: 0, percentage_of_time: 0 };
    service.app
      .get(InstanceSettings)
      .applyAnswer({ version: 1, features: { epic_highlight_color: gates }, settings: {} });
  };
  afterEach(() => set(false));

  it('is ignored while the feature is off, even if invalid', async () => {
    const { iid } = await open(planner, group, { color: 'nonsense' });
    const { body, headers } = await as(planner)
      .put(`${pathOf(group)}/${iid}`)
      .send({ color: '#123456' })
      .expect(200);
    expect((body as { color: string }).color).toBe('#1068bf');
    expect(headers['x-rookery-ignored']).toBe('color');
  });

  it('is applied while it is on: hex digits or a CSS name', async () => {
    set(true);
    const { iid, ...made } = await open(planner, group, { color: 'white' });
    expect(made).toMatchObject({ color: '#FFFFFF', text_color: '#1F1E24' });
    const path = `${pathOf(group)}/${iid}`;
    const { body, headers } = await as(planner).put(path).send({ color: '#123' }).expect(200);
    expect(headers['x-rookery-ignored']).toBeUndefined();
    expect(body).toMatchObject({ color: '#123', text_color: '#FFFFFF' });
    expect(answerOf(await as(planner).put(path).send({ color: 'nonsense' }))).toEqual([
      400,
      { message: { color: ['must be a valid color code'] } },
    ]);
  });
});

it.each<[string, object, unknown]>([
  ['nothing', {}, { error: 'title is missing' }],
  ['a blank title', { title: ' ' }, { message: { title: ["can't be blank"] } }],
  ['a long title', { title: 'é'.repeat(256) }, { message: { title: ['is too long (maximum is 255 characters)'] } }],
  [
    'a long description',
    { title: 'x', description: 'x'.repeat(1_048_577) },
    { message: { description: ['is too long (maximum is 1048576 characters)'] } },
  ],
  ['a NUL', { title: 'a\0b' }, { error: 'title is invalid' }],
  ['no day', { title: 'x', start_date_fixed: '2026-02-30' }, { error: 'start_date_fixed is invalid' }],
  ['no flag', { title: 'x', confidential: 'perhaps' }, { error: 'confidential is invalid' }],
  [
    'a long label',
    { title: 'x', labels: ['y'.repeat(256)] },
    { message: { labels: ['is too long (maximum is 255 characters)'] } },
  ],
])('refuses %s', async (_, body, expected) => {
  expect(answerOf(await as(planner).post(pathOf(group)).send(body))).toEqual([400, expected]);
  if (!('title' in body)) return;
  const { iid } = await open(planner, group);
  expect(
    answerOf(
      await as(planner)
        .put(`${pathOf(group)}/${iid}`)
        .send(body),
    ),
  ).toEqual([400, expected]);
});

it('a change needs a field and a valid state event', async () => {
  const path = `${pathOf(group)}/${(await open(planner, group)).iid}`;
  const { status, body } = await as(planner).put(path).send({});
  expect([status, (body as { error: string }).error]).toEqual([
    400,
    expect.stringMatching(/^title, description, .* are missing, at least one parameter must be provided$/),
  ]);
  expect(answerOf(await as(planner).put(path).send({ state_event: 'merge' }))).toEqual([
    400,
    { error: 'state_event does not have a valid value' },
  ]);
});

it('times are set by owners, and ignored from others', async () => {
  const [given, later] = ['2020-01-02T03:04:05.000Z', '2021-01-02T03:04:05.000Z'];
  const own = await open(owner, group, { created_at: given });
  expect(own).toMatchObject({ created_at: given, updated_at: given });
  const { body } = await as(owner)
    .put(`${pathOf(group)}/${own.iid}`)
    .send({ updated_at: later })
    .expect(200);
  expect(body).toMatchObject({ created_at: given, updated_at: later });
  const other = await open(planner, group, { created_at: given });
  expect(other).not.toMatchObject({ created_at: given });
  const { body: kept } = await as(planner)
    .put(`${pathOf(group)}/${other.iid}`)
    .send({ updated_at: given })
    .expect(200);
  expect((kept as ShownEpic).updated_at).toBe(other.updated_at);
});

it('is not deleted if it changed since If-Unmodified-Since', async () => {
  const { iid, updated_at: at } = await open(planner, group);
  const path = `${pathOf(group)}/${iid}`;
  const before = new Date(Date.parse(at) - 60_000).toUTCString();
  expect(answerOf(await as(planner).delete(path).set('If-Unmodified-Since', before))).toEqual([
    412,
    { message: '412 Precondition Failed' },
  ]);
  await as(planner)
    .delete(path)
    .set('If-Unmodified-Since', new Date(Date.parse(at) + 1000).toUTCString())
    .expect(204);
});

describe('permissions', () => {
  type Row = readonly [who: RoleCase, read: number, hidden: number, write: number, remove: number];
  it.each<Row>([
    ['anonymous', 401, 401, 401, 401],
    ['outsider', 404, 404, 404, 404],
    ['external', 404, 404, 404, 404],
    ['guest', 200, 404, 403, 403],
    ['planner', 200, 200, 200, 204],
    ['reporter', 200, 200, 200, 403],
    ['developer', 200, 200, 200, 403],
    ['maintainer', 200, 200, 200, 403],
    ['owner', 200, 200, 200, 204],
    ['admin', 200, 200, 200, 204],
  ])('%s: reads %d, confidential %d, writes %d, removes %d', async (who, read, hidden, write, remove) => {
    const [plain, secret] = [await open(planner, group), await open(planner, group, { confidential: true })];
    const viewer = await standing(group, who);
    const at = (iid: number) => `${pathOf(group)}/${iid}`;
    const asked = async (method: 'GET' | 'PUT' | 'DELETE' | 'POST', path: string) =>
      (await requestOf(as(viewer), method, path).send(method === 'GET' ? {} : { title: 'y' })).status;
    expect(await asked('GET', at(plain.iid))).toBe(read);
    expect(await asked('GET', at(secret.iid))).toBe(hidden);
    expect(await asked('PUT', at(plain.iid))).toBe(write);
    expect(await asked('PUT', at(secret.iid))).toBe(hidden === 200 ? write : hidden);
    expect(await asked('POST', pathOf(group))).toBe(write === 200 ? 201 : write);
    expect(await asked('DELETE', at(plain.iid))).toBe(remove);
    expect(await asked('DELETE', at(secret.iid))).toBe(hidden === 200 ? remove : hidden);
  });

  it('fixed dates are hidden from users who may not change the epic', async () => {
    const { iid } = await open(planner, group, { start_date_fixed: '2026-01-01' });
    for (const [viewer, expected] of [
      [guest, 0],
      [planner, 8],
    ] as const) {
      for (const path of [pathOf(group), `${pathOf(group)}/${iid}`]) {
        const { body } = await as(viewer).get(path).expect(200);
        const one = (Array.isArray(body) ? body.find((epic: ShownEpic) => epic.iid === iid) : body) as object;
        const shownFields = Object.keys(EDITORS).filter((name) => name in one);
        expect([path, shownFields.length]).toEqual([path, expected]);
      }
    }
  });

  it.each(['ultimate', 'premium', 'free'] as const)('the plan %s decides', async (plan) => {
    const place = await groupOf({ plan });
    const viewer = await standing(place, 'owner');
    const made = await as(viewer).post(pathOf(place)).send({ title: 'x' });
    if (plan === 'free') expect(answerOf(made)).toEqual(FORBIDDEN);
    const path = `${pathOf(place)}/1`;
    const statuses = [
      made.status,
      (await as(viewer).get(pathOf(place))).status,
      (await as(viewer).get(path)).status,
      (await as(viewer).put(path).send({ title: 'y' })).status,
      (await as(viewer).delete(path)).status,
    ];
    expect(statuses).toEqual(plan === 'free' ? [403, 403, 403, 403, 403] : [201, 200, 200, 200, 204]);
  });

  it('a hidden group is 404 in every plan', async () => {
    const place = await groupOf({ plan: 'free', visibility: 'private' });
    const outsider = await standing(group, 'outsider');
    expect(answerOf(await as(outsider).get(pathOf(place)))).toEqual([404, { message: '404 Group Not Found' }]);
  });
});

describe('the list', () => {
  registerVisibilityTests({
    app: () => service.app,
    from: async (level, how) => {
      const place = await groupOf({ visibility: level });
      return { viewer: await standing(place, how), path: pathOf(place) };
    },
    anonymous: 401,
  });
});

describe('opening', () => {
  registerRefusalOrderTests(
    () => service.app,
    async () => {
      const outsider = service.seed.viewer(await service.seed.user());
      const { directory } = outsider;
      return {
        method: 'POST',
        path: pathOf(group),
        good: { title: 'x' },
        bad: {},
        anonymous: service.seed.anonymous(),
        outsider,
        reader: { ...guest, directory },
        allowed: { ...planner, directory },
      };
    },
  );
  registerParameterEncodingTests({
    app: () => service.app,
    to: () => ({
      viewer: { ...owner, directory: service.seed.anonymous().directory },
      method: 'POST',
      path: pathOf(group),
      params: { title: 'a + b & c', confidential: true, labels: ['one', 'two'], start_date_fixed: '2026-01-01' },
    }),
    seen: ({ title, confidential, labels, start_date_fixed: day }) => [title, confidential, labels, day],
    expected: ['a + b & c', true, ['one', 'two'], '2026-01-01'],
  });
});

describe('through another group', () => {
  registerForeignParentTests({
    app: () => service.app,
    viewer: () => ({ ...owner, directory: service.seed.anonymous().directory }),
    requests: async () => {
      const other = await groupOf();
      await service.seed.member({ id: owner.userId! }, other, 'owner');
      const { iid } = await open(owner, group);
      const path = `${pathOf(other)}/${iid}`;
      return [
        { method: 'GET', path },
        { method: 'PUT', path, body: { title: 'y' } },
        { method: 'DELETE', path },
      ];
    },
  });
});
