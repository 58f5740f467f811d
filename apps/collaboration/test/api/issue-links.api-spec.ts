import type { DirectoryNamespace, DirectoryProject } from '@rookery/contracts';
import {
  registerForeignParentTests,
  registerListPagingTests,
  registerParameterEncodingTests,
  registerRefusalOrderTests,
} from '@rookery/testing';
import type { SeededService, SeededUser } from '@rookery/testing';
import { castOf, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { issueActions } from '../support/issue-actions';

interface Issue {
  readonly id: number;
  readonly iid: number;
}
interface IssueLink {
  readonly id: number;
  readonly source_issue: Issue;
  readonly target_issue: Issue;
  readonly link_type: string;
}
type LinkedIssue = Issue & { readonly issue_link_id: number; readonly link_type: string };

let service: SeededService;
let group: DirectoryNamespace;
let project: DirectoryProject;
let cast: Cast;
/** A private project of another group; the guest of the project is a guest there, too. */
let secret: DirectoryProject;
let own: Issue;
let other: Issue;

beforeAll(async () => void (service = await startCollaboration()));
afterAll(() => service.close());
beforeEach(async () => {
  group = await service.seed.group();
  project = await service.seed.project({ namespace_id: group.id });
  secret = await service.seed.project({ visibility: 'private' });
  cast = await castOf(service.seed, project);
  for (const name of ['guest', 'owner'] as const) await service.seed.member(cast[name], secret, name);
  own = await anIssue();
  other = await anIssue();
});

const { by, anIssue } = issueActions(() => ({ service, project, cast }));
const as = (name: keyof Cast) => by(cast[name]);
const at = (issue: Issue, tail = '', of = project): string =>
  `/api/v4/projects/${of.id}/issues/${issue.iid}/links${tail}`;
const linkFields = (issue: Issue, of = project, linkType?: string) => ({
  target_project_id: of.id,
  target_issue_iid: issue.iid,
  ...(linkType ? { link_type: linkType } : {}),
});
const link = async (from: Issue, to: Issue, linkType?: string, who = cast.guest): Promise<IssueLink> =>
  (
    await by(who)
      .post(at(from))
      .send(linkFields(to, project, linkType))
      .expect(201)
  ).body as IssueLink;
const anIssueIn = async (of: DirectoryProject, fields: Record<string, unknown> = {}): Promise<Issue> =>
  (
    await as('admin')
      .post(`/api/v4/projects/${of.id}/issues`)
      .send({ title: 'There', ...fields })
      .expect(201)
  ).body as Issue;
const shown = async (issue: Issue, who: SeededUser = cast.guest, of = project): Promise<Record<string, unknown>> => {
  const { subscribed: _, ...body } = (await by(who).get(`/api/v4/projects/${of.id}/issues/${issue.iid}`).expect(200))
    .body as Record<string, unknown>;
  return body;
};
const linked = async (issue: Issue, who: SeededUser = cast.guest, of = project): Promise<[number, string][]> => {
  const { body, headers } = await by(who)
    .get(at(issue, '', of))
    .expect(200);
  expect(headers['x-total']).toBe(String((body as LinkedIssue[]).length));
  return (body as LinkedIssue[]).map(({ id, link_type }) => [id, link_type]);
};
const countBlockedIssues = async (issue: Issue): Promise<unknown> => (await shown(issue))['blocking_issues_count'];

describe('a link', () => {
  test('shows both issues from either side', async () => {
    const made = await link(own, other);
    const whole = {
      id: made.id,
      source_issue: await shown(own),
      target_issue: await shown(other),
      link_type: 'relates_to',
    };
    expect(made).toEqual(whole);
    const anonymous = service.app.as(service.seed.anonymous());
    expect((await anonymous.get(at(own, `/${made.id}`)).expect(200)).body).toMatchObject({ id: made.id });
    expect(
      (
        await as('guest')
          .get(at(own, `/${made.id}`))
          .expect(200)
      ).body,
    ).toEqual(whole);
    const reversed = { ...whole, source_issue: whole.target_issue, target_issue: whole.source_issue };
    expect(
      (
        await as('guest')
          .get(at(other, `/${made.id}`))
          .expect(200)
      ).body,
    ).toEqual(reversed);
    const [row] = (await as('guest').get(at(other)).expect(200)).body as Record<string, unknown>[];
    const { link_created_at: made_at } = row!;
    expect(row).toEqual({
      ...whole.source_issue,
      issue_link_id: made.id,
      link_type: 'relates_to',
      link_created_at: made_at,
      link_updated_at: made_at,
    });
    expect(
      (
        await as('guest')
          .delete(at(other, `/${made.id}`))
          .expect(200)
      ).body,
    ).toEqual(reversed);
    expect(await linked(own)).toEqual([]);
    expect(
      (
        await as('guest')
          .delete(at(own, `/${made.id}`))
          .expect(404)
      ).body,
    ).toEqual({ message: '404 Not found' });
    expect(
      (
        await as('guest')
          .get(at(own, `/${made.id}`))
          .expect(404)
      ).body,
    ).toEqual({ message: '404 Not found' });
  });

  test('that blocks is shown on the other side, and counted while the blocking issue is open', async () => {
    const made = await link(own, other, 'blocks');
    expect(made).toMatchObject({ source_issue: { id: own.id, blocking_issues_count: 1 }, link_type: 'blocks' });
    expect(await linked(other)).toEqual([[own.id, 'is_blocked_by']]);
    const third = await anIssue();
    const reversed = await link(third, own, 'is_blocked_by');
    expect(reversed).toMatchObject({
      source_issue: { id: third.id },
      target_issue: { id: own.id },
      link_type: 'is_blocked_by',
    });
    expect(await linked(own)).toEqual([
      [other.id, 'blocks'],
      [third.id, 'blocks'],
    ]);
    expect([await countBlockedIssues(own), await countBlockedIssues(other), await countBlockedIssues(third)]).toEqual([
      2, 0, 0,
    ]);
    await as('owner').put(`/api/v4/projects/${project.id}/issues/${third.iid}`).send({ state_event: 'close' });
    expect(await countBlockedIssues(own)).toBe(1);
    await as('owner').put(`/api/v4/projects/${project.id}/issues/${other.iid}`).send({ confidential: true });
    expect(await countBlockedIssues(own)).toBe(0);
  });

  test('connects projects by id or path, and each issue is shown as in its own project', async () => {
    const there = await anIssueIn(secret);
    const fields = { target_project_id: secret.id, target_issue_iid: there.iid };
    const { body } = await as('guest').post(at(own)).send(fields).expect(201);
    expect((body as IssueLink).target_issue).toEqual(await shown(there, cast.guest, secret));
    await as('guest')
      .delete(at(there, `/${(body as IssueLink).id}`, secret))
      .expect(200);
    const path = (await shown(there, cast.guest, secret))['references'] as { full: string };
    await as('guest')
      .post(at(own))
      .send({ ...fields, target_project_id: path.full.split('#')[0] })
      .expect(201);
    expect(await linked(there, cast.guest, secret)).toEqual([[own.id, 'relates_to']]);
  });

  test('exists once for two issues, in either direction', async () => {
    await link(own, other);
    for (const [from, to, type] of [
      [own, other, 'relates_to'],
      [other, own, 'relates_to'],
      [own, other, 'blocks'],
      [own, other, 'is_blocked_by'],
    ] as const) {
      const again = await as('owner')
        .post(at(from))
        .send(linkFields(to, project, type))
        .expect(409);
      expect(again.body).toEqual({ message: 'Issue(s) already assigned' });
    }
    const third = await anIssue();
    const requests = [0, 1, 2, 3, 4].flatMap(() => [
      { from: own, to: third },
      { from: third, to: own },
    ]);
    const answers = await Promise.all(requests.map(({ from, to }) => as('guest').post(at(from)).send(linkFields(to))));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(9).fill(409)]);
  });

  test('is deleted with either issue', async () => {
    await link(own, other);
    await as('owner').delete(`/api/v4/projects/${project.id}/issues/${other.iid}`).expect(204);
    expect(await linked(own)).toEqual([]);
    const left = 'select 1 from issue_links where $1 in (source_id, target_id)';
    expect(await service.database.query(left, [own.id])).toEqual([]);
  });
});

