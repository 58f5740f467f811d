import type { DirectoryProject } from '@rookery/contracts';
import type { SeededService, SeededUser } from '@rookery/testing';
import { ProjectRepositories } from '../../src/code/repositories/project-repositories';
import { MergeRequestVersions } from '../../src/work/merge-requests/versions/merge-request-versions';
import { castOf, eventsOf, ROLES, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { MergeActions } from '../support/merge-actions';
import { insertMergeRequestRow } from '../support/merge-request-rows';
import { MergeRequestScene } from '../support/merge-request-scene';

interface Approvals {
  readonly approved: boolean;
  readonly approved_by: readonly { user: { id: number }; approved_at: string }[];
  readonly [field: string]: unknown;
}
interface Rule {
  readonly id: number;
  readonly name: string;
  readonly approvals_required: number;
  readonly [field: string]: unknown;
}

let service: SeededService;
let scene: MergeRequestScene;

beforeAll(async () => {
  service = await startCollaboration();
  scene = await MergeRequestScene.start(service);
});
afterAll(async () => {
  await scene.stop();
  await service.close();
});

/** A project with one merge request that has no repository. */
class Place {
  private constructor(
    readonly project: DirectoryProject,
    readonly cast: Cast,
    readonly iid: number,
    readonly id: number,
  ) {}

  static async make(over: Partial<DirectoryProject> & { plan?: 'free' } = {}): Promise<Place> {
    const { plan = 'premium', ...fields } = over;
    const group = await service.seed.group({ plan, visibility: fields.visibility ?? 'public' });
    const project = await service.seed.project({ namespace_id: group.id, ...fields });
    const cast = await castOf(service.seed, project);
    const columns = { author_id: cast.developer.id, head_sha: 'a'.repeat(40) };
    const { id, iid } = await insertMergeRequestRow(service, project, columns);
    return new Place(project, cast, iid, id);
  }

  as(who: keyof Cast | SeededUser) {
    return service.app.as(service.seed.viewer(typeof who === 'string' ? this.cast[who] : who));
  }

  get projectPath(): string {
    return `/api/v4/projects/${this.project.id}`;
  }

  path(rest = ''): string {
    return `${this.projectPath}/merge_requests/${this.iid}${rest}`;
  }

  approve(who: keyof Cast | SeededUser, body: object = {}) {
    return this.as(who).post(this.path('/approve')).send(body);
  }

  async approvals(who: keyof Cast | SeededUser = 'reporter'): Promise<Approvals> {
    return (await this.as(who).get(this.path('/approvals')).expect(200)).body as Approvals;
  }

  async rule(fields: object, at: 'project' | 'request' = 'project'): Promise<Rule> {
    const path = at === 'project' ? this.projectPath : this.path();
    const sent = { name: 'Reviewers', approvals_required: 1, ...fields };
    return (await this.as('maintainer').post(`${path}/approval_rules`).send(sent).expect(201)).body as Rule;
  }

  async status(): Promise<unknown> {
    const { body } = await this.as('reporter').get(this.path()).expect(200);
    return (body as Record<string, unknown>)['detailed_merge_status'];
  }

  async notes(): Promise<string[]> {
    const query = { sort: 'asc', activity_filter: 'only_activity' };
    const { body } = await this.as('owner').get(this.path('/notes')).query(query);
    return (body as { body: string }[]).map((note) => note.body);
  }
}

const message = (text: string) => ({ message: text });

describe('approving', () => {
  test('records the approval, its note, its event and the state of the reviewer', async () => {
    const place = await Place.make();
    const { maintainer } = place.cast;
    await place
      .as('developer')
      .put(place.path())
      .send({ reviewer_ids: [maintainer.id] })
      .expect(200);
    expect(await place.approvals('maintainer')).toMatchObject({
      ...{ id: place.id, iid: place.iid, project_id: place.project.id, title: 'A change', description: null },
      ...{ state: 'opened', merge_status: 'can_be_merged', approved: false, approved_by: [] },
      ...{ approvals_required: 0, approvals_left: 0, user_has_approved: false, user_can_approve: true },
      ...{ has_approval_rules: false, approval_rules_left: [], suggested_approvers: [], invalid_approvers_rules: [] },
      ...{ approvers: [], approver_groups: [], require_password_to_approve: false },
      ...{ merge_request_approvers_available: true, multiple_approval_rules_available: true },
    });
    const { body } = await place.approve('maintainer', { sha: 'a'.repeat(40) }).expect(201);
    expect(body).toMatchObject({
      approved: true,
      user_has_approved: true,
      user_can_approve: false,
      approved_by: [{ user: { id: maintainer.id, username: maintainer.username }, approved_at: expect.any(String) }],
    });
    expect(await place.approvals('developer')).toMatchObject({ user_has_approved: false, user_can_approve: true });
    const reviewers = (await place.as('reporter').get(place.path('/reviewers'))).body as object[];
    expect(reviewers).toEqual([expect.objectContaining({ state: 'approved' })]);
    expect((await place.approve('maintainer').expect(401)).body).toEqual(message('401 Unauthorized'));
    expect((await eventsOf(service.database, 'collaboration.merge_request.approved.v1')).at(-1)).toMatchObject({
      merge_request_id: place.id,
      author_id: place.cast.developer.id,
    });
    expect((await place.as('maintainer').post(place.path('/unapprove')).expect(201)).body).toMatchObject({
      approved: false,
      approved_by: [],
      user_can_approve: true,
    });
    expect((await place.as('maintainer').post(place.path('/unapprove')).expect(404)).body).toEqual(
      message('404 Not found'),
    );
    expect((await place.notes()).slice(-2)).toEqual(['approved this merge request', 'unapproved this merge request']);
    expect((await place.as('reporter').get(place.path('/reviewers'))).body).toEqual([
      expect.objectContaining({ state: 'unapproved' }),
    ]);
    expect((await eventsOf(service.database, 'collaboration.merge_request.unapproved.v1')).at(-1)).toMatchObject({
      merge_request_id: place.id,
    });
  });

  test('refusals come in their order', async () => {
    const place = await Place.make();
    const stale = { sha: 'b'.repeat(40) };
    expect((await place.approve('reporter', stale).expect(403)).body).toEqual(message('403 Forbidden'));
    await place.approve('developer').expect(201);
    expect((await place.approve('developer', stale).expect(409)).body).toEqual(
      message(`SHA does not match HEAD of source branch: ${'a'.repeat(40)}`),
    );
    expect((await place.approve('developer').expect(401)).body).toEqual(message('401 Unauthorized'));
    await place.as('developer').put(place.path()).send({ state_event: 'close' }).expect(200);
    await place.approve('maintainer').expect(401);
    expect(await place.approvals('maintainer')).toMatchObject({ user_can_approve: false });
    for (const [method, rest] of [
      ['post', 'approve'],
      ['post', 'unapprove'],
      ['put', 'reset_approvals'],
      ['get', 'approvals'],
      ['get', 'approval_state'],
      ['get', 'approval_rules'],
    ] as const) {
      const path = `${place.projectPath}/merge_requests/999/${rest}`;
      expect((await place.as('maintainer')[method](path).expect(404)).body).toEqual(message('404 Not found'));
      await service.app
        .as(service.seed.anonymous())
        [method](place.path(`/${rest}`))
        .expect(401);
    }
    const archived = await Place.make({ archived: true });
    await archived.approve('maintainer').expect(403);
  });

  test.each(ROLES)('in a private project as %s', async (role) => {
    const place = await Place.make({ visibility: 'private' });
    const may = { guest: 403, planner: 403, reporter: 403, developer: 201, maintainer: 201, owner: 201 };
    await place.approve(role).expect(may[role]);
    await place.as(role).post(place.path('/unapprove')).expect(may[role]);
    const reads = { guest: 403, planner: 403, reporter: 200, developer: 200, maintainer: 200, owner: 200 };
    for (const rest of ['approvals', 'approval_state', 'approval_rules'])
      await place
        .as(role)
        .get(place.path(`/${rest}`))
        .expect(reads[role]);
    const sent = { name: 'X', approvals_required: 0 };
    const writes = { guest: 403, planner: 403, reporter: 403, developer: 201, maintainer: 201, owner: 201 };
    await place.as(role).post(place.path('/approval_rules')).send(sent).expect(writes[role]);
    const manages = { guest: 403, planner: 403, reporter: 403, developer: 403, maintainer: 201, owner: 201 };
    await place.as(role).post(place.path('/approvals')).send({ approvals_required: 1 }).expect(manages[role]);
    await place.as(role).post(`${place.projectPath}/approval_rules`).send(sent).expect(manages[role]);
    await place
      .as(role)
      .post(`${place.projectPath}/approvals`)
      .send({ reset_approvals_on_push: true })
      .expect(manages[role]);
    const sees = { guest: 403, planner: 403, reporter: 403, developer: 200, maintainer: 200, owner: 200 };
    for (const rest of ['approvals', 'approval_rules'])
      await place.as(role).get(`${place.projectPath}/${rest}`).expect(sees[role]);
    await place.as('stranger').get(`${place.projectPath}/approvals`).expect(404);
    await place.as('stranger').post(place.path('/approve')).expect(404);
  });

  test('settings exclude authors and committers', async () => {
    const here = await MergeActions.in(service, scene);
    const settings = `/api/v4/projects/${here.place.project.id}/approvals`;
    const { iid, source } = await here.open();
    const approve = (who: keyof Cast) => here.as(who).post(`${here.path(iid)}/approve`);
    await here.as('maintainer').post(settings).send({ merge_requests_author_approval: false }).expect(201);
    expect((await approve('developer').expect(401)).body).toEqual(message('401 Unauthorized'));
    await here.as('maintainer').post(settings).send({ merge_requests_author_approval: true }).expect(201);
    await approve('developer').expect(201);
    await here
      .as('developer')
      .post(`${here.path(iid)}/unapprove`)
      .expect(201);
    await here.as('maintainer').post(settings).send({ merge_requests_disable_committers_approval: true }).expect(201);
    const file = `/api/v4/projects/${here.place.project.id}/repository/files/mine`;
    const sent = { branch: source, content: 'x', commit_message: 'Mine' };
    await here.as('maintainer').post(file).send(sent).expect(201);
    await approve('maintainer').expect(401);
    await approve('owner').expect(201);
  });

  test('a push withdraws approvals if the project says so', async () => {
    const here = await MergeActions.in(service, scene);
    const { iid, source } = await here.open({ reviewer_ids: [here.place.cast.maintainer.id] });
    const approvals = async () =>
      ((await here.as('developer').get(`${here.path(iid)}/approvals`)).body as Approvals).approved_by.length;
    await here
      .as('maintainer')
      .post(`${here.path(iid)}/approve`)
      .expect(201);
    await scene.push(here.place, source, ['More']);
    expect(await approvals()).toBe(1);
    const settings = `/api/v4/projects/${here.place.project.id}/approvals`;
    await here.as('maintainer').post(settings).send({ reset_approvals_on_push: true }).expect(201);
    await here.pushMain('Other');
    expect(await approvals()).toBe(1);
    await scene.push(here.place, source, ['Again']);
    expect(await approvals()).toBe(0);
    const reviewers = (await here.as('developer').get(`${here.path(iid)}/reviewers`)).body as object[];
    expect(reviewers).toEqual([expect.objectContaining({ state: 'unreviewed' })]);
  });

  test('commits that were pushed while the request was closed withdraw approvals on reopening and retargeting', async () => {
    const here = await MergeActions.in(service, scene);
    const settings = `/api/v4/projects/${here.place.project.id}/approvals`;
    await here.as('maintainer').post(settings).send({ reset_approvals_on_push: true }).expect(201);
    const write = (iid: number, body: object) => here.as('developer').put(here.path(iid)).send(body).expect(200);
    const approvals = async (iid: number) =>
      ((await here.as('developer').get(`${here.path(iid)}/approvals`)).body as Approvals).approved_by.length;
    await scene.branch(here.place, 'other');
    for (const next of [{ state_event: 'reopen' }, { target_branch: 'other' }]) {
      const { iid, source } = await here.open();
      await here
        .as('maintainer')
        .post(`${here.path(iid)}/approve`)
        .expect(201);
      await write(iid, { state_event: 'close' });
      await write(iid, { state_event: 'reopen' });
      await write(iid, { target_branch: 'other' });
      await write(iid, { target_branch: 'main' });
      expect(await approvals(iid)).toBe(1);
      await write(iid, { state_event: 'close' });
      await scene.push(here.place, source, ['Unseen']);
      await write(iid, next);
      expect(await approvals(iid)).toBe(0);
    }
  });

  test('another target withdraws approvals if the diff differs', async () => {
    const here = await MergeActions.in(service, scene);
    const settings = `/api/v4/projects/${here.place.project.id}/approvals`;
    await here.as('maintainer').post(settings).send({ reset_approvals_on_push: true }).expect(201);
    const { iid, source } = await here.open({ target_branch: 'main' }, ['Unseen', 'Harmless']);
    await scene.git.ok(here.place.folder, 'push', '--quiet', 'origin', `${source}~1:refs/heads/part`);
    const retarget = (target_branch: string) =>
      here.as('developer').put(here.path(iid)).send({ target_branch }).expect(200);
    const approvers = async () =>
      ((await here.as('developer').get(`${here.path(iid)}/approvals`)).body as Approvals).approved_by.length;
    await retarget('part');
    await here
      .as('maintainer')
      .post(`${here.path(iid)}/approve`)
      .expect(201);
    await retarget('main');
    expect(await approvers()).toBe(0);
  });

  test('a push that was settled before the request was committed withdraws approvals and the automatic merge', async () => {
    const here = await MergeActions.in(service, scene);
    const settings = `/api/v4/projects/${here.place.project.id}/approvals`;
    await here.as('maintainer').post(settings).send({ reset_approvals_on_push: true }).expect(201);
    const { id, iid, source } = await here.open({ title: 'Draft: x' });
    await here
      .as('maintainer')
      .post(`${here.path(iid)}/approve`)
      .expect(201);
    await here.merge(iid, { auto_merge: true }).expect(200);
    const repository = (await service.app.get(ProjectRepositories).findRepository(here.place.project.id))!;
    await repository.run({ args: ['update-ref', `refs/heads/${source}`, here.place.mainSha] });
    await service.app.get(MergeRequestVersions).catchUp(repository, id, here.place.cast.developer.id);
    const { body } = await here.as('developer').get(`${here.path(iid)}/approvals`);
    expect((body as Approvals).approved_by).toEqual([]);
    expect(await here.shown(iid)).toMatchObject({ merge_when_pipeline_succeeds: false });
    expect((await here.notes(iid)).at(-1)).toBe('aborted the automatic merge because source branch was updated');
  });

  test('only bots of tokens reset approvals', async () => {
    const place = await Place.make();
    const bot = await service.seed.user({ kind: 'project_bot', bot_project_id: place.project.id });
    await service.seed.member(bot, place.project, 'developer');
    const weak = await service.seed.user({ kind: 'project_bot', bot_project_id: place.project.id });
    await service.seed.member(weak, place.project, 'reporter');
    await place.approve('maintainer').expect(201);
    for (const who of ['owner', 'admin', weak] as const)
      expect((await place.as(who).put(place.path('/reset_approvals')).expect(401)).body).toEqual(
        message('401 Unauthorized'),
      );
    expect(await place.approvals()).toMatchObject({ approved: true });
    expect((await place.as(bot).put(place.path('/reset_approvals')).expect(202)).body).toEqual(message('202 Accepted'));
    expect(await place.approvals()).toMatchObject({ approved: false, approved_by: [] });
  });

  test('approvals of a removed merge request go with it; a deleted project takes its rules', async () => {
    const place = await Place.make();
    await place.approve('maintainer').expect(201);
    await place.rule({}, 'request');
    await place.as('owner').delete(place.path()).expect(204);
    for (const table of ['merge_request_approvals', 'approval_rules'])
      expect(await service.database.query(`select 1 from ${table} where merge_request_id = $1`, [place.id])).toEqual(
        [],
      );
  });
});

describe('rules', () => {
  test('keep the members of groups from callers who may not see the group', async () => {
    const place = await Place.make();
    const hidden = await service.seed.group({ visibility: 'private' });
    const secret = await service.seed.user();
    await service.seed.member(secret, hidden, 'developer');
    await service.seed.member(place.cast.maintainer, hidden, 'developer');
    const { reporter } = place.cast;
    await place.rule({ user_ids: [reporter.id], group_ids: [hidden.id], approvals_required: 2 });
    for (const who of ['stranger', 'guest', 'developer'] as const)
      for (const rest of ['/approvals', '/approval_state', '/approval_rules']) {
        const text = JSON.stringify((await place.as(who).get(place.path(rest)).expect(200)).body);
        const shown = [secret.username, hidden.path, hidden.name].filter((one) => text.includes(one));
        expect([who, rest, shown, text.includes(reporter.username)]).toEqual([who, rest, [], true]);
      }
    const { body } = await place.as('maintainer').get(place.path('/approval_state')).expect(200);
    expect(JSON.stringify(body)).toContain(secret.username);
  });

  test('of a project: they are created, listed, shown, changed and removed', async () => {
    const place = await Place.make();
    const group = await service.seed.group();
    const hidden = await service.seed.group({ visibility: 'private' });
    const { reporter, stranger, maintainer } = place.cast;
    const made = await place.rule({
      user_ids: [reporter.id, 999_999],
      usernames: [maintainer.username],
      group_ids: [group.id, hidden.id],
      approvals_required: '2',
    });
    expect(made).toEqual({
      ...{ id: expect.any(Number), name: 'Reviewers', rule_type: 'regular', report_type: null, approvals_required: 2 },
      users: [expect.objectContaining({ id: reporter.id }), expect.objectContaining({ id: maintainer.id })],
      eligible_approvers: expect.arrayContaining([expect.objectContaining({ id: reporter.id })]),
      groups: [expect.objectContaining({ id: group.id, full_path: group.full_path })],
      ...{ contains_hidden_groups: false, protected_branches: [], applies_to_all_protected_branches: false },
    });
    const rules = `${place.projectPath}/approval_rules`;
    expect((await place.as('developer').get(rules).expect(200)).body).toEqual([made]);
    expect((await place.as('developer').get(`${rules}/${made.id}`).expect(200)).body).toEqual(made);
    const changed = await place
      .as('maintainer')
      .put(`${rules}/${made.id}`)
      .send({ ...made, approvals_required: 0 });
    expect(changed.body).toEqual({ ...made, approvals_required: 0 });
    const fewer = { name: 'Fewer', user_ids: [stranger.id], group_ids: [] };
    expect((await place.as('maintainer').put(`${rules}/${made.id}`).send(fewer).expect(200)).body).toMatchObject({
      name: 'Fewer',
      users: [expect.objectContaining({ id: stranger.id })],
      groups: [],
    });
    await place.rule({ name: 'Other' });
    const taken = { name: 'Other', approvals_required: 1 };
    for (const answer of [
      await place.as('maintainer').post(rules).send(taken),
      await place.as('maintainer').put(`${rules}/${made.id}`).send(taken),
    ]) {
      expect([answer.status, answer.body]).toEqual([400, { message: { name: ['has already been taken'] } }]);
    }
    await place.rule({ name: 'Anyone', rule_type: 'any_approver' });
    const second = { name: 'Anyone else', rule_type: 'any_approver', approvals_required: 1 };
    expect((await place.as('maintainer').post(rules).send(second).expect(400)).body).toEqual({
      message: { rule_type: ['any-approver for the project already exists'] },
    });
    await place.as('maintainer').delete(`${rules}/${made.id}`).expect(204);
    for (const method of ['get', 'put', 'delete'] as const)
      expect((await place.as('maintainer')[method](`${rules}/${made.id}`).expect(404)).body).toEqual(
        message('404 Not found'),
      );
    const listed = await place.as('developer').get(rules).query({ per_page: 1, page: 2 }).expect(200);
    expect([listed.get('x-total'), listed.get('x-next-page')]).toEqual(['2', '']);
    expect(listed.body).toEqual([expect.objectContaining({ name: 'Anyone' })]);
    const foreign = await Place.make();
    const other = await foreign.rule({});
    await place.as('maintainer').delete(`${rules}/${other.id}`).expect(404);
  });

  test.each([
    [{ approvals_required: 1 }, { error: 'name is missing' }],
    [{ name: 'X' }, { error: 'approvals_required is missing' }],
    [{ name: ' ', approvals_required: 1 }, { error: 'name is empty' }],
    [{ name: 'X', approvals_required: 101 }, { error: expect.stringContaining('approvals_required') }],
    [{ name: 'X', approvals_required: -1 }, { error: expect.stringContaining('approvals_required') }],
    [{ name: 'X', approvals_required: 1, rule_type: 'code_owner' }, { error: 'rule_type does not have a valid value' }],
  ])('refuses %j', async (sent, body) => {
    const place = await Place.make();
    for (const path of [place.projectPath, place.path()])
      expect((await place.as('maintainer').post(`${path}/approval_rules`).send(sent).expect(400)).body).toEqual(body);
  });

  test('of the project apply to merge requests until they have rules of their own', async () => {
    const place = await Place.make();
    const { maintainer } = place.cast;
    const rule = await place.rule({ user_ids: [maintainer.id] });
    const ofRequest = place.path('/approval_rules');
    expect((await place.as('reporter').get(ofRequest)).body).toEqual([
      expect.objectContaining({ id: rule.id, approvals_required: 1, source_rule: null, overridden: false }),
    ]);
    expect(await place.status()).toBe('not_approved');
    await place.as('maintainer').put(`${place.projectPath}/approval_rules/${rule.id}`).send({ approvals_required: 0 });
    expect(await place.status()).toBe('mergeable');
    await place.as('maintainer').put(`${place.projectPath}/approval_rules/${rule.id}`).send({ approvals_required: 1 });
    const copied = await place
      .as('developer')
      .put(`${ofRequest}/${rule.id}`)
      .send({ approvals_required: 2 })
      .expect(200);
    const copy = copied.body as Rule;
    expect(copy).toMatchObject({
      approvals_required: 2,
      source_rule: { approvals_required: 1 },
      overridden: true,
      users: [{ id: maintainer.id }],
    });
    expect(copy.id).not.toBe(rule.id);
    const own = (await place.as('developer').post(ofRequest).send({ name: 'Own', approvals_required: 0 }).expect(201))
      .body as Rule;
    expect((await place.as('reporter').get(`${ofRequest}/${own.id}`).expect(200)).body).toMatchObject({ name: 'Own' });
    const state = (await place.as('reporter').get(place.path('/approval_state')).expect(200)).body as object;
    expect(state).toMatchObject({
      approval_rules_overwritten: true,
      rules: [
        { id: copy.id, approved: false, approved_by: [] },
        { id: own.id, approved: true },
      ],
    });
    // The id of the rule of the project still names the copy.
    await place.as('developer').delete(`${ofRequest}/${rule.id}`).expect(204);
    expect((await place.as('reporter').get(ofRequest)).body).toEqual([expect.objectContaining({ id: own.id })]);
    await place.as('developer').delete(`${ofRequest}/${own.id}`).expect(204);
    expect((await place.as('reporter').get(ofRequest)).body).toEqual([]);
    expect(await place.status()).toBe('mergeable');
    await place.as('developer').delete(`${ofRequest}/${own.id}`).expect(404);
    const settings = { disable_overriding_approvers_per_merge_request: true };
    await place.as('maintainer').post(`${place.projectPath}/approvals`).send(settings).expect(201);
    expect(
      (await place.as('developer').post(ofRequest).send({ name: 'X', approvals_required: 0 }).expect(403)).body,
    ).toEqual(message('403 Forbidden'));
  });

  test('count the approvals of their users, of members of their groups, or of any user', async () => {
    const place = await Place.make();
    const group = await service.seed.group();
    const { developer, maintainer, owner } = place.cast;
    await service.seed.member(owner, group, 'reporter');
    const expired = await service.seed.user();
    await service.seed.member(expired, place.project, 'developer');
    await service.seed.member(expired, group, 'owner', '2020-01-01');
    const users = await place.rule({ name: 'Users', user_ids: [maintainer.id] });
    const groups = await place.rule({ name: 'Groups', group_ids: [group.id] });
    await place.rule({ name: 'All', rule_type: 'any_approver', approvals_required: 2 });
    const invalid = await place.rule({ name: 'Nobody', user_ids: [] });
    const left = async () => {
      const { approvals_left, approval_rules_left, approved } = await place.approvals();
      return [approvals_left, (approval_rules_left as Rule[]).map(({ name }) => name), approved];
    };
    expect(await place.approvals()).toMatchObject({
      approvals_required: 5,
      has_approval_rules: true,
      invalid_approvers_rules: [{ id: invalid.id, name: 'Nobody', rule_type: 'regular' }],
    });
    expect(((await place.approvals())['suggested_approvers'] as { id: number }[]).map(({ id }) => id).sort()).toEqual(
      [maintainer.id, owner.id].sort(),
    );
    expect(await left()).toEqual([4, ['Users', 'Groups', 'All'], false]);
    await place.approve(expired).expect(201);
    expect(await left()).toEqual([3, ['Users', 'Groups', 'All'], false]);
    await place.approve(maintainer).expect(201);
    expect(await left()).toEqual([1, ['Groups'], false]);
    expect(await place.status()).toBe('not_approved');
    await place.approve(owner).expect(201);
    expect(await left()).toEqual([0, [], true]);
    expect(await place.status()).toBe('mergeable');
    const { body } = await place.as('reporter').get(place.path('/approval_state'));
    const shown = (body as { rules: Rule[] }).rules;
    const ids = (rule: Rule) => (shown.find(({ id }) => id === rule.id)!['approved_by'] as Rule[]).map(({ id }) => id);
    expect([ids(users), ids(groups), ids(invalid)]).toEqual([[maintainer.id], [owner.id], []]);
    expect(developer.id).not.toBe(owner.id);
  });

  test('have no effect with the plan free, and cannot be written', async () => {
    const place = await Place.make();
    await place.rule({ name: 'All', rule_type: 'any_approver' });
    expect(await place.status()).toBe('not_approved');
    const [group] = await service.database.query<{ id: number }>('select * from directory_namespaces where id = $1', [
      place.project.namespace_id,
    ]);
    await service.seed.put('namespaces', { ...group!, plan: 'free' });
    expect(await place.status()).toBe('mergeable');
    expect(await place.approvals()).toMatchObject({
      ...{ approvals_required: 0, has_approval_rules: false },
      ...{ merge_request_approvers_available: false, multiple_approval_rules_available: false },
    });
    expect((await place.as('reporter').get(place.path('/approval_rules')).expect(200)).body).toEqual([]);
    const sent = { name: 'X', approvals_required: 0 };
    for (const path of [place.projectPath, place.path()])
      expect((await place.as('maintainer').post(`${path}/approval_rules`).send(sent).expect(403)).body).toEqual(
        message('403 Forbidden'),
      );
    await place
      .as('maintainer')
      .post(`${place.projectPath}/approvals`)
      .send({ reset_approvals_on_push: true })
      .expect(403);
    await place.as('maintainer').post(place.path('/approvals')).send({ approvals_required: 1 }).expect(403);
    await place.approve('developer').expect(201);
  });

  test('a merge waits for approvals', async () => {
    const here = await MergeActions.in(service, scene);
    const rules = `/api/v4/projects/${here.place.project.id}/approval_rules`;
    const rule = { name: 'All', rule_type: 'any_approver', approvals_required: 1 };
    await here.as('maintainer').post(rules).send(rule).expect(201);
    const { iid } = await here.open();
    expect((await here.merge(iid, { sha: 'x' }).expect(405)).body).toEqual(message('405 Method Not Allowed'));
    await here
      .as('maintainer')
      .post(`${here.path(iid)}/approve`)
      .expect(201);
    await here.merge(iid).expect(200);
  });
});

test('the number of approvals of a project and of a merge request', async () => {
  const place = await Place.make();
  const settings = `${place.projectPath}/approvals`;
  const defaults = {
    ...{ approvers: [], approver_groups: [], approvals_before_merge: 0, reset_approvals_on_push: false },
    ...{ selective_code_owner_removals: false, disable_overriding_approvers_per_merge_request: false },
    ...{ merge_requests_author_approval: true, merge_requests_disable_committers_approval: false },
    ...{ require_password_to_approve: false, require_reauthentication_to_approve: false },
  };
  expect((await place.as('developer').get(settings).expect(200)).body).toEqual(defaults);
  const change = (sent: object) => place.as('maintainer').post(settings).send(sent);
  expect((await change({ approvals_before_merge: 2, reset_approvals_on_push: true }).expect(201)).body).toEqual({
    ...defaults,
    approvals_before_merge: 2,
    reset_approvals_on_push: true,
  });
  expect((await change({ approvals_before_merge: 1 }).expect(201)).body).toMatchObject({
    approvals_before_merge: 1,
    reset_approvals_on_push: true,
  });
  expect((await change({}).expect(400)).body).toEqual({
    error:
      'approvals_before_merge, reset_approvals_on_push, disable_overriding_approvers_per_merge_request, merge_requests_author_approval, merge_requests_disable_committers_approval are missing, at least one parameter must be provided',
  });
  expect(await place.approvals()).toMatchObject({ approvals_required: 1, approvals_left: 1 });
  const required = place.as('maintainer').post(place.path('/approvals')).query({ approvals_required: 3 });
  expect((await required.expect(201)).body).toMatchObject({ approvals_required: 3, approvals_left: 3 });
  expect((await place.as('developer').get(settings)).body).toMatchObject({ approvals_before_merge: 1 });
});

test('lists are filtered by approvals', async () => {
  const place = await Place.make();
  const second = await insertMergeRequestRow(service, place.project, { author_id: place.cast.developer.id });
  const { maintainer, owner } = place.cast;
  await place.rule({ user_ids: [owner.id] }, 'request');
  await place.approve('maintainer').expect(201);
  const listed = async (query: object) => {
    const { body } = await place.as('reporter').get(`${place.projectPath}/merge_requests`).query(query).expect(200);
    return (body as { iid: number }[]).map(({ iid }) => iid);
  };
  expect(await listed({ approved: 'yes' })).toEqual([place.iid]);
  expect(await listed({ approved: 'no' })).toEqual([second.iid]);
  expect(await listed({ 'approved_by_ids[]': [maintainer.id] })).toEqual([place.iid]);
  expect(await listed({ 'approved_by_ids[]': [maintainer.id, owner.id] })).toEqual([]);
  expect(await listed({ approved_by_ids: 'Any' })).toEqual([place.iid]);
  expect(await listed({ approved_by_ids: 'None' })).toEqual([second.iid]);
  expect(await listed({ approved_by_usernames: maintainer.username.toUpperCase() })).toEqual([place.iid]);
  expect(await listed({ approver_ids: owner.id })).toEqual([place.iid]);
  expect(await listed({ approver_ids: maintainer.id })).toEqual([]);
  expect(await listed({ approver_ids: 'None' })).toEqual([second.iid]);
  const { body } = await place
    .as('reporter')
    .get(`${place.projectPath}/merge_requests`)
    .query({ approved_by_ids: 'x' })
    .expect(400);
  expect(body).toEqual({ error: 'approved_by_ids is invalid' });
});

test('users whom rules of a merge request name are announced', async () => {
  const place = await Place.make();
  const { reporter } = place.cast;
  const rule = await place.rule({ user_ids: [reporter.id] }, 'request');
  const last = async () =>
    (await eventsOf(service.database, 'collaboration.merge_request.approval_requested.v1')).at(-1);
  expect(await last()).toMatchObject({ merge_request_id: place.id, approver_ids: [reporter.id] });
  const before = await eventsOf(service.database, 'collaboration.merge_request.approval_requested.v1');
  const same = { user_ids: [reporter.id] };
  await place
    .as('maintainer')
    .put(place.path(`/approval_rules/${rule.id}`))
    .send(same)
    .expect(200);
  expect(await eventsOf(service.database, 'collaboration.merge_request.approval_requested.v1')).toEqual(before);
});
