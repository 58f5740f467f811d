import type { DirectoryProject } from '@rookery/contracts';
import type { Visibility } from '@rookery/kernel';
import { registerRefusalOrderTests } from '@rookery/testing';
import type { SeededService, SeededUser } from '@rookery/testing';
import { castOf, eventsOf, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { issueActions } from '../support/issue-actions';

let service: SeededService;
let project: DirectoryProject;
let cast: Cast;
let issue: { id: number; iid: number };

beforeAll(async () => {
  service = await startCollaboration();
  project = await service.seed.project();
  cast = await castOf(service.seed, project);
  const owner = by(cast.owner);
  for (const name of ['bug', 'needs work', 'old'])
    await owner.post(`/api/v4/projects/${project.id}/labels`).send({ name, color: '#ff0000' }).expect(201);
  for (const title of ['v1', 'v2'])
    await owner.post(`/api/v4/projects/${project.id}/milestones`).send({ title }).expect(201);
});
afterAll(() => service.close());
beforeEach(async () => void (issue = await anIssue()));

type IssueIid = { readonly iid: number };
const { by, anIssue } = issueActions(() => ({ service, project, cast }));
const as = (name: keyof Cast) => by(cast[name]);
const at = (tail = '', { iid }: IssueIid = issue): string => `/api/v4/projects/${project.id}/issues/${iid}${tail}`;
const say = (body: string, name: keyof Cast = 'planner', on: IssueIid = issue) =>
  as(name).post(at('/notes', on)).send({ body });
const shown = async (on: IssueIid = issue) =>
  (await as('owner').get(at('', on)).expect(200)).body as Readonly<Record<string, unknown>>;
const comments = async (on: IssueIid = issue): Promise<string[]> => {
  const { body } = await as('owner').get(at('/notes', on)).query({ activity_filter: 'only_comments' }).expect(200);
  return (body as { body: string }[]).map((note) => note.body);
};
const expectedRefusalBody = (problem: string) => ({ message: { commands_only: [problem] } });

describe('a note', () => {
  test('with commands only is executed and not stored', async () => {
    const { body } = await say('/close\n/label ~bug ~"needs work"\n').expect(202);
    const labels = (await as('owner').get(`/api/v4/projects/${project.id}/labels`)).body as {
      id: number;
      name: string;
    }[];
    const ids = ['bug', 'needs work'].map((name) => labels.find((label) => label.name === name)!.id);
    expect(body).toEqual({
      commands_changes: { state_event: 'close', add_label_ids: ids },
      summary: ['Closed this issue. Added ~bug ~"needs work".'],
    });
    expect(await shown()).toMatchObject({ state: 'closed', labels: ['bug', 'needs work'], user_notes_count: 0 });
    expect(await comments()).toEqual([]);
    const written = await eventsOf(service.database, 'collaboration.note.created.v1');
    expect(written.filter(({ noteable_id: id }) => id === issue.id)).toEqual([]);
  });

  test('with text is stored without its commands, and answers the changes', async () => {
    const { body } = await say('Enough of this.\n\n/close\n/due 2031-02-03\n').expect(201);
    expect(body).toMatchObject({
      body: 'Enough of this.',
      system: false,
      noteable_iid: issue.iid,
      commands_changes: { state_event: 'close', due_date: '2031-02-03' },
    });
    expect(await shown()).toMatchObject({ state: 'closed', due_date: '2031-02-03', user_notes_count: 1 });
    const { body: kept } = await as('planner')
      .get(at(`/notes/${(body as { id: number }).id}`))
      .expect(200);
    expect(kept).toEqual({ ...(body as object), commands_changes: {} });
  });

  test('without commands answers no changes, and is stored unchanged', async () => {
    const text = '  /unknown\n/whatever\n```\n/close\n```\n> /close\n';
    const { body } = await say(text).expect(201);
    expect(body).toMatchObject({ body: text, commands_changes: {} });
    expect(await shown()).toMatchObject({ state: 'opened' });
  });

  test('is refused if none of its commands could be executed', async () => {
    expect((await say('/reopen').expect(400)).body).toEqual(
      expectedRefusalBody('Could not apply /reopen: it is open already.'),
    );
    expect((await say('/label ~nope\n/spend never\n/award :nope:').expect(400)).body).toEqual(
      expectedRefusalBody(
        'Could not apply /label: it names no label that is known here. ' +
          'Could not apply /spend: Time spent must be formatted correctly. For example: 1h 30m. ' +
          'Could not apply /award: no emoji has that name.',
      ),
    );
    expect(await shown()).toMatchObject({ labels: [], user_notes_count: 0 });
  });

  test('answers which commands failed, and executes the others', async () => {
    const { body } = await say('/close\n/weight heavy\n/estimate 2h').expect(202);
    expect(body).toEqual({
      commands_changes: { state_event: 'close', time_estimate: 7200 },
      summary: [
        'Closed this issue. Could not apply /weight: a weight is a whole number from 0 on. Set the time estimate to 2h.',
      ],
    });
    expect((await say('Text\n/weight heavy').expect(201)).body).toMatchObject({ body: 'Text', commands_changes: {} });
  });

  test('can end with a shrug', async () => {
    expect((await say('/shrug who knows').expect(201)).body).toMatchObject({
      body: 'who knows ¯\\＿(ツ)＿/¯',
      commands_changes: {},
    });
    expect((await say('/tableflip\n/close').expect(201)).body).toMatchObject({
      body: '(╯°□°)╯︵ ┻━┻',
      commands_changes: { state_event: 'close' },
    });
  });

  test('executes at most twenty commands', async () => {
    const { body } = await say(Array.from({ length: 22 }, (_, n) => `/weight ${n}`).join('\n')).expect(202);
    const [summary] = (body as { summary: string[] }).summary;
    expect(summary).toMatch(/Set the weight to 19\. Only the first 20 commands are carried out\.$/);
    expect(await shown()).toMatchObject({ weight: 19 });
  });

  test('that is too long is refused with its commands', async () => {
    await say(`/close\n${'x'.repeat(1_000_001)}`).expect(400);
    expect(await shown()).toMatchObject({ state: 'opened' });
  });

  test('that cannot be stored executes nothing', async () => {
    await service.database.query('update issues set public_notes_count = 5000 where id = $1', [issue.id]);
    expect((await say('Text\n/close\n/spend 1h\n/award :heart:').expect(400)).body).toEqual({
      message: { base: ['Maximum number of comments exceeded'] },
    });
    expect(await shown()).toMatchObject({ state: 'opened', time_stats: { total_time_spent: 0 } });
    expect((await as('owner').get(at('/award_emoji'))).body).toEqual([]);
    await say('/close').expect(202);
  });

  test('that is changed executes nothing', async () => {
    const { body } = await say('Text').expect(201);
    const note = at(`/notes/${(body as { id: number }).id}`);
    expect((await as('planner').put(note).send({ body: 'Text\n/close' }).expect(200)).body).toMatchObject({
      body: 'Text\n/close',
      commands_changes: {},
    });
    expect(await shown()).toMatchObject({ state: 'opened' });
    await as('planner').put(at()).send({ description: '/close' }).expect(200);
    expect(await shown()).toMatchObject({ state: 'opened', description: '/close' });
  });

  test('with commands counts once in the limit per minute', async () => {
    const count = async () =>
      (
        await service.database.query<{ n: number }>(
          'select coalesce(max(notes_count), 0) as n from note_creations where user_id = $1',
          [cast.developer.id],
        )
      )[0]!.n;
    await service.database.query('delete from note_creations where user_id = $1', [cast.developer.id]);
    await say('/todo', 'developer').expect(202);
    expect(await count()).toBe(1);
    await say('/close\n/estimate 1h\n/title Other', 'developer').expect(202);
    expect(await count()).toBe(2);
    await say('Text\n/reopen\n/spend 1h', 'developer').expect(201);
    expect(await count()).toBe(3);
    await say('/reopen', 'developer').expect(400);
    expect(await count()).toBe(3);
    await service.database.query(
      `insert into note_creations as c (user_id, window_started_at, notes_count) values ($1, now() + interval '1 hour', 300)
       on conflict (user_id) do update set window_started_at = excluded.window_started_at, notes_count = 300`,
      [cast.developer.id],
    );
    await say('/done', 'developer').expect(429);
    await say('Text\n/close', 'developer').expect(429);
    const opening = { title: 'x', description: '/close' };
    await as('developer').post(`/api/v4/projects/${project.id}/issues`).send(opening).expect(429);
    await service.database.query('delete from note_creations where user_id = $1', [cast.developer.id]);
    expect(await shown()).toMatchObject({ state: 'opened' });
  });

  test('is for members while the discussion is locked, commands included', async () => {
    issue = await anIssue({}, cast.stranger);
    await say('/lock').expect(202);
    await say('/close', 'stranger').expect(403);
    await say('/close', 'guest').expect(400);
    expect(await shown()).toMatchObject({ state: 'opened', discussion_locked: true });
  });

  test('on a hidden or missing issue is 404, in an archived project 403', async () => {
    issue = await anIssue({ confidential: true });
    for (const name of ['guest', 'stranger'] as const) {
      expect((await say('/close', name).expect(404)).body).toEqual({ message: '404 Issue Not Found' });
    }
    issue = { id: 0, iid: 9999 };
    expect((await say('/close').expect(404)).body).toEqual({ message: '404 Issue Not Found' });
    issue = await anIssue();
    await service.seed.put('projects', { ...project, archived: true });
    await say('/close', 'admin').expect(403);
    await service.seed.put('projects', project);
  });

  test('and another one at once are both executed', async () => {
    const texts = Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? '/spend 1m' : 'Text\n/spend 1m\n/label ~bug'));
    const answers = await Promise.all(texts.map((text) => say(text)));
    expect(answers.map(({ status }) => status)).toEqual(texts.map((_, n) => (n % 2 === 0 ? 202 : 201)));
    expect(await shown()).toMatchObject({ time_stats: { total_time_spent: 20 * 60 }, user_notes_count: 10 });
  });
});

