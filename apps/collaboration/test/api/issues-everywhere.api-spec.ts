import type { DirectoryNamespace, DirectoryProject } from '@rookery/contracts';
import type { Viewer, Visibility } from '@rookery/kernel';
import { registerListPagingTests, registerVisibilityTests } from '@rookery/testing';
import type { SeededService, SeededUser, RoleCase } from '@rookery/testing';
import { startCollaboration } from '../support/app';

interface Issue {
  readonly id: number;
  readonly iid: number;
  readonly project_id: number;
  readonly title: string;
  readonly references: { readonly short: string; readonly relative: string; readonly full: string };
}

let service: SeededService;
let root: DirectoryNamespace;
let below: DirectoryNamespace;
let open: DirectoryProject;
let closed: DirectoryProject;
let off: DirectoryProject;
let archived: DirectoryProject;
let elsewhere: DirectoryProject;
let people: Record<'admin' | 'author' | 'planner' | 'guest' | 'outsider' | 'external' | 'memberOfRoot', SeededUser>;

const clientOf = (viewer: Viewer) => service.app.as(viewer);
const viewerOfUser = (user: SeededUser): Viewer => service.seed.viewer(user);
const projectIssuesPath = ({ id }: { readonly id: number }) => `/api/v4/projects/${id}/issues`;
const issuesBelow = ({ id }: { readonly id: number } = root) => `/api/v4/groups/${id}/issues`;
const made = async (project: DirectoryProject, fields: object, by = people.author): Promise<Issue> =>
  (await clientOf(viewerOfUser(by)).post(projectIssuesPath(project)).send(fields).expect(201)).body as Issue;
const read = async (viewer: Viewer, path: string, query: object = {}): Promise<Issue[]> =>
  (await clientOf(viewer).get(path).query(query).expect(200)).body as Issue[];
const idsOf = (issues: readonly Issue[]): number[] => issues.map(({ id }) => id);
const sorted = (ids: readonly number[]): number[] => [...ids].sort((a, b) => a - b);

beforeAll(async () => {
  service = await startCollaboration();
  const { seed } = service;
  root = await seed.group();
  below = await seed.group({ parent: root, visibility: 'public' });
  open = await seed.project({ namespace_id: root.id, path: 'open' });
  closed = await seed.project({ namespace_id: below.id, visibility: 'private' });
  off = await seed.project({ namespace_id: below.id, path: 'off' });
  archived = await seed.project({ namespace_id: root.id });
  elsewhere = await seed.project();
  people = {
    admin: await seed.user({ admin: true }),
    author: await seed.user(),
    planner: await seed.user(),
    guest: await seed.user(),
    outsider: await seed.user(),
    external: await seed.user({ external: true }),
    memberOfRoot: await seed.user(),
  };
  for (const project of [open, closed, off, archived, elsewhere]) await seed.member(people.author, project, 'planner');
  await seed.member(people.planner, closed, 'planner');
  await seed.member(people.guest, closed, 'guest');
  await seed.member(people.memberOfRoot, root, 'planner');
  const { author, guest } = people;
  for (const project of [open, closed, off, archived, elsewhere]) {
    await clientOf(viewerOfUser(author))
      .post(`/api/v4/projects/${project.id}/labels`)
      .send({ name: 'nest', priority: 1 })
      .expect(201);
    const titled = { title: `v1 of ${project.id}`, due_date: '2030-01-01' };
    const { body } = await clientOf(viewerOfUser(author))
      .post(`/api/v4/projects/${project.id}/milestones`)
      .send(titled)
      .expect(201);
    const { id: milestone } = body as { id: number };
    await made(project, { title: 'plain', description: 'twigs' });
    await made(project, { title: 'labelled', labels: 'nest', milestone_id: milestone });
    await made(project, { title: 'hidden', confidential: true, assignee_ids: [guest.id], labels: 'nest' });
    const done = await made(project, { title: 'done', issue_type: 'task', due_date: '2020-01-01' });
    await clientOf(viewerOfUser(author))
      .put(`${projectIssuesPath(project)}/${done.iid}`)
      .send({ state_event: 'close' })
      .expect(200);
    await clientOf(viewerOfUser(author))
      .post(`${projectIssuesPath(project)}/${done.iid}/award_emoji`)
      .send({ name: 'rocket' })
      .expect(201);
  }
  await seed.put('projects', { ...archived, archived: true });
  await seed.put('projects', { ...off, issues_access_level: 'disabled' });
});
afterAll(() => service.close());

type Who = keyof typeof people | 'anonymous';
const WHO: readonly Who[] = [
  ...['admin', 'author', 'planner', 'guest', 'outsider', 'external', 'memberOfRoot'],
  'anonymous',
] as Who[];
const viewerOf = (who: Who): Viewer => (who === 'anonymous' ? service.seed.anonymous() : viewerOfUser(people[who]));
/** The projects of the group that the viewer can see. */
const projectsWithVisibleIssues = async (
  viewer: Viewer,
  projects: readonly DirectoryProject[],
): Promise<DirectoryProject[]> => {
  const seen = await Promise.all(projects.map((project) => clientOf(viewer).get(projectIssuesPath(project))));
  return projects.filter((_, index) => seen[index]!.status === 200);
};

