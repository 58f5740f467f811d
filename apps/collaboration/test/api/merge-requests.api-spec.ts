import type { SeededService } from '@rookery/testing';
import { eventsOf, ROLES, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { MergeRequestScene } from '../support/merge-request-scene';
import type { MergePlace } from '../support/merge-request-scene';

interface ShownMergeRequest {
  readonly id: number;
  readonly iid: number;
  readonly title: string;
  readonly [field: string]: unknown;
}

let service: SeededService;
let scene: MergeRequestScene;
let place: MergePlace;
let cast: Cast;
let path: string;
let head: string;
let branches = 0;

beforeAll(async () => {
  service = await startCollaboration();
  scene = await MergeRequestScene.start(service);
  place = await scene.place();
  ({ cast, path } = place);
  [head] = (await scene.branch(place, 'feature')) as [string];
});
afterAll(async () => {
  await scene.stop();
  await service.close();
});

const as = (name: keyof Cast) => service.app.as(service.seed.viewer(cast[name]));
const anonymous = () => service.app.as(service.seed.anonymous());
/** Opens a merge request from a new branch with one commit. */
async function open(name: keyof Cast = 'developer', fields: Record<string, unknown> = {}): Promise<ShownMergeRequest> {
  const source = `branch-${++branches}`;
  await scene.branch(place, source);
  const sent = { title: 'A change', source_branch: source, target_branch: 'main', ...fields };
  return (await as(name).post(path).send(sent).expect(201)).body as ShownMergeRequest;
}
const notesOf = async (iid: number): Promise<string[]> => {
  const query = { sort: 'asc', activity_filter: 'only_activity' };
  const { body } = await as('owner').get(`${path}/${iid}/notes`).query(query);
  return (body as { body: string }[]).map((note) => note.body);
};
const expectedPerson = ({ id, username, name }: Cast['owner']) => ({
  id,
  username,
  public_email: null,
  name,
  state: 'active',
  locked: false,
  avatar_url: null,
  web_url: `http://localhost:8080/${username}`,
});

test('more than 200 assignees or reviewers are refused', async () => {
  const { iid } = await open();
  const ids = (count: number) => Array.from({ length: count }, (_, index) => 900_000 + index);
  const problem = ['total must be less than or equal to 200'];
  const both = { assignee_ids: ids(201), reviewer_ids: ids(201) };
  const sent = { title: 'Many', source_branch: `many-${iid}`, target_branch: 'main' };
  await scene.branch(place, sent.source_branch);
  for (const [answer, message] of [
    [
      as('developer')
        .post(path)
        .send({ ...sent, ...both }),
      { assignees: problem, reviewers: problem },
    ],
    [
      as('developer')
        .put(`${path}/${iid}`)
        .send({ reviewer_ids: ids(201) }),
      { reviewers: problem },
    ],
    [
      as('developer')
        .put(`${path}/${iid}`)
        .send({ assignee_ids: ids(201) }),
      { assignees: problem },
    ],
  ] as const)
    expect((await answer.expect(400)).body).toEqual({ message });
  await as('developer')
    .put(`${path}/${iid}`)
    .send({ reviewer_ids: [...ids(200), ...ids(200)] })
    .expect(200);
});

describe('creating', () => {
  test('answers the complete merge request; lists leave out what only single ones have', async () => {
    const { body } = await as('developer')
      .post(path)
      .send({
        title: 'Draft: a "feature"',
        description: 'See\n\n- [x] look\n- [ ] fix',
        source_branch: 'feature',
        target_branch: 'main',
        assignee_ids: [cast.guest.id, cast.owner.id],
        reviewer_ids: [cast.reporter.id],
        labels: ['b,a'],
        remove_source_branch: true,
        squash: true,
      })
      .expect(201);
    const { iid } = body as ShownMergeRequest;
    const web = `http://localhost:8080/${place.fullPath}/-/merge_requests/${iid}`;
    const listed = {
      id: expect.any(Number),
      iid,
      project_id: place.project.id,
      title: 'Draft: a "feature"',
      description: 'See\n\n- [x] look\n- [ ] fix',
      state: 'opened',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updated_at: body.created_at,
      merged_by: null,
      merge_user: null,
      merged_at: null,
      closed_by: null,
      closed_at: null,
      target_branch: 'main',
      source_branch: 'feature',
      user_notes_count: 0,
      upvotes: 0,
      downvotes: 0,
      author: expectedPerson(cast.developer),
      assignees: [expectedPerson(cast.guest), expectedPerson(cast.owner)],
      assignee: expectedPerson(cast.guest),
      reviewers: [expectedPerson(cast.reporter)],
      source_project_id: place.project.id,
      target_project_id: place.project.id,
      labels: ['a', 'b'],
      draft: true,
      imported: false,
      imported_from: 'none',
      work_in_progress: true,
      milestone: null,
      merge_when_pipeline_succeeds: false,
      merge_status: 'can_be_merged',
      detailed_merge_status: 'draft_status',
      merge_after: null,
      sha: head,
      merge_commit_sha: null,
      squash_commit_sha: null,
      discussion_locked: null,
      should_remove_source_branch: null,
      force_remove_source_branch: true,
      prepared_at: body.created_at,
      reference: `!${iid}`,
      references: { short: `!${iid}`, relative: `!${iid}`, full: `${place.fullPath}!${iid}` },
      web_url: web,
      time_stats: { time_estimate: 0, total_time_spent: 0, human_time_estimate: null, human_total_time_spent: null },
      squash: true,
      squash_on_merge: true,
      task_completion_status: { count: 2, completed_count: 1 },
      has_conflicts: false,
      blocking_discussions_resolved: true,
      approvals_before_merge: null,
    };
    const written = {
      ...listed,
      subscribed: true,
      changes_count: '1',
      latest_build_started_at: null,
      latest_build_finished_at: null,
      first_deployed_to_production_at: null,
      pipeline: null,
      head_pipeline: null,
      diff_refs: { base_sha: place.mainSha, head_sha: head, start_sha: place.mainSha },
      merge_error: null,
      user: { can_merge: true },
    };
    expect(body).toEqual(written);
    const single = await as('developer').get(`${path}/${iid}`).expect(200);
    expect(single.body).toEqual({ ...written, first_contribution: false });
    const asked = { include_diverged_commits_count: '1', include_rebase_in_progress: true };
    expect((await anonymous().get(`${path}/${iid}`).query(asked).expect(200)).body).toEqual({
      ...written,
      subscribed: false,
      user: { can_merge: false },
      first_contribution: false,
      diverged_commits_count: 0,
      rebase_in_progress: false,
    });
    const rendered = await as('developer').get(`${path}/${iid}`).query({ render_html: true }).expect(200);
    expect(rendered.body).toEqual({
      ...single.body,
      title_html: 'Draft: a &quot;feature&quot;',
      description_html: '<p>See</p>\n<ul>\n<li>[x] look</li>\n<li>[ ] fix</li>\n</ul>\n',
    });
    expect(
      (
        await anonymous()
          .get(path)
          .query({ 'iids[]': [iid] })
      ).body,
    ).toEqual([listed]);
    const simple = await anonymous()
      .get(path)
      .query({ view: 'simple', 'iids[]': [iid] });
    expect(Object.keys((simple.body as ShownMergeRequest[])[0]!)).toEqual([
      ...['id', 'iid', 'project_id', 'title', 'description', 'state', 'created_at', 'updated_at', 'web_url'],
    ]);
    const created = await eventsOf(service.database, 'collaboration.merge_request.created.v1');
    expect(created.at(-1)).toEqual({
      merge_request_id: body.id,
      merge_request_iid: iid,
      project_id: place.project.id,
      author_id: cast.developer.id,
      confidential: false,
      created_at: body.created_at,
      assignee_ids: [cast.guest.id, cast.owner.id],
      reviewer_ids: [cast.reporter.id],
      label_ids: [expect.any(Number), expect.any(Number)],
    });
    expect(await scene.ref(place, `refs/merge-requests/${iid}/head`)).toBe(head);
  });

  test.each([
    ['draft: x', true],
    ['[Draft] x', true],
    ['(DRAFT) x', true],
    ['WIP: x', false],
    ['draft - x', false],
    ['A draft: x', false],
  ])('the title %p means a draft: %p', async (title, draft) => {
    const source = `draft-${++branches}`;
    await scene.branch(place, source);
    const sent = { title, source_branch: source, target_branch: 'main' };
    const { body } = await as('developer').post(path).type('form').send(sent).expect(201);
    expect(body).toMatchObject({ draft, work_in_progress: draft, squash: false, force_remove_source_branch: null });
  });

  const valid = { title: 'A change', source_branch: 'feature', target_branch: 'main' };
  test.each<[string, Record<string, unknown>, number, unknown]>([
    ['no source branch', { source_branch: undefined }, 400, { error: 'source_branch is missing' }],
    ['no target branch', { target_branch: undefined }, 400, { error: 'target_branch is missing' }],
    ['no title', { title: undefined }, 400, { error: 'title is missing' }],
    ['a blank title', { title: ' ' }, 400, { message: { title: ["can't be blank"] } }],
    [
      'a source that does not exist',
      { source_branch: 'none' },
      400,
      { message: { source_branch: ['does not exist'] } },
    ],
    [
      'a target that does not exist',
      { target_branch: 'none' },
      400,
      { message: { target_branch: ['does not exist'] } },
    ],
    ['an invalid source', { source_branch: 'a..b' }, 400, { message: { source_branch: ['is invalid'] } }],
    ['an invalid target', { target_branch: '-x' }, 400, { message: { target_branch: ['is invalid'] } }],
    [
      'the same branch',
      { source_branch: 'main' },
      422,
      { message: ["You can't use same project/branch for source and target"] },
    ],
    [
      'another project',
      { target_project_id: 1 },
      422,
      { message: ['Source project is not a fork of the target project'] },
    ],
    [
      'a second one for the branches',
      {},
      409,
      { message: [expect.stringMatching(/^Another open merge request already exists for this source branch: !\d+$/)] },
    ],
  ])('%s is refused', async (_, fields, status, body) => {
    const response = await as('developer')
      .post(path)
      .send({ ...valid, ...fields })
      .expect(status);
    expect(response.body).toEqual(body);
  });

  test('a branch without own commits, people who cannot read, and an unknown milestone are accepted', async () => {
    await scene.git.ok(place.folder, 'push', '--quiet', 'origin', 'origin/main:refs/heads/no-commits');
    const fields = { source_branch: 'no-commits', assignee_id: 999_999, reviewer_ids: [0], milestone_id: 999_999 };
    const { body } = await as('developer')
      .post(path)
      .send({ ...valid, ...fields, labels: '' })
      .expect(201);
    expect(body).toMatchObject({
      detailed_merge_status: 'commits_status',
      merge_status: 'cannot_be_merged',
      changes_count: '0',
      assignees: [],
      reviewers: [],
      labels: [],
      milestone: null,
    });
  });

  test('quick actions of the description run, and their lines vanish', async () => {
    const { body } = await as('developer').get(
      `${path}/${(await open('developer', { description: 'Text\n/todo' })).iid}`,
    );
    expect(body).toMatchObject({ description: 'Text' });
    const todos = await as('developer').get('/api/v4/todos');
    expect((todos.body as { target: ShownMergeRequest }[]).map(({ target }) => target.id)).toContain(
      (body as ShownMergeRequest).id,
    );
  });
});

describe('roles and visibility', () => {
  const readers: [MergePlace['project']['visibility'], Record<string, number>][] = [
    ['public', { anonymous: 200, stranger: 200, external: 200, guest: 200, planner: 200, reporter: 200, admin: 200 }],
    ['internal', { anonymous: 404, stranger: 200, external: 404, guest: 200, planner: 200, reporter: 200, admin: 200 }],
    ['private', { anonymous: 404, stranger: 404, external: 404, guest: 403, planner: 403, reporter: 200, admin: 200 }],
  ];
  test.each(readers)('reading in a %s project', async (visibility, statuses) => {
    const own = await scene.place({ visibility });
    await scene.branch(own, 'feature');
    const viewer = (name: string) =>
      service.app.as(
        name === 'anonymous' ? service.seed.anonymous() : service.seed.viewer(own.cast[name as keyof Cast]),
      );
    const sent = { title: 'A change', source_branch: 'feature', target_branch: 'main' };
    await viewer('developer').post(own.path).send(sent).expect(201);
    for (const [name, status] of Object.entries(statuses)) {
      const responses = [await viewer(name).get(own.path), await viewer(name).get(`${own.path}/1`)];
      expect([name, ...responses.map((response) => response.status)]).toEqual([name, status, status]);
      if (status === 403) expect(responses[1]!.body).toEqual({ message: '403 Forbidden' });
      if (status === 404) expect(responses[1]!.body).toEqual({ message: '404 Project Not Found' });
    }
    for (const role of [...ROLES, 'stranger'] as const) {
      const mayCreate = ['developer', 'maintainer', 'owner'].includes(role);
      if (mayCreate) await scene.branch(own, `of-${role}`);
      const refused = visibility === 'private' && role === 'stranger' ? 404 : 403;
      const response = await viewer(role)
        .post(own.path)
        .send({ ...sent, source_branch: `of-${role}` });
      expect([role, response.status]).toEqual([role, mayCreate ? 201 : refused]);
    }
  });

  test('a disabled feature hides them, and nobody creates one', async () => {
    const { iid } = await open();
    await service.seed.put('projects', { ...place.project, merge_requests_access_level: 'disabled' });
    expect((await as('owner').get(path)).body).toEqual({ message: '404 Not found' });
    expect((await as('owner').get(`${path}/${iid}`).expect(404)).body).toEqual({ message: '404 Not found' });
    const sent = { title: 'A', source_branch: 'feature', target_branch: 'main' };
    expect((await as('owner').post(path).send(sent).expect(403)).body).toEqual({ message: '403 Forbidden' });
    await service.seed.put('projects', place.project);
  });

  test('a merge request is reached by its number in its own project only', async () => {
    const { id, iid } = await open();
    const other = await scene.place();
    const foreign = service.app.as(service.seed.viewer(other.cast.owner));
    expect((await foreign.get(`${other.path}/${iid}`).expect(404)).body).toEqual({ message: '404 Not found' });
    expect(
      (
        await as('owner')
          .get(`${path}/${id + 100_000}`)
          .expect(404)
      ).body,
    ).toEqual({ message: '404 Not found' });
    const encoded = encodeURIComponent(place.fullPath);
    await as('owner').get(`/api/v4/projects/${encoded}/merge_requests/${iid}`).expect(200);
  });
});

describe('updating', () => {
  test('changes texts, people, labels and flags, with notes and one event', async () => {
    const { iid } = await open();
    const { body } = await as('developer')
      .put(`${path}/${iid}`)
      .send({
        title: 'Draft: A change',
        description: 'New',
        assignee_ids: [cast.owner.id],
        reviewer_ids: [cast.maintainer.id, cast.reporter.id],
        add_labels: 'one',
        squash: true,
        remove_source_branch: true,
        discussion_locked: true,
        merge_after: '2099-01-01T00:00:00Z',
      })
      .expect(200);
    expect(body).toMatchObject({
      title: 'Draft: A change',
      draft: true,
      description: 'New',
      assignee: { id: cast.owner.id },
      reviewers: [{ id: cast.maintainer.id }, { id: cast.reporter.id }],
      labels: ['one'],
      squash: true,
      force_remove_source_branch: true,
      discussion_locked: true,
      merge_after: '2099-01-01T00:00:00.000Z',
      detailed_merge_status: 'merge_time',
    });
    expect(await notesOf(iid)).toEqual([
      `assigned to @${cast.owner.username}`,
      `requested review from @${cast.maintainer.username} and @${cast.reporter.username}`,
      'marked this merge request as **draft**',
      'changed the description',
      'locked this merge request',
    ]);
    const changed = (await eventsOf(service.database, 'collaboration.merge_request.updated.v1')).at(-1);
    expect(changed).toMatchObject({
      text_changed: true,
      added_assignee_ids: [cast.owner.id],
      added_reviewer_ids: [cast.maintainer.id, cast.reporter.id],
      removed_reviewer_ids: [],
    });
    const cleared = await as('developer')
      .put(`${path}/${iid}`)
      .send({ title: 'Another', reviewer_ids: [cast.reporter.id], assignee_id: 0, labels: '', merge_after: null })
      .expect(200);
    expect(cleared.body).toMatchObject({ assignees: [], reviewers: [{ id: cast.reporter.id }], labels: [] });
    expect((await notesOf(iid)).slice(5)).toEqual([
      `unassigned @${cast.owner.username}`,
      `removed review request for @${cast.maintainer.username}`,
      'marked this merge request as **ready**',
      expect.stringMatching(/^changed title from /),
    ]);
  });

  test('a new target brings a new version; the pair must be free', async () => {
    const { iid, source_branch: source } = await open();
    const [tip] = await scene.branch(place, 'release');
    const { body } = await as('developer').put(`${path}/${iid}`).send({ target_branch: 'release' }).expect(200);
    expect(body).toMatchObject({
      target_branch: 'release',
      diff_refs: { base_sha: place.mainSha, start_sha: tip },
      merge_status: 'can_be_merged',
    });
    expect(await notesOf(iid)).toEqual(['changed target branch from `main` to `release`']);
    const versions = await service.database.query<{ start_sha: string }>(
      `select v.start_sha from merge_request_versions v join merge_requests i on i.id = v.merge_request_id
       where i.project_id = $1 and i.iid = $2 order by v.id`,
      [place.project.id, iid],
    );
    expect(versions.map((version) => version.start_sha)).toEqual([place.mainSha, tip]);
    const sent = { title: 'Second', source_branch: source, target_branch: 'main' };
    await as('developer').post(path).send(sent).expect(201);
    const refused = await as('developer').put(`${path}/${iid}`).send({ target_branch: 'main' }).expect(409);
    expect(refused.body).toEqual({ message: [expect.stringMatching(/for this source branch: !\d+$/)] });
    const missing = await as('developer').put(`${path}/${iid}`).send({ target_branch: 'none' }).expect(400);
    expect(missing.body).toEqual({ message: { target_branch: ['does not exist'] } });
    const same = await as('developer').put(`${path}/${iid}`).send({ target_branch: source }).expect(422);
    expect(same.body).toEqual({ message: ["You can't use same project/branch for source and target"] });
  });

  test('closing and reopening; what does not apply changes nothing', async () => {
    const { iid, source_branch: source } = await open();
    const put = (body: Record<string, unknown>) => as('developer').put(`${path}/${iid}`).send(body).expect(200);
    expect((await put({ state_event: 'reopen' })).body).toMatchObject({ state: 'opened' });
    expect((await put({ state_event: 'close' })).body).toMatchObject({
      state: 'closed',
      closed_by: { id: cast.developer.id },
      closed_at: expect.any(String),
      detailed_merge_status: 'not_open',
    });
    expect((await put({ state_event: 'close' })).body).toMatchObject({ state: 'closed' });
    const sent = { title: 'Second', source_branch: source, target_branch: 'main' };
    const second = (await as('developer').post(path).send(sent).expect(201)).body as ShownMergeRequest;
    const refused = await as('developer').put(`${path}/${iid}`).send({ state_event: 'reopen' }).expect(409);
    expect(refused.body).toEqual({
      message: [`Another open merge request already exists for this source branch: !${second.iid}`],
    });
    await as('developer').put(`${path}/${second.iid}`).send({ state_event: 'close' }).expect(200);
    const [moved] = (await scene.push(place, source as string, ['More'])) as [string];
    expect((await put({ state_event: 'reopen' })).body).toMatchObject({ state: 'opened', sha: moved, closed_at: null });
    await put({ state_event: 'close' });
    await scene.drop(place, source as string);
    expect((await put({ state_event: 'reopen' })).body).toMatchObject({ state: 'closed' });
    expect(await notesOf(iid)).toEqual(expect.arrayContaining(['closed', 'reopened']));
    const states = await as('developer').get(`${path}/${iid}/resource_state_events`).expect(200);
    expect((states.body as { state: string }[]).map(({ state }) => state)).toEqual(['closed', 'reopened', 'closed']);
  });

  test('refusals: nothing sent, blanks, roles; fields of planners are ignored from others', async () => {
    const { iid } = await open();
    const names =
      'assignee_id, assignee_ids, reviewer_ids, description, labels, add_labels, remove_labels, milestone_id, remove_source_branch, allow_collaboration, allow_maintainer_to_push, squash, target_branch, title, state_event, discussion_locked, merge_after';
    const nothing = await as('developer').put(`${path}/${iid}`).send({ source_branch: 'x' }).expect(400);
    expect(nothing.body).toEqual({ error: `${names} are missing, at least one parameter must be provided` });
    for (const name of ['title', 'target_branch']) {
      const blank = await as('developer')
        .put(`${path}/${iid}`)
        .send({ [name]: ' ', state_event: 'close' })
        .expect(400);
      expect(blank.body).toEqual({ error: `${name} is empty` });
    }
    expect((await as('developer').get(`${path}/${iid}`)).body).toMatchObject({ state: 'opened' });
    for (const name of ['guest', 'reporter', 'stranger'] as const)
      expect((await as(name).put(`${path}/${iid}`).send({ title: 'X' }).expect(403)).body).toEqual({
        message: '403 Forbidden',
      });
    expect((await anonymous().put(`${path}/${iid}`).send({ title: 'X' }).expect(401)).body).toEqual({
      message: '401 Unauthorized',
    });
    const author = await service.seed.user();
    await service.database.query('update merge_requests set author_id = $1 where project_id = $2 and iid = $3', [
      author.id,
      place.project.id,
      iid,
    ]);
    const own = service.app.as(service.seed.viewer(author));
    const sent = { title: 'Mine', labels: 'x', reviewer_ids: [author.id] };
    expect((await own.put(`${path}/${iid}`).send(sent).expect(200)).body).toMatchObject({
      title: 'Mine',
      labels: [],
      reviewers: [],
    });
  });
});

describe('deleting', () => {
  test('removes it with its refs, for owners and administrators', async () => {
    const { iid } = await open();
    for (const name of ['stranger', 'developer', 'maintainer'] as const)
      await as(name).delete(`${path}/${iid}`).expect(403);
    const late = await as('owner')
      .delete(`${path}/${iid}`)
      .set('if-unmodified-since', 'Tue, 01 Jan 2019 00:00:00 GMT')
      .expect(412);
    expect(late.body).toEqual({ message: '412 Precondition Failed' });
    await as('owner').delete(`${path}/${iid}`).expect(204);
    expect((await as('owner').get(`${path}/${iid}`).expect(404)).body).toEqual({ message: '404 Not found' });
    expect(await scene.ref(place, `refs/merge-requests/${iid}/head`)).toBe('');
    expect((await eventsOf(service.database, 'collaboration.merge_request.deleted.v1')).at(-1)).toMatchObject({
      merge_request_iid: iid,
      state: 'opened',
    });
    const other = await open();
    await as('admin').delete(`${path}/${other.iid}`).expect(204);
  });
});

describe('conflicts', () => {
  test('a conflict with the target is seen at once', async () => {
    await scene.branch(place, 'left');
    await scene.push(place, 'left', ['Left'], 'shared');
    await scene.branch(place, 'right');
    await scene.push(place, 'right', ['Right'], 'shared');
    const sent = { title: 'A conflict', source_branch: 'left', target_branch: 'right' };
    const { body } = await as('developer').post(path).send(sent).expect(201);
    expect(body).toMatchObject({
      merge_status: 'cannot_be_merged',
      has_conflicts: true,
      detailed_merge_status: 'conflict',
    });
  });
});
