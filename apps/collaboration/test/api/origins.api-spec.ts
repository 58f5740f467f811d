import type { DirectoryProject } from '@rookery/contracts';
import type { SeededService, SeededUser } from '@rookery/testing';
import { castOf, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { issueActions } from '../support/issue-actions';

type IssueIds = { readonly id: number; readonly iid: number };

let service: SeededService;
let project: DirectoryProject;
let cast: Cast;

beforeAll(async () => void (service = await startCollaboration()));
afterAll(() => service.close());
beforeEach(async () => {
  project = await service.seed.project({ visibility: 'public' });
  cast = await castOf(service.seed, project);
});

const { by, anIssue } = issueActions(() => ({ service, project, cast }));
const HERE = { 'user-agent': 'Nest/1', 'x-forwarded-for': '192.0.2.7' };
const DETAIL = { user_agent: 'Nest/1', ip_address: '192.0.2.7', akismet_submitted: false };
const UNKNOWN = { message: '404 UserAgentDetail Not Found' };
const issuesPath = (of: DirectoryProject | string = project): string =>
  `/api/v4/projects/${encodeURIComponent(typeof of === 'string' ? of : String(of.id))}/issues`;
const userAgentDetailPath = ({ iid }: { readonly iid: number }, of: DirectoryProject | string = project): string =>
  `${issuesPath(of)}/${iid}/user_agent_detail`;
const originOf = async (one: { readonly iid: number }, of: DirectoryProject = project): Promise<[number, unknown]> => {
  const { status, body } = await by(cast.admin).get(userAgentDetailPath(one, of));
  return [status, body];
};
const opened = async (fields: Record<string, unknown> = {}, from: Record<string, string> = HERE): Promise<IssueIds> =>
  (
    await by(cast.owner)
      .post(issuesPath())
      .set(from)
      .send({ title: 'x', ...fields })
      .expect(201)
  ).body;

test('administrators see the user agent and address of the creation of an issue', async () => {
  const long = { ...HERE, 'user-agent': `Nest/1 ${'x'.repeat(300)}` };
  expect(await originOf(await opened({}, long))).toEqual([200, { ...DETAIL, user_agent: `Nest/1 ${'x'.repeat(248)}` }]);
  const hidden = await opened({ confidential: true, user_agent: 'Sent/2', ip_address: '198.51.100.1' });
  expect(await originOf(hidden)).toEqual([200, DETAIL]);
  const home = /^(.+)#\d+$/.exec(
    (await by(cast.admin).get(`${issuesPath()}/${hidden.iid}`).expect(200)).body.references.full,
  )![1]!;
  expect((await by(cast.admin).get(userAgentDetailPath(hidden, home)).expect(200)).body).toEqual(DETAIL);
});

test('an issue without recorded origin is 404, like a missing issue', async () => {
  expect(await originOf(await anIssue())).toEqual([404, UNKNOWN]);
  expect(await originOf(await opened({}, { 'x-forwarded-for': '192.0.2.8' }))).toEqual([
    200,
    { ...DETAIL, user_agent: null, ip_address: '192.0.2.8' },
  ]);
  expect(await originOf({ iid: 999_999 })).toEqual([404, { message: '404 Issue Not Found' }]);
  const off = await service.seed.project({ issues_access_level: 'disabled' });
  expect(await originOf({ iid: 1 }, off)).toEqual([404, { message: '404 Issue Not Found' }]);
});

test('the origin is deleted with the issue, and unchanged by updates', async () => {
  const issue = await opened();
  await by(cast.admin)
    .put(`${issuesPath()}/${issue.iid}`)
    .set('user-agent', 'Other/2')
    .send({ title: 'y' })
    .expect(200);
  expect(await originOf(issue)).toEqual([200, DETAIL]);
  await by(cast.owner).delete(`${issuesPath()}/${issue.iid}`).expect(204);
  expect(await originOf(issue)).toEqual([404, { message: '404 Issue Not Found' }]);
});

test('a moved issue keeps its origin, a clone has none', async () => {
  const target = await service.seed.project();
  await service.seed.member(cast.owner, target, 'owner');
  const issue = await opened();
  const to = async (verb: 'move' | 'clone'): Promise<IssueIds> =>
    (await by(cast.owner).post(`${issuesPath()}/${issue.iid}/${verb}`).send({ to_project_id: target.id }).expect(201))
      .body;
  expect(await originOf(await to('clone'), target)).toEqual([404, UNKNOWN]);
  expect(await originOf(await to('move'), target)).toEqual([200, DETAIL]);
  expect(await originOf(issue)).toEqual([200, DETAIL]);
});

describe.each(['public', 'internal', 'private'] as const)('in a project that is %s', (visibility) => {
  const REFUSED = [403, { message: '403 Forbidden' }];
  test.each<[keyof Cast | 'nobody', unknown]>([
    ['admin', [200, DETAIL]],
    ['owner', REFUSED],
    ['maintainer', REFUSED],
    ['developer', REFUSED],
    ['reporter', REFUSED],
    ['planner', REFUSED],
    ['guest', REFUSED],
    ['stranger', REFUSED],
    ['external', REFUSED],
    ['nobody', [401, { message: '401 Unauthorized' }]],
  ])('%s', async (name, expected) => {
    const place = await service.seed.project({ visibility });
    const people = await castOf(service.seed, place);
    const at = `/api/v4/projects/${place.id}/issues`;
    const { body } = await by(people.owner).post(at).set(HERE).send({ title: 'x' }).expect(201);
    const who = name === 'nobody' ? service.app.as(service.seed.anonymous()) : by(people[name] as SeededUser);
    const answer = await who.get(`${at}/${body.iid}/user_agent_detail`);
    expect([answer.status, answer.body]).toEqual(expected);
  });
});