const FILTERS: readonly object[] = [
  {},
  { state: 'opened' },
  { state: 'closed' },
  { scope: 'created_by_me' },
  { scope: 'assigned_to_me' },
  { labels: 'nest' },
  { labels: 'None' },
  { labels: 'Any', state: 'opened' },
  { milestone: 'Any' },
  { milestone: 'None' },
  { milestone_id: 'Upcoming' },
  { search: 'twig' },
  { confidential: true },
  { confidential: false, assignee_id: 'None' },
  { my_reaction_emoji: 'rocket' },
  { due_date: 'overdue' },
  { issue_type: 'task' },
  { iids: [1, 3] },
  { 'not[labels]': 'nest' },
  { 'not[milestone]': 'Any', 'not[iids]': 1 },
  { weight: 'None' },
  { epic_id: 'Any' },
];

describe('the issues of a group', () => {
  it.each(WHO)('are, for %s, those of its projects, with every filter', async (who) => {
    const viewer = viewerOf(who);
    const projects = await projectsWithVisibleIssues(viewer, [open, closed, off, archived]);
    for (const filter of FILTERS) {
      const each = await Promise.all(projects.map((project) => read(viewer, projectIssuesPath(project), filter)));
      const wanted = sorted(idsOf(each.flat()));
      const { body, headers } = await clientOf(viewer)
        .get(issuesBelow())
        .query({ ...filter, non_archived: false });
      expect([filter, sorted(idsOf(body as Issue[])), headers['x-total']]).toEqual([
        filter,
        wanted,
        String(wanted.length),
      ]);
    }
  });

  it('exclude archived projects unless requested', async () => {
    const viewer = viewerOfUser(people.author);
    expect(new Set((await read(viewer, issuesBelow())).map((issue) => issue.project_id))).toEqual(
      new Set([open.id, closed.id]),
    );
    const all = await read(viewer, issuesBelow(), { non_archived: false });
    expect(new Set(all.map((issue) => issue.project_id))).toEqual(new Set([open.id, closed.id, archived.id]));
    expect(new Set((await read(viewer, issuesBelow(below))).map((issue) => issue.project_id))).toEqual(
      new Set([closed.id]),
    );
  });

  it.each([
    ['created_at', 'desc'],
    ['created_at', 'asc'],
    ['updated_at', 'desc'],
    ['title', 'asc'],
    ['due_date', 'asc'],
    ['label_priority', 'asc'],
    ['milestone_due', 'desc'],
    ['popularity', 'desc'],
    ['weight', 'asc'],
    ['relative_position', 'asc'],
    ['priority', 'desc'],
  ])('are ordered by %s %s over all projects, also page by page', async (order_by, sort) => {
    const viewer = viewerOfUser(people.admin);
    const asked = { order_by, sort, non_archived: false };
    const whole = idsOf(await read(viewer, issuesBelow(), asked));
    expect(whole).toHaveLength(12);
    const pages = await Promise.all(
      [1, 2, 3].map((page) => read(viewer, issuesBelow(), { ...asked, page, per_page: 5 })),
    );
    expect(idsOf(pages.flat())).toEqual(whole);
    // Within one project the order is that of its own list.
    const own = idsOf(await read(viewer, projectIssuesPath(open), { order_by, sort }));
    expect(whole.filter((id) => own.includes(id))).toEqual(own);
  });

  it('have references relative to the group', async () => {
    const viewer = viewerOfUser(people.author);
    const [ofRoot] = await read(viewer, issuesBelow(), { search: 'plain', 'not[iids]': 99, sort: 'asc' });
    expect(ofRoot!.references).toEqual({ short: '#1', relative: 'open#1', full: `${root.full_path}/open#1` });
    const [ofBelow] = (await read(viewer, issuesBelow())).filter((issue) => issue.project_id === closed.id);
    expect(ofBelow!.references.relative).toBe(ofBelow!.references.full);
    const { body } = await clientOf(viewer).get(projectIssuesPath(open));
    const shown = (await read(viewer, issuesBelow())).filter((issue) => issue.project_id === open.id);
    expect(shown.map((issue) => ({ ...issue, references: null }))).toEqual(
      (body as Issue[]).map((issue) => ({ ...issue, references: null })),
    );
    const [labelled] = await read(viewer, issuesBelow(), { labels: 'nest', with_labels_details: true });
    expect(labelled).toMatchObject({ labels: [{ name: 'nest' }] });
  });

  it('are 404 for a hidden group', async () => {
    const hidden = await service.seed.group({ visibility: 'private' });
    const answer = await clientOf(viewerOfUser(people.outsider)).get(issuesBelow(hidden)).expect(404);
    expect(answer.body).toEqual({ message: '404 Group Not Found' });
    await clientOf(viewerOfUser(people.outsider))
      .get(`/api/v4/groups/${encodeURIComponent(root.full_path)}/issues`)
      .expect(200);
  });

  const places = new Map<Visibility, Promise<DirectoryNamespace>>();
  registerVisibilityTests({
    app: () => service.app,
    from: async (level, standing: RoleCase) => {
      if (!places.has(level)) places.set(level, service.seed.group({ visibility: level }));
      const group = await places.get(level)!;
      if (standing === 'anonymous') return { viewer: service.seed.anonymous(), path: issuesBelow(group) };
      const user = await service.seed.user({ admin: standing === 'admin', external: standing === 'external' });
      if (!['admin', 'external', 'outsider'].includes(standing)) {
        await service.seed.member(user, group, standing as never);
      }
      return { viewer: viewerOfUser(user), path: issuesBelow(group) };
    },
  });
  registerListPagingTests(() => ({
    app: service.app,
    viewer: viewerOfUser(people.author),
    path: issuesBelow(),
    query: { sort: 'asc' },
    rows: 8,
  }));
});

