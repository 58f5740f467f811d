import type { DirectoryNamespace } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';
import {
  registerForeignParentTests,
  registerListPagingTests,
  registerParameterEncodingTests,
  registerRefusalOrderTests,
  requestOf,
  registerVisibilityTests,
} from '@rookery/testing';
import type { Method, SeededService, RoleCase } from '@rookery/testing';
import type { Response } from 'supertest';
import { ROLES, startCollaboration } from '../support/app';
import { planningPlaces } from '../support/planning-places';
import type { Kind, Place } from '../support/planning-places';

interface ShownMilestone {
  readonly id: number;
  readonly iid: number;
  readonly title: string;
  readonly updated_at: string;
}

let service: SeededService;
let serial = 0;
beforeAll(async () => void (service = await startCollaboration()));
afterAll(() => service.close());

const TAKEN = [400, { message: { title: ['has already been taken'] } }];
const GONE = [404, { message: '404 Not found' }];
const answerOf = ({ status, body }: Response): [number, unknown] => [status, body];
const { as, at, listedBy, placeOf, refusedAt, seeded, standingIn, viewerIn } = planningPlaces(
  () => service,
  'milestones',
);
const add = async ({ path, owner }: Place, fields: Record<string, unknown> = {}): Promise<ShownMilestone> =>
  (
    await as(owner)
      .post(path)
      .send({ title: `milestone ${++serial}`, ...fields })
      .expect(201)
  ).body as ShownMilestone;
const titlesIn = async ({ path, owner }: Place, query: Record<string, unknown> = {}, who = owner): Promise<string[]> =>
  ((await as(who).get(path).query(query).expect(200)).body as ShownMilestone[]).map(({ title }) => title);