describe('a discussion', () => {
  test('is not started by commands only', async () => {
    const begin = (body: string) => as('planner').post(at('/discussions')).send({ body });
    expect((await begin('/close').expect(202)).body).toEqual({
      commands_changes: { state_event: 'close' },
      summary: ['Closed this issue.'],
    });
    expect((await begin('/close').expect(400)).body).toEqual(
      expectedRefusalBody('Could not apply /close: it is closed already.'),
    );
    const { body } = await begin('Text\n/reopen').expect(201);
    expect(body).toMatchObject({
      individual_note: false,
      notes: [{ body: 'Text', type: 'DiscussionNote', commands_changes: { state_event: 'reopen' } }],
    });
    const { body: kept } = await as('owner').get(at('/discussions')).expect(200);
    expect((kept as { notes: { body: string; system: boolean }[] }[]).flatMap(({ notes }) => notes)).toMatchObject([
      { body: 'closed' },
      { body: 'reopened' },
      { body: 'Text' },
    ]);
  });

  test('accepts replies with commands, with and without text', async () => {
    const { body: begun } = await as('planner').post(at('/discussions')).send({ body: 'Text' }).expect(201);
    const { id } = begun as { id: string };
    const answer = (body: string, to = id) =>
      as('planner')
        .post(at(`/discussions/${to}/notes`))
        .send({ body });
    await answer('/close').expect(202);
    expect((await answer('/close').expect(400)).body).toEqual(
      expectedRefusalBody('Could not apply /close: it is closed already.'),
    );
    expect((await answer('More\n/reopen').expect(201)).body).toMatchObject({
      body: 'More',
      type: 'DiscussionNote',
      commands_changes: { state_event: 'reopen' },
    });
    expect((await answer('/close', 'f'.repeat(40)).expect(404)).body).toEqual({ message: '404 Discussion Not Found' });
    expect((await answer('Text\n/close', 'f'.repeat(40)).expect(404)).body).toEqual({
      message: '404 Discussion Not Found',
    });
    const { body: all } = await as('planner').get(at('/discussions')).expect(200);
    const systemNote = (all as { id: string; notes: { system: boolean }[] }[]).find(({ notes }) => notes[0]!.system)!;
    expect((await answer('/close', systemNote.id).expect(400)).body).toEqual({
      message: '400 Bad request - Discussion can not be replied to.',
    });
    expect(await shown()).toMatchObject({ state: 'opened' });
  });
});

