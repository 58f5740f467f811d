import type { DirectoryNamespace, DirectoryProject } from '@rookery/contracts';
import {
  registerForeignParentTests,
  registerParameterEncodingTests,
  registerRefusalOrderTests,
} from '@rookery/testing';
import type { SeededService, SeededUser } from '@rookery/testing';
import { castOf, eventsOf, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { issueActions } from '../support/issue-actions';

type Body = Record<string, unknown>;
type Issue = Body & { readonly id: number; readonly iid: number; readonly project_id: number };
type ShownNote = Body & { readonly id: number; readonly body: string };

const UNSEEN = 'something that you may not see';

let service: SeededService;
let group: DirectoryNamespace;
let project: DirectoryProject;
/** A private project of another group; planners and higher roles are members of both. */
let target: DirectoryProject;
let targetPath: string;
let cast: Cast;
let issue: Issue;

beforeAll(async () => void (service = await startCollaboration()));
afterAll(() => service.close());
beforeEach(async () => {
  group = await service.seed.group();
  project = await service.seed.project({ namespace_id: group.id });
  const elsewhere = await service.seed.group();
  target = await service.seed.project({ namespace_id: elsewhere.id, visibility: 'private' });
  cast = await castOf(service.seed, project);
  for (const name of ['planner', 'reporter', 'developer', 'owner'] as const) {
    await service.seed.member(cast[name], target, name);
  }
  targetPath = (await anIssueIn(target)).references.full.split('#')[0]!;
  issue = (await anIssue()) as Issue;
});

const { by, anIssue, comment } = issueActions(() => ({ service, project, cast }));
const as = (name: keyof Cast) => by(cast[name]);
const pathOf = ({ project_id, iid }: Pick<Issue, 'project_id' | 'iid'>, tail = ''): string =>
  `/api/v4/projects/${project_id}/issues/${iid}${tail}`;
const at = (one: { readonly iid: number }, tail = ''): string => pathOf({ project_id: project.id, iid: one.iid }, tail);
const anIssueIn = async (of: DirectoryProject, fields: Body = {}): Promise<Issue & { references: { full: string } }> =>
  (
    await as('admin')
      .post(`/api/v4/projects/${of.id}/issues`)
      .send({ title: 'There', ...fields })
      .expect(201)
  ).body;
const move = async (one: { readonly iid: number } = issue, who = cast.owner, to = target): Promise<Issue> =>
  (await by(who).post(at(one, '/move')).send({ to_project_id: to.id }).expect(201)).body as Issue;
const clone = async (fields: Body = {}, who = cast.owner, one = issue): Promise<Issue> =>
  (
    await by(who)
      .post(at(one, '/clone'))
      .send({ to_project_id: target.id, ...fields })
      .expect(201)
  ).body as Issue;
const shown = async (path: string, who: SeededUser = cast.owner): Promise<Issue> =>
  (await by(who).get(path).expect(200)).body as Issue;
const notesOf = async (one: Pick<Issue, 'project_id' | 'iid'>, who: SeededUser = cast.owner): Promise<ShownNote[]> =>
  (await by(who).get(pathOf(one, '/notes?sort=asc&per_page=100')).expect(200)).body as ShownNote[];
const currentIssueKey = () => ({ project_id: project.id, iid: issue.iid });
const bodies = (notes: readonly ShownNote[]): string[] => notes.map(({ body }) => body);

describe('a moved issue', () => {
  test('is copied to the target and closed in the source', async () => {
    await as('admin').post(`/api/v4/groups/${group.id}/labels`).send({ name: 'above', color: '#111111' }).expect(201);
    for (const name of ['bug', 'unknown there']) {
      await as('owner').post(`/api/v4/projects/${project.id}/labels`).send({ name, color: '#222222' }).expect(201);
    }
    const label = await as('owner')
      .post(`/api/v4/projects/${target.id}/labels`)
      .send({ name: 'bug', color: '#333333' })
      .expect(201);
    const milestones = [];
    for (const place of [project, target]) {
      const { body } = await as('owner')
        .post(`/api/v4/projects/${place.id}/milestones`)
        .send({ title: 'v1' })
        .expect(201);
      milestones.push(body as { id: number });
    }
    const fields = {
      title: 'Whole',
      description: 'Text\n\n- [x] done\n- [ ] open',
      labels: 'bug,above,unknown there',
      milestone_id: milestones[0]!.id,
      assignee_ids: [cast.reporter.id, cast.guest.id],
      due_date: '2026-12-24',
      weight: 5,
      confidential: true,
      discussion_locked: true,
      issue_type: 'incident',
      created_at: '2020-02-03T04:05:06.000Z',
    };
    issue = (await anIssue(fields)) as Issue;
    await as('owner').post(at(issue, '/time_estimate')).send({ duration: '3h' }).expect(200);
    await as('owner').post(at(issue, '/add_spent_time')).send({ duration: '1h' }).expect(201);
    await as('reporter').post(at(issue, '/award_emoji')).send({ name: 'thumbsup' }).expect(201);
    const before = await shown(at(issue));

    const moved = await move(issue, cast.developer);
    const now = await shown(pathOf(moved), cast.developer);
    expect(moved).toEqual(now);
    const own = ['id', 'iid', 'project_id', 'updated_at', 'web_url', '_links', 'references'];
    const kept = (one: Body): Body => Object.fromEntries(Object.entries(one).filter(([name]) => !own.includes(name)));
    expect(kept(await shown(pathOf(moved)))).toEqual({
      ...kept(before),
      labels: ['bug'],
      milestone: (await as('owner').get(`/api/v4/projects/${target.id}/milestones/${milestones[1]!.id}`).expect(200))
        .body,
      assignees: (before['assignees'] as Body[]).slice(0, 1),
    });
    expect(moved).toMatchObject({ state: 'opened', created_at: fields.created_at, moved_to_id: null });
    expect(
      (await service.database.query(`select label_id from label_links where noteable_id = $1`, [moved.id])).map(
        (row) => (row as { label_id: number }).label_id,
      ),
    ).toEqual([(label.body as { id: number }).id]);

    const left = await shown(at(issue));
    expect(left).toMatchObject({ state: 'closed', closed_by: { id: cast.developer.id }, moved_to_id: moved.id });
    expect(left['time_stats']).toEqual(before['time_stats']);
    expect((await as('owner').get(at(issue, '/resource_state_events')).expect(200)).body).toMatchObject([
      { state: 'closed' },
    ]);
    expect(bodies(await notesOf(currentIssueKey())).slice(-2)).toEqual([
      'closed',
      `moved to ${targetPath}#${moved.iid}`,
    ]);
    expect(bodies(await notesOf(moved)).at(-1)).toBe(`moved from ${(before['references'] as Body)['full'] as string}`);
  });

  test('keeps its notes: authors, times, threads, emoji, internal and system notes', async () => {
    const first = await comment(issue, 'alone', cast.guest);
    const { body: thread } = await as('reporter').post(at(issue, '/discussions')).send({ body: 'begins' }).expect(201);
    const { id: key, notes } = thread as { id: string; notes: ShownNote[] };
    await as('guest')
      .post(at(issue, `/discussions/${key}/notes`))
      .send({ body: 'answers' })
      .expect(201);
    await as('owner')
      .post(at(issue, `/discussions/${key}/notes`))
      .send({ body: 'ends' })
      .expect(201);
    await as('owner')
      .put(at(issue, `/discussions/${key}`))
      .send({ resolved: true })
      .expect(200);
    await comment(issue, 'among us', cast.reporter, { internal: true });
    await as('owner').put(at(issue)).send({ title: 'Else' }).expect(200);
    await as('guest')
      .post(at(issue, `/notes/${first.id}/award_emoji`))
      .send({ name: 'tada' })
      .expect(201);
    // The first note of the thread is deleted; it stays a thread.
    await as('reporter')
      .delete(at(issue, `/notes/${notes[0]!.id}`))
      .expect(204);
    const before = await notesOf(currentIssueKey());

    const moved = await move();
    const after = await notesOf(moved);
    const of = ({ id: _, noteable_id: __, project_id: ___, noteable_iid: ____, ...rest }: ShownNote): Body => rest;
    expect(after.slice(0, -1).map(of)).toEqual(before.map(of));
    expect(new Set([...before, ...after].map(({ id }) => id)).size).toBe(before.length + after.length);
    expect(after.every((note) => note['noteable_id'] === moved.id && note['project_id'] === target.id)).toBe(true);
    expect(await shown(pathOf(moved))).toMatchObject({ user_notes_count: 4 });
    const { body: threads } = await as('owner').get(pathOf(moved, '/discussions')).expect(200);
    const shape = (all: { individual_note: boolean; notes: ShownNote[] }[]): unknown =>
      all.map((one) => [one.individual_note, ...bodies(one.notes)]);
    expect(shape(threads as never)).toContainEqual([false, 'answers', 'ends']);
    const [copied] = after;
    const awards = await as('owner')
      .get(pathOf(moved, `/notes/${copied!.id}/award_emoji`))
      .expect(200);
    expect(awards.body).toMatchObject([{ name: 'tada', user: { id: cast.guest.id }, awardable_id: copied!.id }]);
    // A reply in the target belongs to the thread there only.
    const there = (threads as { id: string; individual_note: boolean }[]).find((one) => !one.individual_note)!;
    await as('owner')
      .post(pathOf(moved, `/discussions/${there.id}/notes`))
      .send({ body: 'later' })
      .expect(201);
    expect(bodies(await notesOf(currentIssueKey())).filter((text) => text === 'later')).toEqual([]);
    const totals = await as('owner').get(pathOf(moved, '/notes')).expect(200);
    expect(totals.headers['x-total']).toBe(String(after.length + 1));
  });

  test('keeps links, subscribers, weight events and state events', async () => {
    const other = await anIssue();
    const fields = { target_project_id: project.id, target_issue_iid: other.iid };
    await as('owner').post(at(issue, '/links')).send(fields).expect(201);
    await as('guest').post(at(issue, '/subscribe')).expect(201);
    await as('reporter').post(at(issue, '/subscribe')).expect(201);
    for (const change of [{ weight: 3 }, { state_event: 'close' }, { state_event: 'reopen' }]) {
      await as('owner').put(at(issue)).send(change).expect(200);
    }
    const moved = await move();
    expect((await as('owner').get(at(other, '/links')).expect(200)).body).toMatchObject([{ id: moved.id }]);
    expect((await as('owner').get(at(issue, '/links')).expect(200)).body).toEqual([]);
    expect(await shown(pathOf(moved), cast.reporter)).toMatchObject({ subscribed: true, weight: 3 });
    const states = (await as('owner').get(pathOf(moved, '/resource_state_events')).expect(200)).body as Body[];
    expect(states.map((one) => one['state'])).toEqual(['closed', 'reopened']);
    const weights = (await as('owner').get(pathOf(moved, '/resource_weight_events')).expect(200)).body as Body[];
    expect(weights.map((one) => one['weight'])).toEqual([3]);
  });

  test('that was closed stays closed, and its copy is open', async () => {
    await as('owner').put(at(issue)).send({ state_event: 'close' }).expect(200);
    const moved = await move();
    expect(moved).toMatchObject({ state: 'opened', closed_at: null });
    expect(bodies(await notesOf(currentIssueKey())).filter((text) => text === 'closed')).toHaveLength(1);
    const closings = await eventsOf(service.database, 'collaboration.issue.closed.v1');
    expect(closings.filter((event) => event['issue_id'] === issue.id && event['moved'] === true)).toEqual([]);
  });

  test('loses its weight in plans without weights', async () => {
    await as('owner').put(at(issue)).send({ weight: 3 }).expect(200);
    const freeGroup = await service.seed.group({ plan: 'free' });
    const there = await service.seed.project({ namespace_id: freeGroup.id });
    await service.seed.member(cast.owner, there, 'owner');
    expect(await move(issue, cast.owner, there)).toMatchObject({ weight: null });
  });

  test('loses internal notes that the moving user cannot read', async () => {
    await comment(issue, 'for all', cast.owner);
    await comment(issue, 'among us', cast.owner, { internal: true });
    const moved = await move(issue, cast.planner);
    expect(bodies(await notesOf(moved))).toEqual(['for all', expect.stringMatching(/^moved from /)]);
    expect(await shown(pathOf(moved))).toMatchObject({ user_notes_count: 1 });
    expect(bodies(await notesOf(currentIssueKey()))).toContain('among us');
  });

  test('publishes events for creation, closing and the move', async () => {
    const moved = await move();
    const [went] = (await eventsOf(service.database, 'collaboration.issue.moved.v1')).filter(
      (event) => event['issue_id'] === issue.id,
    );
    expect(went).toMatchObject({ project_id: project.id, became_id: moved.id, is_clone: false });
    const closings = await eventsOf(service.database, 'collaboration.issue.closed.v1');
    expect(closings.filter((event) => event['issue_id'] === issue.id)).toMatchObject([{ moved: true }]);
    const creations = await eventsOf(service.database, 'collaboration.issue.created.v1');
    expect(creations.filter((event) => event['issue_id'] === moved.id)).toMatchObject([{ project_id: target.id }]);
  });

  test('is moved once by concurrent requests', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => as('owner').post(at(issue, '/move')).send({ to_project_id: target.id })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(7).fill(400)]);
    const again = await as('owner').post(at(issue, '/move')).send({ to_project_id: target.id }).expect(400);
    expect(again.body).toEqual({ message: 'Cannot move issue due to insufficient permissions!' });
  });

  test('is no longer shown as moved after its copy is deleted', async () => {
    const moved = await move();
    await as('owner').delete(pathOf(moved)).expect(204);
    expect(await shown(at(issue))).toMatchObject({ state: 'closed', moved_to_id: null });
    expect(bodies(await notesOf(currentIssueKey())).at(-1)).toBe(`moved to ${UNSEEN}`);
  });
});