describe.each<Kind>(['project', 'group'])('milestones of a %s', (kind) => {
  let place: Place;
  beforeAll(async () => void (place = await placeOf(kind, 'private')));

  it('are created, shown, listed, changed and deleted', async () => {
    const source = await seeded(kind, 'public');
    const own = at(kind, source, await viewerIn(source, 'owner'));
    const made = await as(own.owner).post(own.path).send({
      title: ' 1.0 ',
      description: 'A **goal**',
      start_date: '2020-01-01',
      due_date: '2020-02-29T23:30:00-05:00',
    });
    const { body: shown } = await as(own.owner).get(`/api/v4/${kind}s/${source.id}/milestones/${made.body.id}`);
    const url = (shown as { web_url: string }).web_url;
    const whole = {
      id: expect.any(Number),
      iid: 1,
      title: '1.0',
      description: 'A **goal**',
      state: 'active',
      created_at: expect.stringMatching(/\.\d{3}Z$/),
      updated_at: expect.stringMatching(/\.\d{3}Z$/),
      due_date: '2020-02-29',
      start_date: '2020-01-01',
      expired: true,
      web_url: url,
      [`${kind}_id`]: source.id,
    };
    expect(answerOf(made)).toEqual([201, whole]);
    expect(url).toMatch(new RegExp(`^http://[^/]+/${kind === 'group' ? 'groups/' : ''}[^-].*/-/milestones/1$`));
    const one = `${own.path}/${made.body.id}`;
    expect(answerOf(await as(service.seed.anonymous()).get(one))).toEqual([200, whole]);
    await as(own.owner).head(one).expect(200);
    expect(answerOf(await as(own.owner).get(own.path))).toEqual([200, [whole]]);
    const changed = { ...whole, title: '1.1', due_date: '9999-12-31', expired: false, state: 'closed' };
    const change = { title: '1.1', due_date: '9999-12-31', state_event: 'close' };
    expect(answerOf(await as(own.owner).put(one).send(change))).toEqual([200, changed]);
    const plain = { ...changed, description: null, start_date: null, due_date: null, state: 'active' };
    const clear = { description: null, start_date: '', due_date: null, state_event: 'activate' };
    expect(answerOf(await as(own.owner).put(one).send(clear))).toEqual([200, plain]);
    const removed = await as(own.owner).delete(one).set('Content-Type', 'application/json');
    expect([removed.status, removed.text]).toEqual([204, '']);
    for (const method of ['GET', 'PUT', 'DELETE'] as const) {
      expect(answerOf(await requestOf(as(own.owner), method, one).send({ title: 'x' }))).toEqual(GONE);
    }
    expect(await titlesIn(own)).toEqual([]);
    expect((await add(own)).iid).toBe(2);
  });

  it('are found by the encoded path of the project or group', async () => {
    const { title } = await add(place);
    const [{ web_url: url }] = (await as(place.owner).get(place.path).query({ title })).body as [{ web_url: string }];
    const fullPath = new URL(url).pathname.replace(/^\/(groups\/)?/, '').replace(/\/-\/.*/, '');
    const encoded = `/api/v4/${kind}s/${encodeURIComponent(fullPath)}/milestones`;
    expect(await titlesIn({ ...place, path: encoded }, { title })).toEqual([title]);
  });

  it.each<[string, Record<string, unknown>, unknown]>([
    ['nothing', {}, { error: 'title is missing' }],
    ['a blank title', { title: ' ' }, { message: { title: ["can't be blank"] } }],
    ['a long title', { title: 'é'.repeat(256) }, { message: { title: ['is too long (maximum is 255 characters)'] } }],
    ['a NUL', { title: 'a\0b' }, { error: 'title is invalid' }],
    ['no day', { title: 'x', due_date: '2026-02-30' }, { error: 'due_date is invalid' }],
    [
      'a long description',
      { title: 'x', description: 'x'.repeat(524_289) },
      { message: { description: ['is too long (maximum is 524288 characters)'] } },
    ],
    [
      'a due date that is not after the start date',
      { title: 'x', start_date: '2026-01-02', due_date: '2026-01-02' },
      { message: { due_date: ['must be greater than start date'] } },
    ],
  ])('refuse %s', async (_, body, expected) => {
    expect(answerOf(await as(place.owner).post(place.path).send(body))).toEqual([400, expected]);
    if (!('title' in body)) return;
    const { id } = await add(place);
    expect(answerOf(await as(place.owner).put(`${place.path}/${id}`).send(body))).toEqual([400, expected]);
  });

  it('refuse changes without a field, with an invalid state event, and with a due date before the start date', async () => {
    const { id } = await add(place, { start_date: '2026-03-01' });
    const put = (body: Record<string, unknown>) => as(place.owner).put(`${place.path}/${id}`).send(body);
    const fields = 'title, description, due_date, start_date, state_event';
    expect(answerOf(await put({}))).toEqual([
      400,
      { error: `${fields} are missing, at least one parameter must be provided` },
    ]);
    expect(answerOf(await put({ state_event: 'reopen' }))).toEqual([
      400,
      { error: 'state_event does not have a valid value' },
    ]);
    expect(answerOf(await put({ due_date: '2026-02-28' }))).toEqual([
      400,
      { message: { due_date: ['must be greater than start date'] } },
    ]);
    expect((await put({ due_date: '2026-02-28', start_date: null })).status).toBe(200);
  });

  it('are closed and activated, and repeated events change nothing', async () => {
    const { id, updated_at } = await add(place);
    const put = async (state_event: string) =>
      (await as(place.owner).put(`${place.path}/${id}`).send({ state_event }).expect(200)).body as ShownMilestone;
    expect(await put('activate')).toMatchObject({ state: 'active', updated_at });
    const closed = await put('close');
    expect(closed).toMatchObject({ state: 'closed' });
    expect(await put('close')).toEqual(closed);
  });

  it('have unique titles, which differ by case', async () => {
    await add(place, { title: 'beta' });
    expect(answerOf(await as(place.owner).post(place.path).send({ title: ' beta' }))).toEqual(TAKEN);
    const { id } = await add(place, { title: 'Beta' });
    const put = (title: string) => as(place.owner).put(`${place.path}/${id}`).send({ title });
    expect(answerOf(await put('beta'))).toEqual(TAKEN);
    expect((await put('Beta')).status).toBe(200);
  });

  it('are created once by fifty concurrent requests, with iids without gaps', async () => {
    const own = await placeOf(kind);
    const all = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        as(own.owner)
          .post(own.path)
          .send({ title: i < 25 ? 'same' : `own ${i}` }),
      ),
    );
    const statuses = all.map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(26);
    expect(statuses.filter((status) => status === 400)).toHaveLength(24);
    const { body } = await as(own.owner).get(own.path).query({ per_page: 100 });
    const numbers = (body as ShownMilestone[]).map(({ iid }) => iid).sort((a, b) => a - b);
    expect(numbers).toEqual(Array.from({ length: 26 }, (_, i) => i + 1));
  });

  it('are found by the filters of the list', async () => {
    const own = await placeOf(kind);
    await add(own, { title: 'none' });
    await add(own, { title: 'later 100%', start_date: '2026-05-01', due_date: '2026-08-31' });
    const old = await add(own, { title: 'sooner', description: 'behind THE door', due_date: '2026-06-30' });
    await add(own, { title: 'begins', start_date: '2026-07-01' });
    await as(own.owner).put(`${own.path}/${old.id}`).send({ state_event: 'close' }).expect(200);
    const moment = '2026-02-01T00:00:00.000Z';
    await service.database.query(
      `update milestones set updated_at = case id when $1 then $2::timestamptz else '2026-01-01' end where ${kind}_id = $3`,
      [old.id, moment, own.id],
    );
    const all = ['sooner', 'later 100%', 'begins', 'none'];
    for (const [query, expected] of [
      [{}, all],
      [{ state: 'all' }, all],
      [{ state: 'active' }, ['later 100%', 'begins', 'none']],
      [{ state: 'closed' }, ['sooner']],
      [{ 'iids[]': [1, 3, 9] }, ['sooner', 'none']],
      [{ iids: '2' }, ['later 100%']],
      [{ title: 'begins' }, ['begins']],
      [{ title: 'Begins' }, []],
      [{ title: '' }, all],
      [{ search: 'the door' }, ['sooner']],
      [{ search: '0%' }, ['later 100%']],
      [{ search: 'ER', state: 'active' }, ['later 100%']],
      [{ containing_date: '2026-06-30' }, ['sooner', 'later 100%']],
      [{ containing_date: '2026-07-01' }, ['later 100%', 'begins']],
      [{ containing_date: '2027-01-01' }, ['begins']],
      [{ updated_after: moment }, ['sooner']],
      [{ updated_before: '2020-01-01' }, []],
      [{ updated_before: moment }, all],
    ] as const) {
      expect([query, await titlesIn(own, query)]).toEqual([query, [...expected]]);
    }
    for (const [query, error] of [
      [{ state: 'open' }, 'state does not have a valid value'],
      [{ iids: 'x' }, 'iids is invalid'],
      [{ containing_date: 'soon' }, 'containing_date is invalid'],
      [{ updated_after: 'soon' }, 'updated_after is invalid'],
      [{ include_ancestors: 'maybe' }, 'include_ancestors is invalid'],
    ] as const) {
      expect(answerOf(await as(own.owner).get(own.path).query(query))).toEqual([400, { error }]);
    }
  });

  it('are not deleted if they changed since If-Unmodified-Since', async () => {
    const { id } = await add(place);
    const stale = await as(place.owner)
      .delete(`${place.path}/${id}`)
      .set('If-Unmodified-Since', 'Mon, 05 Jan 2026 09:00:00 GMT');
    expect(answerOf(stale)).toEqual([412, { message: '412 Precondition Failed' }]);
    await as(place.owner).delete(`${place.path}/${id}`).set('If-Unmodified-Since', 'not a date').expect(204);
  });

  describe('to list', () => {
    let own: Place;
    beforeAll(async () => {
      own = await placeOf(kind);
      for (let i = 0; i < 7; i++) await add(own, i < 5 ? { due_date: `2026-01-0${1 + (i % 3)}` } : {});
    });
    registerListPagingTests(() => ({
      app: service.app,
      viewer: own.owner,
      path: own.path,
      query: { search: 'milestone' },
      rows: 7,
    }));
    registerListPagingTests(() => ({
      app: service.app,
      viewer: own.owner,
      path: own.path,
      query: { include_ancestors: true },
      rows: 7,
    }));
    registerVisibilityTests({
      app: () => service.app,
      from: (level, standing) => listedBy(kind, level, standing),
    });
  });

  describe('to create', () => {
    let people: Awaited<ReturnType<typeof refusedAt>>;
    beforeAll(async () => void (people = await refusedAt(place)));
    registerRefusalOrderTests(
      () => service.app,
      () => ({
        method: 'POST',
        path: place.path,
        good: { title: `made ${++serial}` },
        bad: { title: ['x'] },
        ...people,
      }),
    );
    registerParameterEncodingTests({
      app: () => service.app,
      to: () => ({
        viewer: people.allowed,
        method: 'POST',
        path: place.path,
        params: { title: `a + b & "${++serial}"`, description: 'x=y', due_date: '2026-12-24' },
      }),
      seen: ({ title, description, due_date }) => [String(title).slice(0, 7), description, due_date],
      expected: ['a + b &', 'x=y', '2026-12-24'],
    });
  });

  describe('of another place', () => {
    let other: Place;
    let milestone: ShownMilestone;
    let both: Viewer;
    beforeAll(async () => {
      other = await placeOf(kind);
      milestone = await add(place);
      both = { ...place.owner, isAdmin: true, directory: service.seed.anonymous().directory };
    });
    registerForeignParentTests({
      app: () => service.app,
      viewer: () => both,
      requests: () => [
        { method: 'GET', path: `${other.path}/${milestone.id}` },
        { method: 'GET', path: `${other.path}/${milestone.id}/issues` },
        { method: 'PUT', path: `${other.path}/${milestone.id}`, body: { title: 'y' } },
        { method: 'DELETE', path: `${other.path}/${milestone.id}` },
        ...(kind === 'project' ? [{ method: 'POST' as const, path: `${other.path}/${milestone.id}/promote` }] : []),
      ],
      untouched: async () => (await as(place.owner).get(`${place.path}/${milestone.id}`)).body as unknown,
    });
  });
});