describe('the description of a new issue', () => {
  const open = (description: string, name: keyof Cast = 'planner', fields: object = {}) =>
    as(name)
      .post(`/api/v4/projects/${project.id}/issues`)
      .send({ title: 'New', description, ...fields })
      .expect(201);

  test('can contain commands', async () => {
    const { body } = await open(
      `Words\n\n/label ~bug\n/milestone %v1\n/assign @${cast.guest.username} me\n/due 2031-02-03\n/weight 3\n/spend 1h\n/todo`,
    );
    expect(body).toMatchObject({
      description: 'Words',
      labels: ['bug'],
      milestone: { title: 'v1' },
      assignees: [{ id: cast.guest.id }, { id: cast.planner.id }],
      due_date: '2031-02-03',
      weight: 3,
      time_stats: { total_time_spent: 3600 },
    });
    const { body: todos } = await as('planner').get('/api/v4/todos').query({ action: 'marked' }).expect(200);
    expect(todos).toMatchObject([{ target: { iid: (body as IssueIid).iid } }]);
  });

  test('ignores commands that its author may not use', async () => {
    const { body } = await open('/label ~bug\n/title Newer\n/weight 3', 'guest');
    expect(body).toMatchObject({ title: 'Newer', description: '', labels: [], weight: null });
    const { body: hidden } = await open('Words\n/close\n/title Newer', 'stranger', { confidential: true });
    expect(hidden).toMatchObject({ title: 'New', description: 'Words', state: 'opened', confidential: true });
  });

  test.each(['stranger', 'guest', 'planner'] as const)('can make it confidential, also by a %s', async (name) => {
    for (const command of ['/confidential', '/Make_Confidential now']) {
      const { body } = await open(`Words for @${cast.reporter.username}\n${command}`, name);
      expect(body).toMatchObject({ description: `Words for @${cast.reporter.username}`, confidential: true });
      await as('stranger')
        .get(at('', body as IssueIid))
        .expect(404);
      const created = (await eventsOf(service.database, 'collaboration.issue.created.v1')).at(-1);
      expect(created).toMatchObject({ issue_id: (body as { id: number }).id, confidential: true });
    }
  });

  test('is stored unchanged without commands', async () => {
    expect((await open(' /close \n\n')).body).toMatchObject({ description: ' /close \n\n', state: 'opened' });
  });
});

