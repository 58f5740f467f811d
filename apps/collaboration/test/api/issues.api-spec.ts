import type { DirectoryProject } from '@rookery/contracts';
import type { SeededService } from '@rookery/testing';
import { castOf, eventsOf, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';

interface ShownIssue {
  readonly id: number;
  readonly iid: number;
  readonly title: string;
  readonly updated_at: string;
}

let service: SeededService;
let project: DirectoryProject;
let cast: Cast;
let path: string;

beforeAll(async () => {
  service = await startCollaboration();
  project = await service.seed.project();
  cast = await castOf(service.seed, project);
  path = `/api/v4/projects/${project.id}/issues`;
});
afterAll(() => service.close());

const as = (name: keyof Cast) => service.app.as(service.seed.viewer(cast[name]));
const anonymous = () => service.app.as(service.seed.anonymous());
const open = async (name: keyof Cast, fields: Record<string, unknown> = {}) =>
  (
    await as(name)
      .post(path)
      .send({ title: 'An issue', ...fields })
      .expect(201)
  ).body as ShownIssue;
const titles = (response: { body: ShownIssue[] }) => response.body.map((issue) => issue.title);

describe('creating', () => {
  test('answers the complete issue', async () => {
    const response = await as('owner')
      .post(path)
      .send({
        title: 'Broken "door"',
        description: 'Please @nobody\n\n- [x] look\n- [ ] fix',
        assignee_ids: [cast.guest.id, cast.developer.id],
        due_date: '2026-12-24',
      })
      .expect(201);
    const { body } = response;
    const person = ({ id, username, name }: (typeof cast)['owner']) => ({
      id,
      username,
      public_email: null,
      name,
      state: 'active',
      locked: false,
      avatar_url: null,
      web_url: `http://localhost:8080/${username}`,
    });
    const namespace = `group${project.namespace_id}`;
    const api = `http://localhost:8080/api/v4/projects/${project.id}`;
    expect(body).toEqual({
      id: expect.any(Number),
      iid: body.iid,
      project_id: project.id,
      title: 'Broken "door"',
      description: 'Please @nobody\n\n- [x] look\n- [ ] fix',
      state: 'opened',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updated_at: body.created_at,
      closed_at: null,
      closed_by: null,
      labels: [],
      milestone: null,
      assignees: [person(cast.guest), person(cast.developer)],
      author: person(cast.owner),
      type: 'ISSUE',
      assignee: person(cast.guest),
      user_notes_count: 0,
      merge_requests_count: 0,
      upvotes: 0,
      downvotes: 0,
      due_date: '2026-12-24',
      confidential: false,
      discussion_locked: null,
      issue_type: 'issue',
      web_url: `http://localhost:8080/${namespace}/${project.path}/-/issues/${body.iid}`,
      time_stats: { time_estimate: 0, total_time_spent: 0, human_time_estimate: null, human_total_time_spent: null },
      task_completion_status: { count: 2, completed_count: 1 },
      has_tasks: true,
      task_status: '1 of 2 checklist items completed',
      weight: null,
      blocking_issues_count: 0,
      _links: {
        self: `${api}/issues/${body.iid}`,
        notes: `${api}/issues/${body.iid}/notes`,
        award_emoji: `${api}/issues/${body.iid}/award_emoji`,
        project: api,
        closed_as_duplicate_of: null,
      },
      references: { short: `#${body.iid}`, relative: `#${body.iid}`, full: `${namespace}/${project.path}#${body.iid}` },
      severity: 'UNKNOWN',
      moved_to_id: null,
      imported: false,
      imported_from: 'none',
      service_desk_reply_to: null,
      epic_iid: null,
      epic: null,
      iteration: null,
      health_status: null,
      subscribed: true,
    });
    expect((await as('owner').get(`${path}/${body.iid}`)).body).toEqual(body);
    const { subscribed: _, ...listed } = body;
    expect(
      (
        await as('owner')
          .get(path)
          .query({ 'iids[]': [body.iid] })
      ).body,
    ).toEqual([listed]);
    expect((await eventsOf(service.database, 'collaboration.issue.created.v1')).at(-1)).toEqual({
      issue_id: body.id,
      issue_iid: body.iid,
      project_id: project.id,
      author_id: cast.owner.id,
      confidential: false,
      created_at: body.created_at,
      assignee_ids: [cast.guest.id, cast.developer.id],
      label_ids: [],
    });
  });

  test('fifty at once get the iids 1 to 50', async () => {
    const own = await service.seed.project();
    const made = await Promise.all(
      Array.from(
        { length: 50 },
        async (_, i) =>
          (
            await as('stranger')
              .post(`/api/v4/projects/${own.id}/issues`)
              .send({ title: `issue ${i}` })
              .expect(201)
          ).body as ShownIssue,
      ),
    );
    expect(made.map((issue) => issue.iid).sort((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, i) => i + 1));
  });

  test.each([
    [{}, { error: 'title is missing' }],
    [{ title: '' }, { message: { title: ["can't be blank"] } }],
    [{ title: '  ' }, { message: { title: ["can't be blank"] } }],
    [{ title: 'x'.repeat(256) }, { message: { title: ['is too long (maximum is 255 characters)'] } }],
    [
      { title: 'x', description: 'x'.repeat(1_048_577) },
      { message: { description: ['is too long (maximum is 1048576 characters)'] } },
    ],
    [{ title: ['x'] }, { error: 'title is invalid' }],
    [{ title: 'a\u0000b' }, { error: 'title is invalid' }],
    [{ title: 'x', issue_type: 'bug' }, { error: 'issue_type does not have a valid value' }],
    [{ title: 'x', due_date: 'soon' }, { error: 'due_date is invalid' }],
    [{ title: 'x', assignee_id: 'me' }, { error: 'assignee_id is invalid' }],
  ])('refuses %.60j', async (body, refusal) => {
    const response = await as('owner').post(path).send(body);
    expect([response.status, response.body]).toEqual([400, refusal]);
  });

  test('accepts the longest title and description', async () => {
    const fields = { title: '\u{1F600}'.repeat(255), description: '\u{1F600}'.repeat(1_048_576) };
    await as('guest').post(path).send(fields).expect(201);
  });

  test('non-members can create issues in public projects; anonymous callers cannot', async () => {
    await as('stranger').post(path).send({ title: 'x' }).expect(201);
    await anonymous().post(path).send({ title: 'x' }).expect(401);
    const inner = await service.seed.project({ issues_access_level: 'private' });
    await as('stranger').post(`/api/v4/projects/${inner.id}/issues`).send({ title: 'x' }).expect(403);
    const off = await service.seed.project({ issues_access_level: 'disabled' });
    await as('admin').post(`/api/v4/projects/${off.id}/issues`).send({ title: 'x' }).expect(403);
    expect((await as('admin').get(`/api/v4/projects/${off.id}/issues`)).body).toEqual([]);
  });

  test('fields that a guest may not set are ignored', async () => {
    const issue = await open('guest', {
      assignee_ids: [cast.guest.id],
      due_date: '2026-12-24',
      created_at: '2020-01-01T00:00:00Z',
      iid: 900,
      confidential: true,
    });
    expect(issue).toMatchObject({ assignees: [], due_date: null, confidential: true });
    expect(issue.iid).not.toBe(900);
  });

  test('owners can set iid and created_at; the next iid follows, a used one is a conflict', async () => {
    const own = await service.seed.project();
    const at = `/api/v4/projects/${own.id}/issues`;
    const make = (fields: object) =>
      as('admin')
        .post(at)
        .send({ title: 'x', ...fields });
    const first = await make({ iid: 41, created_at: '2020-01-02T03:04:05Z' });
    expect(first.body).toMatchObject({ iid: 41, created_at: '2020-01-02T03:04:05.000Z' });
    expect((await make({})).body.iid).toBe(42);
    const again = await make({ iid: 41 });
    expect([again.status, again.body]).toEqual([409, { message: 'Duplicated issue' }]);
  });

  test('only users who can read the project are assigned', async () => {
    const hidden = await service.seed.project({ visibility: 'private' });
    await service.seed.member(cast.guest, hidden, 'guest');
    const blocked = await service.seed.user({ state: 'blocked' });
    const { body: issue }: { body: { assignees: { id: number }[] } } = await as('admin')
      .post(`/api/v4/projects/${hidden.id}/issues`)
      .send({ title: 'x', assignee_ids: [cast.stranger.id, cast.guest.id, 424242, blocked.id] })
      .expect(201);
    expect(issue.assignees.map((user) => user.id)).toEqual([cast.guest.id]);
  });

  test('the bot of a token can be assigned by users who see its group or project, and is unknown to others', async () => {
    const group = await service.seed.group({ visibility: 'private' });
    const inside = await service.seed.project({ visibility: 'private' });
    const bots = [
      await service.seed.user({ kind: 'project_bot', bot_group_id: group.id }),
      await service.seed.user({ kind: 'project_bot', bot_project_id: inside.id }),
      await service.seed.user({ kind: 'project_bot' }),
    ];
    const [ofGroup, ofProject] = bots.map((bot) => bot.id);
    const requested = [...bots.map((bot) => bot.id), cast.guest.id];
    const ids = (issue: object) => (issue as { assignees: { id: number }[] }).assignees.map((user) => user.id);
    const assigned = async (who: Parameters<typeof open>[0]) => {
      const opened = ids(await open(who, { assignee_ids: requested }));
      const { iid } = await open(who, { description: 'x' });
      const put = await as(who).put(`${path}/${iid}`).send({ assignee_ids: requested }).expect(200);
      expect(ids(put.body as object)).toEqual(opened);
      const description = `/assign ${bots.map((bot) => `@${bot.username}`).join(' ')} @${cast.guest.username}`;
      expect(new Set(ids(await open(who, { description })))).toEqual(new Set(opened));
      return opened;
    };
    expect(await assigned('owner')).toEqual([cast.guest.id]);
    expect(await assigned('admin')).toEqual(requested);
    await service.seed.member(cast.owner, group, 'guest');
    expect(await assigned('owner')).toEqual([ofGroup, cast.guest.id]);
    await service.seed.member(cast.owner, inside, 'guest');
    expect(await assigned('owner')).toEqual([ofGroup, ofProject, cast.guest.id]);
    // In descendants of its group it is a member like others, also for users who are members only there.
    const below = await service.seed.group({ parent: group, visibility: 'private' });
    const inner = await service.seed.project({ namespace_id: below.id, visibility: 'private' });
    await service.seed.member(bots[0]!, group, 'developer');
    await service.seed.member(cast.guest, below, 'reporter');
    const made = await as('guest')
      .post(`/api/v4/projects/${inner.id}/issues`)
      .send({ title: 'x', assignee_ids: requested });
    expect(ids(made.body as object)).toEqual([ofGroup, cast.guest.id]);
    // Removing it as assignee does not reveal that it exists.
    const hidden = await service.seed.user({ kind: 'project_bot' });
    const { iid: free } = await open('owner', { description: 'x' });
    const unassigned = async (name: string) => {
      const { status, body } = await as('owner')
        .post(`${path}/${free}/notes`)
        .send({ body: `/unassign @${name}` });
      return [status, JSON.stringify(body).replaceAll(name, '')];
    };
    expect(await unassigned(hidden.username)).toEqual(await unassigned('nobody-at-all'));
    expect((await unassigned(bots[0]!.username))[0]).toBe(202);
    // A move keeps the assignees that the moving user can see.
    const { iid } = await open('owner', { assignee_ids: requested });
    const target = await service.seed.project();
    for (const one of [cast.owner, cast.maintainer]) await service.seed.member(one, target, 'maintainer');
    const moved = async (who: 'owner' | 'maintainer') => {
      const sent = { to_project_id: target.id };
      return ids((await as(who).post(`${path}/${iid}/clone`).send(sent).expect(201)).body as object);
    };
    expect(await moved('owner')).toEqual([ofGroup, ofProject, cast.guest.id]);
    expect(await moved('maintainer')).toEqual([cast.guest.id]);
  });

  test('assignments and mentions do not reveal to others who is an administrator', async () => {
    const inside = await service.seed.project({ visibility: 'private' });
    for (const one of [cast.owner, cast.guest]) await service.seed.member(one, inside, 'maintainer');
    const administrator = await service.seed.user({ admin: true });
    const where = `/api/v4/projects/${inside.id}/issues`;
    const requested = { title: 'x', assignee_ids: [administrator.id, cast.admin.id, cast.guest.id] };
    const ids = (people: unknown) => (people as { id: number }[]).map(({ id }) => id);
    const given = async (client: ReturnType<typeof as>) =>
      ids(((await client.post(where).send(requested).expect(201)).body as { assignees: unknown }).assignees);
    expect(await given(as('owner'))).toEqual([cast.guest.id]);
    expect(await given(as('admin'))).toEqual(requested.assignee_ids);
    const { body: issue } = await as('owner').post(where).send({ title: 'y' }).expect(201);
    await service.database.query(
      `insert into participants (noteable_type, noteable_id, user_id, project_id) select 'Issue', $1, unnest($2::bigint[]), $3`,
      [(issue as { id: number }).id, [administrator.id, cast.guest.id, cast.stranger.id], inside.id],
    );
    const { iid } = issue as { iid: number };
    const participantIds = async (client: ReturnType<typeof as>) =>
      ids((await client.get(`${where}/${iid}/participants`).expect(200)).body).sort((a, b) => a - b);
    const without = [cast.owner.id, cast.guest.id].sort((a, b) => a - b);
    expect(await participantIds(as('owner'))).toEqual(without);
    const both = [...without, administrator.id].sort((a, b) => a - b);
    expect(await participantIds(as('admin'))).toEqual(both);
    // Nor do their notes: participants without read access are hidden, so administrators without a role are, too.
    const byAdministrator = service.app.as(service.seed.viewer(administrator));
    await byAdministrator.post(`${where}/${iid}/notes`).send({ body: 'y' }).expect(201);
    expect(await participantIds(as('owner'))).toEqual(without);
    expect(await participantIds(byAdministrator)).toEqual(both);
  });

  test('the ghost and placeholders cannot be assigned, and stay if they are', async () => {
    const ghost = await service.seed.user({ kind: 'ghost' });
    const placeholder = await service.seed.user({ kind: 'placeholder' });
    const bot = await service.seed.user({ kind: 'service_account' });
    await service.seed.member(placeholder, project, 'developer');
    const requested = [ghost.id, placeholder.id, bot.id, cast.guest.id];
    const ids = (issue: object) => (issue as { assignees: { id: number }[] }).assignees.map((user) => user.id);
    const issue = await open('owner', { assignee_ids: requested });
    expect(ids(issue)).toEqual([bot.id, cast.guest.id]);
    const change = async (assignee_ids: number[]) =>
      ids((await as('owner').put(`${path}/${issue.iid}`).send({ assignee_ids }).expect(200)).body as object);
    expect(await change([placeholder.id])).toEqual([]);
    const left = await service.seed.user();
    expect(await change([left.id])).toEqual([left.id]);
    await service.seed.user({ ...left, kind: 'ghost' });
    expect(await change([left.id, ghost.id])).toEqual([left.id]);
  });

  test('form and query parameters work like JSON', async () => {
    const form = await as('owner')
      .post(path)
      .type('form')
      .send({ title: 'form', confidential: '1', 'assignee_ids[]': [cast.guest.id, cast.owner.id] });
    expect(form.body).toMatchObject({ title: 'form', confidential: true });
    expect(form.body.assignees).toHaveLength(2);
    const query = await as('owner')
      .post(path)
      .query({ title: 'query', assignee_ids: `${cast.guest.id}` })
      .send({});
    expect(query.body).toMatchObject({ title: 'query', assignee: { id: cast.guest.id } });
  });
});

describe('changing', () => {
  test('each change has a system note, in order', async () => {
    const { iid } = await open('owner', { title: 'Door' });
    const put = async (fields: Record<string, unknown>) =>
      (await as('owner').put(`${path}/${iid}`).send(fields).expect(200)).body as ShownIssue;
    await put({ assignee_ids: [cast.guest.id, cast.developer.id] });
    await put({ assignee_ids: [cast.developer.id, cast.owner.id] });
    await put({ title: 'Doors', description: 'text' });
    await put({ due_date: '2026-12-24', confidential: true, discussion_locked: true });
    await put({ state_event: 'close' });
    const notes = (await as('owner').get(`${path}/${iid}/notes`).query({ sort: 'asc' })).body as { body: string }[];
    expect(notes.map((note) => note.body)).toEqual([
      `assigned to @${cast.guest.username} and @${cast.developer.username}`,
      `assigned to @${cast.owner.username} and unassigned @${cast.guest.username}`,
      'changed title from **Door** to **Door{+s+}**',
      'changed the description',
      'changed due date to December 24, 2026',
      'made the issue confidential',
      'locked this issue',
      'closed',
    ]);
  });

  test('closing and reopening', async () => {
    const { iid } = await open('guest');
    const closed = await as('guest').put(`${path}/${iid}`).send({ state_event: 'close' });
    expect(closed.body).toMatchObject({ state: 'closed', closed_by: { id: cast.guest.id } });
    expect(closed.body.closed_at).toBe(closed.body.updated_at);
    expect(
      titles(
        await as('guest')
          .get(path)
          .query({ state: 'closed', 'iids[]': [iid] }),
      ),
    ).toHaveLength(1);
    const again = await as('guest').put(`${path}/${iid}`).send({ state_event: 'close' });
    expect(again.body).toEqual(closed.body);
    const opened = await as('guest').put(`${path}/${iid}`).send({ state_event: 'reopen' });
    expect(opened.body).toMatchObject({ state: 'opened', closed_by: null, closed_at: null });
    const about = { issue_iid: iid };
    expect((await eventsOf(service.database, 'collaboration.issue.closed.v1')).at(-1)).toMatchObject(about);
    expect((await eventsOf(service.database, 'collaboration.issue.reopened.v1')).at(-1)).toMatchObject(about);
  });

  test('publishes former mentions and new assignees', async () => {
    const { iid } = await open('owner', { description: `cc @${cast.guest.username}`, assignee_id: cast.guest.id });
    await as('owner')
      .put(`${path}/${iid}`)
      .send({ description: 'x', assignee_ids: [cast.planner.id] });
    expect((await eventsOf(service.database, 'collaboration.issue.updated.v1')).at(-1)).toMatchObject({
      issue_iid: iid,
      text_changed: true,
      mentioned_before: [cast.guest.id],
      added_assignee_ids: [cast.planner.id],
      removed_assignee_ids: [cast.guest.id],
    });
  });

  test('null and empty clear', async () => {
    const { iid } = await open('owner', { description: 'x', due_date: '2026-12-24', assignee_ids: [cast.guest.id] });
    const cleared = await as('owner')
      .put(`${path}/${iid}`)
      .send({ description: null, due_date: null, assignee_ids: [] });
    expect(cleared.body).toMatchObject({ description: null, due_date: null, assignees: [], assignee: null });
    const { iid: other } = await open('owner', { assignee_ids: [cast.guest.id] });
    const zero = await as('owner').put(`${path}/${other}`).send({ assignee_id: 0 });
    expect(zero.body.assignees).toEqual([]);
    const { iid: third } = await open('owner', { assignee_ids: [cast.guest.id], due_date: '2026-12-24' });
    const empty = await as('owner').put(`${path}/${third}`).type('form').send({ assignee_ids: '', due_date: '' });
    expect(empty.body).toMatchObject({ assignees: [], due_date: null });
  });

  test('a change to the current values keeps updated_at and publishes nothing', async () => {
    const issue = await open('owner');
    const before = (await eventsOf(service.database, 'collaboration.issue.updated.v1')).length;
    expect((await as('owner').put(`${path}/${issue.iid}`).send({ title: issue.title })).body).toEqual(issue);
    expect(await eventsOf(service.database, 'collaboration.issue.updated.v1')).toHaveLength(before);
  });

  test('needs one field', async () => {
    const { iid } = await open('owner');
    const response = await as('owner').put(`${path}/${iid}`).send({ health_status: 'on_track' }).expect(400);
    expect(response.body.error).toMatch(
      /^title, description, .* are missing, at least one parameter must be provided$/,
    );
    expect((await as('owner').put(`${path}/${iid}`).send({ title: ' ' })).body).toEqual({
      message: { title: ["can't be blank"] },
    });
    expect((await as('owner').put(`${path}/${iid}`).send({ title: 'x', state_event: 'explode' })).body).toEqual({
      error: 'state_event does not have a valid value',
    });
  });

  // User, then whether they may edit, close and delete the issue of another user.
  const RIGHTS: [keyof Cast, number, number, number][] = [
    ['stranger', 403, 403, 403],
    ['guest', 403, 403, 403],
    ['planner', 200, 200, 204],
    ['reporter', 200, 200, 403],
    ['developer', 200, 200, 403],
    ['maintainer', 200, 200, 403],
    ['owner', 200, 200, 204],
    ['admin', 200, 200, 204],
  ];
  test.each(RIGHTS)("%s and another's issue", async (name, edit, close, remove) => {
    const { iid } = await open('external');
    await as(name).put(`${path}/${iid}`).send({ title: 'y' }).expect(edit);
    await as(name).put(`${path}/${iid}`).send({ state_event: 'close' }).expect(close);
    await as(name).delete(`${path}/${iid}`).expect(remove);
  });

  test('an assignee may only close; an author may edit, but not plan', async () => {
    const { iid } = await open('owner', { assignee_ids: [cast.guest.id] });
    await as('guest').put(`${path}/${iid}`).send({ title: 'y' }).expect(403);
    await as('guest').put(`${path}/${iid}`).send({ state_event: 'close' }).expect(200);
    const { iid: mine } = await open('guest');
    const edited = await as('guest')
      .put(`${path}/${mine}`)
      .send({ title: 'y', confidential: true, due_date: '2026-12-24', assignee_ids: [cast.guest.id] });
    expect(edited.body).toMatchObject({ title: 'y', confidential: false, due_date: null, assignees: [] });
  });

  test('owners can set updated_at', async () => {
    const { iid } = await open('owner');
    const updated_at = '2021-02-03T04:05:06.000Z';
    expect((await as('owner').put(`${path}/${iid}`).send({ title: 'y', updated_at })).body.updated_at).toBe(updated_at);
    expect((await as('developer').put(`${path}/${iid}`).send({ title: 'z', updated_at })).body.updated_at).not.toBe(
      updated_at,
    );
  });
});

describe('deleting', () => {
  test('deletes the notes, honours If-Unmodified-Since and publishes an event', async () => {
    const { id, iid } = await open('owner');
    await as('owner').post(`${path}/${iid}/notes`).send({ body: 'x' });
    await as('owner').delete(`${path}/${iid}`).set('if-unmodified-since', 'Sat, 01 Jan 2000 00:00:00 GMT').expect(412);
    await as('owner').delete(`${path}/${iid}`).expect(204);
    expect((await as('owner').get(`${path}/${iid}`)).body).toEqual({ message: '404 Issue Not Found' });
    await as('owner').delete(`${path}/${iid}`).expect(404);
    expect(await service.database.query(`select 1 from notes where noteable_id = $1`, [id])).toEqual([]);
    expect((await eventsOf(service.database, 'collaboration.issue.deleted.v1')).at(-1)).toEqual({
      issue_id: id,
      issue_iid: iid,
      project_id: project.id,
      state: 'opened',
    });
  });
});

describe('confidential issues', () => {
  const READS: [keyof Cast, boolean][] = [
    ['stranger', false],
    ['guest', false],
    ['planner', true],
    ['reporter', true],
    ['owner', true],
    ['admin', true],
  ];
  test.each(READS)('%s: %s', async (name, reads) => {
    const { iid } = await open('owner', { confidential: true, title: `hidden from ${name}` });
    await as(name)
      .get(`${path}/${iid}`)
      .expect(reads ? 200 : 404);
    const list = await as(name)
      .get(path)
      .query({ 'iids[]': [iid] });
    expect([list.body.length, list.get('x-total')]).toEqual(reads ? [1, '1'] : [0, '0']);
    await as(name)
      .put(`${path}/${iid}`)
      .send({ state_event: 'close' })
      .expect(reads ? 200 : 404);
  });

  test('an author with a role and assignees can read them, an author without a role cannot', async () => {
    const { iid: byGuest } = await open('guest', { confidential: true });
    await as('guest').get(`${path}/${byGuest}`).expect(200);
    const { iid: assigned } = await open('owner', { confidential: true, assignee_ids: [cast.stranger.id] });
    await as('stranger').get(`${path}/${assigned}`).expect(200);
    const opened = await as('stranger').post(path).send({ title: 'a leak', confidential: true });
    expect([opened.status, opened.body.confidential]).toEqual([201, true]);
    await as('stranger').get(`${path}/${opened.body.iid}`).expect(404);
    await anonymous().get(`${path}/${byGuest}`).expect(404);
  });
});

describe('listing', () => {
  let own: DirectoryProject;
  const list = (query: Record<string, unknown>, name: keyof Cast = 'owner') =>
    as(name).get(`/api/v4/projects/${own.id}/issues`).query(query);

  beforeAll(async () => {
    own = await service.seed.project();
    const make = async (title: string, fields: Record<string, unknown> = {}) =>
      (
        await as('admin')
          .post(`/api/v4/projects/${own.id}/issues`)
          .send({ title, ...fields })
          .expect(201)
      ).body as ShownIssue;
    const day = (offset: number) => new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10);
    await make('alpha door', { created_at: '2020-01-01T00:00:00Z', due_date: day(-3), assignee_ids: [cast.guest.id] });
    await make('Beta 100% window', {
      created_at: '2021-01-01T00:00:00Z',
      due_date: day(0),
      description: 'the DOOR again',
    });
    const gamma = await make('gamma', { created_at: '2022-01-01T00:00:00Z', confidential: true });
    await as('admin').put(`/api/v4/projects/${own.id}/issues/${gamma.iid}`).send({ state_event: 'close' });
    await as('stranger').post(`/api/v4/projects/${own.id}/issues`).send({ title: 'delta', issue_type: 'task' });
  });

  test.each<[Record<string, unknown>, string[]]>([
    [{}, ['delta', 'gamma', 'Beta 100% window', 'alpha door']],
    [{ sort: 'asc' }, ['alpha door', 'Beta 100% window', 'gamma', 'delta']],
    [{ order_by: 'due_date', sort: 'asc' }, ['alpha door', 'Beta 100% window', 'gamma', 'delta']],
    [{ order_by: 'due_date' }, ['Beta 100% window', 'alpha door', 'delta', 'gamma']],
    [{ order_by: 'weight', sort: 'asc' }, ['alpha door', 'Beta 100% window', 'gamma', 'delta']],
    [{ state: 'opened' }, ['delta', 'Beta 100% window', 'alpha door']],
    [{ state: 'closed' }, ['gamma']],
    [{ search: 'door' }, ['Beta 100% window', 'alpha door']],
    [{ search: 'door', in: 'title' }, ['alpha door']],
    [{ search: '100%' }, ['Beta 100% window']],
    [{ search: '%' }, ['Beta 100% window']],
    [{ search: 'window door' }, ['Beta 100% window']],
    [{ confidential: true }, ['gamma']],
    [{ confidential: 'False', state: 'opened', issue_type: 'task' }, ['delta']],
    [{ created_after: '2020-06-01T00:00:00Z', created_before: '2021-06-01T00:00:00Z' }, ['Beta 100% window']],
    [{ updated_before: '2020-06-01T00:00:00Z' }, ['alpha door']],
    [{ due_date: 'overdue' }, ['alpha door']],
    [{ due_date: 'today' }, ['Beta 100% window']],
    [{ due_date: '0' }, ['delta', 'gamma']],
    [{ due_date: 'any' }, ['Beta 100% window', 'alpha door']],
    [{ due_date: 'next_month_and_previous_two_weeks' }, ['Beta 100% window', 'alpha door']],
    [{ 'iids[]': [1, 3] }, ['gamma', 'alpha door']],
    [{ iids: '1,3' }, ['gamma', 'alpha door']],
    [{ assignee_id: 'Any' }, ['alpha door']],
    [{ assignee_id: 'None' }, ['delta', 'gamma', 'Beta 100% window']],
    [{ labels: 'bug' }, []],
    [{ labels: 'Any' }, []],
    [{ labels: 'None', state: 'closed' }, ['gamma']],
    [{ milestone: 'v1' }, []],
    [{ milestone: 'None', state: 'closed' }, ['gamma']],
    [{ my_reaction_emoji: 'thumbsup' }, []],
    [{ weight: 3 }, []],
    [{ epic_id: 'None', state: 'closed' }, ['gamma']],
    [{ not: { labels: 'bug' }, state: 'closed' }, ['gamma']],
    [{ 'not[iids][]': [1, 2] }, ['delta', 'gamma']],
    [{ not: { assignee_id: 'Any' }, state: 'opened' }, ['delta', 'Beta 100% window']],
    [{ with_labels_details: true, state: 'closed' }, ['gamma']],
    [{ author_username: 'nobody-of-that-name' }, []],
  ])('%j', async (query, expected) => {
    const response = await list(query, 'admin').expect(200);
    expect(titles(response)).toEqual(expected);
    expect(response.get('x-total')).toBe(String(expected.length));
  });

  test('by people', async () => {
    const { admin, guest, stranger } = cast;
    expect(titles(await list({ author_id: stranger.id }))).toEqual(['delta']);
    expect(titles(await list({ author_username: stranger.username.toUpperCase() }))).toEqual(['delta']);
    expect(titles(await list({ assignee_id: guest.id }))).toEqual(['alpha door']);
    expect(titles(await list({ 'assignee_username[]': [guest.username] }))).toEqual(['alpha door']);
    expect(titles(await list({ assignee_username: guest.username }))).toEqual(['alpha door']);
    expect(titles(await list({ scope: 'created_by_me' }, 'stranger'))).toEqual(['delta']);
    expect(titles(await list({ scope: 'assigned-to-me' }, 'guest'))).toEqual(['alpha door']);
    expect(titles(await list({ not: { author_id: admin.id } }, 'admin'))).toEqual(['delta']);
    expect(titles(await list({ not: { author_username: stranger.username }, state: 'opened' }))).toEqual([
      'Beta 100% window',
      'alpha door',
    ]);
  });

  test('by several assignees: with all of them, or with none of them', async () => {
    const { guest, developer, admin } = cast;
    const place = await service.seed.project();
    for (const one of [guest, developer]) await service.seed.member(one, place, 'developer');
    const issues = `/api/v4/projects/${place.id}/issues`;
    for (const [title, assignees] of Object.entries({ both: [guest, developer], one: [guest], nobody: [] }))
      await as('admin')
        .post(issues)
        .send({ title, assignee_ids: assignees.map(({ id }) => id) })
        .expect(201);
    const found = async (query: object) => titles(await anonymous().get(issues).query(query).expect(200));
    const names = [guest.username, developer.username.toUpperCase()];
    expect(await found({ assignee_username: names.join(',') })).toEqual(['both']);
    expect(await found({ assignee_username: [...names, guest.username.toUpperCase()].join(',') })).toEqual(['both']);
    expect(await found({ assignee_username: [...names, admin.username].join(',') })).toEqual([]);
    expect(await found({ assignee_username: [...names, 'nobody-there'].join(',') })).toEqual([]);
    expect(await found({ not: { assignee_username: names.join(',') } })).toEqual(['nobody']);
    expect(await found({ not: { assignee_username: [developer.username, 'nobody-there'].join(',') } })).toEqual([
      'nobody',
      'one',
    ]);
    // One condition for all assignees: a condition for each of a thousand exceeded the statement timeout.
    const many = Array.from({ length: 1000 }, (_, n) => n.toString(36)).join(',');
    expect(await found({ assignee_username: many })).toEqual([]);
    expect(await found({ not: { assignee_username: many } })).toEqual(['nobody', 'one', 'both']);
  });

  test('anonymous callers see public issues, and pages are full', async () => {
    const response = await anonymous().get(`/api/v4/projects/${own.id}/issues`).query({ per_page: 2 });
    expect(titles(response)).toEqual(['delta', 'Beta 100% window']);
    expect(response.get('x-total')).toBe('3');
    expect(response.get('link')).toContain('page=2');
    const second = await anonymous().get(`/api/v4/projects/${own.id}/issues`).query({ per_page: 2, page: 2 });
    expect([titles(second), second.get('x-next-page')]).toEqual([['alpha door'], '']);
  });

  test.each([
    [{ author_id: 1, author_username: 'x' }, 'author_id, author_username are mutually exclusive'],
    [{ assignee_id: 1, assignee_username: 'x' }, 'assignee_id, assignee_username are mutually exclusive'],
    [{ assignee_id: 'somebody' }, 'assignee_id is invalid'],
    [{ state: 'open' }, 'state does not have a valid value'],
    [{ order_by: 'id' }, 'order_by does not have a valid value'],
    [{ author_id: 'x' }, 'author_id is invalid'],
    [{ created_after: 'x' }, 'created_after is invalid'],
    [{ 'iids[]': ['x'] }, 'iids is invalid'],
    [{ search: 'a\u0000b' }, 'search is invalid'],
  ])('refuses %j', async (query, error) => {
    const response = await list(query);
    expect([response.status, response.body]).toEqual([400, { error }]);
  });

  test('too large ids find nothing', async () => {
    for (const query of [
      { author_id: '99999999999999999999' },
      { 'iids[]': ['99999999999999999999'] },
      { assignee_id: '99999999999999999999' },
      { 'not[iids][]': ['99999999999999999999'] },
    ]) {
      expect((await list(query)).status).toBeLessThan(500);
    }
  });
});

test('an issue of another project is 404 in this one', async () => {
  const other = await service.seed.project();
  const { iid } = (
    await as('admin').post(`/api/v4/projects/${other.id}/issues`).send({ title: 'x', iid: 777 }).expect(201)
  ).body as ShownIssue;
  await as('admin').get(`${path}/${iid}`).expect(404);
  await as('admin').put(`${path}/${iid}`).send({ title: 'y' }).expect(404);
  await as('admin').delete(`${path}/${iid}`).expect(404);
});

test('a project by its path gives the same answers', async () => {
  const { iid } = await open('guest');
  const encoded = encodeURIComponent(`group${project.namespace_id}/${project.path}`);
  expect((await as('guest').get(`/api/v4/projects/${encoded}/issues/${iid}`)).body.iid).toBe(iid);
});

test('subscribed shows whether the caller participates or subscribed', async () => {
  const { iid } = await open('owner');
  const subscribed = async () => (await as('guest').get(`${path}/${iid}`)).body.subscribed;
  expect(await subscribed()).toBe(false);
  await as('guest').post(`${path}/${iid}/notes`).send({ body: 'x' });
  expect(await subscribed()).toBe(true);
});
