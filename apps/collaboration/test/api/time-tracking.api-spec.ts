import type { DirectoryProject } from '@rookery/contracts';
import type { Role, Visibility } from '@rookery/kernel';
import { ACCESS_LEVELS } from '@rookery/kernel';
import {
  registerForeignParentTests,
  registerParameterEncodingTests,
  registerRefusalOrderTests,
  registerVisibilityTests,
} from '@rookery/testing';
import type { SeededService, RoleCase } from '@rookery/testing';
import { formatDurationSql, formatDuration } from '../../src/planning/time-tracking/durations';
import { castOf, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { issueActions } from '../support/issue-actions';

let service: SeededService;
let project: DirectoryProject;
let cast: Cast;
let issue: { id: number; iid: number };

beforeAll(async () => {
  service = await startCollaboration();
  project = await service.seed.project();
  cast = await castOf(service.seed, project);
});
afterAll(() => service.close());
beforeEach(async () => void (issue = await anIssue()));

const HOUR = 3600;
const { by, anIssue } = issueActions(() => ({ service, project, cast }));
const as = (name: keyof Cast) => by(cast[name]);
const at = (tail = ''): string => `/api/v4/projects/${project.id}/issues/${issue.iid}${tail}`;
const post = (what: string, fields: Record<string, unknown> = {}, name: keyof Cast = 'planner') =>
  as(name)
    .post(at(`/${what}`))
    .send(fields);
const stats = (estimate: number, spent: number) => ({
  time_estimate: estimate,
  total_time_spent: spent,
  human_time_estimate: formatDuration(estimate),
  human_total_time_spent: formatDuration(spent),
});
const listNoteBodies = async (): Promise<string[]> => {
  const { body } = await as('guest').get(at('/notes')).query({ sort: 'asc' }).expect(200);
  return (body as { body: string; system: boolean }[]).map((note) => `${note.system} ${note.body}`);
};

describe('an estimate', () => {
  test('is set, replaced and reset', async () => {
    expect((await as('guest').get(at('/time_stats')).expect(200)).body).toEqual(stats(0, 0));
    const estimated = await post('time_estimate', { duration: '3h 30m' }).expect(200);
    expect(estimated.body).toEqual({
      time_estimate: 12_600,
      total_time_spent: 0,
      human_time_estimate: '3h 30m',
      human_total_time_spent: null,
    });
    expect((await post('time_estimate', { duration: '1w' }).expect(200)).body).toEqual(stats(40 * HOUR, 0));
    expect((await post('time_estimate', { duration: '5d' }).expect(200)).body).toEqual(stats(40 * HOUR, 0));
    expect((await post('reset_time_estimate').expect(200)).body).toEqual(stats(0, 0));
    expect((await post('reset_time_estimate').expect(200)).body).toEqual(stats(0, 0));
    expect((await post('time_estimate', { duration: '0' }).expect(200)).body).toEqual(stats(0, 0));
    expect(await listNoteBodies()).toEqual([
      'true changed time estimate to 3h 30m',
      'true changed time estimate to 1w',
      'true removed time estimate',
    ]);
  });

  test.each(['-1h', 'later', '', '1h 30', '99999999999h'])('is refused for %j', async (duration) => {
    const refused = await post('time_estimate', { duration }).expect(400);
    expect(refused.body).toEqual({
      message: '400 Bad request - Time estimate must have a valid format and be greater than or equal to zero.',
    });
    expect(await listNoteBodies()).toEqual([]);
  });

  test('needs a duration', async () => {
    for (const what of ['time_estimate', 'add_spent_time']) {
      expect((await post(what).expect(400)).body).toEqual({ error: 'duration is missing' });
      expect((await post(what, { duration: ['1h'] }).expect(400)).body).toEqual({ error: 'duration is invalid' });
    }
  });
});

describe('time spent', () => {
  test('is added, subtracted and reset', async () => {
    await post('time_estimate', { duration: '2h' }).expect(200);
    expect((await post('add_spent_time', { duration: '1h' }).expect(201)).body).toEqual(stats(2 * HOUR, HOUR));
    expect((await post('add_spent_time', { duration: '-30m' }).expect(201)).body).toEqual(stats(2 * HOUR, HOUR / 2));
    expect((await post('add_spent_time', { duration: '1.5h' }).expect(201)).body).toEqual(stats(2 * HOUR, 2 * HOUR));
    expect((await post('reset_spent_time').expect(200)).body).toEqual(stats(2 * HOUR, 0));
    expect((await post('reset_spent_time').expect(200)).body).toEqual(stats(2 * HOUR, 0));
    expect(await listNoteBodies()).toEqual([
      'true changed time estimate to 2h',
      'true added 1h of time spent',
      'true subtracted 30m of time spent',
      'true added 1h 30m of time spent',
      'true removed time spent',
    ]);
  });

  test.each<[string, string]>([
    ['soon', 'Time spent must be formatted correctly. For example: 1h 30m.'],
    ['0', 'Time spent must be formatted correctly. For example: 1h 30m.'],
    ['-1h 1s', 'Time to subtract exceeds the total time spent'],
    ['8766h', 'Total time spent cannot exceed a year.'],
  ])('is refused for %j, and changes nothing', async (duration, reason) => {
    await post('add_spent_time', { duration: '1h' }).expect(201);
    expect((await post('add_spent_time', { duration }).expect(400)).body).toEqual({ message: { base: [reason] } });
    expect((await as('planner').get(at('/time_stats'))).body).toEqual(stats(0, HOUR));
    expect(await listNoteBodies()).toEqual(['true added 1h of time spent']);
  });

  test('is summed exactly with concurrent requests', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => post('add_spent_time', { duration: '1m' })));
    expect(answers.map(({ status }) => status)).toEqual(Array<number>(20).fill(201));
    expect((await as('guest').get(at('/time_stats'))).body).toEqual(stats(0, 20 * 60));
    expect(await listNoteBodies()).toHaveLength(20);
  });
});

