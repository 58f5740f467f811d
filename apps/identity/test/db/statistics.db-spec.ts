import {
  collaborationStorageMeasured,
  issueClosed,
  issueCreated,
  noteCreated,
  packageStorageMeasured,
  projectIssuesCounted,
  pushCompleted,
} from '@rookery/contracts';
import type { DomainEvent } from '@rookery/contracts';
import { startNats } from '@rookery/testing';
import type { PrivateNats } from '@rookery/testing';
import {
  groupStatisticsSql,
  projectIssueAndCommitCountsSql,
  projectStatisticsSql,
  rootStorageStatisticsSql,
} from '../../src/statistics/statistics-sql';
import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';
import { startWorker } from '../support/worker';
import type { Worker } from '../support/worker';

let identity: IdentityApp;
let nats: PrivateNats;
let worker: Worker;
let ada: Person;
beforeAll(async () => {
  [identity, nats] = await Promise.all([startIdentity(), startNats()]);
  worker = await startWorker({ databaseUrl: identity.databaseUrl, nats });
  ada = await identity.person('ada');
});
afterAll(async () => {
  await worker.stop();
  await identity.close();
  await nats.drop();
});

let serial = 0;
const createProject = async (over: Readonly<Record<string, unknown>> = {}): Promise<{ id: number }> => {
  const path = `p-${++serial}`;
  const { body } = await ada.client
    .post('/api/v4/projects')
    .send({ name: path, path, ...over })
    .expect(201);
  return body;
};
const selectJson = async (sql: string): Promise<Record<string, number>> =>
  (await identity.db.query<{ shown: Record<string, number> }>(`select ${sql} as shown`))[0]!.shown;
const readOpenIssueCounts = async (project: number) => {
  const { commits: _, ...issues } = await selectJson(projectIssueAndCommitCountsSql(String(project)));
  return issues;
};

const minute = 60_000;
const MEASURED = Date.parse('2026-11-21T08:00:00.000Z');
const storageMeasuredEvent = (project: number, size: number, at = MEASURED): DomainEvent =>
  collaborationStorageMeasured.of({
    aggregateId: project,
    actorId: null,
    data: {
      project_id: project,
      repository_size: size,
      wiki_size: 2,
      lfs_objects_size: 3,
      snippets_size: 4,
      uploads_size: 5,
      commit_count: 6,
      measured_at: new Date(at).toISOString(),
    },
  });
const packagesMeasuredEvent = (project: number, size: number, at = MEASURED): DomainEvent =>
  packageStorageMeasured.of({
    aggregateId: project,
    actorId: null,
    data: {
      project_id: project,
      packages_size: size,
      job_artifacts_size: 20,
      pipeline_artifacts_size: 30,
      container_registry_size: 1000,
      measured_at: new Date(at).toISOString(),
    },
  });
const issuesCountedEvent = (project: number, all: number, open: number, at = MEASURED): DomainEvent =>
  projectIssuesCounted.of({
    aggregateId: project,
    actorId: null,
    data: {
      project_id: project,
      open_issues_count: all,
      open_public_issues_count: open,
      counted_at: new Date(at).toISOString(),
    },
  });
const pushCompletedEvent = (project: number, branch: string | null, hasChanged = false): DomainEvent =>
  pushCompleted.of({
    aggregateId: project,
    actorId: ada.id,
    data: {
      push_id: project,
      project_id: project,
      user_id: ada.id,
      default_branch: branch,
      default_branch_changed: hasChanged,
      pushed_at: new Date().toISOString(),
    },
  });
function issueEvents(id: number, project: number) {
  const at = new Date(MEASURED).toISOString();
  const facts = {
    issue_id: id,
    issue_iid: id,
    project_id: project,
    author_id: ada.id,
    confidential: false,
    created_at: at,
  };
  const head = { aggregateId: id, actorId: ada.id };
  return {
    created: issueCreated.of({ ...head, data: { ...facts, assignee_ids: [] } }) as DomainEvent,
    closed: issueClosed.of({ ...head, data: { ...facts, closed_at: at } }) as DomainEvent,
  };
}

const NOTHING = {
  commit_count: 0,
  storage_size: 0,
  repository_size: 0,
  wiki_size: 0,
  lfs_objects_size: 0,
  job_artifacts_size: 0,
  pipeline_artifacts_size: 0,
  packages_size: 0,
  snippets_size: 0,
  uploads_size: 0,
  container_registry_size: 0,
};

