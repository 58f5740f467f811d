import { memberAdded, memberRemoved, projectCreated } from '@rookery/contracts';
import type { DirectoryNamespace } from '@rookery/contracts';
import { REMOVAL_CHUNK } from '@rookery/persistence';
import { startNats, until } from '@rookery/testing';
import type { PrivateNats, SeededService } from '@rookery/testing';
import { ProjectRepositories } from '../../src/code/repositories/project-repositories';
import { startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { MergeActions } from '../support/merge-actions';
import { MergeRequestScene } from '../support/merge-request-scene';
import { publish } from '../support/publish';
import { startWorker } from '../support/worker';
import type { Worker } from '../support/worker';

/** Each row of reference work-tracking 7.2 that has a trigger: cause, filter and entry, through the bus. */
let service: SeededService;
let scene: MergeRequestScene;
let nats: PrivateNats;
let worker: Worker;
let here: MergeActions;

beforeAll(async () => {
  service = await startCollaboration();
  scene = await MergeRequestScene.start(service);
  nats = await startNats();
  const { directory } = await service.app.get(ProjectRepositories).openRepository({ id: 1, defaultBranch: 'main' });
  const env = { ROOKERY_REPOSITORIES: directory.split('/@hashed/')[0]! };
  worker = await startWorker({ databaseUrl: service.databaseUrl, nats, env });
});
afterAll(async () => {
  await worker.stop();
  await nats.drop();
  await scene.stop();
  await service.close();
});
beforeEach(async () => void (here = await MergeActions.in(service, scene)));

type ShownResource = Record<string, unknown> & { readonly id: number; readonly iid: number };
const at = '2026-02-02T10:00:00.000Z';
const projectPath = () => `/api/v4/projects/${here.place.project.id}`;
const send = async (method: 'post' | 'put', tail: string, body: object = {}): Promise<ShownResource> =>
  (
    await here
      .as('developer')
      [method](`${projectPath()}/${tail}`)
      .send(body)
      .expect((answer) => {
        if (answer.status >= 300) throw new Error(`${tail}: ${answer.status} ${answer.text}`);
      })
  ).body as ShownResource;
const issue = () => send('post', 'issues', { title: 'A title' });
const milestone = () => send('post', 'milestones', { title: 'A title' });
const developer = () => here.place.cast.developer.id;
const memberOfProjectData = () => ({
  source_type: 'project' as const,
  source_id: here.place.project.id,
  user_id: developer(),
});
const projectEventFields = () => ({ aggregateId: here.place.project.id, actorId: developer() });

interface ActivityRow {
  readonly action: string;
  readonly target: string | null;
  readonly name: string;
  readonly type: string | null;
  /** Title of the target; null if the entry has none. */
  readonly title: string | null;
  cause(): Promise<ShownResource | { readonly id: number | null; readonly iid?: number }>;
}
const mergeRequest = () => here.open({ title: 'A title' });
const ROWS: ActivityRow[] = [
  { action: 'created', target: 'issue', name: 'opened', type: 'Issue', title: 'A title', cause: issue },
  {
    ...{ action: 'created', target: 'merge_request', name: 'opened', type: 'MergeRequest', title: 'A title' },
    cause: mergeRequest,
  },
  { action: 'created', target: 'milestone', name: 'opened', type: 'Milestone', title: 'A title', cause: milestone },
  {
    ...{ action: 'closed', target: 'issue', name: 'closed', type: 'Issue', title: 'A title' },
    cause: async () => send('put', `issues/${(await issue()).iid}`, { state_event: 'close' }),
  },
  {
    ...{ action: 'closed', target: 'merge_request', name: 'closed', type: 'MergeRequest', title: 'A title' },
    cause: async () => send('put', `merge_requests/${(await mergeRequest()).iid}`, { state_event: 'close' }),
  },
  {
    ...{ action: 'closed', target: 'milestone', name: 'closed', type: 'Milestone', title: 'A title' },
    cause: async () => send('put', `milestones/${(await milestone()).id}`, { state_event: 'close' }),
  },
  {
    ...{ action: 'reopened', target: 'issue', name: 'opened', type: 'Issue', title: 'A title' },
    async cause() {
      const { iid } = await issue();
      await send('put', `issues/${iid}`, { state_event: 'close' });
      return send('put', `issues/${iid}`, { state_event: 'reopen' });
    },
  },
  {
    ...{ action: 'reopened', target: 'merge_request', name: 'opened', type: 'MergeRequest', title: 'A title' },
    async cause() {
      const { iid } = await mergeRequest();
      await send('put', `merge_requests/${iid}`, { state_event: 'close' });
      return send('put', `merge_requests/${iid}`, { state_event: 'reopen' });
    },
  },
  {
    ...{ action: 'reopened', target: 'milestone', name: 'opened', type: 'Milestone', title: 'A title' },
    async cause() {
      const { id } = await milestone();
      await send('put', `milestones/${id}`, { state_event: 'close' });
      return send('put', `milestones/${id}`, { state_event: 'activate' });
    },
  },
  {
    ...{ action: 'destroyed', target: 'milestone', name: 'destroyed', type: 'Milestone', title: null },
    async cause() {
      await here
        .as('developer')
        .delete(`${projectPath()}/milestones/${(await milestone()).id}`)
        .expect(204);
      return { id: null };
    },
  },
  {
    ...{ action: 'commented', target: 'note', name: 'commented on', type: 'Note', title: 'A title' },
    cause: async () => send('post', `issues/${(await issue()).iid}/notes`, { body: 'A word' }),
  },
  {
    ...{ action: 'merged', target: 'merge_request', name: 'accepted', type: 'MergeRequest', title: 'A title' },
    cause: async () => (await here.merge((await mergeRequest()).iid).expect(200)).body as ShownResource,
  },
  {
    ...{ action: 'approved', target: 'merge_request', name: 'approved', type: 'MergeRequest', title: 'A title' },
    async cause() {
      const { body } = await here
        .as('maintainer')
        .post(here.place.path)
        .send({ title: 'A title', source_branch: await createBranch(), target_branch: 'main' })
        .expect(201);
      await send('post', `merge_requests/${(body as ShownResource).iid}/approve`);
      return body as ShownResource;
    },
  },
  {
    ...{ action: 'created', target: 'project', name: 'created', type: 'Project', title: 'its name' },
    async cause() {
      const { id, namespace_id } = here.place.project;
      const data = { project_id: id, namespace_id, creator_id: developer(), created_at: at };
      await publish(nats, projectCreated.of({ ...projectEventFields(), data }));
      return { id };
    },
  },
  {
    ...{ action: 'joined', target: 'project', name: 'joined', type: 'Project', title: 'its name' },
    async cause() {
      await publish(
        nats,
        memberAdded.of({ ...projectEventFields(), data: { ...memberOfProjectData(), access_level: 30, added_at: at } }),
      );
      return { id: here.place.project.id };
    },
  },
  ...(['left', 'expired'] as const).map((action): ActivityRow => ({
    ...{ action, target: 'project', type: 'Project', title: 'its name' },
    name: action === 'left' ? 'left' : 'removed due to membership expiration from',
    async cause() {
      const reason = action === 'left' ? ('removed' as const) : ('expired' as const);
      await publish(
        nats,
        memberRemoved.of({ ...projectEventFields(), data: { ...memberOfProjectData(), reason, removed_at: at } }),
      );
      return { id: here.place.project.id };
    },
  })),
];
let branches = 0;
async function createBranch(): Promise<string> {
  const name = `row-${++branches}`;
  await scene.branch(here.place, name);
  return name;
}
async function feed(
  query: object,
  who: keyof Cast = 'guest',
  path = `${projectPath()}/events`,
): Promise<ShownResource[]> {
  return (await here.as(who).get(path).query(query).expect(200)).body as ShownResource[];
}
const entriesOf = async (row: ActivityRow, who: keyof Cast = 'guest', path?: string): Promise<ShownResource[]> => {
  await worker.drained();
  const wanted = { action: row.action, ...(row.target === null ? {} : { target_type: row.target }) };
  return (await feed(wanted, who, path)).filter((entry) => entry['author_id'] === developer());
};

test.each(ROWS)('$action of $target makes one entry: $name', async (row) => {
  const target = await row.cause();
  let found: ShownResource[] = [];
  await until(async () => (found = await entriesOf(row)).length > 0, 'the entry');
  const title = row.title === 'its name' ? here.place.project.name : row.title;
  expect(found).toEqual([
    expect.objectContaining({
      ...{ action_name: row.name, target_type: row.type, target_id: target.id, target_title: title },
      ...{ target_iid: row.type === 'Note' || target.iid === undefined ? target.id : target.iid },
      ...{ project_id: here.place.project.id, author_id: developer(), title: null, data: null },
      created_at: expect.stringMatching(/\.\d{3}Z$/),
    }),
  ]);
  const ids = found.map(({ id }) => id);
  const listed = async (...of: [keyof Cast, string]) => (await entriesOf(row, ...of)).map(({ id }) => id);
  for (const path of ['/api/v4/events', `/api/v4/users/${developer()}/events`])
    expect(await listed('developer', path)).toEqual(ids);
  expect(await listed('guest', '/api/v4/events?scope=all')).toEqual(ids);
});

describe('entries of milestones', () => {
  const ofMilestones = async (who: keyof Cast | 'anonymous' = 'guest') => {
    await worker.drained();
    const app = who === 'anonymous' ? service.app.as(service.seed.anonymous()) : here.as(who);
    const { body } = await app.get(`${projectPath()}/events`).query({ target_type: 'milestone' }).expect(200);
    return (body as ShownResource[]).map((entry) => entry['action_name']);
  };

  test('end with the milestone, but for that of its deletion', async () => {
    const { id } = await milestone();
    await send('put', `milestones/${id}`, { state_event: 'close' });
    await send('put', `milestones/${id}`, { title: 'Another', state_event: 'close' });
    expect(await ofMilestones()).toEqual(['closed', 'opened']);
    await here.as('developer').delete(`${projectPath()}/milestones/${id}`).expect(204);
    expect(await ofMilestones()).toEqual(['destroyed']);
    expect(await ofMilestones('anonymous')).toEqual(['destroyed']);
  });

  test('end with the milestone, however many they are', async () => {
    const { id } = await milestone();
    await service.database.query(
      `insert into activity_events (project_id, author_id, action, target_type, target_id, noteable_type, noteable_id,
         source_event_id, created_at)
       select $1, $2, 'closed', 'Milestone', $3, 'Milestone', $3, gen_random_uuid(), now() from generate_series(1, $4)`,
      [here.place.project.id, developer(), id, 2 * REMOVAL_CHUNK + 1],
    );
    await here.as('developer').delete(`${projectPath()}/milestones/${id}`).expect(204);
    expect(await ofMilestones()).toEqual(['destroyed']);
    const left = `select count(*)::integer as n from activity_events where noteable_id = $1 and noteable_type = 'Milestone'`;
    expect(await service.database.query(left, [id])).toEqual([{ n: 0 }]);
  });

  test('need access to issues or merge requests', async () => {
    const { id } = await milestone();
    await here.as('developer').delete(`${projectPath()}/milestones/${id}`).expect(204);
    await milestone();
    const expected = ['opened', 'destroyed'];
    const { project } = here.place;
    const put = (over: object) => service.seed.put('projects', { ...project, ...over });
    await put({ issues_access_level: 'disabled' });
    expect(await ofMilestones('stranger')).toEqual(expected);
    await put({ issues_access_level: 'private', merge_requests_access_level: 'private' });
    for (const who of ['stranger', 'anonymous'] as const) expect(await ofMilestones(who)).toEqual([]);
    expect(await ofMilestones('guest')).toEqual(expected);
    await put({ issues_access_level: 'disabled', merge_requests_access_level: 'disabled' });
    expect(await ofMilestones('guest')).toEqual([]);
  });

  test('exist for milestones of projects only, and follow one to its group', async () => {
    const group = here.place.fullPath.split('/')[0]!;
    const owner = here.place.cast.owner;
    await service.seed.member(owner, await groupOf(), 'owner');
    const { body } = await here.as('owner').post(`/api/v4/groups/${group}/milestones`).send({ title: 'G' }).expect(201);
    await here
      .as('owner')
      .delete(`/api/v4/groups/${group}/milestones/${(body as ShownResource).id}`)
      .expect(204);
    expect(await ofMilestones()).toEqual([]);
    const { id } = await milestone();
    expect(await ofMilestones()).toEqual(['opened']);
    await here.as('owner').post(`${projectPath()}/milestones/${id}/promote`).expect(200);
    expect(await ofMilestones()).toEqual(['opened']);
  });
  test('follow a merged milestone to the one that remains', async () => {
    const { owner, developer } = here.place.cast;
    const group = await groupOf();
    await service.seed.member(owner, group, 'owner');
    const other = await service.seed.project({ namespace_id: group.id, visibility: 'public' });
    await service.seed.member(developer, other, 'developer');
    const merged = await here
      .as('developer')
      .post(`/api/v4/projects/${other.id}/milestones`)
      .send({ title: 'A title' });
    expect(merged.status).toBe(201);
    const { id } = await milestone();
    await worker.drained();
    const entries = async () => {
      await worker.drained();
      const { body } = await here.as('guest').get(`/api/v4/projects/${other.id}/events`).expect(200);
      return (body as ShownResource[]).map((entry) => [
        entry['action_name'],
        entry['target_id'],
        entry['target_title'],
      ]);
    };
    expect(await entries()).toEqual([['opened', merged.body.id, 'A title']]);
    await here.as('owner').post(`${projectPath()}/milestones/${id}/promote`).expect(200);
    expect(await entries()).toEqual([['opened', id, 'A title']]);
    expect(await ofMilestones()).toEqual(['opened']);
    const path = `/api/v4/groups/${group.id}/milestones/${id}`;
    await here.as('owner').put(path).send({ title: 'Renamed' }).expect(200);
    expect(await entries()).toEqual([['opened', id, 'Renamed']]);
    await here.as('owner').delete(path).expect(204);
    expect(await entries()).toEqual([]);
  });
  const groupOf = async () =>
    (
      await service.database.query<DirectoryNamespace>('select * from directory_namespaces where id = $1', [
        here.place.project.namespace_id,
      ])
    )[0]!;
});
