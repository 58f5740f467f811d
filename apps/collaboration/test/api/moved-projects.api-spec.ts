import type { DirectoryNamespace, DirectoryProject } from '@rookery/contracts';
import { startNats, until } from '@rookery/testing';
import type { PrivateNats, SeededService, SeededUser } from '@rookery/testing';
import { Client } from 'pg';
import { projectMoved } from '@rookery/contracts';
import { castOf, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { issueActions } from '../support/issue-actions';
import { publish } from '../support/publish';
import { startWorker } from '../support/worker';
import type { Worker } from '../support/worker';

let service: SeededService;
let left: DirectoryNamespace;
let project: DirectoryProject;
let cast: Cast;
let secret: { readonly label: number; readonly milestone: number };
let issue: { readonly id: number; readonly iid: number };

beforeAll(async () => {
  service = await startCollaboration();
});
afterAll(() => service.close());

const { by, anIssue } = issueActions(() => ({ service, project, cast }));
const issuesPath = (): string => `/api/v4/projects/${project.id}/issues`;
const issuePath = (): string => `${issuesPath()}/${issue.iid}`;
const read = async (path: string, query: Record<string, unknown> = {}, who = cast.owner) =>
  (await by(who).get(path).query(query).expect(200)).body;
const listed = async (query: Record<string, unknown>): Promise<number[]> =>
  ((await read(issuesPath(), query)) as { iid: number }[]).map(({ iid }) => iid);
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

/** These tests run without a worker. */
describe('before the effects of a move, labels and milestones of the former group', () => {
  const shows = async (who: SeededUser = cast.owner): Promise<unknown[]> => {
    const plain = [await read(issuePath(), {}, who), ...(await read(issuesPath(), {}, who))];
    const [detailed] = await read(issuesPath(), { with_labels_details: true }, who);
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

  test('are in no answer to a write', async () => {
    await move(await service.seed.group());
    const changed = await by(cast.owner).put(issuePath()).send({ title: 'Second' }).expect(200);
    const followed = await by(cast.planner).post(`${issuePath()}/subscribe`).expect(201);
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

  test('are in no feed', async () => {
    const promoted = await add(`projects/${project.id}`, 'milestones', { title: 'promoted' });
    await service.database.query(
      `insert into activity_events (project_id, author_id, action, target_type, target_id, noteable_type, noteable_id,
         source_event_id, created_at)
       values ($1, $2, 'created', 'Milestone', $3, 'Milestone', $3, gen_random_uuid(), now())`,
      [project.id, cast.owner.id, promoted],
    );
    await by(cast.admin).post(`/api/v4/projects/${project.id}/milestones/${promoted}/promote`).expect(200);
    const feeds = [`/api/v4/projects/${project.id}/events`, '/api/v4/events', '/api/v4/events?scope=all'];
    const titles = (): Promise<unknown[]> =>
      Promise.all(
        feeds.map(async (feed) =>
          ((await read(feed)) as { target_title: string }[]).map(({ target_title: title }) => title),
        ),
      );
    expect(await titles()).toEqual(Array(3).fill(['promoted']));
    await move(await service.seed.group());
    expect(await titles()).toEqual(Array(3).fill([]));
    await move(await service.seed.group({ parent_id: left.id, traversal_ids: [left.id, 7_000_001], id: 7_000_001 }));
    expect(await titles()).toEqual(Array(3).fill(['promoted']));
  });

  test('do not affect filters and sorting', async () => {
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
    // oxfmt-ignore
    expect(await found()).toEqual([
      [2, 1], [1], [], [], [3, 2, 1], [3], [3, 2, 1], [],
      [2, 1], [2, 1], [3], [2, 1], [2, 1], [3], [2, 1], [3],
    ]);
    expect(await listed({ order_by: 'label_priority', sort: 'asc' })).toEqual([1, 2, 3]);
    expect(await listed({ order_by: 'milestone_due', sort: 'desc' })).toEqual([2, 1, 3]);
    await move(await service.seed.group());
    // oxfmt-ignore
    expect(await found()).toEqual([
      [], [], [], [2], [3, 1], [3, 2, 1], [3, 1], [2],
      [], [], [3, 2, 1], [], [], [3, 2, 1], [], [3, 2, 1],
    ]);
    expect(await listed({ order_by: 'label_priority', sort: 'asc' })).toEqual([1, 3, 2]);
    expect(await listed({ order_by: 'milestone_due', sort: 'desc' })).toEqual([3, 2, 1]);
  });

  test('do not count issues of the project', async () => {
    await move(await service.seed.group());
    expect(await read(`/api/v4/groups/${left.id}/milestones/${secret.milestone}/issues`)).toEqual([]);
    const labels = await read(`/api/v4/groups/${left.id}/labels`, { with_counts: true });
    expect(labels).toMatchObject([{ name: 'secret', open_issues_count: 0 }]);
  });

  test('count them again when the project moves back', async () => {
    await move(await service.seed.group());
    await service.seed.put('projects', project);
    expect(await shows()).toEqual(Array(3).fill([['own', 'secret'], 'secret']));
  });
});

describe('the effects of a move', () => {
  let nats: PrivateNats;
  let worker: Worker;
  let target: DirectoryNamespace;
  let ownMilestone: number;
  beforeAll(async () => {
    nats = await startNats();
    worker = await startWorker({ databaseUrl: service.databaseUrl, nats });
  });
  afterAll(async () => {
    await worker.stop();
    await nats.drop();
  });
  beforeEach(async () => {
    target = await service.seed.group();
  });
  const publishMove = async (): Promise<void> => {
    await move(target);
    const data = { project_id: project.id, namespace_id: target.id };
    await publish(nats, projectMoved.of({ aggregateId: project.id, actorId: 1, data }));
  };
  const rows = <R>(sql: string, ...values: unknown[]): Promise<R[]> => service.database.query<R>(sql, values);
  const waits = (what: string, value: unknown) => async (): Promise<boolean> =>
    (await rows(`select 1 from pg_stat_activity where datname = current_database() and ${what}`, value)).length > 0;
  const waitsFor = (client: Client & { processID?: number }, query = '') =>
    waits(`$1::integer = any(pg_blocking_pids(pid)) and query like '%${query}'`, client.processID);
  const waitsToPlan = waits(`wait_event_type = 'Lock' and wait_event = $1`, 'advisory');
  const effects = async (): Promise<number> =>
    (await rows(`select 1 from inbox where effect in ('replace-stray-labels', 'replace-stray-milestones')`)).length;

  test.each([
    ['label', 'labels', 'put', () => `projects/${project.id}/labels/own`],
    ['milestone', 'milestones', 'post', () => `projects/${project.id}/milestones/${ownMilestone}`],
  ] as const)('give the project a %s that is promoted meanwhile', async (_, table, verb, pathOf) => {
    ownMilestone = await add(`projects/${project.id}`, 'milestones', { title: 'own' });
    await by(cast.owner).put(issuePath()).send({ milestone_id: ownMilestone }).expect(200);
    await service.seed.member(cast.owner, left, 'owner');
    // Effects of earlier events would wait for the rows locked below, and those of the move for these effects.
    await worker.drained();
    const other = new Client({ connectionString: service.databaseUrl });
    await other.connect();
    try {
      await other.query('begin');
      await other.query(`select 1 from ${table} where title = 'own' and project_id = $1 for update`, [project.id]);
      const late = by(cast.owner)
        [verb](`/api/v4/${pathOf()}/promote`)
        .then(({ status }) => status);
      await until(waitsFor(other, `for update of ${table[0]}`), 'the promotion to wait for its rows');
      const before = await effects();
      await publishMove();
      const isDone = async (): Promise<boolean> => (await effects()) === before + 2;
      await until(async () => (await isDone()) || waitsToPlan(), 'the effects to be done, or to wait');
      await other.query('commit');
      expect(await late).toBe(200);
      await until(isDone, 'the effects');
      const [kept] = await rows<{ n: number }>(
        table === 'labels'
          ? `select count(*)::integer as n from label_links ll join labels l on l.id = ll.label_id
             where ll.project_id = $1 and l.group_id = $2`
          : `select count(*)::integer as n from issues i join milestones m on m.id = i.milestone_id
             where i.project_id = $1 and m.group_id = $2`,
        project.id,
        left.id,
      );
      expect(kept).toEqual({ n: 0 });
      expect(await read(issuePath())).toMatchObject({
        labels: expect.arrayContaining(['own']),
        milestone: { title: 'own' },
      });
    } finally {
      await other.end();
    }
  });

  test('replace labels and milestones of the former group that were chosen meanwhile', async () => {
    await worker.drained();
    const other = new Client({ connectionString: service.databaseUrl });
    await other.connect();
    try {
      // The iid is assigned last, after the milestone of a new issue was chosen.
      await other.query('begin');
      await other.query(`select 1 from internal_ids where usage = 'issues' and scope_id = $1 for update`, [project.id]);
      const fields = { title: 'Late', labels: 'secret', milestone_id: secret.milestone };
      const late = by(cast.owner)
        .post(issuesPath())
        .send(fields)
        .expect(201)
        .then(({ body }) => body.iid as number);
      await until(waitsFor(other), 'the issue to wait for its number');
      const before = await effects();
      await publishMove();
      const isDone = async (): Promise<boolean> => (await effects()) === before + 2;
      await until(async () => (await isDone()) || waitsToPlan(), 'the effects to be done, or to wait');
      await other.query('commit');
      const iid = await late;
      await until(isDone, 'the effects');
      const shown = await read(`${issuesPath()}/${iid}`);
      expect(shown).toMatchObject({ labels: ['secret'], milestone: { title: 'secret', project_id: project.id } });
      const [kept] = await rows<{ n: number }>(
        `select count(*)::integer as n from label_links ll join labels l on l.id = ll.label_id
         where ll.project_id = $1 and l.group_id = $2`,
        project.id,
        left.id,
      );
      expect(kept).toEqual({ n: 0 });
    } finally {
      await other.end();
    }
  });

  test('a milestone chosen with an older directory version is checked against the current group', async () => {
    await service.database.query(`update directory_projects set namespace_id = $2 where id = $1`, [
      project.id,
      target.id,
    ]);
    const refused = await by(cast.owner).put(issuePath()).send({ milestone_id: secret.milestone });
    expect([refused.status, refused.body]).toEqual([400, { message: { milestone_id: ['is invalid'] } }]);
  });

  test('change old resource events to the replacements, and create none only for these events', async () => {
    await by(cast.owner).put(issuePath()).send({ labels: 'own', milestone_id: 0 }).expect(200);
    const replacements = {
      label: await add(`groups/${target.id}`, 'labels', { name: 'secret' }),
      milestone: await add(`groups/${target.id}`, 'milestones', { title: 'secret' }),
    };
    const alone = await add(`groups/${left.id}`, 'milestones', { title: 'alone' });
    await by(cast.owner).put(issuePath()).send({ labels: 'own', milestone_id: alone }).expect(200);
    await by(cast.owner).put(issuePath()).send({ milestone_id: 0 }).expect(200);
    await publishMove();
    await worker.drained();
    const eventTargets = async (noun: 'label' | 'milestone'): Promise<unknown[]> =>
      (
        (await read(`${issuePath()}/resource_${noun}_events`)) as Record<string, { id: number; title: string } | null>[]
      ).map((change) => change[noun] && change[noun].id);
    expect((await eventTargets('label')).slice(-2)).toContain(replacements.label);
    expect(await eventTargets('milestone')).toEqual([replacements.milestone, replacements.milestone, null, null]);
    expect(await read(`/api/v4/projects/${project.id}/milestones`)).toEqual([]);
  });
});