test('issues show time statistics, in lists too, and updated_at changes', async () => {
  const before = (await as('guest').get(at())).body as { updated_at: string };
  await post('time_estimate', { duration: '1mo 1w 1d 1h 1m 1s' }).expect(200);
  await post('add_spent_time', { duration: '61s' }).expect(201);
  const wanted = stats(209 * HOUR + 61, 61);
  expect(wanted).toMatchObject({ human_time_estimate: '1mo 1w 1d 1h 1m 1s', human_total_time_spent: '1m 1s' });
  const { body } = await as('guest').get(at()).expect(200);
  expect(body).toMatchObject({ time_stats: wanted, user_notes_count: 0 });
  expect(Date.parse((body as typeof before).updated_at)).toBeGreaterThan(Date.parse(before.updated_at));
  const listed = await as('guest')
    .get(`/api/v4/projects/${project.id}/issues`)
    .query({ 'iids[]': [issue.iid] });
  expect(listed.body).toMatchObject([{ time_stats: wanted }]);
});

test('the database formats durations as notes do', async () => {
  const seconds = [0, 1, 59, 60, 3599, HOUR, 8 * HOUR, 40 * HOUR, 160 * HOUR, 209 * HOUR + 61, 2_147_483_647];
  const written = await service.database.query<{ text: string | null }>(
    `select ${formatDurationSql('s')} as text from unnest($1::integer[]) with ordinality as of (s, place) order by place`,
    [seconds],
  );
  expect(written.map(({ text }) => text)).toEqual(seconds.map(formatDuration));
});