describe('the destination of a move', () => {
  const lastNoteTexts = async (
    who: SeededUser,
    one: Pick<Issue, 'project_id' | 'iid'> = currentIssueKey(),
  ): Promise<string[]> => {
    const listed = (await notesOf(one, who)).at(-1)!;
    const single = await shown(pathOf(one, `/notes/${listed.id}`), who);
    const { body: all } = await by(who).get(pathOf(one, '/discussions')).expect(200);
    const last = (all as { id: string; notes: ShownNote[] }[]).at(-1)!;
    const { body: discussion } = await by(who)
      .get(pathOf(one, `/discussions/${last.id}`))
      .expect(200);
    return [listed.body, single['body'] as string, last.notes[0]!.body, (discussion as typeof last).notes[0]!.body];
  };
  const everywhere = (text: string): string[] => Array<string>(4).fill(text);

  test.each<[keyof Cast, boolean]>([
    ['admin', true],
    ['owner', true],
    ['developer', true],
    ['reporter', true],
    ['planner', true],
    ['maintainer', false],
    ['guest', false],
    ['stranger', false],
    ['external', false],
  ])('is visible to %s: %s', async (name, isVisible) => {
    const moved = await move();
    const text = `moved to ${isVisible ? `${targetPath}#${moved.iid}` : UNSEEN}`;
    expect(await lastNoteTexts(cast[name])).toEqual(everywhere(text));
  });

  test('is visible once the reader can see it, and not while it is confidential', async () => {
    const moved = await move();
    const visible = everywhere(`moved to ${targetPath}#${moved.iid}`);
    const hidden = everywhere(`moved to ${UNSEEN}`);
    expect(await lastNoteTexts(cast.guest)).toEqual(hidden);
    await service.seed.put('projects', { ...target, visibility: 'public' });
    expect([await lastNoteTexts(cast.guest), await lastNoteTexts(cast.external)]).toEqual([visible, visible]);
    await service.seed.put('projects', { ...target, visibility: 'internal' });
    expect([await lastNoteTexts(cast.guest), await lastNoteTexts(cast.external)]).toEqual([visible, hidden]);
    await as('owner').put(pathOf(moved)).send({ confidential: true }).expect(200);
    expect([await lastNoteTexts(cast.guest), await lastNoteTexts(cast.planner)]).toEqual([hidden, visible]);
    await service.seed.put('projects', { ...target, issues_access_level: 'disabled' });
    expect(await lastNoteTexts(cast.owner)).toEqual(hidden);
  });

  test('hides the source in the same way', async () => {
    const secret = await service.seed.project({ visibility: 'private' });
    const open = await service.seed.project();
    for (const place of [secret, open]) await service.seed.member(cast.owner, place, 'owner');
    const own = await anIssueIn(secret);
    const { body } = await as('owner').post(pathOf(own, '/move')).send({ to_project_id: open.id }).expect(201);
    expect(await lastNoteTexts(cast.guest, body as Issue)).toEqual(everywhere(`moved from ${UNSEEN}`));
    expect(await lastNoteTexts(cast.owner, body as Issue)).toEqual(everywhere(`moved from ${own.references.full}`));
  });

  test('does not change user-written texts of the same form', async () => {
    await comment(issue, 'moved to some/where#7', cast.guest);
    expect(bodies(await notesOf(currentIssueKey(), cast.stranger))).toEqual(['moved to some/where#7']);
  });
});

