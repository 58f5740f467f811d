import { Client } from 'pg';
import type { DirectoryProject } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';
import { Outages } from '@rookery/platform';
import { anonymousViewer, until } from '@rookery/testing';
import type { SeededService } from '@rookery/testing';
import type { Response } from 'supertest';
import { startCollaboration } from '../support/app';

/** The longest milestone description, chosen so that a naive search makes the most comparisons. */
const LONGEST = 524_288;
const MOST_EXPENSIVE = { search: `${'a'.repeat(254)}b`, per_page: 100 };
const CALLERS = 24;

let service: SeededService;
let project: DirectoryProject;
/** A project without milestones. */
let other: DirectoryProject;
let milestones: string;
let issues: string;
let otherCallers: Viewer[];
beforeAll(async () => {
  service = await startCollaboration();
  project = await service.seed.project({ visibility: 'public' });
  other = await service.seed.project({ visibility: 'public' });
  milestones = `/api/v4/projects/${project.id}/milestones`;
  issues = `/api/v4/projects/${project.id}/issues`;
  const users = await Promise.all(Array.from({ length: 4 }, () => service.seed.user()));
  otherCallers = users.map((user) => service.seed.viewer(user));
  // Outside of the service, whose statements have a time limit.
  const client = new Client({ connectionString: service.databaseUrl });
  await client.connect();
  await client.query(
    `insert into milestones (project_id, iid, title, description)
     select $1, g, 'v' || g, repeat('a', $2) from generate_series(1, 100) g`,
    [project.id, LONGEST],
  );
  await client.end();
  const { body: issue } = await service.app.as(otherCallers[0]!).post(issues).send({ title: 'First egg' }).expect(201);
  await service.app.as(otherCallers[0]!).post(`${issues}/${issue.iid}/notes`).send({ body: 'Blue' }).expect(201);
});
afterAll(() => service.close());

const anonymousViewerFrom = (address: string): Viewer => anonymousViewer({ ...service.seed.anonymous(), address });
const search = async (viewer: Viewer, path = milestones): Promise<Response> =>
  service.app.as(viewer).get(path).query(MOST_EXPENSIVE);
const statusesOf = (answers: readonly Response[]): number[] => [...new Set(answers.map(({ status }) => status))].sort();
/** Ordinary reads. */
const readAll = (viewer: Viewer): Promise<Response[]> =>
  Promise.all(
    [
      issues,
      `${issues}/1`,
      `${issues}/1/notes`,
      `${issues}/1/discussions`,
      `/api/v4/projects/${project.id}/labels`,
    ].map(async (path) => service.app.as(viewer).get(path)),
  );

/**
 * Blocks all statements on milestones. The function that `work` receives resolves when `count` of them wait. It uses a
 * connection outside of the service.
 */