/** Returns an issue with its notes, events and to-dos for comparison, without times and ids. */
async function stateOf(on: { id: number; iid: number }, who: keyof Cast) {
  const list = async (tail: string) => (await as(who).get(at(tail, on)).expect(200)).body as Record<string, unknown>[];
  const { body } = await as(who).get(at('', on)).expect(200);
  const events = await service.database.query<{ subject: string; data: Record<string, unknown> }>(
    `select subject, payload as data from outbox where coalesce(payload->>'issue_id', payload->>'noteable_id') = $1 order by id`,
    [String(on.id)],
  );
  const { body: todos } = await as(who).get('/api/v4/todos').expect(200);
  const { body: done } = await as(who).get('/api/v4/todos').query({ state: 'done' }).expect(200);
  const ofIt = (items: { target: { id: number } }[]) => items.filter(({ target }) => target.id === on.id);
  return withoutVaryingFields(
    {
      issue: body,
      notes: await list('/notes?sort=asc'),
      labels: await list('/resource_label_events'),
      milestones: await list('/resource_milestone_events'),
      states: await list('/resource_state_events'),
      weights: await list('/resource_weight_events'),
      awards: await list('/award_emoji'),
      links: (await list('/links')).map(({ id, link_type }) => ({ linked: id, link_type })),
      participants: await list('/participants'),
      todos: ofIt(todos as never).map(({ action_name, state }: Record<string, unknown>) => `${action_name} ${state}`),
      done: ofIt(done as never).map(({ action_name, state }: Record<string, unknown>) => `${action_name} ${state}`),
      events: events,
    },
    on,
  );
}
const VARYING =
  /^(.*_at|id|iid|_links|references|web_url|target_url|award_emoji_id|awardable_id|noteable_iid|issue_iid)$/;
function withoutVaryingFields(value: unknown, { id, iid }: { id: number; iid: number }): unknown {
  return JSON.parse(
    JSON.stringify(value, (key, one: unknown) => {
      if (VARYING.test(key) && !['due_date'].includes(key))
        return typeof one === 'object' && one !== null ? 'object' : one === null ? null : 'some';
      return (one === id && key !== 'linked') || one === iid ? 'own' : one;
    }),
  );
}