describe('permissions', () => {
  const WRITES = ['time_estimate', 'add_spent_time', 'reset_time_estimate', 'reset_spent_time'];
  const places = new Map<Visibility, Promise<{ there: DirectoryProject; iid: number }>>();
  async function place(level: Visibility) {
    const there = await service.seed.project({ visibility: level });
    const { body } = await as('admin').post(`/api/v4/projects/${there.id}/issues`).send({ title: 'x' }).expect(201);
    return { there, iid: (body as { iid: number }).iid };
  }
  async function from(level: Visibility, standing: RoleCase, tail: string) {
    if (!places.has(level)) places.set(level, place(level));
    const { there, iid } = await places.get(level)!;
    const path = `/api/v4/projects/${there.id}/issues/${iid}/${tail}`;
    if (standing === 'anonymous') return { viewer: service.seed.anonymous(), path };
    const user = await service.seed.user({ admin: standing === 'admin', external: standing === 'external' });
    if (standing in ACCESS_LEVELS) await service.seed.member(user, there, standing as Role);
    return { viewer: service.seed.viewer(user), path };
  }
  describe('for reading', () => {
    registerVisibilityTests({ app: () => service.app, from: (level, standing) => from(level, standing, 'time_stats') });
  });
  describe('for estimates', () => {
    registerVisibilityTests({
      app: () => service.app,
      from: async (level, standing) => {
        const body = { duration: '1h' };
        return { ...(await from(level, standing, 'time_estimate')), method: 'POST' as const, body };
      },
      anonymous: 401,
      seen: (standing) => (['external', 'outsider', 'guest'].includes(standing) ? 403 : 200),
    });
  });

  test('are the same for all writes, without exceptions for the author and assignees', async () => {
    issue = await anIssue({ assignee_ids: [cast.guest.id] }, cast.stranger);
    for (const what of WRITES) {
      for (const name of ['guest', 'stranger', 'external'] as const)
        await post(what, { duration: '1h' }, name).expect(403);
      for (const name of ['planner', 'reporter', 'admin'] as const) {
        expect((await post(what, { duration: '1h' }, name)).status).toBe(what === 'add_spent_time' ? 201 : 200);
      }
    }
  });

  test('give 404 for users who cannot read the issue', async () => {
    issue = await anIssue({ confidential: true });
    await post('add_spent_time', { duration: '1h' }).expect(201);
    for (const name of ['guest', 'stranger', 'external'] as const) {
      const hidden = await as(name).get(at('/time_stats')).expect(404);
      expect(hidden.body).toEqual({ message: '404 Issue Not Found' });
    }
    issue = { id: 0, iid: 9999 };
    for (const what of WRITES) {
      expect((await post(what, { duration: '1h' }).expect(404)).body).toEqual({ message: '404 Issue Not Found' });
    }
  });

  test('give 404 if issues are disabled, and 403 for writes in an archived project', async () => {
    await service.seed.put('projects', { ...project, issues_access_level: 'disabled' });
    await as('owner').get(at('/time_stats')).expect(404);
    await post('time_estimate', { duration: '1h' }).expect(404);
    await service.seed.put('projects', { ...project, archived: true });
    for (const what of WRITES) await post(what, { duration: '1h' }, 'admin').expect(403);
    expect((await as('guest').get(at('/time_stats')).expect(200)).body).toEqual(stats(0, 0));
    await service.seed.put('projects', project);
  });

  test('include the note limit', async () => {
    await service.database.query(
      `insert into note_creations (user_id, window_started_at, notes_count) values ($1, now() + interval '1 hour', 300)`,
      [cast.maintainer.id],
    );
    await post('add_spent_time', { duration: '1h' }, 'maintainer').expect(429);
    await service.database.query('delete from note_creations where user_id = $1', [cast.maintainer.id]);
    expect((await as('guest').get(at('/time_stats'))).body).toEqual(stats(0, 0));
  });

  registerRefusalOrderTests(
    () => service.app,
    async () => {
      const hidden = await service.seed.project({ visibility: 'private' });
      const [owner, guest] = [await service.seed.user(), await service.seed.user()];
      await service.seed.member(owner, hidden, 'owner');
      await service.seed.member(guest, hidden, 'guest');
      const { body } = await as('admin').post(`/api/v4/projects/${hidden.id}/issues`).send({ title: 'x' }).expect(201);
      return {
        method: 'POST',
        path: `/api/v4/projects/${hidden.id}/issues/${(body as { iid: number }).iid}/add_spent_time`,
        good: { duration: '1h' },
        bad: {},
        anonymous: service.seed.anonymous(),
        outsider: service.seed.viewer(await service.seed.user()),
        reader: service.seed.viewer(guest),
        allowed: service.seed.viewer(owner),
      };
    },
  );
});

describe('an amount', () => {
  registerParameterEncodingTests({
    app: () => service.app,
    to: () => ({
      viewer: service.seed.viewer(cast.owner),
      method: 'POST',
      path: at('/add_spent_time'),
      params: { duration: '1h 30m' },
    }),
    seen: ({ human_total_time_spent }) => [human_total_time_spent],
    expected: ['1h 30m'],
  });
  registerForeignParentTests({
    app: () => service.app,
    viewer: () => service.seed.viewer(cast.admin),
    requests: async () => {
      const elsewhere = await service.seed.project();
      const path = `/api/v4/projects/${elsewhere.id}/issues/${issue.iid}`;
      return [
        { method: 'GET', path: `${path}/time_stats` },
        { method: 'POST', path: `${path}/time_estimate`, body: { duration: '1h' } },
        { method: 'POST', path: `${path}/add_spent_time`, body: { duration: '1h' } },
        { method: 'POST', path: `${path}/reset_spent_time` },
      ];
    },
    untouched: async () => (await as('guest').get(at())).body as unknown,
  });
});