describe('refusals', () => {
  const refused = async (wish: Record<string, unknown>, name: keyof Cast = 'guest', from = own) => {
    const { status, body } = await as(name).post(at(from)).send(wish);
    return [status, body as unknown];
  };
  const NO_TARGET = {
    message: 'No matching issue found. Make sure that you are adding a valid issue URL.',
  };

  test('of parameters', async () => {
    expect(await refused({})).toEqual([400, { error: 'target_project_id is missing, target_issue_iid is missing' }]);
    expect(await refused({ ...linkFields(other), link_type: 'loves' })).toEqual([
      400,
      { error: 'link_type does not have a valid value' },
    ]);
  });

  test('an issue and itself', async () => {
    expect(await refused(linkFields(own))).toEqual([
      422,
      { message: `#${own.iid} cannot be added: cannot be related to itself` },
    ]);
  });

  test('of blocking links in plans without them', async () => {
    await service.seed.put('namespaces', { ...group, plan: 'free' });
    for (const type of ['blocks', 'is_blocked_by']) {
      expect(await refused(linkFields(other, project, type))).toEqual([
        403,
        { message: 'Blocked issues not available for current license' },
      ]);
    }
    await link(own, other);
    await service.seed.put('namespaces', { ...group, plan: 'premium' });
    await link(own, await anIssue(), 'blocks');
  });

  test('missing and hidden targets alike', async () => {
    const confidential = await anIssue({ confidential: true });
    const hidden = await anIssueIn(secret, { confidential: true });
    for (const issue of [confidential, { id: 0, iid: 999 }]) {
      expect(await refused(linkFields(issue))).toEqual([404, NO_TARGET]);
    }
    expect(await refused(linkFields(hidden, secret))).toEqual([404, NO_TARGET]);
    const elsewhere = { target_issue_iid: hidden.iid };
    for (const ref of [secret.id, 999_999, 'no/where']) {
      const asked = { ...elsewhere, target_project_id: ref };
      expect(await refused(asked, 'reporter')).toEqual([404, { message: '404 Project Not Found' }]);
    }
    await service.seed.put('projects', { ...secret, issues_access_level: 'disabled' });
    expect(await refused(linkFields(hidden, secret), 'owner')).toEqual([404, NO_TARGET]);
    expect(await refused(linkFields(other), 'guest', confidential)).toEqual([404, { message: '404 Issue Not Found' }]);
  });

  test('of users without a role in both projects, and in archived projects', async () => {
    const open = await service.seed.project();
    const there = await anIssueIn(open);
    const forbidden = [403, { message: '403 Forbidden' }];
    for (const name of ['stranger', 'external'] as const)
      expect(await refused(linkFields(other), name)).toEqual(forbidden);
    expect(await refused(linkFields(there, open))).toEqual(forbidden);
    const { body } = await as('admin').post(at(own)).send(linkFields(there, open)).expect(201);
    const { id } = body as IssueLink;
    await as('guest')
      .delete(at(own, `/${id}`))
      .expect(403);
    await as('stranger')
      .delete(at(own, `/${id}`))
      .expect(403);
    await service.seed.put('projects', { ...open, archived: true });
    await as('admin')
      .delete(at(own, `/${id}`))
      .expect(403);
    await as('admin')
      .delete(at(there, `/${id}`, open))
      .expect(403);
    expect(await linked(own)).toEqual([[there.id, 'relates_to']]);
  });

  describe('in order', () => {
    registerRefusalOrderTests(
      () => service.app,
      async () => {
        const hidden = await service.seed.project({ visibility: 'private' });
        const [from, first] = [await anIssueIn(hidden), await anIssueIn(hidden)];
        const guest = await service.seed.user();
        await service.seed.member(guest, hidden, 'guest');
        return {
          method: 'POST',
          path: at(from, '', hidden),
          good: linkFields(first, hidden),
          bad: {},
          anonymous: service.seed.anonymous(),
          outsider: service.seed.viewer(await service.seed.user()),
          allowed: service.seed.viewer(guest),
        };
      },
    );
  });
});