interface CommandCase {
  readonly command: string | (() => string);
  /** Equivalent requests: method, tail of the issue's path and fields. */
  readonly api: () => readonly (readonly ['put' | 'post', string, object?])[];
  /** Requests before the command. */
  readonly before?: () => readonly (readonly ['put' | 'post', string, object?])[];
}
let other: { id: number; iid: number };
let gone: SeededUser;
let milestones: Record<string, number>;
const closingRequests: CommandCase['before'] = () => [['put', '', { state_event: 'close' }]];
const planningRequests: CommandCase['before'] = () => [
  ['put', '', { labels: 'bug,old', milestone_id: milestones['v2'], due_date: '2030-01-01', weight: 5 }],
  ['put', '', { assignee_ids: [cast.guest.id, cast.reporter.id] }],
];
const timeRequests: CommandCase['before'] = () => [
  ['post', '/time_estimate', { duration: '3h' }],
  ['post', '/add_spent_time', { duration: '2h' }],
];
const SAME: Readonly<Record<string, CommandCase>> = {
  close: { command: '/close', api: () => [['put', '', { state_event: 'close' }]] },
  reopen: { command: '/reopen', before: closingRequests, api: () => [['put', '', { state_event: 'reopen' }]] },
  title: { command: '/title Quite  another', api: () => [['put', '', { title: 'Quite  another' }]] },
  assign: {
    command: () => `/assign @${cast.guest.username} @${gone.username} @nobody-at-all me`,
    api: () => [['put', '', { assignee_ids: [cast.guest.id, cast.planner.id] }]],
  },
  'assign more': {
    command: () => `/assign @${cast.owner.username}`,
    before: planningRequests,
    api: () => [['put', '', { assignee_ids: [cast.guest.id, cast.reporter.id, cast.owner.id] }]],
  },
  unassign: { command: '/unassign', before: planningRequests, api: () => [['put', '', { assignee_ids: [] }]] },
  'unassign one': {
    command: () => `/unassign @${cast.guest.username}`,
    before: planningRequests,
    api: () => [['put', '', { assignee_ids: [cast.reporter.id] }]],
  },
  reassign: {
    command: () => `/reassign @${cast.owner.username}`,
    before: planningRequests,
    api: () => [['put', '', { assignee_ids: [cast.owner.id] }]],
  },
  label: {
    command: '/label ~bug ~"needs work" ~unknown',
    before: planningRequests,
    api: () => [['put', '', { add_labels: 'bug,needs work' }]],
  },
  labels: { command: '/labels ~bug', api: () => [['put', '', { add_labels: 'bug' }]] },
  unlabel: { command: '/unlabel', before: planningRequests, api: () => [['put', '', { labels: '' }]] },
  'unlabel one': {
    command: '/unlabel ~old',
    before: planningRequests,
    api: () => [['put', '', { remove_labels: 'old' }]],
  },
  relabel: {
    command: '/relabel ~"needs work"',
    before: planningRequests,
    api: () => [['put', '', { labels: 'needs work' }]],
  },
  milestone: {
    command: '/milestone %v1',
    before: planningRequests,
    api: () => [['put', '', { milestone_id: milestones['v1'] }]],
  },
  remove_milestone: {
    command: '/remove_milestone',
    before: planningRequests,
    api: () => [['put', '', { milestone_id: 0 }]],
  },
  due: { command: '/due 2031-02-03', before: planningRequests, api: () => [['put', '', { due_date: '2031-02-03' }]] },
  remove_due_date: {
    command: '/remove_due_date',
    before: planningRequests,
    api: () => [['put', '', { due_date: null }]],
  },
  weight: { command: '/weight 8', before: planningRequests, api: () => [['put', '', { weight: 8 }]] },
  clear_weight: { command: '/clear_weight', before: planningRequests, api: () => [['put', '', { weight: null }]] },
  confidential: { command: '/confidential', api: () => [['put', '', { confidential: true }]] },
  make_confidential: { command: '/make_confidential', api: () => [['put', '', { confidential: true }]] },
  lock: { command: '/lock', api: () => [['put', '', { discussion_locked: true }]] },
  unlock: {
    command: '/unlock',
    before: () => [['put', '', { discussion_locked: true }]],
    api: () => [['put', '', { discussion_locked: false }]],
  },
  estimate: { command: '/estimate 1d 2h', api: () => [['post', '/time_estimate', { duration: '1d 2h' }]] },
  remove_estimate: { command: '/remove_estimate', before: timeRequests, api: () => [['post', '/reset_time_estimate']] },
  spend: { command: '/spend 30m', before: timeRequests, api: () => [['post', '/add_spent_time', { duration: '30m' }]] },
  'spend less': {
    command: '/spent -30m',
    before: timeRequests,
    api: () => [['post', '/add_spent_time', { duration: '-30m' }]],
  },
  remove_time_spent: {
    command: '/remove_time_spent',
    before: timeRequests,
    api: () => [['post', '/reset_spent_time']],
  },
  todo: { command: '/todo', api: () => [['post', '/todo']] },
  subscribe: { command: '/subscribe', api: () => [['post', '/subscribe']] },
  unsubscribe: {
    command: '/unsubscribe',
    before: () => [['post', '/subscribe']],
    api: () => [['post', '/unsubscribe']],
  },
  award: { command: '/award :+1:', api: () => [['post', '/award_emoji', { name: 'thumbsup' }]] },
  react: { command: '/react heart', api: () => [['post', '/award_emoji', { name: 'heart' }]] },
  relate: {
    command: () => `/relate #${other.iid}`,
    api: () => [['post', '/links', { target_project_id: project.id, target_issue_iid: other.iid }]],
  },
};