async function whileMilestonesAreLocked(
  work: (waitUntilRequestsWait: (count: number, withinMs?: number) => Promise<void>) => Promise<void>,
): Promise<void> {
  const holder = new Client({ connectionString: service.databaseUrl });
  await holder.connect();
  try {
    await holder.query('begin');
    await holder.query('lock table milestones in access exclusive mode');
    await work((count, withinMs) => waitUntilRequestsWait(holder, count, withinMs));
  } finally {
    await holder.end();
  }
}
async function waitUntilRequestsWait(holder: Client, count: number, withinMs = Infinity): Promise<void> {
  const from = performance.now();
  const waiting = `select count(*)::integer as n from pg_locks where not granted and relation = 'milestones'::regclass`;
  for (;;) {
    const { rows } = await holder.query<{ n: number }>(waiting);
    if (rows[0]!.n >= count) return;
    if (performance.now() - from > withinMs) throw new Error(`${rows[0]!.n} wait`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe('slow requests', () => {
  it('leave connections to other callers, however many one user and their bots send', async () => {
    const [attacker, ...others] = otherCallers;
    const bot = { ...service.seed.viewer(await service.seed.user()), creatorId: attacker!.userId };
    let asked: Promise<Response[]>;
    await whileMilestonesAreLocked(async (held) => {
      asked = Promise.all(
        Array.from({ length: CALLERS }, async (_, index) =>
          service.app.as(index % 2 === 0 ? attacker! : bot).get(`${milestones}?per_page=1`),
        ),
      );
      await held(4);
      await expect(held(5, 200)).rejects.toThrow();
      const paths = [`${issues}/1/notes`, `${issues}/1/discussions`, `/api/v4/projects/${project.id}/labels`];
      const read = others.flatMap((viewer) => paths.map(async (path) => service.app.as(viewer).get(path)));
      expect(statusesOf(await Promise.all(read))).toEqual([200]);
    });
    expect((await asked!).filter(({ status }) => status !== 200 && status !== 503)).toEqual([]);
  });
});

describe('reads of disconnected callers', () => {
  it('are not started', async () => {
    const noted = jest.spyOn(service.app.get(Outages), 'recordOutage');
    const gone = () => noted.mock.calls.filter(([reason]) => reason === 'gone').length;
    await whileMilestonesAreLocked(async (held) => {
      const asked = Array.from({ length: 8 }, () => service.app.as(otherCallers[0]!).get(`${milestones}?per_page=1`));
      for (const one of asked) void one.end(() => undefined);
      await held(4);
      await until(() => service.database.pool.countWaiting('requests') === 4);
      for (const one of asked) void one.abort();
      // The answered caller queued after the disconnected ones.
      await service.app.as(otherCallers[1]!).get(`/api/v4/projects/${project.id}/labels`).expect(200);
      expect(gone()).toBe(0);
    });
    await until(() => gone() >= 4);
    noted.mockRestore();
  });
});

describe('slow searches', () => {
  it('leave connections to other callers, however many one user sends', async () => {
    let searches: Promise<Response[]>;
    await whileMilestonesAreLocked(async (held) => {
      searches = Promise.all(
        Array.from({ length: CALLERS }, (_, index) =>
          search(anonymousViewerFrom(`10.0.0.${index}`), `/api/v4/projects/${other.id}/milestones`),
        ),
      );
      await held(4);
      // Notes of issues without milestone and labels never wait for the lock.
      const paths = [`${issues}/1/notes`, `${issues}/1/discussions`, `/api/v4/projects/${project.id}/labels`];
      const read = otherCallers.flatMap((viewer) => paths.map(async (path) => service.app.as(viewer).get(path)));
      expect(statusesOf(await Promise.all(read))).toEqual([200]);
    });
    // On a slow machine the lock may outlast the time of a statement.
    expect((await searches!).filter(({ status }) => status !== 200 && status !== 503)).toEqual([]);
  });

  it('of one caller do not block searches of others', async () => {
    let searches: Promise<Response[]>;
    await whileMilestonesAreLocked(async (held) => {
      searches = Promise.all(
        Array.from({ length: CALLERS }, () =>
          search(anonymousViewerFrom('10.0.0.1'), `/api/v4/projects/${other.id}/milestones`),
        ),
      );
      await held(2);
      const labels = `/api/v4/projects/${project.id}/labels`;
      const others = [anonymousViewerFrom('10.0.0.2'), ...otherCallers].map((viewer) => search(viewer, labels));
      expect(statusesOf(await Promise.all(others))).toEqual([200]);
    });
    const answers = await searches!;
    // Two at once and sixteen in line; on a slow machine the lock may outlast the time of a statement.
    const refused = answers.filter(({ status }) => status !== 200 && status !== 503);
    expect(refused.map(({ status, body, headers }) => [status, body, headers['retry-after']])).toEqual(
      Array.from({ length: CALLERS - 18 }, () => [
        429,
        {
          message: {
            error:
              'This endpoint has been requested too many times. Try again later. The limit searches_of_one_caller is 2 at once, set by DATABASE_POOL_COUNT.',
          },
        },
        '1',
      ]),
    );
  });

  it('do not affect other requests when many callers send the most expensive ones', async () => {
    let isOver = false;
    const attack = async (index: number): Promise<number[]> => {
      const seen: number[] = [];
      while (!isOver) seen.push((await search(anonymousViewerFrom(`10.0.1.${index}`))).status);
      return seen;
    };
    const attacks = Array.from({ length: CALLERS }, (_, index) => attack(index));
    const answers: Response[] = [];
    for (let round = 0; round < 5; round += 1) {
      answers.push(...(await Promise.all(otherCallers.map(readAll))).flat());
    }
    isOver = true;
    expect(statusesOf(answers)).toEqual([200]);
    expect((await Promise.all(attacks)).flat().filter((status) => status !== 200 && status !== 429)).toEqual([]);
  });
});
