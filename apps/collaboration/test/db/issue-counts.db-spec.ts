import type { DirectoryProject } from '@rookery/contracts';
import { issueCreated } from '@rookery/contracts';
import { Work } from '@rookery/persistence';
import { startNats, untilBlocked } from '@rookery/testing';
import type { PrivateNats, SeededService, SeededUser } from '@rookery/testing';
import { IssueCountsConsumer } from '../../src/work/issues/counting/issue-counts.consumer';
import { IssueCountsService } from '../../src/work/issues/counting/issue-counts.service';
import { UncountedIssuesJob } from '../../src/work/issues/counting/uncounted-issues.job';
import { CreateIssueCounts1767225840010 } from '../../src/migrations/1767225840010-create-issue-counts';
import { NoteableRemoval } from '../../src/removal/noteable-removal';
import { eventsOf, startCollaboration } from '../support/app';
import { publish } from '../support/publish';
import { startWorker } from '../support/worker';
import type { Worker } from '../support/worker';

const COUNTED = 'collaboration.project_issues.counted.v1';
let service: SeededService;
let nats: PrivateNats;
let worker: Worker;
let owner: SeededUser;
let project: DirectoryProject;
beforeAll(async () => {
  [service, nats] = await Promise.all([startCollaboration(), startNats()]);
  worker = await startWorker({ databaseUrl: service.databaseUrl, nats });
  owner = await service.seed.user({ admin: true });
});
beforeEach(async () => void (project = await service.seed.project({ visibility: 'public' })));
afterAll(async () => {
  await worker.stop();
  await service.close();
  await nats.drop();
});

const client = (user = owner) => service.app.as(service.seed.viewer(user));
const issuesPath = () => `/api/v4/projects/${project.id}/issues`;
const open = async (fields: Record<string, unknown> = {}, by = owner): Promise<number> =>
  (
    await client(by)
      .post(issuesPath())
      .send({ title: 'x', ...fields })
      .expect(201)
  ).body.iid;
const change = (iid: number, fields: Record<string, unknown>) =>
  client().put(`${issuesPath()}/${iid}`).send(fields).expect(200);
/** Returns the published counts of the current project, oldest first: open issues, and open public issues. */
async function publishedCounts(): Promise<[number, number][]> {
  const events = await eventsOf(service.database, COUNTED);
  const ours = events.filter((event) => event['project_id'] === project.id);
  const times = ours.map((event) => Date.parse(event['counted_at'] as string));
  expect(times).toEqual([...new Set(times)].sort((a, b) => a - b));
  return ours.map((event) => [event['open_issues_count'], event['open_public_issues_count']] as [number, number]);
}
async function lastPublishedCounts(): Promise<[number, number] | undefined> {
  await worker.drained();
  return (await publishedCounts()).at(-1);
}
const recountTwice = () =>
  service.app.get(Work).run((tx) => service.app.get(IssueCountsService).recountIssues(tx, [project.id, project.id]));

