import type { DirectoryNamespace, DirectoryProject } from '@rookery/contracts';
import { groupDeleted, groupMoved, projectDeleted, projectMoved } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';
import {
  registerForeignParentTests,
  registerListPagingTests,
  registerParameterEncodingTests,
  startNats,
  until,
} from '@rookery/testing';
import type { PrivateNats, SeededService, SeededUser } from '@rookery/testing';
import { castOf, eventsOf, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { issueActions } from '../support/issue-actions';
import { publish } from '../support/publish';
import { startWorker } from '../support/worker';
import type { Worker } from '../support/worker';

interface Milestone {
  readonly id: number;
  readonly iid: number;
  readonly title: string;
}
interface Issue {
  readonly id: number;
  readonly iid: number;
  readonly updated_at: string;
  readonly milestone: Milestone | null;
}
interface MilestoneEvent {
  readonly id: number;
  readonly action: string;
  readonly milestone: { readonly title: string } | null;
}

let service: SeededService;
let nats: PrivateNats;
let worker: Worker;
let group: DirectoryNamespace;
let project: DirectoryProject;
let cast: Cast;

beforeAll(async () => {
  service = await startCollaboration();
  nats = await startNats();
  worker = await startWorker({ databaseUrl: service.databaseUrl, nats });
});
afterAll(async () => {
  await worker.stop();
  await nats.drop();
  await service.close();
});
beforeEach(async () => {
  group = await service.seed.group();
  project = await service.seed.project({ namespace_id: group.id });
  cast = await castOf(service.seed, project);
});

const INVALID = { message: { milestone_id: ['is invalid'] } };
const { by, anIssue } = issueActions(() => ({ service, project, cast }));
const issues = () => `/api/v4/projects/${project.id}/issues`;
const made = async (fields: Record<string, unknown>, author?: SeededUser): Promise<Issue> =>
  (await anIssue(fields, author)) as Issue;
const put = async ({ iid }: Issue, fields: Record<string, unknown>, who = cast.owner): Promise<Issue> =>
  (await by(who).put(`${issues()}/${iid}`).send(fields).expect(200)).body as Issue;
const milestone = async (title: string, fields: Record<string, unknown> = {}, place = ownPlace()): Promise<Milestone> =>
  (
    await by(cast.admin)
      .post(`/api/v4/${place}/milestones`)
      .send({ title, ...fields })
      .expect(201)
  ).body as Milestone;
const ownPlace = () => `projects/${project.id}`;
const groupPlace = () => `groups/${group.id}`;
const listed = async (query: Record<string, unknown>, who = cast.owner): Promise<number[]> =>
  ((await by(who).get(issues()).query(query).expect(200)).body as Issue[]).map(({ iid }) => iid);
const changes = async ({ iid }: Issue): Promise<MilestoneEvent[]> =>
  (await by(cast.owner).get(`${issues()}/${iid}/resource_milestone_events`).expect(200)).body as MilestoneEvent[];
const queryRows = <R>(sql: string, ...values: unknown[]): Promise<R[]> => service.database.query<R>(sql, values);
const day = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

describe('writing', () => {
  test('sets a milestone of the project or an ancestor group, and removes it', async () => {
    const own = await milestone('own');
    const above = await milestone('above', {}, groupPlace());
    const issue = await made({ milestone_id: own.id });
    expect(issue.milestone).toEqual(own);
    expect((await by(cast.guest).get(`${issues()}/${issue.iid}`)).body).toMatchObject({ milestone: own });
    expect((await by(cast.guest).get(issues())).body).toMatchObject([{ iid: issue.iid, milestone: own }]);
    expect((await put(issue, { milestone_id: String(above.id) })).milestone).toEqual(above);
    expect((await put(issue, { title: 'kept' })).milestone).toEqual(above);
    for (const nothing of [0, '', null, '0']) {
      await put(issue, { milestone_id: own.id });
      expect((await put(issue, { milestone_id: nothing })).milestone).toBeNull();
    }
    expect((await made({ milestone_id: 0 })).milestone).toBeNull();
    await by(cast.admin).put(`/api/v4/${ownPlace()}/milestones/${own.id}`).send({ state_event: 'close' }).expect(200);
    expect((await put(issue, { milestone_id: own.id })).milestone).toMatchObject({ id: own.id, state: 'closed' });
  });

  test('refuses milestones of other places', async () => {
    const other = await service.seed.project({ namespace_id: group.id });
    const below = await service.seed.group({ parent: group });
    const foreign = [
      await milestone('other', {}, `projects/${other.id}`),
      await milestone('below', {}, `groups/${below.id}`),
      { id: 999_999_999 },
    ];
    const own = await milestone('own');
    const issue = await made({ milestone_id: own.id });
    for (const { id } of foreign) {
      const posted = await by(cast.owner).post(issues()).send({ title: 'x', milestone_id: id });
      expect([posted.status, posted.body]).toEqual([400, INVALID]);
      const changed = await by(cast.owner).put(`${issues()}/${issue.iid}`).send({ title: 'y', milestone_id: id });
      expect([changed.status, changed.body]).toEqual([400, INVALID]);
      const missing = await by(cast.owner).put(`${issues()}/99`).send({ milestone_id: id });
      expect([missing.status, missing.body]).toEqual([404, { message: '404 Issue Not Found' }]);
    }
    const { body } = await by(cast.owner).get(`${issues()}/${issue.iid}`);
    expect(body).toMatchObject({ title: 'An issue', milestone: own });
    expect((await made({})).iid).toBe(2);
    for (const [value, error] of [
      ['x', 'milestone_id is invalid'],
      [-1, 'milestone_id does not have a valid value'],
    ]) {
      const refused = await by(cast.owner).post(issues()).send({ title: 'x', milestone_id: value });
      expect([refused.status, refused.body]).toEqual([400, { error }]);
    }
  });

  test('is for planners, and ignored from others', async () => {
    const own = await milestone('own');
    for (const id of [own.id, 999_999_999]) {
      const issue = await made({ milestone_id: id, title: 'mine' }, cast.guest);
      expect(issue.milestone).toBeNull();
      expect((await put(issue, { milestone_id: id }, cast.guest)).milestone).toBeNull();
      expect(await changes(issue)).toEqual([]);
    }
    const issue = await made({}, cast.guest);
    expect((await put(issue, { milestone_id: own.id }, cast.planner)).milestone).toEqual(own);
    expect((await put(issue, { milestone_id: 0, title: 'x' }, cast.guest)).milestone).toEqual(own);
    const refused = await by(cast.stranger).put(`${issues()}/${issue.iid}`).send({ milestone_id: 0 });
    expect([refused.status, refused.body]).toEqual([403, { message: '403 Forbidden' }]);
  });

  test('changes updated_at and publishes one event, without a note', async () => {
    const own = await milestone('own');
    const issue = await made({ milestone_id: own.id });
    const updates = () => eventsOf(service.database, 'collaboration.issue.updated.v1');
    const before = (await updates()).length;
    expect(await put(issue, { milestone_id: own.id })).toEqual(issue);
    expect((await put(issue, { milestone_id: 0 })).updated_at).not.toBe(issue.updated_at);
    expect(await updates()).toHaveLength(before + 1);
    expect((await by(cast.owner).get(`${issues()}/${issue.iid}/notes`)).body).toEqual([]);
  });

  test('during its deletion leaves no issue with a deleted milestone', async () => {
    const own = await milestone('own');
    const all = await Promise.all(Array.from({ length: 12 }, () => made({})));
    const path = `/api/v4/${ownPlace()}/milestones/${own.id}`;
    const [removed, ...set] = await Promise.all([
      by(cast.owner).delete(path),
      ...all.map(({ iid }) => by(cast.owner).put(`${issues()}/${iid}`).send({ milestone_id: own.id })),
    ]);
    expect(removed.status).toBe(204);
    for (const { status, body } of set) if (status !== 200) expect([status, body]).toEqual([400, INVALID]);
    expect(await listed({ milestone_id: 'None' })).toHaveLength(12);
    expect(await listed({ milestone_id: 'Any' })).toEqual([]);
  });

  let encoded = 0;
  registerParameterEncodingTests({
    app: () => service.app,
    to: () => ({
      viewer: service.seed.viewer(cast.owner),
      method: 'POST',
      path: issues(),
      params: { title: `encoded ${++encoded}`, milestone_id: 0 },
    }),
    seen: ({ milestone: none }) => none,
    expected: null,
  });
});

describe('lists', () => {
  test('are filtered by milestone', async () => {
    const open = await milestone('v1', { due_date: day(30) }, groupPlace());
    const begun = await milestone('upcoming', { start_date: day(-30) });
    const over = await milestone('v2', { start_date: day(-60), due_date: day(-30) });
    const closed = await milestone('v3', { start_date: day(-9), due_date: day(30) });
    await by(cast.owner)
      .put(`/api/v4/${ownPlace()}/milestones/${closed.id}`)
      .send({ state_event: 'close' })
      .expect(200);
    const ids = [open.id, begun.id, 0, over.id, closed.id, open.id];
    for (const id of ids) await made({ milestone_id: id, confidential: id === over.id });
    for (const [query, expected] of [
      [{ milestone: 'v1' }, [6, 1]],
      [{ milestone: 'V1' }, []],
      [{ milestone: 'upcoming' }, [2]],
      [{ milestone: 'no such' }, []],
      [{ milestone: '' }, [6, 5, 4, 3, 2, 1]],
      [{ milestone: 'none' }, [3]],
      [{ milestone: 'No Milestone' }, [3]],
      [{ milestone: 'Any' }, [6, 5, 4, 2, 1]],
      [{ milestone: 'Any Milestone' }, [6, 5, 4, 2, 1]],
      [{ milestone_id: 'Any Milestone' }, [6, 5, 4, 2, 1]],
      [{ milestone_id: 'No Milestone' }, [3]],
      [{ 'not[milestone]': 'any milestone' }, [3]],
      [{ milestone: '#upcoming' }, [6, 1]],
      [{ milestone: '#started' }, [4, 2]],
      [{ milestone_id: 'None' }, [3]],
      [{ milestone_id: '0' }, [3]],
      [{ milestone_id: 'any' }, [6, 5, 4, 2, 1]],
      [{ milestone_id: 'Upcoming' }, [6, 1]],
      [{ milestone_id: 'STARTED' }, [4, 2]],
      [{ milestone_id: begun.id }, [2]],
      [{ milestone_id: '' }, [6, 5, 4, 3, 2, 1]],
      [{ 'not[milestone]': 'v1' }, [5, 4, 3, 2]],
      [{ 'not[milestone]': 'None' }, [6, 5, 4, 2, 1]],
      [{ 'not[milestone_id]': 'Started' }, [6, 5, 3, 1]],
      [{ 'not[milestone_id]': 'Upcoming', milestone_id: 'Any' }, [5, 4, 2]],
      [{ milestone: 'v1', state: 'closed' }, []],
    ] as const) {
      expect([query, await listed(query)]).toEqual([query, [...expected]]);
    }
    expect(await listed({ milestone_id: 'Any' }, cast.guest)).toEqual([6, 5, 2, 1]);
    for (const [query, error] of [
      [{ milestone_id: 'soon' }, 'milestone_id does not have a valid value'],
      [{ 'not[milestone_id]': 'soon' }, 'not[milestone_id] does not have a valid value'],
      [{ milestone_id: 'Any', milestone: 'v1' }, 'milestone, milestone_id are mutually exclusive'],
    ] as const) {
      const refused = await by(cast.owner).get(issues()).query(query);
      expect([refused.status, refused.body]).toEqual([400, { error }]);
    }
  });

  test('are ordered by its due date', async () => {
    const late = await milestone('late', { due_date: '2030-06-01' });
    const soon = await milestone('soon', { due_date: '2030-05-01' }, groupPlace());
    const never = await milestone('never');
    for (const id of [late.id, never.id, soon.id, 0]) await made({ milestone_id: id });
    expect(await listed({ order_by: 'milestone_due', sort: 'asc' })).toEqual([3, 1, 2, 4]);
    expect(await listed({ order_by: 'milestone_due', sort: 'desc' })).toEqual([1, 3, 4, 2]);
  });
});

describe('issues of a milestone', () => {
  const of = async (who: SeededUser | null, place: string, { id }: Milestone) => {
    const agent = who ? by(who) : service.app.as(service.seed.anonymous());
    return agent.get(`/api/v4/${place}/milestones/${id}/issues`);
  };
  const seen = async (who: SeededUser | null, place: string, one: Milestone): Promise<string[]> => {
    const { body } = await of(who, place, one);
    return (body as { title: string }[]).map(({ title }) => title);
  };

  test('are the readable ones, newest first, as in lists', async () => {
    const above = await milestone('above', {}, groupPlace());
    const own = await milestone('own');
    expect(await seen(cast.guest, groupPlace(), above)).toEqual([]);
    const hidden = await service.seed.project({ namespace_id: group.id, visibility: 'private' });
    const add = (title: string, fields: Record<string, unknown> = {}, id = project.id) =>
      by(cast.admin)
        .post(`/api/v4/projects/${id}/issues`)
        .send({ title, milestone_id: above.id, ...fields })
        .expect(201);
    await add('plain');
    await add('secret', { confidential: true });
    await add('theirs', { confidential: true, assignee_ids: [cast.guest.id] });
    await add('elsewhere', {}, hidden.id);
    await add('own', { milestone_id: own.id });
    await add('own secret', { milestone_id: own.id, confidential: true });
    await add('none', { milestone_id: 0 });
    const all = ['elsewhere', 'theirs', 'secret', 'plain'];
    expect(await seen(cast.admin, groupPlace(), above)).toEqual(all);
    expect(await seen(cast.planner, groupPlace(), above)).toEqual(all.slice(1));
    expect(await seen(cast.guest, groupPlace(), above)).toEqual(['theirs', 'plain']);
    for (const who of [cast.stranger, cast.external, null]) {
      expect(await seen(who, groupPlace(), above)).toEqual(['plain']);
      expect(await seen(who, ownPlace(), own)).toEqual(['own']);
    }
    expect(await seen(cast.reporter, ownPlace(), own)).toEqual(['own secret', 'own']);
    const counted = await of(cast.stranger, groupPlace(), above);
    expect(counted.headers['x-total']).toBe('1');
    const [shown] = counted.body as [{ iid: number }];
    expect(shown).toEqual(((await by(cast.stranger).get(issues()).query({ iids: shown.iid })).body as unknown[])[0]);
    const foreign = await of(cast.admin, ownPlace(), above);
    expect([foreign.status, foreign.body]).toEqual([404, { message: '404 Not found' }]);
    await service.seed.put('projects', { ...project, issues_access_level: 'private' });
    expect(await seen(cast.stranger, groupPlace(), above)).toEqual([]);
    expect(await seen(cast.guest, groupPlace(), above)).toEqual(['theirs', 'plain']);
    expect(await seen(cast.stranger, ownPlace(), own)).toEqual([]);
  });

  test('count internal notes for readers of these', async () => {
    const own = await milestone('own');
    const { iid } = await made({ milestone_id: own.id });
    await by(cast.owner).post(`${issues()}/${iid}/notes`).send({ body: 'x', internal: true }).expect(201);
    expect((await of(cast.reporter, ownPlace(), own)).body).toMatchObject([{ user_notes_count: 1 }]);
    expect((await of(cast.planner, ownPlace(), own)).body).toMatchObject([{ user_notes_count: 0 }]);
  });

  describe('as a list', () => {
    let at: { viewer: Viewer; path: string };
    beforeEach(async () => {
      const { id } = await milestone('own');
      for (let i = 0; i < 7; i++) await made({ milestone_id: id });
      at = { viewer: service.seed.viewer(cast.guest), path: `/api/v4/${ownPlace()}/milestones/${id}/issues` };
    });
    registerListPagingTests(() => ({ app: service.app, ...at, rows: 7 }));
  });
});

describe('milestone events', () => {
  test('are shown one by one', async () => {
    const own = await milestone('own');
    const next = await milestone('next', {}, groupPlace());
    const issue = await made({ milestone_id: own.id });
    await put(issue, { milestone_id: next.id });
    await put(issue, { milestone_id: 0 });
    await put(issue, { milestone_id: 0, title: 'x' });
    const all = await changes(issue);
    expect(all.map(({ action, milestone: one }) => `${action} ${one!.title}`)).toEqual([
      'add own',
      'add next',
      'remove next',
    ]);
    const whole = {
      id: expect.any(Number),
      user: expect.objectContaining({ id: cast.owner.id, username: cast.owner.username }),
      created_at: expect.stringMatching(/\.\d{3}Z$/),
      resource_type: 'Issue',
      resource_id: issue.id,
      milestone: own,
      action: 'add',
    };
    const [first] = all;
    expect(first).toEqual(whole);
    const path = `${issues()}/${issue.iid}/resource_milestone_events`;
    expect((await by(cast.guest).get(`${path}/${first!.id}`)).body).toEqual(whole);
    expect((await service.app.as(service.seed.anonymous()).get(path)).body).toEqual(all);
    expect((await by(cast.guest).get(`${path}/999999`)).body).toEqual({ message: '404 Not found' });
    expect((await by(cast.guest).get(`${issues()}/99/resource_milestone_events`)).body).toEqual({
      message: '404 Issue Not Found',
    });
  });

  test('stay when the milestone is deleted, and no issue gets a new one', async () => {
    const own = await milestone('own');
    const issue = await made({ milestone_id: own.id });
    await by(cast.owner).delete(`/api/v4/${ownPlace()}/milestones/${own.id}`).expect(204);
    expect(await changes(issue)).toMatchObject([{ milestone: null, action: 'add' }]);
    const { body } = await by(cast.owner).get(`${issues()}/${issue.iid}`);
    expect(body).toMatchObject({ milestone: null, updated_at: issue.updated_at });
    expect(await listed({ milestone_id: 'None' })).toEqual([issue.iid]);
  });

  test('are hidden with the issue', async () => {
    const own = await milestone('own');
    const issue = await made({ milestone_id: own.id, confidential: true });
    const [change] = await changes(issue);
    for (const who of [cast.guest, cast.stranger, cast.external]) {
      for (const tail of ['', `/${change!.id}`]) {
        const hidden = await by(who).get(`${issues()}/${issue.iid}/resource_milestone_events${tail}`);
        expect([hidden.status, hidden.body]).toEqual([404, { message: '404 Issue Not Found' }]);
      }
    }
  });

  describe('as a list', () => {
    let at: { viewer: Viewer; path: string };
    let other: Issue;
    beforeEach(async () => {
      const own = [await milestone('own'), await milestone('next')];
      const issue = await made({ milestone_id: own[0]!.id });
      for (let i = 1; i < 7; i++) await put(issue, { milestone_id: own[i % 2]!.id });
      other = await made({ milestone_id: own[0]!.id });
      at = { viewer: service.seed.viewer(cast.guest), path: `${issues()}/${issue.iid}/resource_milestone_events` };
    });
    registerListPagingTests(() => ({ app: service.app, ...at, rows: 7 }));
    registerForeignParentTests({
      app: () => service.app,
      viewer: () => at.viewer,
      requests: async () => [{ method: 'GET', path: `${at.path}/${(await changes(other))[0]!.id}` }],
    });
  });
});

describe('effects', () => {
  const shownIn = async ({ id }: DirectoryProject): Promise<string[]> => {
    const { body } = await by(cast.admin).get(`/api/v4/projects/${id}/milestones`).expect(200);
    return (body as Milestone[]).map(({ iid, title }) => `${iid} ${title}`).sort();
  };

  test('milestones of a former ancestor group become project milestones', async () => {
    const top = await service.seed.group();
    const below = await service.seed.group({ parent: top });
    const moving = await service.seed.project({ namespace_id: below.id });
    const target = await service.seed.group();
    const above = await milestone('from above', { description: 'x', due_date: '2030-01-01' }, `groups/${top.id}`);
    const near = await milestone('from below', {}, `groups/${below.id}`);
    const replacement = await milestone('from below', {}, `groups/${target.id}`);
    await milestone('own', {}, `projects/${moving.id}`);
    const path = `/api/v4/projects/${moving.id}/issues`;
    const add = async (milestone_id: number): Promise<number> =>
      (await by(cast.admin).post(path).send({ title: 'x', milestone_id }).expect(201)).body.iid as number;
    const milestoneOf = async (iid: number) => (await by(cast.admin).get(`${path}/${iid}`)).body.milestone as Milestone;
    const [one, two, three] = [await add(above.id), await add(near.id), await add(above.id)];
    await service.seed.put('projects', { ...moving, namespace_id: target.id });
    const data = { project_id: moving.id, namespace_id: target.id };
    await publish(nats, projectMoved.of({ aggregateId: moving.id, actorId: 1, data }));
    await until(async () => (await shownIn(moving)).length === 2, 'the milestone');
    expect(await shownIn(moving)).toEqual(['1 own', '2 from above']);
    const copy = await milestoneOf(one);
    expect(copy).toMatchObject({
      title: 'from above',
      description: 'x',
      due_date: '2030-01-01',
      project_id: moving.id,
    });
    expect([await milestoneOf(two), await milestoneOf(three)]).toEqual([replacement, copy]);
    expect((await by(cast.admin).get(`${path}/${one}/resource_milestone_events`)).body).toMatchObject([
      { action: 'add', milestone: { id: copy.id } },
    ]);
    expect((await by(cast.admin).get(path).query({ milestone: 'from above' })).body).toHaveLength(2);
    expect((await by(cast.admin).get(`/api/v4/groups/${top.id}/milestones/${above.id}`)).body).toEqual(above);

    await service.seed.put('namespaces', { ...target, parent_id: top.id, traversal_ids: [top.id, target.id] });
    const also = await milestone('also above', {}, `groups/${top.id}`);
    const four = await add(also.id);
    await service.seed.put('namespaces', target);
    await publish(nats, groupMoved.of({ aggregateId: target.id, actorId: 1, data: { group_id: target.id } }));
    await until(async () => (await shownIn(moving)).includes('3 also above'), 'the milestone');
    expect(await milestoneOf(four)).toMatchObject({ title: 'also above', project_id: moving.id });
  });

  test.each(['milestone', 'label'] as const)('an event shows no %s of a former ancestor group', async (noun) => {
    const [left, target] = [await service.seed.group(), await service.seed.group()];
    const moving = await service.seed.project({ namespace_id: left.id });
    const own = { milestone: { milestone_id: 0 }, label: { labels: '' } }[noun];
    const { id } =
      noun === 'milestone'
        ? await milestone('secret', {}, `groups/${left.id}`)
        : (await by(cast.admin).post(`/api/v4/groups/${left.id}/labels`).send({ name: 'secret', color: '#fff' })).body;
    const given = { milestone: { milestone_id: id as number }, label: { labels: 'secret' } }[noun];
    const path = `/api/v4/projects/${moving.id}/issues`;
    const { body: issue } = await by(cast.admin)
      .post(path)
      .send({ title: 'x', ...given })
      .expect(201);
    await by(cast.admin).put(`${path}/${issue.iid}`).send(own).expect(200);
    const events = `${path}/${issue.iid}/resource_${noun}_events`;
    const eventMilestones = async () => {
      const { body } = await by(cast.admin).get(events).expect(200);
      const one = await by(cast.admin).get(`${events}/${body[0].id}`).expect(200);
      expect(one.body).toEqual(body[0]);
      return (body as Record<string, { id: number } | null>[]).map((event) => event[noun]?.id ?? null);
    };
    expect(await eventMilestones()).toEqual([id, id]);
    await service.seed.put('projects', { ...moving, namespace_id: target.id });
    expect(await eventMilestones()).toEqual([null, null]);
  });

  test('events are deleted with the issue, project and group', async () => {
    const above = await milestone('above', {}, groupPlace());
    const own = await milestone('own');
    const issue = await made({ milestone_id: own.id });
    const stays = await made({ milestone_id: above.id });
    await by(cast.owner).delete(`${issues()}/${issue.iid}`).expect(204);
    await worker.drained();
    const left = () =>
      queryRows<{ noteable_id: number }>(
        'select noteable_id from resource_milestone_events where project_id = $1',
        project.id,
      );
    expect(await left()).toEqual([{ noteable_id: stays.id }]);
    const kept = await service.seed.project({ namespace_id: group.id });
    const path = `/api/v4/projects/${kept.id}/issues`;
    await by(cast.admin).post(path).send({ title: 'x', milestone_id: above.id }).expect(201);
    await service.database.query('delete from directory_projects where id = $1', [project.id]);
    const data = { project_id: project.id };
    await publish(nats, projectDeleted.of({ aggregateId: project.id, actorId: 1, data }));
    const gone = (column: string, id: number) => async () =>
      (await queryRows(`select 1 from milestones where ${column} = $1`, id)).length === 0;
    await until(gone('project_id', project.id), 'the milestones of the project to go');
    expect(await left()).toEqual([]);
    expect((await by(cast.admin).get(`${path}/1`)).body).toMatchObject({ milestone: above });
    await service.database.query('delete from directory_namespaces where id = $1', [group.id]);
    await publish(nats, groupDeleted.of({ aggregateId: group.id, actorId: 1, data: { group_id: group.id } }));
    await until(gone('group_id', group.id), 'the milestones of the group to go');
    expect(await queryRows('select milestone_id from issues where project_id = $1', kept.id)).toEqual([
      { milestone_id: null },
    ]);
  });
});
