import { randomUUID } from 'node:crypto';
import { noteCreated } from '@rookery/contracts';
import type { DirectoryProject } from '@rookery/contracts';
import { Work } from '@rookery/persistence';
import { registerListPagingTests, startNats } from '@rookery/testing';
import type { PrivateNats, SeededService, SeededUser } from '@rookery/testing';
import { TodosConsumer } from '../../src/following/todos/todos.consumer';
import { castOf, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { issueActions } from '../support/issue-actions';
import { startWorker } from '../support/worker';
import type { Worker } from '../support/worker';

let service: SeededService;
let nats: PrivateNats;
let worker: Worker;
let project: DirectoryProject;
let cast: Cast;

beforeAll(async () => {
  service = await startCollaboration();
  nats = await startNats();
  worker = await startWorker({ databaseUrl: service.databaseUrl, nats });
});
afterAll(async () => {
  await worker.stop();
  await nats.drop();
  await service.close();
});
beforeEach(async () => {
  project = await service.seed.project();
  cast = await castOf(service.seed, project);
});

type Body = Record<string, unknown>;
type Todo = Body & { id: number; action_name: string; target: { id: number; iid: number } };
const { by, anIssue, comment, edit } = issueActions(() => ({ service, project, cast }));
const todosOf = async (user: SeededUser, query: Body = {}): Promise<Todo[]> => {
  await worker.drained();
  const { body } = await by(user).get('/api/v4/todos').query(query).expect(200);
  return body;
};
const actionsOf = async (user: SeededUser, query: Body = {}) =>
  (await todosOf(user, query)).map((todo) => todo.action_name);
const mentionOf = (user: SeededUser) => `@${user.username}`;

describe('a to-do', () => {
  test('shows project, author, the target like the issues API, and the note', async () => {
    const issue = await anIssue({ title: 'Title "x"', assignee_ids: [cast.guest.id] });
    const note = await comment(issue, `look ${mentionOf(cast.reporter)} here`);
    const [todo] = await todosOf(cast.reporter);
    const { body: target }: { body: Body } = await by(cast.reporter)
      .get(`/api/v4/projects/${project.id}/issues/${issue.iid}`)
      .expect(200);
    delete target['subscribed'];
    const { full_path, path } = (
      await service.database.query<{ full_path: string; path: string }>(
        'select full_path, path from directory_namespaces where id = $1',
        [project.namespace_id],
      )
    )[0]!;
    expect(todo).toEqual({
      id: expect.any(Number),
      project: {
        id: project.id,
        description: null,
        name: project.name,
        name_with_namespace: `${path} / ${project.name}`,
        path: project.path,
        path_with_namespace: `${full_path}/${project.path}`,
        created_at: '2026-01-05T09:00:00.000Z',
      },
      author: expect.objectContaining({ id: cast.owner.id, username: cast.owner.username }),
      action_name: 'mentioned',
      target_type: 'Issue',
      target,
      target_url: `http://localhost:8080/${full_path}/${project.path}/-/issues/${issue.iid}#note_${note.id}`,
      body: `look ${mentionOf(cast.reporter)} here`,
      state: 'pending',
      created_at: expect.stringMatching(/\.\d{3}Z$/),
      updated_at: todo!['created_at'],
    });
  });

  test('is pending although its user has a comment that is dated in the future', async () => {
    const issue = await anIssue();
    await comment(issue, 'From the future', cast.owner, { created_at: '2999-01-01T00:00:00Z' });
    await worker.drained();
    await comment(issue, `look ${mentionOf(cast.owner)} here`, cast.reporter);
    expect(await actionsOf(cast.owner)).toEqual(['mentioned']);
  });

  test('caused by the issue itself has its title as body and no anchor', async () => {
    const issue = await anIssue({ title: 'Do it', description: `hey ${mentionOf(cast.guest)}` });
    const [todo] = await todosOf(cast.guest);
    expect(todo).toMatchObject({ action_name: 'mentioned', body: 'Do it', target: { id: issue.id } });
    expect(todo!['target_url']).toMatch(/\/-\/issues\/\d+$/);
  });

  test('is marked as done once, only by its owner', async () => {
    const issue = await anIssue();
    await comment(issue, `a ${mentionOf(cast.guest)}`);
    const [todo] = await todosOf(cast.guest);
    const path = `/api/v4/todos/${todo!.id}/mark_as_done`;
    for (const other of [cast.admin, cast.owner]) {
      const { status, body } = await by(other).post(path).send({});
      expect([status, body]).toEqual([404, { message: '404 Not found' }]);
    }
    expect(await actionsOf(cast.guest)).toEqual(['mentioned']);
    const done = await by(cast.guest).post(path);
    expect([done.status, done.body]).toMatchObject([
      201,
      { id: todo!.id, state: 'done', target: { subscribed: true } },
    ]);
    const again = await by(cast.guest).post(path).send({});
    expect([again.status, again.body.updated_at]).toEqual([201, done.body.updated_at]);
    expect(await actionsOf(cast.guest)).toEqual([]);
    expect(await actionsOf(cast.guest, { state: 'done' })).toEqual(['mentioned']);
    await by(cast.guest).post('/api/v4/todos/999999/mark_as_done').expect(404);
  });

  test('is marked as done with all others in one request', async () => {
    const issue = await anIssue({ assignee_ids: [cast.guest.id] });
    await comment(issue, `a ${mentionOf(cast.guest)} ${mentionOf(cast.reporter)}`);
    expect(await actionsOf(cast.guest)).toEqual(['mentioned', 'assigned']);
    const { status, text } = await by(cast.guest).post('/api/v4/todos/mark_as_done').send({ project_id: 1 });
    expect([status, text]).toEqual([204, '']);
    expect(await actionsOf(cast.guest)).toEqual([]);
    expect(await actionsOf(cast.reporter)).toEqual(['mentioned']);
  });

  test('needs a token', async () => {
    const anonymous = service.app.as(service.seed.anonymous());
    for (const request of [
      anonymous.get('/api/v4/todos'),
      anonymous.post('/api/v4/todos/mark_as_done'),
      anonymous.post('/api/v4/todos/1/mark_as_done'),
    ]) {
      const { status, body } = await request;
      expect([status, body]).toEqual([401, { message: '401 Unauthorized' }]);
    }
  });
});

describe('to-dos are created', () => {
  test('for each new assignee, the actor among them, and not twice while pending', async () => {
    const issue = await anIssue({ assignee_ids: [cast.owner.id, cast.guest.id] });
    expect(await actionsOf(cast.owner)).toEqual(['assigned']);
    await edit(issue, { assignee_ids: [cast.owner.id, cast.reporter.id] });
    expect(await actionsOf(cast.reporter)).toEqual(['assigned']);
    await edit(issue, { assignee_ids: [cast.guest.id] });
    expect(await actionsOf(cast.guest)).toEqual(['assigned']);
  });

  test('as directly addressed if the mention begins a line', async () => {
    const issue = await anIssue();
    await comment(
      issue,
      `${mentionOf(cast.guest)} and ${mentionOf(cast.reporter)}: see\nor ${mentionOf(cast.guest)}\n${mentionOf(cast.planner)} too`,
    );
    expect(await actionsOf(cast.guest)).toEqual(['directly_addressed']);
    expect(await actionsOf(cast.planner)).toEqual(['directly_addressed']);
    expect(await actionsOf(cast.reporter)).toEqual(['mentioned']);
  });

  test('once per text, also for self-mentions, and not for code', async () => {
    const issue = await anIssue();
    await comment(
      issue,
      `a ${mentionOf(cast.guest)} ${mentionOf(cast.guest)} \`${mentionOf(cast.planner)}\` > ${mentionOf(cast.owner)}`,
    );
    await comment(issue, `b ${mentionOf(cast.guest)}`);
    expect(await actionsOf(cast.guest)).toEqual(['mentioned', 'mentioned']);
    expect(await actionsOf(cast.planner)).toEqual([]);
    // The second comment marked the first self-mention as done.
    expect(await actionsOf(cast.owner)).toEqual([]);
    await comment(issue, `note to ${mentionOf(cast.owner)}`);
    expect(await actionsOf(cast.owner)).toEqual(['mentioned']);
  });

  test('by an edit only for newly mentioned users', async () => {
    const group = await service.seed.group();
    await service.seed.member(cast.developer, group, 'guest');
    const issue = await anIssue({ description: `x ${mentionOf(cast.guest)} @${group.path}` });
    await edit(issue, { description: `x ${mentionOf(cast.guest)} ${mentionOf(cast.planner)} @${group.path}` });
    const note = await comment(issue, `y ${mentionOf(cast.reporter)}`);
    await by(cast.owner)
      .put(`/api/v4/projects/${project.id}/issues/${issue.iid}/notes/${note.id}`)
      .send({ body: `y ${mentionOf(cast.reporter)} ${mentionOf(cast.maintainer)}` })
      .expect(200);
    const counts = await Promise.all(
      (['guest', 'planner', 'developer', 'reporter', 'maintainer'] as const).map(
        async (name) => (await todosOf(cast[name])).length,
      ),
    );
    expect(counts).toEqual([1, 1, 1, 1, 1]);
  });

  test('once for a text that was edited before the creation event was handled', async () => {
    const issue = await anIssue({ description: 'x' });
    await worker.drained();
    await edit(issue, { description: `x ${mentionOf(cast.guest)}` });
    await worker.drained();
    const [event] = await service.database.query<{ payload: never }>(
      `select payload from outbox where subject = 'collaboration.issue.created.v1' order by id desc limit 1`,
    );
    const late = {
      id: randomUUID(),
      time: new Date().toISOString(),
      aggregateType: 'issue',
      aggregateId: issue.id,
      actorId: cast.owner.id,
    };
    await worker
      .get(Work)
      .run((tx) => worker.get(TodosConsumer).raiseOnCreation({ tx, events: [{ ...late, data: event!.payload }] }));
    expect(await actionsOf(cast.guest)).toEqual(['mentioned']);
    // Mentions are checked with the permissions of the editor, not of the author.
    const secret = await service.seed.group({ visibility: 'private' });
    const member = await service.seed.user();
    await service.seed.member(member, secret, 'guest');
    await edit(issue, { description: `x @${secret.full_path}` });
    const byAdmin = { ...late, id: randomUUID(), actorId: cast.admin.id, data: event!.payload };
    await worker.get(Work).run((tx) => worker.get(TodosConsumer).raiseOnCreation({ tx, events: [byAdmin] }));
    expect(await actionsOf(member)).toEqual([]);
  });

  test('for the members of a group and of the project', async () => {
    const outer = await service.seed.group();
    const inner = await service.seed.group({ parent: outer });
    const [first, second, third] = [await service.seed.user(), await service.seed.user(), await service.seed.user()];
    await service.seed.member(first, outer, 'guest');
    await service.seed.member(second, inner, 'guest');
    await service.seed.member(third, inner, 'guest', '2020-01-01');
    const issue = await anIssue();
    await comment(issue, `hey @${inner.full_path}`);
    expect([await actionsOf(first), await actionsOf(second), await actionsOf(third)]).toEqual([
      ['mentioned'],
      ['mentioned'],
      [],
    ]);
    await comment(issue, 'hey @all');
    expect([await actionsOf(cast.guest), await actionsOf(cast.stranger)]).toEqual([['mentioned'], []]);
  });

  test('not for a group that the author cannot see', async () => {
    const secret = await service.seed.group({ visibility: 'private' });
    const member = await service.seed.user();
    await service.seed.member(member, secret, 'guest');
    const issue = await anIssue();
    await comment(issue, `hey @${secret.full_path}`);
    expect(await actionsOf(member)).toEqual([]);
    await comment(issue, `hey @${secret.full_path}`, cast.admin);
    expect(await actionsOf(member)).toEqual(['mentioned']);
  });

  test("and not when another user edits a member's text", async () => {
    const secret = await service.seed.group({ visibility: 'private' });
    const member = await service.seed.user();
    await service.seed.member(member, secret, 'guest');
    const issue = await anIssue();
    const note = await comment(issue, 'hey', cast.admin);
    const where = `/api/v4/projects/${project.id}/issues/${issue.iid}`;
    const change = async (who: typeof cast.owner) => {
      await by(who)
        .put(`${where}/notes/${note.id}`)
        .send({ body: `hey @${secret.full_path} ${who.id}` })
        .expect(200);
      const actions = await actionsOf(member);
      const { body } = await by(cast.owner).get(`${where}/participants`);
      return [actions, (body as { id: number }[]).some(({ id }) => id === member.id)];
    };
    // Both before and after the effects of the first text.
    expect(await change(cast.owner)).toEqual([[], false]);
    expect(await change(cast.owner)).toEqual([[], false]);
    expect(await change(cast.admin)).toEqual([['mentioned'], true]);
  });

  test('for title and description separately, each by its last editor', async () => {
    const secret = await service.seed.group({ visibility: 'private' });
    const members = await Promise.all([service.seed.user(), service.seed.user()]);
    for (const member of members) await service.seed.member(member, secret, 'guest');
    const other = await service.seed.group({ visibility: 'private' });
    await service.seed.member(members[1]!, other, 'guest');
    const issue = await anIssue({ description: `hey @${secret.full_path}` });
    const actions = async () => [await actionsOf(members[0]!), await actionsOf(members[1]!)];
    await edit(issue, { title: `better @${other.full_path}` }, cast.admin);
    expect(await actions()).toEqual([[], ['mentioned']]);
    const where = `/api/v4/projects/${project.id}/issues/${issue.iid}`;
    const { body } = await by(cast.owner).get(`${where}/participants`);
    expect((body as { id: number }[]).map(({ id }) => id)).not.toContain(members[0]!.id);
    await edit(issue, { description: `hey @${secret.full_path}!` }, cast.admin);
    expect((await actions())[0]).toEqual(['mentioned']);
    // Earlier text of another user causes no mentions.
    await edit(issue, { title: `now @${secret.full_path}` });
    expect((await actions())[0]).toEqual(['mentioned']);
  });

  test.each(['move', 'clone'])('not when another user %ss the issue with the text', async (verb) => {
    const secret = await service.seed.group({ visibility: 'private' });
    const member = await service.seed.user();
    await service.seed.member(member, secret, 'guest');
    const destination = await service.seed.project();
    const issue = await anIssue({ description: `hey @${secret.full_path} ${mentionOf(cast.guest)}` }, cast.maintainer);
    const { body: copied } = await by(cast.admin)
      .post(`/api/v4/projects/${project.id}/issues/${issue.iid}/${verb}`)
      .send({ to_project_id: destination.id })
      .expect(201);
    expect([await actionsOf(member), (await actionsOf(cast.guest)).length]).toEqual([[], 2]);
    const where = `/api/v4/projects/${destination.id}/issues/${copied.iid}`;
    const { body: expectedParticipants } = await by(cast.owner).get(`${where}/participants`).expect(200);
    expect((expectedParticipants as { id: number }[]).map(({ id }) => id)).not.toContain(member.id);
    await by(cast.admin)
      .put(where)
      .send({ description: `you @${secret.full_path}` })
      .expect(200);
    expect(await actionsOf(member)).toEqual(['mentioned']);
  });

  test('an internal note adds no participants by roles in other projects', async () => {
    const administrator = await service.seed.user({ admin: true });
    const issue = await anIssue();
    const where = `/api/v4/projects/${project.id}/issues/${issue.iid}`;
    const say = (who: typeof administrator, body: string) =>
      by(who).post(`${where}/notes`).send({ body, internal: true }).expect(201);
    const participants = async () => {
      await worker.drained();
      const { body } = await by(cast.owner).get(`${where}/participants`);
      return (body as { id: number }[]).map(({ id }) => id);
    };
    await say(cast.owner, `${mentionOf(administrator)} ${mentionOf(cast.reporter)} ${mentionOf(cast.guest)}`);
    const taking = await participants();
    expect([administrator, cast.reporter, cast.guest].map(({ id }) => taking.includes(id))).toEqual([
      false,
      true,
      false,
    ]);
    await say(administrator, 'x');
    expect(await participants()).toContain(administrator.id);
  });

  test('by @all not for a group that the author cannot see', async () => {
    const secret = await service.seed.group({ visibility: 'private' });
    const member = await service.seed.user();
    await service.seed.member(member, secret, 'guest');
    const bot = await service.seed.user({ kind: 'project_bot', bot_group_id: secret.id });
    await service.seed.member(bot, secret, 'guest');
    await service.seed.member(bot, project, 'guest');
    await service.seed.share(project, secret, 'reporter');
    const takePart = async (issue: { iid: number }) => {
      await worker.drained();
      const { body } = await by(cast.owner).get(`/api/v4/projects/${project.id}/issues/${issue.iid}/participants`);
      const ids = (body as { id: number }[]).map(({ id }) => id);
      return [ids.includes(member.id), ids.includes(bot.id)];
    };
    const issue = await anIssue();
    await comment(issue, `hey @all ${mentionOf(bot)}`);
    expect([await actionsOf(member), await takePart(issue)]).toEqual([[], [false, false]]);
    await comment(issue, `hey @all ${mentionOf(bot)}`, cast.admin);
    expect([await actionsOf(member), await takePart(issue)]).toEqual([['mentioned'], [true, false]]);
  });

  test('for active users, not for bots', async () => {
    const others = [
      await service.seed.user({ state: 'blocked' }),
      await service.seed.user({ kind: 'project_bot' }),
      await service.seed.user({ kind: 'service_account' }),
      await service.seed.user({ kind: 'ghost' }),
    ];
    for (const other of others) await service.seed.member(other, project, 'developer');
    const issue = await anIssue({ description: others.map(mentionOf).join(' ') });
    await worker.drained();
    const rows = await service.database.query('select 1 from todos where target_id = $1', [issue.id]);
    expect(rows).toEqual([]);
  });

  test('for at most the maximum number of users per text', async () => {
    const other = await startWorker({
      databaseUrl: service.databaseUrl,
      nats,
      env: { MENTIONS_PEOPLE_PER_TEXT_COUNT: '2' },
    });
    await worker.stop();
    try {
      const issue = await anIssue({
        description: `@all ${mentionOf(cast.planner)} ${mentionOf(cast.reporter)} ${mentionOf(cast.guest)}`,
      });
      await other.drained();
      const rows = await service.database.query<{ user_id: number }>(
        'select user_id from todos where target_id = $1 order by 1',
        [issue.id],
      );
      expect(rows.map((row) => row.user_id)).toEqual([cast.planner.id, cast.reporter.id].sort((a, b) => a - b));
    } finally {
      await other.stop();
      worker = await startWorker({ databaseUrl: service.databaseUrl, nats });
    }
  });
});

describe('to-dos are done', () => {
  const waiting = async (): Promise<{ iid: number }> => {
    const issue = await anIssue({ assignee_ids: [cast.maintainer.id, cast.reporter.id] });
    expect([await actionsOf(cast.maintainer), await actionsOf(cast.reporter)]).toEqual([['assigned'], ['assigned']]);
    return issue;
  };
  const acts: [string, (issue: { iid: number }) => Promise<unknown>, 'settled' | 'waits'][] = [
    ['a comment', (issue) => comment(issue, 'done', cast.maintainer), 'settled'],
    ['closing', (issue) => edit(issue, { state_event: 'close' }, cast.maintainer), 'settled'],
    ['another title', (issue) => edit(issue, { title: 'Other' }, cast.maintainer), 'settled'],
    ['another description', (issue) => edit(issue, { description: 'Other' }, cast.maintainer), 'settled'],
    ['other assignees', (issue) => edit(issue, { assignee_ids: [cast.maintainer.id] }, cast.maintainer), 'settled'],
    ['another due date', (issue) => edit(issue, { due_date: '2026-12-24' }, cast.maintainer), 'waits'],
    ['a comment of another user', (issue) => comment(issue, 'done', cast.owner), 'waits'],
    ['closing by another user', (issue) => edit(issue, { state_event: 'close' }, cast.owner), 'waits'],
  ];
  test.each(acts)('or not by %s', async (_, act, outcome) => {
    const issue = await waiting();
    await act(issue);
    expect(await actionsOf(cast.maintainer)).toEqual(outcome === 'settled' ? [] : ['assigned']);
    expect(await actionsOf(cast.reporter)).toEqual(['assigned']);
  });

  test('not by self-assignment', async () => {
    const issue = await anIssue({ description: `x ${mentionOf(cast.maintainer)}` });
    await edit(issue, { assignee_ids: [cast.maintainer.id] }, cast.maintainer);
    expect(await actionsOf(cast.maintainer)).toEqual(['assigned', 'mentioned']);
  });

  test('in any order of the effects', async () => {
    const issue = await anIssue({ assignee_ids: [cast.maintainer.id] });
    await comment(issue, 'done', cast.maintainer);
    await worker.drained();
    // Handles the creation event after the others.
    await service.database.query(`delete from todos`);
    const consumer = worker.get(TodosConsumer);
    const [event] = await service.database.query<{ event_id: string; payload: never }>(
      `select event_id, payload from outbox where subject = 'collaboration.issue.created.v1' order by id desc limit 1`,
    );
    const delivered = {
      id: event!.event_id,
      time: new Date().toISOString(),
      aggregateType: 'issue',
      aggregateId: issue.id,
      actorId: cast.owner.id,
    };
    await worker
      .get(Work)
      .run((tx) => consumer.raiseOnCreation({ tx, events: [{ ...delivered, data: event!.payload }] }));
    expect([await actionsOf(cast.maintainer), await actionsOf(cast.maintainer, { state: 'done' })]).toEqual([
      [],
      ['assigned'],
    ]);
  });
});

describe('to-dos are deleted', () => {
  test('with their note, their issue, their project', async () => {
    const [one, two] = [await anIssue(), await anIssue({ assignee_ids: [cast.guest.id] })];
    const note = await comment(one, `a ${mentionOf(cast.guest)}`);
    await comment(one, `b ${mentionOf(cast.guest)}`);
    expect(await actionsOf(cast.guest)).toEqual(['mentioned', 'mentioned', 'assigned']);
    await by(cast.owner).delete(`/api/v4/projects/${project.id}/issues/${one.iid}/notes/${note.id}`);
    expect((await todosOf(cast.guest)).map((todo) => todo['body'])).toEqual([`b ${mentionOf(cast.guest)}`, 'An issue']);
    await by(cast.owner).delete(`/api/v4/projects/${project.id}/issues/${one.iid}`);
    expect(await actionsOf(cast.guest)).toEqual(['assigned']);
    const consumer = worker.get(TodosConsumer);
    const event = {
      id: 'x',
      time: '',
      aggregateType: 'project',
      aggregateId: project.id,
      actorId: null,
      data: { project_id: project.id },
    };
    await service.database.query('delete from directory_projects where id = $1', [project.id]);
    await worker.get(Work).run((tx) => consumer.projectDeleted({ tx, events: [event] }));
    expect(await service.database.query('select 1 from todos where target_id = $1', [two.id])).toEqual([]);
  });
});

describe('visibility', () => {
  // Users with a to-do about each target, by project visibility: mentions reach only readers.
  const readers = {
    'a public issue': ['guest', 'planner', 'reporter', 'owner', 'admin', 'stranger', 'external'],
    'a confidential issue': ['planner', 'reporter', 'owner', 'admin'],
    'an internal note': ['reporter', 'owner', 'admin'],
  } as const;
  test.each(Object.keys(readers) as (keyof typeof readers)[])('of %s', async (kind) => {
    for (const visibility of ['public', 'internal', 'private'] as const) {
      project = await service.seed.project({ visibility });
      cast = await castOf(service.seed, project);
      const all = Object.values(cast).map(mentionOf).join(' ');
      const issue = await anIssue({ confidential: kind === 'a confidential issue' }, cast.owner);
      await comment(issue, `for ${all}`, cast.owner, { internal: kind === 'an internal note' });
      const found: string[] = [];
      for (const name of ['guest', 'planner', 'reporter', 'owner', 'admin', 'stranger', 'external'] as const) {
        if ((await todosOf(cast[name])).length > 0) found.push(name);
      }
      const outside = { public: [], internal: ['external'], private: ['external', 'stranger'] }[visibility] as string[];
      expect([visibility, found]).toEqual([visibility, readers[kind].filter((name) => !outside.includes(name))]);
    }
  });

  const losses: [string, (subject: { issue: { iid: number } }) => Promise<unknown>][] = [
    [
      'the membership',
      () => service.database.query('delete from directory_memberships where user_id = $1', [cast.guest.id]),
    ],
    ['the public issue', ({ issue }) => edit(issue, { confidential: true })],
    [
      'the feature',
      () => service.seed.put('projects', { ...project, visibility: 'private', issues_access_level: 'disabled' }),
    ],
    ['the account', () => service.seed.put('users', { ...cast.guest, state: 'blocked' })],
  ];
  test.each(losses)('ends at once with %s, in the list, the count and by id', async (what, lose) => {
    project = await service.seed.project({ visibility: 'private' });
    cast = await castOf(service.seed, project);
    const issue = await anIssue();
    for (const text of ['a', 'b']) await comment(issue, `${text} ${mentionOf(cast.guest)}`);
    const [todo] = await todosOf(cast.guest);
    await lose({ issue });
    const list = await by(cast.guest).get('/api/v4/todos');
    const mark = await by(cast.guest).post(`/api/v4/todos/${todo!.id}/mark_as_done`);
    if (what === 'the account') {
      expect([list.status, mark.status]).toEqual([403, 403]);
      return;
    }
    expect([list.status, list.body, list.get('x-total'), mark.status]).toEqual([200, [], '0', 404]);
    const [row] = await service.database.query<{ state: string }>('select state from todos where id = $1', [todo!.id]);
    expect(row?.state).toBe('pending');
  });

  test('of an internal note ends at once for a former reporter', async () => {
    const issue = await anIssue();
    await comment(issue, `secret ${mentionOf(cast.reporter)}`, cast.owner, { internal: true });
    await comment(issue, `open ${mentionOf(cast.reporter)}`);
    expect(await actionsOf(cast.reporter)).toHaveLength(2);
    await service.database.query('update directory_memberships set access_level = 10 where user_id = $1', [
      cast.reporter.id,
    ]);
    const list = await by(cast.reporter).get('/api/v4/todos');
    expect([list.body.length, list.get('x-total')]).toEqual([1, '1']);
    expect(list.text).not.toContain('secret');
    const [hidden] = await service.database.query<{ id: number }>(
      'select id from todos where user_id = $1 order by id limit 1',
      [cast.reporter.id],
    );
    await by(cast.reporter).post(`/api/v4/todos/${hidden!.id}/mark_as_done`).expect(404);
  });

  test('uses the directory version that the request needs', async () => {
    const stale = { ...service.seed.viewer(cast.guest), directory: { version: 1e9, epoch: 'seed' } };
    await service.app.as(stale, { waitMs: 1000 }).get('/api/v4/todos').expect(503);
  });
});

describe('filters', () => {
  test('combine', async () => {
    const group = await service.seed.group();
    const below = await service.seed.group({ parent: group });
    project = await service.seed.project({ namespace_id: below.id });
    const owner = cast.owner;
    await service.seed.member(owner, project, 'owner');
    const issue = await anIssue({ assignee_ids: [cast.guest.id] });
    await comment(issue, `x ${mentionOf(cast.guest)}`, cast.admin);
    const count = async (query: Body) => (await todosOf(cast.guest, query)).length;
    expect(await count({})).toBe(2);
    expect(await count({ action: 'assigned' })).toBe(1);
    expect(await count({ action: 'okr_checkin_requested' })).toBe(0);
    expect(await count({ author_id: cast.admin.id })).toBe(1);
    expect(await count({ project_id: project.id })).toBe(2);
    expect(await count({ project_id: 987654 })).toBe(0);
    expect(await count({ group_id: group.id })).toBe(2);
    expect(await count({ group_id: below.id, type: 'Issue', author_id: owner.id, action: 'assigned' })).toBe(1);
    expect(await count({ group_id: 987654 })).toBe(0);
    expect(await count({ type: 'MergeRequest' })).toBe(0);
    expect(await count({ type: 'WikiPage::Meta' })).toBe(0);
    expect(await count({ state: 'done' })).toBe(0);
    for (const query of [{ action: 'x' }, { state: 'x' }, { type: 'issue' }]) {
      const { status, body } = await by(cast.guest).get('/api/v4/todos').query(query);
      expect([status, body]).toEqual([400, { error: `${Object.keys(query)[0]} does not have a valid value` }]);
    }
    await by(cast.guest).get('/api/v4/todos').query({ group_id: 'x' }).expect(400);
  });

  test('count only visible to-dos', async () => {
    const [open, closed] = [await anIssue(), await anIssue({ confidential: true, assignee_ids: [cast.guest.id] })];
    await comment(open, `x ${mentionOf(cast.guest)}`);
    await todosOf(cast.guest);
    await edit(closed, { assignee_ids: [] });
    await worker.drained();
    const { body, headers } = await by(cast.guest).get('/api/v4/todos');
    expect([body.length, headers['x-total']]).toEqual([1, '1']);
  });
});

describe('pages', () => {
  beforeEach(async () => {
    const issue = await anIssue();
    for (let i = 0; i < 7; i++) await comment(issue, `x ${mentionOf(cast.guest)}`);
    await worker.drained();
  });
  registerListPagingTests(() => ({
    app: service.app,
    viewer: service.seed.viewer(cast.guest),
    path: '/api/v4/todos',
    rows: 7,
  }));
});

describe('an effect', () => {
  test('happens once, even if its event is delivered three times and its handler is run twice', async () => {
    const issue = await anIssue();
    const note = await comment(issue, `x ${mentionOf(cast.guest)}`);
    await worker.drained();
    const [row] = await service.database.query<{ event_id: string; payload: never; occurred_at: Date }>(
      `select event_id, payload, occurred_at from outbox where subject = $1 order by id desc limit 1`,
      [noteCreated.subject],
    );
    const time = row!.occurred_at.toISOString();
    const event = {
      id: row!.event_id,
      time,
      aggregateType: 'note',
      aggregateId: note.id,
      actorId: cast.owner.id,
      data: row!.payload,
    };
    for (let run = 0; run < 2; run++) {
      await worker.get(Work).run((tx) => worker.get(TodosConsumer).noteCreated({ tx, events: [event] }));
    }
    expect(await actionsOf(cast.guest)).toEqual(['mentioned']);
  });
});

describe('replies in a thread', () => {
  const threadsOf = ({ iid }: { iid: number }) => `/api/v4/projects/${project.id}/issues/${iid}/discussions`;
  const begin = async (issue: { iid: number }, body: string): Promise<{ id: string; notes: { id: number }[] }> =>
    (await by(cast.owner).post(threadsOf(issue)).send({ body }).expect(201)).body;
  const answer = (issue: { iid: number }, thread: { id: string }, user: SeededUser, body = 'An answer') =>
    by(user)
      .post(`${threadsOf(issue)}/${thread.id}/notes`)
      .send({ body })
      .expect(201);

  test('mark to-dos of this thread as done, a comment marks all', async () => {
    const issue = await anIssue({ description: `see ${mentionOf(cast.guest)}` });
    const one = await begin(issue, `one ${mentionOf(cast.guest)}`);
    const other = await begin(issue, `other ${mentionOf(cast.guest)}`);
    await answer(issue, other, cast.owner, `and ${mentionOf(cast.guest)} once more`);
    expect(await todosOf(cast.guest)).toHaveLength(4);
    await answer(issue, other, cast.guest);
    const left = await todosOf(cast.guest);
    expect(left.map((todo) => todo['body']).sort()).toEqual(['An issue', `one ${mentionOf(cast.guest)}`]);
    await answer(issue, one, cast.guest);
    expect((await todosOf(cast.guest)).map((todo) => todo['body'])).toEqual(['An issue']);
    await comment(issue, 'Done', cast.guest);
    expect(await todosOf(cast.guest)).toEqual([]);
  });

  test('do so in any order of the events', async () => {
    const issue = await anIssue();
    const one = await begin(issue, 'one');
    const other = await begin(issue, 'other');
    await worker.drained();
    await answer(issue, one, cast.guest);
    await worker.drained();
    // The mentions happened before the reply, and their events are redelivered after it.
    const redeliver = async (thread: { notes: { id: number }[] }) => {
      const noteId = thread.notes[0]!.id;
      await service.database.query('update notes set body = $2 where id = $1', [
        noteId,
        `${mentionOf(cast.guest)} here`,
      ]);
      const data = { note_id: noteId, noteable_type: 'Issue', noteable_id: issue.id, noteable_iid: issue.iid };
      const facts = { project_id: project.id, group_id: null, author_id: cast.owner.id, internal: false };
      const [row] = await service.database.query<{ created_at: Date }>('select created_at from notes where id = $1', [
        noteId,
      ]);
      const created_at = row!.created_at.toISOString();
      const event = {
        id: randomUUID(),
        time: created_at,
        aggregateType: 'note',
        aggregateId: noteId,
        actorId: cast.owner.id,
        data: { ...data, ...facts, created_at },
      };
      const effect = { events: [event] } as never as Parameters<TodosConsumer['noteCreated']>[0];
      await worker.get(Work).run((tx) => worker.get(TodosConsumer).noteCreated({ ...effect, tx }));
    };
    await redeliver(one);
    await redeliver(other);
    expect((await todosOf(cast.guest)).map((todo) => todo['target_url'])).toEqual([
      expect.stringMatching(new RegExp(`#note_${other.notes[0]!.id}$`)),
    ]);
  });
});