test('a project and a group with the same id have separate iids', async () => {
  const group = await service.seed.group();
  const project = await service.seed.project({ id: group.id });
  const owner = service.seed.viewer(await service.seed.user({ admin: true }));
  for (const [kind, source] of [
    ['group', group],
    ['project', project],
  ] as const) {
    const place = at(kind, source, owner);
    expect([(await add(place)).iid, (await add(place)).iid]).toEqual([1, 2]);
  }
});

describe('a tree of groups', () => {
  let above: Place;
  let group: Place;
  let project: Place;
  let sibling: Place;
  let owner: Viewer;
  beforeAll(async () => {
    const top = await service.seed.group();
    const below = await service.seed.group({ parent: top });
    owner = await viewerIn(top, 'owner');
    above = at('group', top, owner);
    group = at('group', below, owner);
    project = at('project', await service.seed.project({ namespace_id: below.id }), owner);
    sibling = at('project', await service.seed.project({ namespace_id: top.id }), owner);
    await add(above, { title: 'a' });
    await add(group, { title: 'b' });
    await add(project, { title: 'c' });
    await add(sibling, { title: 'd' });
  });

  it('lists milestones of ancestors and descendants on request', async () => {
    const up = { include_ancestors: true };
    const down = { include_descendants: true };
    for (const [place, query, expected] of [
      [above, {}, ['a']],
      [above, up, ['a']],
      [above, down, ['a', 'b', 'c', 'd']],
      [group, {}, ['b']],
      [group, up, ['a', 'b']],
      [group, down, ['b', 'c']],
      [group, { include_parent_milestones: 'True' }, ['a', 'b']],
      [group, { ...up, ...down }, ['a', 'b', 'c']],
      [group, { ...up, ...down, search: 'c' }, ['c']],
      [project, {}, ['c']],
      [project, up, ['a', 'b', 'c']],
      [project, { ...up, ...down }, ['a', 'b', 'c']],
      [project, { ...up, iids: 1, state: 'closed' }, []],
    ] as const) {
      expect([query, (await titlesIn(place, query)).sort()]).toEqual([query, [...expected]]);
    }
    const pages = [];
    for (const page of [1, 2]) pages.push(...(await titlesIn(above, { ...down, per_page: 3, page })));
    expect(pages).toEqual(['d', 'c', 'b', 'a']);
  });

  it('lists only visible milestones of descendants', async () => {
    const top = at('group', await service.seed.group(), owner);
    const tops = { id: top.id, traversal_ids: [top.id] } as DirectoryNamespace;
    const hidden = await service.seed.group({ parent: tops, visibility: 'private' });
    const shown = await service.seed.group({ parent: tops });
    const inside = await service.seed.project({ namespace_id: hidden.id, visibility: 'private' });
    const off = await service.seed.project({
      namespace_id: shown.id,
      issues_access_level: 'disabled',
      merge_requests_access_level: 'disabled',
    });
    const members = await service.seed.project({
      namespace_id: shown.id,
      issues_access_level: 'private',
      merge_requests_access_level: 'disabled',
    });
    const admin = service.seed.viewer(await service.seed.user({ admin: true }));
    const titles = { off: ['project', off], hidden: ['group', hidden], inside: ['project', inside] } as const;
    await service.database.query(
      `insert into milestones (project_id, iid, title) values ($1, 1, 'off'), ($2, 1, 'members')`,
      [off.id, members.id],
    );
    await add(at('group', shown, admin), { title: 'shown' });
    for (const title of ['hidden', 'inside'] as const)
      await add(at(titles[title][0], titles[title][1], admin), { title });
    const seen = async (who: Viewer) => (await titlesIn(top, { include_descendants: true }, who)).sort();
    expect(await seen(service.seed.anonymous())).toEqual(['shown']);
    expect(await seen(await viewerIn(members, 'guest'))).toEqual(['members', 'shown']);
    expect(await seen(await viewerIn(hidden, 'guest'))).toEqual(['hidden', 'inside', 'shown']);
    expect(await seen(await viewerIn(inside, 'guest'))).toEqual(['hidden', 'inside', 'shown'].slice(1));
    expect(await seen(admin)).toEqual(['hidden', 'inside', 'members', 'shown']);
    const external = service.seed.viewer(await service.seed.user({ external: true }));
    expect(await seen(external)).toEqual(['shown']);
  });

  it('has milestones that are shown and changed only in their own place', async () => {
    const [{ id }] = (await as(owner).get(above.path).expect(200)).body as [ShownMilestone];
    for (const method of ['GET', 'PUT', 'DELETE'] as const) {
      for (const place of [project, group]) {
        const refused = requestOf(as(owner), method, `${place.path}/${id}`).send({ title: 'x' });
        expect(answerOf(await refused)).toEqual(GONE);
      }
    }
  });

  it('has each title once among ancestors and descendants', async () => {
    for (const [place, title] of [
      [project, 'a'],
      [project, 'b'],
      [group, 'a'],
      [group, 'c'],
      [above, 'b'],
      [above, 'c'],
      [above, 'd'],
    ] as const) {
      expect([title, answerOf(await as(owner).post(place.path).send({ title }))]).toEqual([title, TAKEN]);
    }
    const [{ id }] = (await as(owner).get(project.path).expect(200)).body as [ShownMilestone];
    expect(answerOf(await as(owner).put(`${project.path}/${id}`).send({ title: 'a' }))).toEqual(TAKEN);
    expect((await as(owner).post(project.path).send({ title: 'd' })).status).toBe(201);
  });

  it('has each title once after concurrent requests', async () => {
    const places = [above, group, project];
    const all = await Promise.all(
      Array.from({ length: 18 }, (_, i) =>
        as(owner)
          .post(places[i % 3]!.path)
          .send({ title: 'race' }),
      ),
    );
    expect(all.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(17).fill(400)]);
  });
});