describe('measurements', () => {
  it('are the statistics of a project, which are zero before', async () => {
    const { id } = await createProject();
    expect(await selectJson(projectStatisticsSql(String(id)))).toEqual(NOTHING);
    await worker.publish(storageMeasuredEvent(id, 1));
    await worker.publish(packagesMeasuredEvent(id, 10));
    await worker.drained();
    expect(await selectJson(projectStatisticsSql(String(id)))).toEqual({
      commit_count: 6,
      storage_size: 75,
      repository_size: 1,
      wiki_size: 2,
      lfs_objects_size: 3,
      job_artifacts_size: 20,
      pipeline_artifacts_size: 30,
      packages_size: 10,
      snippets_size: 4,
      uploads_size: 5,
      container_registry_size: 1000,
    });
  });

  it('count by the time of measurement, not by the order of arrival', async () => {
    const { id } = await createProject();
    for (const [size, at] of [
      [100, 2],
      [300, 3],
      [200, 1],
      [300, 3],
    ] as const)
      await worker.publish(storageMeasuredEvent(id, size, MEASURED + at * minute));
    await worker.drained();
    // In separate batches.
    await worker.publish(storageMeasuredEvent(id, 50, MEASURED));
    await worker.drained();
    expect(await selectJson(projectStatisticsSql(String(id)))).toMatchObject({ repository_size: 300 });
  });

  it('of a deleted project are ignored', async () => {
    const [{ id }, other] = [await createProject(), await createProject()];
    await worker.publish(storageMeasuredEvent(id, 1));
    await worker.drained();
    await identity.db.query('delete from members where source_type = $1 and source_id = $2', ['project', id]);
    await identity.db.query('delete from projects where id = $1', [id]);
    expect(await identity.db.query('select 1 from project_statistics where project_id = $1', [id])).toEqual([]);
    await worker.publish(storageMeasuredEvent(id, 1, MEASURED + minute));
    await worker.publish(storageMeasuredEvent(other.id, 7));
    await worker.publish(issueEvents(990, id).created);
    await worker.publish(issuesCountedEvent(id, 3, 2, MEASURED + minute));
    await worker.drained();
    expect(await identity.db.query('select 1 from project_statistics where project_id = $1', [id])).toEqual([]);
    expect(await selectJson(projectStatisticsSql(String(other.id)))).toMatchObject({ repository_size: 7 });
    expect(worker.logs.filter((line) => line['level'] === 'error')).toEqual([]);
  });

  it('are summed up for a group, and for its whole tree', async () => {
    const group = async (path: string, over = {}) =>
      (
        await ada.client
          .post('/api/v4/groups')
          .send({ name: path, path, ...over })
          .expect(201)
      ).body.id;
    const root = await group('sums');
    const child = await group('sums-below', { parent_id: root });
    const [a, b, c] = [
      await createProject({ namespace_id: root }),
      await createProject({ namespace_id: root }),
      await createProject({ namespace_id: child }),
    ];
    for (const [size, { id }] of [a, b, c].entries()) {
      await worker.publish(storageMeasuredEvent(id, 100 * (size + 1)));
      await worker.publish(packagesMeasuredEvent(id, 10));
    }
    await worker.drained();
    expect(await selectJson(groupStatisticsSql(String(root)))).toEqual({
      storage_size: 448,
      repository_size: 300,
      wiki_size: 4,
      lfs_objects_size: 6,
      job_artifacts_size: 40,
      pipeline_artifacts_size: 60,
      packages_size: 20,
      snippets_size: 8,
      uploads_size: 10,
    });
    expect(await selectJson(rootStorageStatisticsSql(String(root)))).toEqual({
      build_artifacts_size: 60,
      container_registry_size: 3000,
      container_registry_size_is_estimated: false,
      dependency_proxy_size: 0,
      lfs_objects_size: 9,
      packages_size: 30,
      pipeline_artifacts_size: 90,
      repository_size: 600,
      snippets_size: 12,
      storage_size: 822 + 3000,
      uploads_size: 15,
      wiki_size: 6,
    });
    expect(await selectJson(groupStatisticsSql('0'))).toMatchObject({ storage_size: 0, uploads_size: 0 });
  });
});