describe('a clone', () => {
  test('has the cloning user as author, a new history, and leaves the original unchanged', async () => {
    await as('owner').post(at(issue, '/time_estimate')).send({ duration: '3h' }).expect(200);
    await as('owner').post(at(issue, '/add_spent_time')).send({ duration: '1h' }).expect(201);
    await as('guest').post(at(issue, '/award_emoji')).send({ name: 'thumbsup' }).expect(201);
    await comment(issue, 'not along', cast.guest);
    const { updated_at: _, ...before } = await shown(at(issue));
    const made = await clone({}, cast.planner);
    const { updated_at: __, ...after } = await shown(at(issue));
    expect(after).toEqual(before);
    expect(made).toMatchObject({
      title: 'An issue',
      author: { id: cast.planner.id },
      state: 'opened',
      upvotes: 1,
      user_notes_count: 0,
      time_stats: { time_estimate: 10_800, total_time_spent: 0 },
    });
    expect(made['created_at']).not.toBe(before['created_at']);
    expect(bodies(await notesOf(made))).toEqual([`cloned from ${(before['references'] as Body)['full'] as string}`]);
    expect(bodies(await notesOf(currentIssueKey())).at(-1)).toBe(`cloned to ${targetPath}#${made.iid}`);
  });

  test('has the notes on request', async () => {
    await comment(issue, 'along', cast.guest);
    expect(bodies(await notesOf(await clone({ with_notes: true })))).toEqual([
      'along',
      expect.stringMatching(/^cloned from /),
    ]);
  });

  test('can be in the same project, and repeated', async () => {
    const made = await clone({ to_project_id: project.id });
    expect(made).toMatchObject({ project_id: project.id });
    expect(bodies(await notesOf(made))).toEqual([`cloned from #${issue.iid}`]);
    expect(bodies(await notesOf(currentIssueKey(), cast.stranger))).toEqual([`cloned to #${made.iid}`]);
    await clone({ to_project_id: project.id });
    await clone({}, cast.owner, made);
  });

  test('gets iids without gaps when many are created at once', async () => {
    const made = await Promise.all(Array.from({ length: 10 }, () => clone()));
    expect(made.map(({ iid }) => iid).sort((a, b) => a - b)).toEqual(Array.from({ length: 10 }, (_, i) => i + 2));
  });
});