describe('promotion', () => {
  let top: DirectoryNamespace;
  let owner: Viewer;
  const projects: Place[] = [];
  let group: Place;
  let deepGroup: Place;
  beforeAll(async () => {
    top = await service.seed.group();
    owner = await viewerIn(top, 'owner');
    const below = await service.seed.group({ parent: top });
    [group, deepGroup] = [at('group', top, owner), at('group', below, owner)];
    for (const home of [top, top, below]) {
      projects.push(at('project', await service.seed.project({ namespace_id: home.id }), owner));
    }
  });
  const promote = ({ path }: Place, id: number) => as(owner).post(`${path}/${id}/promote`).send({});
  const issueIn = async ({ id }: Place, milestone_id: number): Promise<string> => {
    const path = `/api/v4/projects/${id}/issues`;
    const { body } = await as(owner).post(path).send({ title: 'x', milestone_id }).expect(201);
    return `${path}/${body.iid}`;
  };

  it('replaces all milestones of the title below the group by one group milestone', async () => {
    await add(group);
    const [one, two, deep] = projects as [Place, Place, Place];
    const kept = await add(one, { title: '2.0', description: 'kept', due_date: '2030-01-01' });
    const others = [await add(two, { title: '2.0' }), await add(deep, { title: '2.0' })];
    const elsewhere = await placeOf('project');
    const foreign = await add(elsewhere, { title: '2.0' });
    const issues = [await issueIn(one, kept.id), await issueIn(two, others[0]!.id), await issueIn(deep, others[1]!.id)];
    const { body: before } = await as(owner).get(issues[1]!);
    const promoted = await promote(one, kept.id);
    expect(answerOf(promoted)).toEqual([
      200,
      expect.objectContaining({ id: kept.id, iid: 2, group_id: top.id, title: '2.0', description: 'kept' }),
    ]);
    expect(promoted.body).not.toHaveProperty('project_id');
    expect(await titlesIn(group)).toEqual(['2.0', expect.any(String)]);
    for (const place of projects) expect(await titlesIn(place)).toEqual([]);
    for (const issue of issues) {
      expect((await as(owner).get(issue)).body).toMatchObject({ milestone: { id: kept.id, group_id: top.id } });
      const events = await as(owner).get(`${issue}/resource_milestone_events`);
      expect(events.body).toMatchObject([{ action: 'add', milestone: { id: kept.id } }]);
    }
    expect((await as(owner).get(issues[1]!)).body).toMatchObject({ updated_at: before.updated_at });
    expect((await as(owner).get(`${group.path}/${kept.id}/issues`)).body).toHaveLength(3);
    expect((await as(elsewhere.owner).get(`${elsewhere.path}/${foreign.id}`)).body).toEqual(foreign);
    expect(answerOf(await promote(one, kept.id))).toEqual(GONE);
    expect((await add(one)).iid).toBe(2);
  });

  it('merges milestones of subgroups into that of the group', async () => {
    const [one] = projects as [Place];
    const below = await add(deepGroup, { title: '3.0' });
    const kept = await add(one, { title: '3.0' });
    expect((await promote(one, kept.id)).body).toMatchObject({ id: kept.id, group_id: top.id });
    expect(answerOf(await as(owner).get(`${deepGroup.path}/${below.id}`))).toEqual(GONE);
  });

  it('merges into an existing milestone of the group, as after a move', async () => {
    const [one] = projects as [Place];
    const above = await add(group, { title: '4.0' });
    const [own] = await service.database.query<{ id: number }>(
      `insert into milestones (project_id, iid, title) values ($1, 900, '4.0') returning id`,
      [one.id],
    );
    const issue = await issueIn(one, own!.id);
    expect((await promote(one, own!.id)).body).toMatchObject({ id: above.id, iid: above.iid });
    expect((await as(owner).get(issue)).body).toMatchObject({ milestone: { id: above.id } });
  });

  it('is done once by concurrent requests of all projects of a group', async () => {
    const made: [Place, ShownMilestone][] = [];
    for (const place of projects.slice(0, 2)) made.push([place, await add(place, { title: 'race' })]);
    for (let i = 0; i < 2; i++) {
      const place = at('project', await service.seed.project({ namespace_id: top.id }), owner);
      made.push([place, await add(place, { title: 'race' })]);
    }
    const all = await Promise.all(made.map(([place, { id }]) => promote(place, id)));
    expect(all.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404]);
    expect((await titlesIn(group, { title: 'race' })).length).toBe(1);
  });

  it('is refused for projects outside of groups and for users who manage only the project', async () => {
    const user = await service.seed.user();
    const home = await service.seed.project({ namespace_id: user.namespace_id });
    const own = at('project', home, service.seed.viewer(user));
    const mine = await add(own);
    expect(answerOf(await as(own.owner).post(`${own.path}/${mine.id}/promote`))).toEqual([
      400,
      { message: 'Project does not belong to a group.' },
    ]);
    const [one] = projects as [Place];
    const theirs = await add(one);
    const planner = await viewerIn({ id: one.id }, 'owner');
    const refused = await as(planner).post(`${one.path}/${theirs.id}/promote`);
    expect(answerOf(refused)).toEqual([403, { message: '403 Forbidden' }]);
    expect((await as(planner).put(`${one.path}/${theirs.id}`).send({ state_event: 'close' })).status).toBe(200);
  });
});