describe('a hidden issue', () => {
  test.each<[keyof Cast, number]>([
    ['stranger', 1],
    ['external', 1],
    ['planner', 2],
    ['guest', 2],
    ['owner', 4],
    ['admin', 4],
  ])('is not listed, counted or shown as a link to %s', async (name, count) => {
    const confidential = await anIssue({ confidential: true });
    const [there, hidden] = [await anIssueIn(secret), await anIssueIn(secret, { confidential: true })];
    await link(own, other);
    const ids = new Map<Issue, number>();
    for (const [issue, of] of [
      [confidential, project],
      [there, secret],
      [hidden, secret],
    ] as const) {
      const { body } = await as('admin').post(at(own)).send(linkFields(issue, of)).expect(201);
      ids.set(issue, (body as IssueLink).id);
    }
    const seen = (await linked(own, cast[name])).map(([id]) => id);
    expect(seen).toHaveLength(count);
    for (const [issue, id] of ids) {
      const [status] = [(await as(name).get(at(own, `/${id}`))).status];
      expect([issue.id, status]).toEqual([issue.id, seen.includes(issue.id) ? 200 : 404]);
      if (seen.includes(issue.id)) continue;
      const removal = (await as(name).delete(at(own, `/${id}`))).status;
      expect(removal).toBe(name === 'stranger' || name === 'external' ? 403 : 404);
    }
    if (count === 4) return;
    const hiddenAnswer = await as(name).get(at(hidden, '', secret));
    expect(hiddenAnswer.status).toBe(404);
  });

  test('is omitted once it becomes hidden', async () => {
    const { id } = await link(own, other);
    await as('owner')
      .put(`/api/v4/projects/${project.id}/issues/${other.iid}`)
      .send({ confidential: true })
      .expect(200);
    expect(await linked(own)).toEqual([]);
    await as('guest')
      .get(at(own, `/${id}`))
      .expect(404);
    await as('guest')
      .delete(at(own, `/${id}`))
      .expect(404);
    expect(await linked(own, cast.planner)).toEqual([[other.id, 'relates_to']]);
  });

  test('is omitted if issues are disabled', async () => {
    const { id } = await link(own, other);
    await service.seed.put('projects', { ...project, issues_access_level: 'disabled' });
    for (const tail of ['', `/${id}`]) {
      expect((await as('owner').get(at(own, tail)).expect(404)).body).toEqual({ message: '404 Issue Not Found' });
    }
  });
});

