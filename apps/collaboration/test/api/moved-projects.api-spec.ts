import type { DirectoryNamespace, DirectoryProject } from '@rookery/contracts';
import type { SeededService, SeededUser } from '@rookery/testing';
import { castOf, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { issueActions } from '../support/issue-actions';

/** A project that has left its group, before the move has had its effects: no worker runs here. */
let service: SeededService;
let left: DirectoryNamespace;
let project: DirectoryProject;
let cast: Cast;
let secret: { readonly label: number; readonly milestone: number };
let issue: { readonly id: number; readonly iid: number };

beforeAll(async () => {
  service = await startCollaboration();
}, 60_000);
afterAll(() => service.close());

const { by, anIssue } = issueActions(() => ({ service, project, cast }));
const issues = (): string => `/api/v4/projects/${project.id}/issues`;
const own = (): string => `${issues()}/${issue.iid}`;
const read = async (path: string, query: Record<string, unknown> = {}, who = cast.owner): Promise<any> =>
  (await by(who).get(path).query(query).expect(200)).body;
const listed = async (query: Record<string, unknown>): Promise<number[]> =>
  ((await read(issues(), query)) as { iid: number }[]).map(({ iid }) => iid);
const add = async (place: string, noun: 'labels' | 'milestones', fields: Record<string, unknown>): Promise<number> =>
  (await by(cast.admin).post(`/api/v4/${place}/${noun}`).send(fields).expect(201)).body.id as number;
const move = (to: DirectoryNamespace): Promise<unknown> =>
  service.seed.put('projects', { ...project, namespace_id: to.id });

beforeEach(async () => {
  left = await service.seed.group();
  project = await service.seed.project({ namespace_id: left.id });
  cast = await castOf(service.seed, project);
  secret = {
    label: await add(`groups/${left.id}`, 'labels', { name: 'secret' }),
    milestone: await add(`groups/${left.id}`, 'milestones', { title: 'secret', due_date: '2030-01-01' }),
  };
  await add(`projects/${project.id}`, 'labels', { name: 'own', priority: 5 });
  await by(cast.admin).put(`/api/v4/projects/${project.id}/labels/own`).send({ priority: 5 }).expect(200);
  issue = await anIssue({ title: 'First', labels: 'own,secret', milestone_id: secret.milestone });
});

describe('labels and milestones of a group that the project has left', () => {
  const shows = async (who: SeededUser = cast.owner): Promise<unknown[]> => {
    const plain = [await read(own(), {}, who), ...(await read(issues(), {}, who))];
    const [detailed] = await read(issues(), { with_labels_details: true }, who);
    return [...plain, detailed].map(({ labels, milestone }) => [
      labels.map((label: string | { name: string }) => (typeof label === 'string' ? label : label.name)),
      milestone && milestone.title,
    ]);
  };

  test('are shown by no issue', async () => {
    expect(await shows()).toEqual(Array(3).fill([['own', 'secret'], 'secret']));
    await move(await service.seed.group());
    expect(await shows()).toEqual(Array(3).fill([['own'], null]));
  });

  test('are told by no answer to a write', async () => {
    await move(await service.seed.group());
    const changed = await by(cast.owner).put(own()).send({ title: 'Second' }).expect(200);
    const followed = await by(cast.planner).post(`${own()}/subscribe`).expect(201);
    for (const { body } of [changed, followed]) expect(body).toMatchObject({ labels: ['own'], milestone: null });
  });

  test('are shown by no to-do', async () => {
    await service.database.query(
      `insert into todos (user_id, author_id, action, project_id, target_type, target_id, source_event_id, state,
         created_at, updated_at)
       values ($1, $2, 'assigned', $3, 'Issue', $4, gen_random_uuid(), 'pending', now(), now())`,
      [cast.guest.id, cast.owner.id, project.id, issue.id],
    );
    await move(await service.seed.group());
    const [todo] = await read('/api/v4/todos', {}, cast.guest);
    expect(todo.target).toMatchObject({ labels: ['own'], milestone: null });
    const done = await by(cast.guest).post(`/api/v4/todos/${todo.id}/mark_as_done`).expect(201);
    expect(done.body.target).toMatchObject({ labels: ['own'], milestone: null });
  });

  test('find, exclude and order nothing', async () => {
    await service.database.query('insert into label_priorities values ($1, $2, 1)', [project.id, secret.label]);
    await anIssue({ title: 'Second', labels: 'secret', milestone_id: secret.milestone });
    await anIssue({ title: 'Third', labels: 'own', milestone_id: 0 });
    const asked = [
      { labels: 'secret' },
      { labels: 'secret,own' },
      { labels: 'a,b,c,d,secret' },
      { labels: 'None' },
      { labels: 'Any' },
      { 'not[labels]': 'secret' },
      { 'not[labels]': 'None' },
      { 'not[labels]': 'Any' },
      { milestone: 'secret' },
      { milestone_id: secret.milestone },
      { milestone: 'None' },
      { milestone: 'Any' },
      { milestone: '#upcoming' },
      { 'not[milestone]': 'secret' },
      { 'not[milestone]': 'None' },
      { 'not[milestone_id]': 'Any' },
    ];
    const found = async (): Promise<number[][]> => Promise.all(asked.map((query) => listed(query)));
    // prettier-ignore
    expect(await found()).toEqual([
      [2, 1], [1], [], [], [3, 2, 1], [3], [3, 2, 1], [],
      [2, 1], [2, 1], [3], [2, 1], [2, 1], [3], [2, 1], [3],
    ]);
    expect(await listed({ order_by: 'label_priority', sort: 'asc' })).toEqual([1, 2, 3]);
    expect(await listed({ order_by: 'milestone_due', sort: 'desc' })).toEqual([2, 1, 3]);
    await move(await service.seed.group());
    // prettier-ignore
    expect(await found()).toEqual([
      [], [], [], [2], [3, 1], [3, 2, 1], [3, 1], [2],
      [], [], [3, 2, 1], [], [], [3, 2, 1], [], [3, 2, 1],
    ]);
    expect(await listed({ order_by: 'label_priority', sort: 'asc' })).toEqual([1, 3, 2]);
    expect(await listed({ order_by: 'milestone_due', sort: 'desc' })).toEqual([3, 2, 1]);
  });

  test('count no issue of the project', async () => {
    await move(await service.seed.group());
    expect(await read(`/api/v4/groups/${left.id}/milestones/${secret.milestone}/issues`)).toEqual([]);
    const labels = await read(`/api/v4/groups/${left.id}/labels`, { with_counts: true });
    expect(labels).toMatchObject([{ name: 'secret', open_issues_count: 0 }]);
  });

  test('count again when the group is above the project again', async () => {
    await move(await service.seed.group());
    await service.seed.put('projects', project);
    expect(await shows()).toEqual(Array(3).fill([['own', 'secret'], 'secret']));
  });
});
