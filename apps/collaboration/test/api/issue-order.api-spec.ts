import type { DirectoryProject } from '@rookery/contracts';
import {
  registerForeignParentTests,
  registerParameterEncodingTests,
  registerRefusalOrderTests,
} from '@rookery/testing';
import type { SeededService } from '@rookery/testing';
import { castOf, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { issueActions } from '../support/issue-actions';

let service: SeededService;
let project: DirectoryProject;
let cast: Cast;
/** Titles in the order of creation. */
let ids: number[];

beforeAll(async () => void (service = await startCollaboration()));
afterAll(() => service.close());
beforeEach(async () => {
  project = await service.seed.project();
  cast = await castOf(service.seed, project);
  ids = [];
  for (let count = 0; count < 5; count++) ids.push((await anIssue()).id);
});

const { by, anIssue } = issueActions(() => ({ service, project, cast }));
const issuesPath = () => `/api/v4/projects/${project.id}/issues`;
const listIidsInOrder = async (query: Record<string, unknown> = {}): Promise<number[]> => {
  const wanted = { order_by: 'relative_position', sort: 'asc', per_page: 100, ...query };
  const { body } = await by(cast.guest).get(issuesPath()).query(wanted).expect(200);
  return (body as { iid: number }[]).map(({ iid }) => iid);
};
const reorderIssue = (iid: number, wish: { after?: number; before?: number }, name: keyof Cast = 'planner') => {
  const id = (number: number | undefined) => (number === undefined ? undefined : (ids[number - 1] ?? number));
  const fields = { move_after_id: id(wish.after), move_before_id: id(wish.before) };
  return by(cast[name]).put(`${issuesPath()}/${iid}/reorder`).send(fields);
};

test('issues are in the order of creation until one is moved', async () => {
  expect(await listIidsInOrder()).toEqual([1, 2, 3, 4, 5]);
  const moved = await reorderIssue(5, { after: 1, before: 2 }).expect(200);
  expect(moved.body).toEqual((await by(cast.planner).get(`${issuesPath()}/5`)).body);
  expect(await listIidsInOrder()).toEqual([1, 5, 2, 3, 4]);
  await reorderIssue(1, { after: 3 }).expect(200);
  expect(await listIidsInOrder()).toEqual([5, 2, 3, 1, 4]);
  await reorderIssue(4, { before: 5 }).expect(200);
  expect(await listIidsInOrder()).toEqual([4, 5, 2, 3, 1]);
  await reorderIssue(4, { after: 1 }).expect(200);
  expect(await listIidsInOrder()).toEqual([5, 2, 3, 1, 4]);
  await reorderIssue(5, { before: 4 }).expect(200);
  expect(await listIidsInOrder()).toEqual([2, 3, 1, 5, 4]);
  expect(await listIidsInOrder({ sort: 'desc' })).toEqual([4, 5, 1, 3, 2]);
  await anIssue();
  expect(await listIidsInOrder()).toEqual([2, 3, 1, 5, 4, 6]);
});

test('with contradictory parameters, move_after_id decides', async () => {
  await reorderIssue(5, { after: 3, before: 1 }).expect(200);
  expect(await listIidsInOrder()).toEqual([1, 2, 3, 5, 4]);
});

test('many issues can be moved to one position', async () => {
  // Each is moved right behind the first: every move halves the gap, which is widened by moving the following issues.
  for (let round = 0; round < 50; round++) await reorderIssue(2 + (round % 4), { after: 1 }).expect(200);
  expect(await listIidsInOrder()).toEqual([1, 3, 2, 5, 4]);
});

test('concurrent moves are executed one after the other', async () => {
  const answers = await Promise.all([2, 3, 4, 5].map((iid) => reorderIssue(iid, { before: 1 })));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  const positions = await service.database.query(
    'select distinct relative_position from issues where project_id = $1 and relative_position is not null',
    [project.id],
  );
  expect(positions).toHaveLength(4);
  expect((await listIidsInOrder()).at(-1)).toBe(1);
});

test('moves no other issue, and does not change updated_at', async () => {
  const before = (await by(cast.guest).get(`${issuesPath()}/2`)).body as unknown;
  await reorderIssue(2, { after: 4 }).expect(200);
  expect((await by(cast.guest).get(`${issuesPath()}/2`)).body).toEqual(before);
  expect(await service.database.query(`select 1 from notes where project_id = $1`, [project.id])).toEqual([]);
});

test('is refused without a position, for itself, and for issues of other projects', async () => {
  expect((await reorderIssue(1, {}).expect(400)).body).toEqual({
    error: 'move_after_id, move_before_id are missing, at least one parameter must be provided',
  });
  const own = project;
  project = await service.seed.project();
  const foreign = (await anIssue({}, cast.admin)).id;
  project = own;
  for (const wish of [{ after: 1 }, { after: foreign }, { after: 2, before: foreign }, { before: 999_999 }]) {
    expect((await reorderIssue(1, wish).expect(422)).body).toEqual({ message: '422 Unprocessable Entity' });
  }
  expect((await reorderIssue(99, { after: 1 }).expect(404)).body).toEqual({ message: '404 Issue Not Found' });
  expect(await listIidsInOrder()).toEqual([1, 2, 3, 4, 5]);
});

test('is for planners', async () => {
  for (const name of ['guest', 'stranger', 'external'] as const) await reorderIssue(2, { after: 3 }, name).expect(403);
  for (const name of ['planner', 'reporter', 'developer', 'maintainer', 'owner', 'admin'] as const) {
    await reorderIssue(2, { after: 3 }, name).expect(200);
  }
  await service.seed.put('projects', { ...project, issues_access_level: 'disabled' });
  await reorderIssue(2, { after: 3 }).expect(404);
  await service.seed.put('projects', { ...project, archived: true });
  await reorderIssue(2, { after: 3 }, 'admin').expect(403);
});

describe('a move', () => {
  registerRefusalOrderTests(
    () => service.app,
    async () => {
      const hidden = await service.seed.project({ visibility: 'private' });
      const at = `/api/v4/projects/${hidden.id}/issues`;
      const made: number[] = [];
      for (const title of ['a', 'b']) {
        made.push(((await by(cast.admin).post(at).send({ title }).expect(201)).body as { id: number }).id);
      }
      const [planner, guest] = [await service.seed.user(), await service.seed.user()];
      await service.seed.member(planner, hidden, 'planner');
      await service.seed.member(guest, hidden, 'guest');
      return {
        method: 'PUT',
        path: `${at}/1/reorder`,
        good: { move_after_id: made[1] },
        bad: { move_after_id: 'x' },
        anonymous: service.seed.anonymous(),
        outsider: service.seed.viewer(await service.seed.user()),
        reader: service.seed.viewer(guest),
        allowed: service.seed.viewer(planner),
      };
    },
  );
  registerParameterEncodingTests({
    app: () => service.app,
    to: () => ({
      viewer: service.seed.viewer(cast.owner),
      method: 'PUT',
      path: `${issuesPath()}/1/reorder`,
      params: { move_after_id: ids[2], move_before_id: ids[3] },
    }),
    seen: ({ iid }) => iid,
    expected: 1,
  });
  registerForeignParentTests({
    app: () => service.app,
    viewer: () => service.seed.viewer(cast.admin),
    requests: async () => {
      const elsewhere = await service.seed.project();
      return [
        { method: 'PUT', path: `/api/v4/projects/${elsewhere.id}/issues/1/reorder`, body: { move_after_id: ids[1] } },
      ];
    },
    untouched: () => listIidsInOrder(),
  });
});