describe('a command and its request have the same effect', () => {
  beforeAll(async () => {
    other = await anIssue();
    gone = await service.seed.user({ state: 'blocked' });
    const { body } = await as('owner').get(`/api/v4/projects/${project.id}/milestones`);
    milestones = Object.fromEntries((body as { title: string; id: number }[]).map(({ title, id }) => [title, id]));
  });
  const run = async (requests: ReturnType<CommandCase['api']>, on: IssueIid): Promise<void> => {
    for (const [method, tail, fields] of requests) {
      const { status } = await as('planner')
        [method](at(tail, on))
        .send(fields ?? {});
      expect([200, 201]).toContain(status);
    }
  };
  test.each(Object.entries(SAME))('%s', async (_, { command, api, before }) => {
    const [commanded, requested] = [await anIssue(), await anIssue()];
    for (const one of [commanded, requested]) await run(before?.() ?? [], one);
    const unchanged = await stateOf(commanded, 'planner');
    await say(typeof command === 'string' ? command : command(), 'planner', commanded).expect(202);
    await run(api(), requested);
    const state = await stateOf(commanded, 'planner');
    expect(state).toEqual(await stateOf(requested, 'planner'));
    expect(state).not.toEqual(unchanged);
    expect(await comments(commanded)).toEqual([]);
  });

  test('done', async () => {
    await as('planner').post(at('/todo')).expect(201);
    await say('/done').expect(202);
    const { body } = await as('planner').get('/api/v4/todos').query({ state: 'done' });
    expect((body as { target: { id: number } }[]).map(({ target }) => target.id)).toContain(issue.id);
    await say('/done').expect(400);
  });

  test('all commands of one text are one change of the issue', async () => {
    await say('/label ~bug\n/title Other\n/close\n/assign me').expect(202);
    const events = await service.database.query<{ subject: string }>(
      `select subject from outbox where payload->>'issue_id' = $1 order by id`,
      [String(issue.id)],
    );
    expect(events.map(({ subject }) => subject.split('.').slice(1, 3).join('.'))).toEqual([
      'issue.created',
      'issue.updated',
      'issue.closed',
    ]);
  });
});

test('weights cannot be set in the free plan', async () => {
  const { id: namespace_id } = await service.seed.group({ plan: 'free' });
  const there = await service.seed.project({ namespace_id });
  const path = `/api/v4/projects/${there.id}/issues`;
  const { body } = await as('admin').post(path).send({ title: 'x' }).expect(201);
  const notes = `${path}/${(body as IssueIid).iid}/notes`;
  expect((await as('admin').post(notes).send({ body: '/weight 3' }).expect(400)).body).toEqual(
    expectedRefusalBody('Could not apply /weight: you are not allowed to.'),
  );
});