describe('as a list', () => {
  let made: IssueLink;
  beforeEach(async () => {
    for (let count = 0; count < 6; count++) made = await link(own, await anIssue());
    await link(await anIssue(), own);
  });
  registerListPagingTests(() => ({
    app: service.app,
    viewer: service.seed.viewer(cast.guest),
    path: at(own),
    rows: 7,
  }));
  registerForeignParentTests({
    app: () => service.app,
    viewer: () => service.seed.viewer(cast.admin),
    requests: async () => {
      const elsewhere = await service.seed.project();
      const there = await anIssueIn(elsewhere);
      return [
        { method: 'GET', path: at(other, `/${made.id}`) },
        { method: 'DELETE', path: at(other, `/${made.id}`) },
        { method: 'GET', path: at(there, `/${made.id}`, elsewhere) },
        { method: 'DELETE', path: at(there, `/${made.id}`, elsewhere) },
      ];
    },
    untouched: () => linked(own),
  });
  registerParameterEncodingTests({
    app: () => service.app,
    to: async () => ({
      viewer: service.seed.viewer(cast.guest),
      method: 'POST',
      path: at(other),
      params: linkFields(await anIssue(), project, 'is_blocked_by'),
    }),
    seen: ({ link_type }) => link_type,
    expected: 'is_blocked_by',
  });
});
