import type { DirectoryProject } from '@rookery/contracts';
import type { SeededService, SeededUser } from '@rookery/testing';
import { castOf, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';

type CallerName = keyof Cast | 'anonymous';

let service: SeededService;
beforeAll(async () => void (service = await startCollaboration()));
afterAll(() => service.close());

const as = (who: SeededUser | null) => service.app.as(who ? service.seed.viewer(who) : service.seed.anonymous());
const pathOf = ({ id }: DirectoryProject, iid: number, tail = ''): string =>
  `/api/v4/projects/${id}/issues/${iid}/resource_iteration_events${tail}`;

/** A project with an issue that has had all kinds of changes. */
async function place(over: Partial<DirectoryProject> = {}, fields: Record<string, unknown> = {}) {
  const project = await service.seed.project({ visibility: 'public', ...over });
  const cast = await castOf(service.seed, project);
  const path = `/api/v4/projects/${project.id}/issues`;
  const { body } = await as(cast.owner)
    .post(path)
    .send({ title: 'x', labels: 'a', weight: 1, ...fields });
  const iid = (body as { iid: number }).iid;
  await as(cast.owner).put(`${path}/${iid}`).send({ state_event: 'close' });
  return { project, cast, iid };
}

const NONE = [200, []];
const NO_ITEM = [404, { message: '404 Not found' }];
const NO_ISSUE = [404, { message: '404 Issue Not Found' }];
const NO_PROJECT = [404, { message: '404 Project Not Found' }];
const ALL = ['admin', 'owner', 'maintainer', 'developer', 'reporter', 'planner', 'guest', 'stranger', 'external', 'anonymous'] as const; // oxfmt-ignore
const MEMBERS: readonly CallerName[] = ALL.slice(0, 7);
const PLANNERS: readonly CallerName[] = ALL.slice(0, 6);

describe.each<[string, Partial<DirectoryProject>, Record<string, unknown>, readonly CallerName[], unknown]>([
  ['public', {}, {}, ALL, NO_ISSUE],
  ['internal', { visibility: 'internal' }, {}, [...MEMBERS, 'stranger'], NO_PROJECT],
  ['private', { visibility: 'private' }, {}, MEMBERS, NO_PROJECT],
  ['of a public project for members', { issues_access_level: 'private' }, {}, MEMBERS, NO_ISSUE],
  ['confidential', {}, { confidential: true }, PLANNERS, NO_ISSUE],
])('an issue that is %s', (_, over, fields, readers, unseen) => {
  test('has no iteration events for its readers, and is 404 for others', async () => {
    const { project, cast, iid } = await place(over, fields);
    const byStanding: Record<string, unknown> = {};
    for (const standing of ALL) {
      const who = as(standing === 'anonymous' ? null : cast[standing]);
      const answers = [await who.get(pathOf(project, iid)), await who.get(pathOf(project, iid, '/1'))];
      byStanding[standing] = answers.map(({ status, body }) => [status, body]);
    }
    expect(byStanding).toEqual(
      Object.fromEntries(ALL.map((one) => [one, readers.includes(one) ? [NONE, NO_ITEM] : [unseen, unseen]])),
    );
  });
});

test('a missing issue, or one of another project, is 404', async () => {
  const { project, cast, iid } = await place();
  const other = await service.seed.project();
  for (const path of [pathOf(project, 999), pathOf(project, 999, '/1'), pathOf(other, iid), pathOf(other, iid, '/1')]) {
    const { status, body } = await as(cast.admin).get(path);
    expect([status, body]).toEqual(NO_ISSUE);
  }
});

test('events of other kinds are not iteration events', async () => {
  const { project, cast, iid } = await place();
  for (const sort of ['label', 'weight', 'state']) {
    const path = pathOf(project, iid).replace('iteration', sort);
    const [change] = (await as(cast.owner).get(path).expect(200)).body as { id: number }[];
    const { status, body } = await as(cast.owner).get(pathOf(project, iid, `/${change!.id}`));
    expect([status, body]).toEqual(NO_ITEM);
  }
});

describe('pages', () => {
  test.each<[string, Record<string, string>]>([
    ['', { 'x-page': '1', 'x-per-page': '20' }],
    ['?per_page=5', { 'x-page': '1', 'x-per-page': '5' }],
    ['?page=3&per_page=2', { 'x-page': '3', 'x-per-page': '2' }],
  ])('%s are empty, with paging headers', async (query, expected) => {
    const { project, cast, iid } = await place();
    const answer = await as(cast.guest)
      .get(pathOf(project, iid, query))
      .expect(200);
    expect(answer.body).toEqual([]);
    expect(answer.headers).toMatchObject({ ...expected, 'x-total': '0', 'x-total-pages': '1', 'x-next-page': '' });
  });
});

test.each<[string, unknown]>([
  ['/x', { error: 'event_id is invalid' }],
  ['?page=x', { error: 'page is invalid' }],
])('%s is refused', async (tail, expected) => {
  const { project, cast, iid } = await place();
  expect(
    (
      await as(cast.guest)
        .get(pathOf(project, iid, tail))
        .expect(400)
    ).body,
  ).toEqual(expected);
});
