import type { DirectoryNamespace, DirectoryProject } from '@rookery/contracts';
import type { SeededService } from '@rookery/testing';
import { castOf, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { insertMergeRequestRow } from '../support/merge-request-rows';

/** Lists of merge requests: every filter and order, over rows without a repository. */
let service: SeededService;
let group: DirectoryNamespace;
let project: DirectoryProject;
let hidden: DirectoryProject;
let cast: Cast;
let paths: { project: string; group: string; instance: string };

type Query = Record<string, unknown>;
const as = (name: keyof Cast) => service.app.as(service.seed.viewer(cast[name]));
const anonymous = () => service.app.as(service.seed.anonymous());
const day = (number: number): string => `2026-01-0${number}T00:00:00.000Z`;

beforeAll(async () => {
  service = await startCollaboration();
  group = await service.seed.group();
  const below = await service.seed.group({ parent: group });
  project = await service.seed.project({ namespace_id: below.id });
  hidden = await service.seed.project({ namespace_id: group.id, visibility: 'private' });
  cast = await castOf(service.seed, project);
  await service.seed.member(cast.guest, hidden, 'guest');
  await service.seed.member(cast.reporter, hidden, 'reporter');
  paths = {
    project: `/api/v4/projects/${project.id}/merge_requests`,
    group: `/api/v4/groups/${group.id}/merge_requests`,
    instance: '/api/v4/merge_requests',
  };
  const { developer, owner, maintainer, reporter, guest } = cast;
  const [milestone] = await service.database.query<{ id: number }>(
    `insert into milestones (project_id, iid, title, due_on) values ($1, 1, 'v1', '2026-02-01') returning id`,
    [project.id],
  );
  const at = (number: number) => ({ created_at: day(number), updated_at: day(9 - number) });
  const one = await insertMergeRequestRow(service, project, {
    ...at(1),
    title: 'Alpha',
    description: 'first words',
    author_id: developer.id,
    source_branch: 'feature/one',
    milestone_id: milestone!.id,
    upvotes_count: 3,
  });
  const two = await insertMergeRequestRow(service, project, {
    ...at(2),
    title: 'Draft: Beta',
    draft: true,
    author_id: owner.id,
    target_branch: 'release',
  });
  await insertMergeRequestRow(service, project, {
    ...at(3),
    title: 'Gamma',
    author_id: developer.id,
    state: 'merged',
    merged_at: day(5),
    merged_by_id: maintainer.id,
  });
  await insertMergeRequestRow(service, project, {
    ...at(4),
    title: 'Delta',
    author_id: developer.id,
    state: 'closed',
    closed_at: day(4),
  });
  await insertMergeRequestRow(service, hidden, { ...at(5), title: 'Hidden', author_id: developer.id });
  await service.database.query('insert into merge_request_assignees values ($1, $2, 1), ($1, $3, 2), ($4, $2, 1)', [
    one.id,
    guest.id,
    owner.id,
    two.id,
  ]);
  await service.database.query(
    'insert into merge_request_reviewers (merge_request_id, user_id, position) values ($1, $2, 1)',
    [one.id, reporter.id],
  );
  await as('developer').put(`${paths.project}/${one.iid}`).send({ labels: 'bug,ui' }).expect(200);
  await as('developer').put(`${paths.project}/${two.iid}`).send({ labels: 'bug' }).expect(200);
  await as('guest').post(`${paths.project}/${one.iid}/award_emoji`).send({ name: 'rocket' }).expect(201);
  await service.database.query('update merge_requests set updated_at = $1 where id = $2', [day(8), one.id]);
  await service.database.query('update merge_requests set updated_at = $1 where id = $2', [day(7), two.id]);
});
afterAll(() => service.close());

const titles = async (query: Query, path = paths.project, name: keyof Cast = 'guest'): Promise<string[]> => {
  const { body } = await as(name).get(path).query(query).expect(200);
  return (body as { title: string }[]).map(({ title }) => title.replace('Draft: ', ''));
};
const userNamed = (name: keyof Cast) => cast[name];

test.each<[string, () => Query, string[]]>([
  ['all, newest first', () => ({}), ['Delta', 'Gamma', 'Beta', 'Alpha']],
  ['state opened', () => ({ state: 'opened' }), ['Beta', 'Alpha']],
  ['state closed', () => ({ state: 'closed' }), ['Delta']],
  ['state merged', () => ({ state: 'merged' }), ['Gamma']],
  ['state locked', () => ({ state: 'locked' }), []],
  ['scope assigned_to_me', () => ({ scope: 'assigned_to_me' }), ['Beta', 'Alpha']],
  ['scope with a hyphen', () => ({ scope: 'created-by-me' }), []],
  ['author_id', () => ({ author_id: userNamed('owner').id }), ['Beta']],
  ['author_username', () => ({ author_username: userNamed('owner').username.toUpperCase() }), ['Beta']],
  ['an unknown author', () => ({ author_id: 999_999 }), []],
  ['assignee_id', () => ({ assignee_id: userNamed('owner').id }), ['Alpha']],
  ['assignee None', () => ({ assignee_id: 'None' }), ['Delta', 'Gamma']],
  ['assignee Any', () => ({ assignee_id: 'any' }), ['Beta', 'Alpha']],
  [
    'all of several assignees',
    () => ({ 'assignee_username[]': [userNamed('guest').username, userNamed('owner').username] }),
    ['Alpha'],
  ],
  ['reviewer_id', () => ({ reviewer_id: userNamed('reporter').id }), ['Alpha']],
  ['reviewer_username', () => ({ reviewer_username: userNamed('reporter').username }), ['Alpha']],
  ['reviewer None', () => ({ reviewer_id: 'None' }), ['Delta', 'Gamma', 'Beta']],
  ['merge_user_id', () => ({ merge_user_id: userNamed('maintainer').id }), ['Gamma']],
  ['merge_user_username', () => ({ merge_user_username: userNamed('maintainer').username }), ['Gamma']],
  ['all labels', () => ({ labels: 'bug,ui' }), ['Alpha']],
  ['labels None', () => ({ labels: 'None' }), ['Delta', 'Gamma']],
  ['labels Any', () => ({ labels: 'Any' }), ['Beta', 'Alpha']],
  ['milestone', () => ({ milestone: 'v1' }), ['Alpha']],
  ['milestone None', () => ({ milestone: 'None' }), ['Delta', 'Gamma', 'Beta']],
  ['my_reaction_emoji', () => ({ my_reaction_emoji: 'rocket' }), ['Alpha']],
  ['source_branch', () => ({ source_branch: 'feature/one' }), ['Alpha']],
  ['target_branch', () => ({ target_branch: 'release' }), ['Beta']],
  ['source_project_id', () => ({ source_project_id: String(project.id), state: 'closed' }), ['Delta']],
  ['search', () => ({ search: 'words FIRST' }), ['Alpha']],
  ['search in titles', () => ({ search: 'words', in: 'title' }), []],
  ['wip', () => ({ wip: 'yes' }), ['Beta']],
  ['no wip', () => ({ wip: 'no' }), ['Delta', 'Gamma', 'Alpha']],
  ['draft', () => ({ draft: true }), ['Beta']],
  ['approved', () => ({ approved: 'yes' }), []],
  ['approved_by_ids', () => ({ 'approved_by_ids[]': [1] }), []],
  ['approver_ids', () => ({ 'approver_ids[]': ['Any'] }), []],
  ['created_after', () => ({ created_after: day(3) }), ['Delta', 'Gamma']],
  ['created_before', () => ({ created_before: day(1) }), ['Alpha']],
  ['updated_after', () => ({ updated_after: day(8) }), ['Alpha']],
  ['updated_before', () => ({ updated_before: day(5) }), ['Delta']],
  ['merged_after', () => ({ merged_after: day(5) }), ['Gamma']],
  ['merged_before', () => ({ merged_before: day(4) }), []],
  ['environment', () => ({ environment: 'production' }), []],
  ['deployed_after', () => ({ deployed_after: day(1) }), []],
  ['iids', () => ({ 'iids[]': [1, 2] }), ['Beta', 'Alpha']],
  ['not author', () => ({ 'not[author_id]': userNamed('developer').id }), ['Beta']],
  ['not assignee', () => ({ 'not[assignee_id]': userNamed('owner').id }), ['Delta', 'Gamma', 'Beta']],
  ['not reviewer', () => ({ 'not[reviewer_username]': userNamed('reporter').username }), ['Delta', 'Gamma', 'Beta']],
  ['not labels', () => ({ 'not[labels]': 'ui' }), ['Delta', 'Gamma', 'Beta']],
  ['not milestone', () => ({ 'not[milestone]': 'v1' }), ['Delta', 'Gamma', 'Beta']],
  ['not my_reaction_emoji', () => ({ 'not[my_reaction_emoji]': 'rocket' }), ['Delta', 'Gamma', 'Beta']],
  ['oldest first', () => ({ sort: 'asc' }), ['Alpha', 'Beta', 'Gamma', 'Delta']],
  ['by updated_at', () => ({ order_by: 'updated_at' }), ['Alpha', 'Beta', 'Gamma', 'Delta']],
  ['by merged_at', () => ({ order_by: 'merged_at' }), ['Gamma', 'Delta', 'Beta', 'Alpha']],
  ['by title', () => ({ order_by: 'title', sort: 'asc' }), ['Alpha', 'Delta', 'Beta', 'Gamma']],
  ['by popularity', () => ({ order_by: 'popularity' }), ['Alpha', 'Delta', 'Gamma', 'Beta']],
  ['by milestone_due', () => ({ order_by: 'milestone_due' }), ['Alpha', 'Delta', 'Gamma', 'Beta']],
  ['by label_priority', () => ({ order_by: 'label_priority' }), ['Delta', 'Gamma', 'Beta', 'Alpha']],
  ['by priority', () => ({ order_by: 'priority' }), ['Alpha', 'Delta', 'Gamma', 'Beta']],
])('a project: %s', async (_, query, expected) => {
  expect(await titles(query())).toEqual(expected);
});

test.each<[Query, string]>([
  [{ author_id: 1, author_username: 'a' }, 'author_id, author_username are mutually exclusive'],
  [{ assignee_id: 1, assignee_username: 'a' }, 'assignee_id, assignee_username are mutually exclusive'],
  [{ reviewer_id: 1, reviewer_username: 'a' }, 'reviewer_id, reviewer_username are mutually exclusive'],
  [{ merge_user_id: 1, merge_user_username: 'a' }, 'merge_user_id, merge_user_username are mutually exclusive'],
  [{ state: 'all_of_them' }, 'state does not have a valid value'],
  [{ scope: 'mine' }, 'scope does not have a valid value'],
  [{ order_by: 'weight' }, 'order_by does not have a valid value'],
  [{ view: 'full' }, 'view does not have a valid value'],
  [{ author_id: 'x' }, 'author_id is invalid'],
  [{ assignee_id: 'x' }, 'assignee_id is invalid'],
  [{ reviewer_id: 'x' }, 'reviewer_id is invalid'],
  [{ draft: 'maybe' }, 'draft is invalid'],
  [{ created_after: 'x' }, 'created_after is invalid'],
])('%p is refused', async (query, error) => {
  for (const path of Object.values(paths))
    expect((await as('guest').get(path).query(query).expect(400)).body).toEqual({ error });
});

test('pages have totals, and labels may be objects', async () => {
  const response = await as('guest').get(paths.project).query({ per_page: 1, page: 2, with_labels_details: true });
  expect(response.headers).toMatchObject({ 'x-total': '4', 'x-total-pages': '4', 'x-page': '2', 'x-next-page': '3' });
  const { body } = await as('guest').get(paths.project).query({ labels: 'ui', with_labels_details: true });
  expect(body).toMatchObject([{ labels: [{ name: 'bug' }, { name: 'ui' }] }]);
});

describe('groups and the instance', () => {
  test('a group lists those of subgroups, without projects whose code the caller may not read', async () => {
    expect(await titles({}, paths.group)).toEqual(['Delta', 'Gamma', 'Beta', 'Alpha']);
    expect(await titles({}, paths.group, 'reporter')).toEqual(['Hidden', 'Delta', 'Gamma', 'Beta', 'Alpha']);
    expect((await anonymous().get(paths.group)).body).toHaveLength(4);
    const { body } = await as('guest').get(paths.group).query({ search: 'alpha' });
    const full = `${group.full_path}/group${project.namespace_id}/${project.path}!1`;
    expect(body).toMatchObject([{ reference: full, references: { short: '!1', relative: full, full } }]);
    const missing = await as('guest').get('/api/v4/groups/999999/merge_requests').expect(404);
    expect(missing.body).toEqual({ message: '404 Group Not Found' });
  });

  test('the instance lists the own ones by default; anonymous callers must ask for all', async () => {
    expect(await titles({}, paths.instance, 'developer')).toEqual(['Delta', 'Gamma', 'Alpha']);
    expect(await titles({ scope: 'assigned_to_me' }, paths.instance)).toEqual(['Beta', 'Alpha']);
    expect(await titles({ scope: 'reviews_for_me' }, paths.instance, 'reporter')).toEqual(['Alpha']);
    expect(await titles({ scope: 'all', author_id: cast.developer.id }, paths.instance, 'reporter')).toEqual([
      ...['Hidden', 'Delta', 'Gamma', 'Alpha'],
    ]);
    expect(await titles({ scope: 'all', reviewer_id: cast.reporter.id }, paths.instance)).toEqual(['Alpha']);
    expect((await anonymous().get(paths.instance).expect(401)).body).toEqual({ message: '401 Unauthorized' });
    const all = await anonymous().get(paths.instance).query({ scope: 'all' }).expect(200);
    expect((all.body as unknown[]).length).toBe(4);
  });

  test('archived projects are left out unless asked for', async () => {
    await service.seed.put('projects', { ...project, archived: true });
    expect(await titles({}, paths.group)).toEqual([]);
    expect(await titles({ non_archived: false }, paths.group)).toHaveLength(4);
    expect(await titles({}, paths.project)).toHaveLength(4);
    await service.seed.put('projects', project);
  });

  test('a milestone of a project or group lists its merge requests', async () => {
    const [milestone] = await service.database.query<{ id: number }>('select id from milestones');
    const path = `/api/v4/projects/${project.id}/milestones/${milestone!.id}/merge_requests`;
    expect(await titles({}, path)).toEqual(['Alpha']);
    const [own] = await service.database.query<{ id: number }>(
      `insert into milestones (group_id, iid, title) values ($1, 1, 'g') returning id`,
      [group.id],
    );
    await as('developer').put(`${paths.project}/1`).send({ milestone_id: own!.id }).expect(200);
    const ofGroup = `/api/v4/groups/${group.id}/milestones/${own!.id}/merge_requests`;
    expect(await titles({}, ofGroup)).toEqual(['Alpha']);
    expect(
      (
        await as('guest')
          .get(ofGroup.replace(/\d+\/merge/, '999999/merge'))
          .expect(404)
      ).body,
    ).toEqual({
      message: '404 Not found',
    });
  });
});