describe('linking', () => {
  test('accepts issues of other projects by path, and no hidden ones', async () => {
    const { id: namespace_id } = await service.seed.group({ path: 'else' });
    const there = await service.seed.project({ namespace_id, path: 'where' });
    const hidden = await service.seed.project({ namespace_id, path: 'hidden', visibility: 'private' });
    await service.seed.member(cast.planner, there, 'guest');
    const iids = await Promise.all(
      [there, hidden].map(async ({ id }) => {
        const { body } = await as('admin').post(`/api/v4/projects/${id}/issues`).send({ title: 'x' }).expect(201);
        return (body as IssueIid).iid;
      }),
    );
    expect((await say(`/relate else/where#${iids[0]}`).expect(202)).body).toEqual({
      commands_changes: { relate: [`else/where#${iids[0]}`] },
      summary: [`Linked with else/where#${iids[0]}.`],
    });
    for (const [text, why] of [
      [`else/hidden#${iids[1]}`, 'it was not found'],
      ['else/nowhere#1', 'it was not found'],
      ['#99999', 'it was not found'],
      ['soon', 'it names no issue'],
      [`#${issue.iid}`, `#${issue.iid} cannot be added: cannot be related to itself`],
      [`else/where#${iids[0]}`, 'Issue(s) already assigned'],
      [Array.from({ length: 21 }, (_, n) => `#${n + 1}`).join(' '), 'more than 20 issues are named'],
    ]) {
      expect((await say(`/relate ${text}`).expect(400)).body).toEqual(
        expectedRefusalBody(`Could not apply /relate: ${why}.`),
      );
    }
    const eleven = `/relate ${Array.from({ length: 11 }, (_, n) => `#${9000 + n}`).join(' ')}`;
    expect((await say(`${eleven}\n${eleven}`).expect(400)).body).toEqual(
      expectedRefusalBody(
        'Could not apply /relate: it was not found. Could not apply /relate: more than 20 issues are named.',
      ),
    );
    expect((await as('planner').get(at('/links'))).body).toHaveLength(1);
  });
});

describe('a failed command answers its reason', () => {
  test.each([
    ['/close', '/close', 'it is closed already'],
    ['/lock', '/lock', 'it is locked already'],
    ['/spend 1h', '/unlock', 'it is not locked'],
    ['/confidential', '/confidential', 'it is confidential already'],
    ['/spend 1h', '/remove_due_date', 'there is none'],
    ['/spend 1h', '/clear_weight', 'there is none'],
    ['/spend 1h', '/remove_estimate', 'it is so already'],
    ['/spend 1h', '/estimate later', 'Time estimate must have a valid format and be greater than or equal to zero'],
    ['/estimate 1h', '/spend -1h', 'Time to subtract exceeds the total time spent'],
    ['/estimate 1h', '/spend 1h 2031-01-01', 'Time spent must be formatted correctly. For example: 1h 30m'],
    ['/todo', '/todo', 'it is so already'],
    ['/spend 1h', '/done', 'it is so already'],
    ['/subscribe', '/subscribe', 'it is so already'],
    ['/award heart', '/award heart', 'you have given it already, or may not give any'],
    ['/spend 1h', '/due someday', 'it names no day'],
    ['/spend 1h', '/assign @nobody-at-all', 'it names nobody who could be meant'],
    ['/spend 1h', '/unassign @nobody-at-all', 'it names nobody who could be meant'],
    ['/spend 1h', '/milestone %v9', 'it names no milestone that is known here'],
    ['/spend 1h', '/relabel', 'it names no label that is known here'],
    ['/spend 1h', '/title', "the title can't be blank"],
    ['/spend 1h', `/title ${'x'.repeat(256)}`, 'the title is too long (maximum is 255 characters)'],
  ])('%s, then %s', async (first, command, why) => {
    await say(first).expect(202);
    const name = command.split(' ')[0]!;
    expect((await say(command).expect(400)).body).toEqual(expectedRefusalBody(`Could not apply ${name}: ${why}.`));
  });
});

