import type { DirectoryNamespace, DirectoryProject } from '@rookery/contracts';
import { projectDeleted } from '@rookery/contracts';
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

interface Issue {
  readonly id: number;
  readonly iid: number;
  readonly weight: number | null;
}
interface ResourceEvent {
  readonly id: number;
  readonly created_at: string;
  readonly state?: string;
  readonly weight?: number | null;
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

const { by, anIssue } = issueActions(() => ({ service, project, cast }));
const issues = () => `/api/v4/projects/${project.id}/issues`;
const made = async (fields: Record<string, unknown> = {}, author = cast.owner) =>
  (await anIssue(fields, author)) as Issue;
const put = async ({ iid }: Pick<Issue, 'iid'>, fields: Record<string, unknown>, who = cast.planner): Promise<Issue> =>
  (await by(who).put(`${issues()}/${iid}`).send(fields).expect(200)).body as Issue;
const resourceEventsPath = (sort: string, { iid }: Pick<Issue, 'iid'>) => `${issues()}/${iid}/resource_${sort}_events`;
const changes = async (sort: 'state' | 'weight', issue: Issue): Promise<ResourceEvent[]> =>
  (await by(cast.guest).get(resourceEventsPath(sort, issue)).expect(200)).body as ResourceEvent[];
const weights = async (issue: Issue) => (await changes('weight', issue)).map(({ weight }) => weight);
const states = async (issue: Issue) => (await changes('state', issue)).map(({ state }) => state);
const listed = async (query: Record<string, unknown>): Promise<number[]> =>
  ((await by(cast.owner).get(issues()).query(query).expect(200)).body as Issue[]).map(({ iid }) => iid);
const rowsOf = (table: string) => service.database.query(`select 1 from ${table} where project_id = $1`, [project.id]);
const expectedPerson = ({ id, username, name }: SeededUser) => expect.objectContaining({ id, username, name });
const changeGroupPlan = (plan: DirectoryNamespace['plan']) => service.seed.put('namespaces', { ...group, plan });

describe('a weight', () => {
  test('is set, changed and removed, with an event for each change', async () => {
    const issue = await made({ weight: 5 });
    expect(issue.weight).toBe(5);
    expect((await put(issue, { weight: 0 })).weight).toBe(0);
    const before = (await eventsOf(service.database, 'collaboration.issue.updated.v1')).length;
    expect((await put(issue, { weight: 0 })).weight).toBe(0);
    expect(await eventsOf(service.database, 'collaboration.issue.updated.v1')).toHaveLength(before);
    expect((await put(issue, { weight: null })).weight).toBeNull();
    expect(await eventsOf(service.database, 'collaboration.issue.updated.v1')).toHaveLength(before + 1);
    expect((await put(issue, { due_date: '2026-12-24' })).weight).toBeNull();
    const events = await changes('weight', issue);
    expect(events).toMatchObject([
      { user: expectedPerson(cast.owner), issue_id: issue.id, weight: 5 },
      { user: expectedPerson(cast.planner), issue_id: issue.id, weight: 0 },
      { user: expectedPerson(cast.planner), issue_id: issue.id, weight: null },
    ]);
    expect(Object.keys(events[0]!)).toEqual(['id', 'user', 'created_at', 'issue_id', 'weight']);
    const one = await by(cast.guest)
      .get(`${resourceEventsPath('weight', issue)}/${events[0]!.id}`)
      .expect(200);
    expect(one.body).toEqual(events[0]);
    const { body: notes } = await by(cast.guest).get(`${issues()}/${issue.iid}/notes`).expect(200);
    expect((notes as { body: string }[]).map((note) => note.body)).toEqual(['changed due date to December 24, 2026']);
  });

  test('that does not change has no event', async () => {
    expect(await weights(await made({ weight: null }))).toEqual([]);
  });

  test.each([-1, 'heavy', 2_147_483_648])('is refused as %j', async (weight) => {
    const reason = typeof weight === 'string' ? 'weight is invalid' : 'weight does not have a valid value';
    for (const request of [by(cast.owner).post(issues()), by(cast.owner).put(`${issues()}/1`)]) {
      expect((await request.send({ title: 'x', weight }).expect(400)).body).toEqual({ error: reason });
    }
  });

  test('is ignored from users who may not plan, and in the free plan', async () => {
    const own = await made({ weight: 5 }, cast.guest);
    expect(own.weight).toBeNull();
    expect((await put(own, { weight: 5 }, cast.guest)).weight).toBeNull();
    const issue = await made({ weight: 5 });
    await changeGroupPlan('free');
    expect((await made({ weight: 5 })).weight).toBeNull();
    expect((await put(issue, { weight: 7, title: 'Renamed' })).weight).toBe(5);
    expect((await put(issue, { weight: null })).weight).toBeNull();
    expect(await weights(issue)).toEqual([5, null]);
    await changeGroupPlan('premium');
    expect((await put(issue, { weight: 7 })).weight).toBe(7);
  });

  test('filters and sorts lists', async () => {
    for (const weight of [3, null, 0, 7]) await made({ weight });
    expect(await listed({ weight: 3 })).toEqual([1]);
    expect(await listed({ weight: 0 })).toEqual([3]);
    expect(await listed({ weight: 9 })).toEqual([]);
    expect(await listed({ weight: 'None' })).toEqual([2]);
    expect(await listed({ weight: 'any' })).toEqual([4, 3, 1]);
    expect(await listed({ weight: 'No Weight' })).toEqual([2]);
    expect(await listed({ weight: 'Any Weight' })).toEqual([4, 3, 1]);
    expect(await listed({ weight: '' })).toEqual([4, 3, 2, 1]);
    expect(await listed({ 'not[weight]': 3 })).toEqual([4, 3, 2]);
    expect(await listed({ 'not[weight]': 'None' })).toEqual([4, 3, 1]);
    expect(await listed({ 'not[weight]': 'Any' })).toEqual([2]);
    expect(await listed({ order_by: 'weight', sort: 'asc' })).toEqual([3, 1, 4, 2]);
    expect(await listed({ order_by: 'weight', sort: 'desc' })).toEqual([4, 1, 3, 2]);
    for (const query of [{ weight: 'heavy' }, { 'not[weight]': '-1' }]) {
      const [name] = Object.keys(query);
      expect((await by(cast.owner).get(issues()).query(query).expect(400)).body).toEqual({
        error: `${name} is invalid`,
      });
    }
  });

  registerParameterEncodingTests({
    app: () => service.app,
    to: () => ({
      viewer: service.seed.viewer(cast.owner),
      method: 'POST',
      path: issues(),
      params: { title: 'x', weight: 8 },
    }),
    seen: ({ weight }) => [weight],
    expected: [8],
  });
});

describe('a state', () => {
  test('has an event when it changes, and none for a new issue', async () => {
    const issue = await made();
    expect(await changes('state', issue)).toEqual([]);
    await put(issue, { state_event: 'close' });
    await put(issue, { state_event: 'close' });
    await put(issue, { state_event: 'reopen', title: 'Again' }, cast.reporter);
    const events = await changes('state', issue);
    expect(events).toEqual([
      {
        id: events[0]!.id,
        user: expectedPerson(cast.planner),
        created_at: events[0]!.created_at,
        resource_type: 'Issue',
        resource_id: issue.id,
        state: 'closed',
      },
      expect.objectContaining({ user: expectedPerson(cast.reporter), state: 'reopened' }),
    ]);
    const { body } = await by(cast.guest).get(`${issues()}/${issue.iid}`).expect(200);
    expect(events[1]!.created_at).toBe((body as { updated_at: string }).updated_at);
    const one = await by(cast.guest)
      .get(`${resourceEventsPath('state', issue)}/${events[1]!.id}`)
      .expect(200);
    expect(one.body).toEqual(events[1]);
  });

  test('has no event for a refused change', async () => {
    const issue = await made();
    await by(cast.guest).put(`${issues()}/${issue.iid}`).send({ state_event: 'close' }).expect(403);
    const bad = { state_event: 'close', title: ' ' };
    await by(cast.owner).put(`${issues()}/${issue.iid}`).send(bad).expect(400);
    expect(await states(issue)).toEqual([]);
  });
});

describe.each(['state', 'weight'] as const)('events of a %s', (sort) => {
  const aChange = (step: number) =>
    sort === 'weight' ? { weight: step } : { state_event: step % 2 ? 'close' : 'reopen' };
  const changed = async (times: number, fields: Record<string, unknown> = {}): Promise<Issue> => {
    const issue = await made(fields);
    for (let step = 1; step <= times; step++) await put(issue, aChange(step));
    return issue;
  };

  test('are visible only to readers of the issue', async () => {
    const open = await changed(1);
    const anonymous = await service.app.as(service.seed.anonymous()).get(resourceEventsPath(sort, open)).expect(200);
    expect(anonymous.body).toHaveLength(1);
    expect((await by(cast.guest).get(`${resourceEventsPath(sort, open)}/999999`)).body).toEqual({
      message: '404 Not found',
    });
    const hidden = await changed(1, { confidential: true });
    const [change] = (await by(cast.planner).get(resourceEventsPath(sort, hidden)).expect(200)).body as ResourceEvent[];
    for (const who of [cast.guest, cast.stranger, cast.external]) {
      for (const tail of ['', `/${change!.id}`]) {
        const refused = await by(who).get(`${resourceEventsPath(sort, hidden)}${tail}`);
        expect([refused.status, refused.body]).toEqual([404, { message: '404 Issue Not Found' }]);
      }
    }
    await service.seed.put('projects', { ...project, issues_access_level: 'disabled' });
    await by(cast.owner).get(resourceEventsPath(sort, open)).expect(404);
  });

  describe('as a list', () => {
    let path: string;
    let other: Issue;
    beforeEach(async () => {
      path = resourceEventsPath(sort, await changed(7));
      other = await changed(1);
    });
    registerListPagingTests(() => ({ app: service.app, viewer: service.seed.viewer(cast.guest), path, rows: 7 }));
    registerForeignParentTests({
      app: () => service.app,
      viewer: () => service.seed.viewer(cast.guest),
      requests: async () => [{ method: 'GET', path: `${path}/${(await changes(sort, other))[0]!.id}` }],
    });
  });

  test('are deleted with the issue and the project', async () => {
    const table = `resource_${sort}_events`;
    const gone = await changed(2);
    await changed(1);
    await by(cast.owner).delete(`${issues()}/${gone.iid}`).expect(204);
    await until(async () => (await rowsOf(table)).length === 1, 'the end of two changes');
    await service.database.query('delete from directory_projects where id = $1', [project.id]);
    await publish(nats, projectDeleted.of({ aggregateId: project.id, actorId: 1, data: { project_id: project.id } }));
    await until(async () => (await rowsOf(table)).length === 0, 'the end of all changes');
  });
});