describe('the number of open issues of a project', () => {
  it('is counted through opening, closing, reopening, deletion and changes of confidentiality', async () => {
    const plain = await open();
    const secret = await open({ confidential: true });
    expect(await lastPublishedCounts()).toEqual([2, 1]);
    const steps: [number, Record<string, unknown> | null, [number, number]][] = [
      [secret, { confidential: false }, [2, 2]],
      [plain, { confidential: true }, [2, 1]],
      [secret, { state_event: 'close', confidential: true }, [1, 0]],
      [plain, { state_event: 'close' }, [0, 0]],
      [plain, { confidential: false }, [0, 0]],
      [plain, { state_event: 'reopen' }, [1, 1]],
      [secret, { state_event: 'reopen', title: 'y' }, [2, 1]],
      [secret, null, [1, 1]],
      [plain, { state_event: 'close', confidential: true }, [0, 0]],
      [plain, null, [0, 0]],
    ];
    for (const [iid, fields, expected] of steps) {
      if (fields) await change(iid, fields);
      else await client().delete(`${issuesPath()}/${iid}`).expect(204);
      expect([fields, await lastPublishedCounts()]).toEqual([fields, expected]);
    }
  });

  it('is published when it changed, not for each event', async () => {
    const iid = await open();
    expect(await lastPublishedCounts()).toEqual([1, 1]);
    await change(iid, { title: 'another' });
    await change(iid, { due_date: '2030-01-01' });
    await worker.drained();
    const [event] = await eventsOf(service.database, issueCreated.subject);
    const again = issueCreated.of({
      aggregateId: 1,
      actorId: null,
      data: { ...event, project_id: project.id } as never,
    });
    await publish(nats, again);
    await worker.drained();
    expect(await publishedCounts()).toEqual([[1, 1]]);
  });

  it('is exact after concurrent changes', async () => {
    const made = await Promise.all(Array.from({ length: 30 }, (_, n) => open({ confidential: n % 3 === 0 })));
    await Promise.all(made.slice(0, 9).map((iid) => change(iid, { state_event: 'close' })));
    const [row] = await service.database.query<{ all: number; open: number }>(
      `select count(*)::int as all, (count(*) filter (where not confidential))::int as open from issues
       where project_id = $1 and state = 'opened'`,
      [project.id],
    );
    expect(await lastPublishedCounts()).toEqual([21, row!.open]);
  });

  it('excludes issues deleted with their author', async () => {
    const person = await service.seed.user();
    await open();
    await open({ confidential: true }, person);
    await open({}, person);
    expect(await lastPublishedCounts()).toEqual([3, 2]);
    const work = service.app.get(Work);
    for (let isDone = false; !isDone;)
      isDone = await work.run((tx) => service.app.get(NoteableRemoval).removeNext(tx, person.id));
    expect(await lastPublishedCounts()).toEqual([1, 1]);
  });

  it('is counted sequentially, so that the newest count is the right one', async () => {
    await open();
    expect(await lastPublishedCounts()).toEqual([1, 1]);
    const work = service.app.get(Work);
    let isHeld = (): void => undefined;
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (isHeld = resolve));
    const released = new Promise<void>((resolve) => (release = resolve));
    const first = work.run(async (tx) => {
      await service.app.get(IssueCountsService).recountIssues(tx, [project.id]);
      isHeld();
      await released;
    });
    await held;
    // The second count waits for the first, and includes issues written meanwhile.
    const second = recountTwice();
    await untilBlocked((sql) => service.database.query(sql));
    await service.database.query(
      `insert into issues (project_id, iid, author_id, title, confidential) values ($1, 99, $2, 'x', true)`,
      [project.id, owner.id],
    );
    release();
    await Promise.all([first, second]);
    expect(await publishedCounts()).toEqual([
      [1, 1],
      [2, 1],
    ]);
  });

  it('is deleted with the project, and not restored by a late event', async () => {
    await open();
    expect(await lastPublishedCounts()).toEqual([1, 1]);
    const rows = () => service.database.query(`select 1 from issue_counts where project_id = $1`, [project.id]);
    const data = { project_id: project.id };
    const gone = { id: 'x', time: new Date().toISOString(), aggregateType: 'project', aggregateId: project.id };
    const drop = () =>
      service.app
        .get(Work)
        .run((tx) =>
          service.app
            .get(IssueCountsConsumer)
            .projectDeleted({ tx, events: [{ ...gone, actorId: null, data: data as never }] }),
        );
    // A false event about an existing project deletes nothing.
    await drop();
    expect(await rows()).toHaveLength(1);
    await service.database.query('delete from directory_projects where id = $1', [project.id]);
    await drop();
    expect(await rows()).toEqual([]);
    await recountTwice();
    expect(await rows()).toEqual([]);
    expect(await publishedCounts()).toEqual([[1, 1]]);
  });

  it('is counted by a job for issues that are older than the counts', async () => {
    await open();
    await open({ confidential: true });
    await worker.drained();
    await service.database.dataSource.transaction(async ({ queryRunner }) => {
      const migration = new CreateIssueCounts1767225840010();
      await migration.down(queryRunner!);
      await migration.up(queryRunner!);
    });
    const [row] = await service.database.query(`select * from issue_counts where project_id = $1`, [project.id]);
    expect(row).toMatchObject({ open_count: 0, open_public_count: 0, counted_at: null });
    await service.database.query(
      `insert into issue_counts (project_id) select 1000000 + n from generate_series(1, 250) n`,
    );
    await service.app.get(UncountedIssuesJob).run();
    expect(await service.database.query(`select 1 from issue_counts where counted_at is null`)).toEqual([]);
    expect((await publishedCounts()).slice(1)).toEqual([[2, 1]]);
    await service.app.get(UncountedIssuesJob).run();
    expect((await publishedCounts()).slice(1)).toEqual([[2, 1]]);
  });
});