describe('permissions', () => {
  const PEOPLE = ['outsider', 'guest', 'author', 'assignee', 'planner', 'reporter', 'admin'] as const;
  type Person = (typeof PEOPLE)[number];
  const MANAGERS: readonly Person[] = ['planner', 'reporter', 'admin'];
  const EVERYBODY = PEOPLE;
  /** Users who may use each command if they can see the issue; the same for every project visibility. */
  const MAY: Readonly<Record<string, readonly Person[]>> = {
    '/close': ['author', 'assignee', ...MANAGERS],
    '/title Other': ['author', ...MANAGERS],
    '/assign me': MANAGERS,
    '/unassign': MANAGERS,
    '/reassign me': MANAGERS,
    '/label ~bug': MANAGERS,
    '/unlabel': MANAGERS,
    '/relabel ~bug': MANAGERS,
    '/milestone %v1': MANAGERS,
    '/remove_milestone': MANAGERS,
    '/due tomorrow': MANAGERS,
    '/remove_due_date': MANAGERS,
    '/weight 3': MANAGERS,
    '/clear_weight': MANAGERS,
    '/confidential': MANAGERS,
    '/lock': MANAGERS,
    '/estimate 1h': MANAGERS,
    '/remove_estimate': MANAGERS,
    '/spend 1h': MANAGERS,
    '/remove_time_spent': MANAGERS,
    '/todo': EVERYBODY,
    '/subscribe': EVERYBODY.filter((person) => person !== 'author' && person !== 'assignee'),
    '/unsubscribe': ['author', 'assignee'],
    '/award heart': EVERYBODY,
    '/relate #1': ['guest', 'author', 'assignee', ...MANAGERS],
  };
  interface Place {
    readonly there: DirectoryProject;
    readonly people: Readonly<Record<Person, SeededUser>>;
  }
  const places = new Map<Visibility, Promise<Place>>();
  async function place(level: Visibility): Promise<Place> {
    const { seed } = service;
    const there = await seed.project({ visibility: level });
    const people = {} as Record<Person, SeededUser>;
    for (const person of PEOPLE) {
      people[person] = await seed.user({ admin: person === 'admin' });
      const role = ['author', 'assignee'].includes(person) ? 'guest' : person;
      if (!['admin', 'outsider'].includes(role)) await seed.member(people[person], there, role as 'guest');
    }
    const admin = by(people.admin);
    const path = `/api/v4/projects/${there.id}`;
    await admin.post(`${path}/issues`).send({ title: 'first' }).expect(201);
    await admin.post(`${path}/labels`).send({ name: 'bug', color: '#ff0000' }).expect(201);
    await admin.post(`${path}/milestones`).send({ title: 'v1' }).expect(201);
    return { there, people };
  }
  /** Creates an issue on which each command has an effect. */
  async function subject({ there, people }: Place): Promise<string> {
    const issues = `/api/v4/projects/${there.id}/issues`;
    const { body } = await by(people.author).post(issues).send({ title: 'x' }).expect(201);
    const path = `${issues}/${(body as IssueIid).iid}`;
    await service.database
      .query(`update issues set weight = 1, due_on = '2030-01-01', time_estimate = 60, total_time_spent = 60
      where project_id = ${there.id} and iid = ${(body as IssueIid).iid}`);
    await by(people.admin)
      .put(path)
      .send({ assignee_ids: [people.assignee.id] })
      .expect(200);
    return path;
  }

  describe.each<Visibility>(['public', 'internal', 'private'])('in a %s project', (level) => {
    beforeAll(async () => {
      if (!places.has(level)) places.set(level, place(level));
      await places.get(level);
    });
    test.each(Object.entries(MAY))('for %s', async (command, may) => {
      const here = await places.get(level)!;
      const statuses: Record<string, number> = {};
      const expected: Record<string, number> = {};
      for (const person of PEOPLE) {
        const path = await subject(here);
        statuses[person] = (await by(here.people[person]).post(`${path}/notes`).send({ body: command })).status;
        expected[person] = level === 'private' && person === 'outsider' ? 404 : may.includes(person) ? 202 : 400;
      }
      expect(statuses).toEqual(expected);
    });
  });

  registerRefusalOrderTests(
    () => service.app,
    async () => {
      const hidden = await service.seed.project({ visibility: 'private' });
      const owner = await service.seed.user();
      await service.seed.member(owner, hidden, 'owner');
      const guest = await service.seed.user();
      await service.seed.member(guest, hidden, 'guest');
      const { body } = await by(owner).post(`/api/v4/projects/${hidden.id}/issues`).send({ title: 'x' }).expect(201);
      return {
        method: 'POST',
        path: `/api/v4/projects/${hidden.id}/issues/${(body as IssueIid).iid}/notes`,
        good: { body: '/todo', internal: true },
        bad: {},
        anonymous: service.seed.anonymous(),
        outsider: service.seed.viewer(await service.seed.user()),
        reader: service.seed.viewer(guest),
        allowed: service.seed.viewer(owner),
      };
    },
  );
});