describe('open issues', () => {
  it('are the last counts, with and without confidential ones', async () => {
    const { id } = await createProject();
    expect(await readOpenIssueCounts(id)).toEqual({ all: 0, public: 0 });
    await worker.publish(issuesCountedEvent(id, 7, 5));
    await worker.publish(issueEvents(1, id).created);
    await worker.drained();
    expect(await readOpenIssueCounts(id)).toEqual({ all: 7, public: 5 });
  });

  it('are those of the newest count, however often and in whatever order the counts arrive', async () => {
    const { id } = await createProject();
    const counts = [
      [4, 3, 2],
      [6, 2, 3],
      [5, 5, 1],
    ] as const;
    const again = await worker.publish(issuesCountedEvent(id, 1, 1, MEASURED));
    for (const [all, open, at] of counts) await worker.publish(issuesCountedEvent(id, all, open, MEASURED + at));
    await worker.drained();
    expect(await readOpenIssueCounts(id)).toEqual({ all: 6, public: 2 });
    // In separate batches: a repeated event, and one that was lost with its stream and sent again.
    await worker.publish(issuesCountedEvent(id, 1, 1, MEASURED), { id: again });
    await worker.drained();
    await worker.publish(issuesCountedEvent(id, 5, 5, MEASURED + 1));
    await worker.drained();
    expect(await readOpenIssueCounts(id)).toEqual({ all: 6, public: 2 });
  });

  it('replace the sums of a previous release', async () => {
    const { id } = await createProject();
    await identity.db.query(`update project_statistics set open_issues_count = 9 where project_id = $1`, [id]);
    expect(await readOpenIssueCounts(id)).toEqual({ all: 9, public: 0 });
    await worker.publish(issuesCountedEvent(id, 2, 1));
    await worker.drained();
    expect(await readOpenIssueCounts(id)).toEqual({ all: 2, public: 1 });
  });

  it('of many projects in one batch are all stored', async () => {
    const projects = await Promise.all(Array.from({ length: 12 }, () => createProject()));
    await Promise.all(projects.map(({ id }, n) => worker.publish(issuesCountedEvent(id, n + 2, n))));
    await worker.drained();
    for (const [n, { id }] of projects.entries())
      expect(await readOpenIssueCounts(id)).toEqual({ all: n + 2, public: n });
  });

  it('are kept while a project is marked for deletion and when it is restored', async () => {
    const { id } = await createProject();
    await worker.publish(issuesCountedEvent(id, 7, 5));
    await worker.drained();
    await ada.client.delete(`/api/v4/projects/${id}`).expect(202);
    expect(await readOpenIssueCounts(id)).toEqual({ all: 7, public: 5 });
    await ada.client.post(`/api/v4/projects/${id}/restore`).expect(201);
    expect(await readOpenIssueCounts(id)).toEqual({ all: 7, public: 5 });
  });
});

describe('pushes', () => {
  const show = async (id: number) => (await ada.client.get(`/api/v4/projects/${id}`).expect(200)).body;

  it('decide the default branch of a project that has none, and no other', async () => {
    const { id } = await createProject();
    expect(await show(id)).toMatchObject({ default_branch: null, empty_repo: true });
    await worker.publish(pushCompletedEvent(id, null));
    await worker.publish(pushCompletedEvent(id, 'develop', true));
    await worker.publish(storageMeasuredEvent(id, 1));
    await worker.drained();
    expect(await show(id)).toMatchObject({ default_branch: 'develop', empty_repo: false });
    await worker.publish(pushCompletedEvent(id, 'main'));
    await worker.drained();
    expect(await show(id)).toMatchObject({ default_branch: 'develop' });
  });

  it('replace a default branch that was not pushed, and tell copies of the directory', async () => {
    const { id } = await createProject();
    await ada.client.put(`/api/v4/projects/${id}`).send({ default_branch: 'trunk' }).expect(200);
    await worker.publish(pushCompletedEvent(id, 'main', true));
    await worker.drained();
    expect(await show(id)).toMatchObject({ default_branch: 'main' });
    const [last] = await identity.db.query<{ branch: string }>(
      `select state ->> 'default_branch' as branch from directory_changes
       where kind = 'project' and entity_id = $1 order by version desc limit 1`,
      [id],
    );
    expect(last).toEqual({ branch: 'main' });
  });
});

describe('the last activity', () => {
  const activityOf = async (id: number): Promise<string> =>
    (await ada.client.get(`/api/v4/projects/${id}`).expect(200)).body.last_activity_at;
  const at = (minutes: number) => new Date(MEASURED + minutes * minute);
  const note = (project: number | null): DomainEvent =>
    noteCreated.of({
      aggregateId: 1,
      actorId: ada.id,
      data: {
        note_id: 1,
        noteable_type: 'Issue',
        noteable_id: 1,
        noteable_iid: 1,
        project_id: project,
        group_id: null,
        author_id: ada.id,
        internal: false,
        created_at: at(0).toISOString(),
      },
    });

  it('of a project moves with its issues and notes, in steps of ten minutes, and never back', async () => {
    const { id } = await createProject();
    await identity.db.query('update projects set last_activity_at = $2 where id = $1', [id, at(0)]);
    const steps: [DomainEvent, number, number][] = [
      [note(id), 9, 0],
      [note(id), 11, 11],
      [issueEvents(500, id).created, 15, 11],
      [issueEvents(500, id).closed, 30, 30],
      [note(id), 12, 30],
      [note(null), 60, 30],
    ];
    for (const [event, sent, expected] of steps) {
      await worker.publish(event, { at: at(sent) });
      await worker.drained();
      expect(await activityOf(id)).toBe(at(expected).toISOString());
    }
  });

  it('does not change the directory', async () => {
    const { id } = await createProject();
    await identity.db.query('update projects set last_activity_at = $2 where id = $1', [id, at(0)]);
    const version = async () => (await identity.db.query('select version from directory_head'))[0];
    const before = await version();
    await worker.publish(note(id), { at: at(100) });
    await worker.drained();
    expect(await activityOf(id)).toBe(at(100).toISOString());
    expect(await version()).toEqual(before);
  });
});