/** By role case: statuses of a GET and a write. */
const MATRIX: Readonly<Record<'public' | 'internal' | 'private', Readonly<Record<RoleCase, string>>>> = {
  public: expectedStatusRow('200 401', '200 403', '200 403'),
  internal: expectedStatusRow('404 401', '200 403', '404 404'),
  private: expectedStatusRow('404 401', '404 404', '404 404'),
};
function expectedStatusRow(anonymous: string, outsider: string, external: string): Record<RoleCase, string> {
  const members = Object.fromEntries(ROLES.map((role) => [role, role === 'guest' ? '200 403' : '200 201']));
  return { anonymous, outsider, external, admin: '200 201', ...members } as Record<RoleCase, string>;
}

describe.each<Kind>(['project', 'group'])('permissions for milestones of a %s', (kind) => {
  it.each(['public', 'internal', 'private'] as const)('that is %s', async (level) => {
    const source = await seeded(kind, level);
    const place = at(kind, source, await viewerIn(source, 'owner'));
    const { id } = await add(place);
    const one = `${place.path}/${id}`;
    const found: Record<string, string> = {};
    for (const standing of Object.keys(MATRIX[level]) as RoleCase[]) {
      const viewer = await standingIn(source, standing);
      const ask = async (method: Method, path: string, body: Record<string, unknown> = {}) =>
        answerOf(await requestOf(as(viewer), method, path).send(body));
      const [read] = await ask('GET', place.path);
      expect([standing, (await ask('GET', one))[0]]).toEqual([standing, read]);
      expect([standing, (await ask('GET', `${one}/issues`))[0]]).toEqual([standing, read]);
      const [made, body] = await ask('POST', place.path, { title: `by ${standing}` });
      const [changed] = await ask('PUT', one, { description: standing });
      expect([standing, changed]).toEqual([standing, made === 201 ? 200 : made]);
      const theirs = made === 201 ? `${place.path}/${(body as ShownMilestone).id}` : one;
      expect((await ask('DELETE', theirs))[0]).toBe(made === 201 ? 204 : made);
      if (kind === 'project' && made !== 201) expect((await ask('POST', `${one}/promote`))[0]).toBe(made);
      found[standing] = `${read} ${made}`;
    }
    expect(found).toEqual(MATRIX[level]);
  });
});

test('milestones of an archived project are read only, and refused without issues and merge requests', async () => {
  const project = await service.seed.project();
  const place = at('project', project, await viewerIn(project, 'owner'));
  const { id } = await add(place);
  const one = `${place.path}/${id}`;
  await service.seed.put('projects', { ...project, archived: true });
  expect(await titlesIn(place)).toHaveLength(1);
  expect((await as(place.owner).put(one).send({ title: 'x' })).status).toBe(403);
  const off = { issues_access_level: 'disabled', merge_requests_access_level: 'disabled' };
  await service.seed.put('projects', { ...project, ...off });
  for (const path of [place.path, one, `${one}/issues`]) {
    expect(answerOf(await as(place.owner).get(path))).toEqual([403, { message: '403 Forbidden' }]);
    expect((await as(service.seed.anonymous()).get(path)).status).toBe(401);
  }
  await service.seed.put('projects', { ...project, ...off, merge_requests_access_level: 'private' });
  expect(await titlesIn(place)).toHaveLength(1);
  expect(answerOf(await as(place.owner).get(`${one}/issues`))).toEqual([200, []]);
  expect((await as(service.seed.anonymous()).get(one)).status).toBe(401);
});