describe('refusals', () => {
  const asked = async (verb: string, name: keyof Cast, fields: Body, one = at(issue)): Promise<[number, unknown]> => {
    const { status, body } = await as(name).post(`${one}/${verb}`).send(fields);
    return [status, body];
  };
  const insufficient = (verb: string) => [400, { message: `Cannot ${verb} issue due to insufficient permissions!` }];

  test.each(['move', 'clone'])('%s: of parameters', async (verb) => {
    expect(await asked(verb, 'owner', {})).toEqual([400, { error: 'to_project_id is missing' }]);
    expect(await asked(verb, 'owner', { to_project_id: 'x' })).toEqual([400, { error: 'to_project_id is invalid' }]);
    if (verb === 'clone') {
      expect(await asked(verb, 'owner', { to_project_id: target.id, with_notes: 'perhaps' })).toEqual([
        400,
        { error: 'with_notes is invalid' },
      ]);
    }
  });

  test.each(['move', 'clone'])('%s: missing or hidden issues and projects', async (verb) => {
    const missing = [404, { message: '404 Project Not Found' }];
    expect(await asked(verb, 'owner', { to_project_id: 999_999 })).toEqual(missing);
    expect(await asked(verb, 'maintainer', { to_project_id: target.id })).toEqual(missing);
    const secret = (await anIssue({ confidential: true })) as Issue;
    expect(await asked(verb, 'guest', { to_project_id: target.id }, at(secret))).toEqual([
      404,
      { message: '404 Issue Not Found' },
    ]);
    expect(await asked(verb, 'owner', { to_project_id: target.id }, at({ iid: 999 }))).toEqual([
      404,
      { message: '404 Issue Not Found' },
    ]);
  });

  test('a move within one project', async () => {
    expect(await asked('move', 'owner', { to_project_id: project.id })).toEqual([
      400,
      { message: 'Cannot move issue to project it originates from!' },
    ]);
  });

  test.each<[string, keyof Cast, boolean]>(
    ['move', 'clone'].flatMap((verb) => [
      [verb, 'stranger', false] as [string, keyof Cast, boolean],
      [verb, 'external', false],
      [verb, 'guest', false],
      [verb, 'planner', true],
      [verb, 'reporter', true],
      [verb, 'developer', true],
      [verb, 'maintainer', true],
      [verb, 'owner', true],
      [verb, 'admin', true],
    ]),
  )('%s: of %s in either project: %s', async (verb, name, may) => {
    const open = await service.seed.project();
    if (name !== 'stranger' && name !== 'external' && name !== 'admin') {
      await service.seed.member(cast[name], open, name);
    }
    const [status, body] = await asked(verb, name, { to_project_id: open.id });
    if (may) expect(status).toBe(201);
    else expect([status, body]).toEqual(insufficient(verb));
    const otherProject = await service.seed.project();
    if (name === 'admin') return;
    // A user without a role in the target.
    const one = (await anIssue()) as Issue;
    expect(await asked(verb, name, { to_project_id: otherProject.id }, at(one))).toEqual(insufficient(verb));
    // A user with a role only in the target.
    const back = await anIssueIn(otherProject);
    expect(await asked(verb, name, { to_project_id: open.id }, pathOf(back))).toEqual(insufficient(verb));
  });

  test.each(['move', 'clone'])('%s: archived projects and projects without issues', async (verb) => {
    for (const over of [{ archived: true }, { issues_access_level: 'disabled' as const }]) {
      await service.seed.put('projects', { ...target, ...over });
      expect(await asked(verb, 'owner', { to_project_id: target.id })).toEqual(insufficient(verb));
    }
    await service.seed.put('projects', target);
    await service.seed.put('projects', { ...project, archived: true });
    expect(await asked(verb, 'owner', { to_project_id: target.id })).toEqual(insufficient(verb));
  });

  test('notes that exceed the limit, and nothing is written', async () => {
    await service.database.query(
      `insert into notes (noteable_type, noteable_id, project_id, author_id, body)
       select 'Issue', $1, $2, $3, repeat('x', 1000000) from generate_series(1, 68)`,
      [issue.id, project.id, cast.owner.id],
    );
    expect(await asked('move', 'owner', { to_project_id: target.id })).toEqual([
      400,
      { message: '400 Bad request - Notes are too large to be copied (maximum is 64 MiB)' },
    ]);
    expect(await shown(at(issue))).toMatchObject({ state: 'opened', moved_to_id: null });
    await clone();
  });

  describe('in order', () => {
    registerRefusalOrderTests(
      () => service.app,
      async () => {
        const hidden = await service.seed.project({ visibility: 'private' });
        const own = await anIssueIn(hidden);
        const planner = await service.seed.user();
        for (const place of [hidden, target]) await service.seed.member(planner, place, 'planner');
        return {
          method: 'POST',
          path: pathOf(own, '/clone'),
          good: { to_project_id: target.id },
          bad: {},
          anonymous: service.seed.anonymous(),
          outsider: service.seed.viewer(await service.seed.user()),
          allowed: service.seed.viewer(planner),
        };
      },
    );
  });

  registerForeignParentTests({
    app: () => service.app,
    viewer: () => service.seed.viewer(cast.admin),
    requests: () =>
      ['move', 'clone'].map((verb) => ({
        method: 'POST' as const,
        path: `/api/v4/projects/${target.id}/issues/${issue.iid + 1000}/${verb}`,
        body: { to_project_id: project.id },
      })),
    untouched: () => shown(at(issue)),
  });
  registerParameterEncodingTests({
    app: () => service.app,
    to: async () => {
      await comment(issue, 'along', cast.guest);
      return {
        viewer: service.seed.viewer(cast.owner),
        method: 'POST',
        path: at(issue, '/clone'),
        params: { to_project_id: target.id, with_notes: true },
      };
    },
    seen: (body) => body['user_notes_count'],
    expected: 1,
  });
});