describe('the issues of the instance', () => {
  it('are those that the caller created, unless the scope is wider', async () => {
    const viewer = viewerOfUser(people.author);
    const mine = await read(viewer, '/api/v4/issues', { per_page: 100 });
    expect(new Set(mine.map((issue) => issue.project_id))).toEqual(new Set([open.id, closed.id, elsewhere.id]));
    expect(mine.every((issue) => issue.references.relative === issue.references.full)).toBe(true);
    expect(await read(viewerOfUser(people.guest), '/api/v4/issues')).toEqual([]);
    const assigned = await read(viewerOfUser(people.guest), '/api/v4/issues', { scope: 'assigned-to-me' });
    expect(new Set(assigned.map((issue) => issue.project_id))).toEqual(new Set([open.id, closed.id, elsewhere.id]));
  });

  it.each(WHO.filter((who) => who !== 'anonymous'))('are, for %s, those of all projects', async (who) => {
    const viewer = viewerOf(who);
    const projects = await projectsWithVisibleIssues(viewer, [open, closed, off, archived, elsewhere]);
    const people_ = [{ author_id: people.author.id }, { assignee_id: people.guest.id }, { assignee_id: 'Any' }];
    const asked = [...FILTERS, ...people_, { author_username: people.author.username }];
    for (const filter of asked.map((one) => ({ scope: 'all', ...one }))) {
      const each = await Promise.all(projects.map((project) => read(viewer, projectIssuesPath(project), filter)));
      const all = await read(viewer, '/api/v4/issues', { ...filter, non_archived: false, per_page: 100 });
      expect([filter, sorted(idsOf(all))]).toEqual([filter, sorted(idsOf(each.flat()))]);
    }
  });

  it('need a token', async () => {
    const answer = await clientOf(service.seed.anonymous()).get('/api/v4/issues').expect(401);
    expect(answer.body).toEqual({ message: '401 Unauthorized' });
  });

  it.each([
    [{ scope: 'x' }, { error: 'scope does not have a valid value' }],
    [{ milestone: 'a', milestone_id: '1' }, { error: 'milestone, milestone_id are mutually exclusive' }],
    [{ author_id: 'x' }, { error: 'author_id is invalid' }],
    [{ non_archived: 'x' }, { error: 'non_archived is invalid' }],
  ])('refuse %j', async (query, body) => {
    for (const path of ['/api/v4/issues', issuesBelow()]) {
      const answer = await clientOf(viewerOfUser(people.author)).get(path).query(query).expect(400);
      expect(answer.body).toEqual(body);
    }
  });

  registerListPagingTests(() => ({
    app: service.app,
    viewer: viewerOfUser(people.author),
    path: '/api/v4/issues',
    query: { sort: 'asc' },
    rows: 12,
  }));
});

describe('one issue by its id', () => {
  it('is shown to administrators, as in its project', async () => {
    const issue = await made(closed, { title: 'by id', confidential: true });
    const viewer = viewerOfUser(people.admin);
    const { body } = await clientOf(viewer).get(`/api/v4/issues/${issue.id}`).expect(200);
    const own = (
      await clientOf(viewer)
        .get(`${projectIssuesPath(closed)}/${issue.iid}`)
        .expect(200)
    ).body as Issue;
    expect(body).toEqual({ ...own, references: { ...own.references, relative: own.references.full } });
    const missing = await clientOf(viewer).get('/api/v4/issues/999999999').expect(404);
    expect(missing.body).toEqual({ message: '404 Issue Not Found' });
    await clientOf(viewer).get('/api/v4/issues/x').expect(400);
  });

  it('is refused for other users', async () => {
    const { id } = await made(open, { title: 'seen by all' });
    const refused = await clientOf(viewerOfUser(people.author)).get(`/api/v4/issues/${id}`).expect(403);
    expect(refused.body).toEqual({ message: '403 Forbidden' });
    await clientOf(service.seed.anonymous()).get(`/api/v4/issues/${id}`).expect(401);
  });
});
