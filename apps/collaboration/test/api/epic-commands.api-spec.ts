import type { DirectoryNamespace } from '@rookery/contracts';
import type { Role, Viewer } from '@rookery/kernel';
import type { SeededService, SeededUser } from '@rookery/testing';
import type { Response } from 'supertest';
import { startCollaboration } from '../support/app';
import { epicPlaces } from '../support/epics';
import type { ShownEpic } from '../support/epics';

const ROLES = ['guest', 'planner', 'reporter', 'owner'] as const satisfies Role[];
type Name = (typeof ROLES)[number] | 'outsider';

let service: SeededService;
let group: DirectoryNamespace;
let people: Record<Name, SeededUser>;
let labels: Record<string, number>;
let epic: ShownEpic;
const { as, pathOf, group: groupOf, bodiesOf } = epicPlaces(() => service);
const who = (name: Name): Viewer => service.seed.viewer(people[name]);
const answerOf = ({ status, body }: Response): [number, unknown] => [status, body];
const epicPathById = (tail = '', { id } = epic): string => `${pathOf(group)}/${id}${tail}`;
const epicPathByIid = (tail = '', { iid } = epic): string => `${pathOf(group)}/${iid}${tail}`;
const say = (body: string, name: Name = 'planner') => as(who(name)).post(epicPathById('/notes')).send({ body });
const put = (fields: object, name: Name = 'planner') => as(who(name)).put(epicPathByIid()).send(fields);
const send = (fields: object, name: Name = 'planner') =>
  as(who(name))
    .post(pathOf(group))
    .send({ title: 'A goal', ...fields });
const opened = async (fields: object = {}): Promise<ShownEpic> => (await send(fields).expect(201)).body as ShownEpic;
const shown = async (of = epic): Promise<Record<string, unknown>> =>
  (await as(who('owner')).get(epicPathByIid('', of)).expect(200)).body as Record<string, unknown>;
const expectedRefusal = (problem: string) => [400, { message: { commands_only: [problem] } }];

beforeAll(async () => {
  service = await startCollaboration();
  group = await groupOf({ visibility: 'internal', plan: 'ultimate' });
  const all: Partial<typeof people> = { outsider: await service.seed.user() };
  for (const role of ROLES) {
    all[role] = await service.seed.user();
    await service.seed.member(all[role], group, role);
  }
  people = all as typeof people;
  labels = {};
  for (const name of ['bug', 'needs work', 'old']) {
    const sent = { name, color: '#ff0000' };
    const { body } = await as(who('owner')).post(`/api/v4/groups/${group.id}/labels`).send(sent).expect(201);
    labels[name] = (body as { id: number }).id;
  }
  // Ids and iids must differ, so that tests notice a mix-up.
  await service.database.query('alter sequence epics_id_seq restart with 7000');
});
afterAll(() => service.close());
beforeEach(async () => void (epic = await opened()));

interface CommandRow {
  readonly text: string;
  /** Setup of the epic; then the request of the equivalent route. */
  readonly before?: object;
  readonly said: string;
  readonly changes: () => object;
  readonly shows: object;
  /** The equivalent route. */
  readonly route?: object;
  /** Whether readers may use it, too. */
  readonly isForReaders?: true;
  /** The refusal of a second execution. */
  readonly again?: string;
}
const ROWS: readonly CommandRow[] = [
  {
    text: '/close',
    said: 'Closed this epic.',
    changes: () => ({ state_event: 'close' }),
    shows: { state: 'closed' },
    route: { state_event: 'close' },
    again: 'it is closed already',
  },
  {
    text: '/ReOpen now',
    before: { state_event: 'close' },
    said: 'Reopened this epic.',
    changes: () => ({ state_event: 'reopen' }),
    shows: { state: 'opened', closed_at: null },
    route: { state_event: 'reopen' },
    again: 'it is open already',
  },
  {
    text: '/title Another goal',
    said: 'Changed the title to "Another goal".',
    changes: () => ({ title: 'Another goal' }),
    shows: { title: 'Another goal' },
    route: { title: 'Another goal' },
  },
  {
    text: '/confidential',
    said: 'Made this epic confidential.',
    changes: () => ({ confidential: true }),
    shows: { confidential: true },
    route: { confidential: true },
    again: 'it is confidential already',
  },
  {
    text: '/make_confidential',
    said: 'Made this epic confidential.',
    changes: () => ({ confidential: true }),
    shows: { confidential: true },
    route: { confidential: true },
    again: 'it is confidential already',
  },
  ...['label', 'labels'].map((name) => ({
    text: `/${name} ~bug ~"needs work" ~unknown`,
    said: 'Added ~bug ~"needs work".',
    changes: () => ({ add_label_ids: [labels['bug'], labels['needs work']] }),
    shows: { labels: ['bug', 'needs work'] },
    route: { add_labels: 'bug,needs work' },
  })),
  {
    text: '/unlabel ~bug',
    before: { labels: 'bug,old' },
    said: 'Removed ~bug.',
    changes: () => ({ remove_label_ids: [labels['bug']] }),
    shows: { labels: ['old'] },
    route: { remove_labels: 'bug' },
  },
  {
    text: '/unlabel',
    before: { labels: 'bug,old' },
    said: 'Removed all labels.',
    changes: () => ({ label_ids: [] }),
    shows: { labels: [] },
    route: { labels: '' },
  },
  {
    text: '/relabel ~old',
    before: { labels: 'bug' },
    said: 'Replaced all labels by ~old.',
    changes: () => ({ label_ids: [labels['old']] }),
    shows: { labels: ['old'] },
    route: { labels: 'old' },
  },
  {
    text: '/todo',
    said: 'Added a to-do item.',
    changes: () => ({ todo_event: 'mark' }),
    shows: {},
    isForReaders: true,
    again: 'it is so already',
  },
  {
    text: '/done',
    said: 'Marked your to-do items as done.',
    changes: () => ({ todo_event: 'done' }),
    shows: {},
    isForReaders: true,
  },
  {
    text: '/subscribe',
    said: 'You follow this from now on.',
    changes: () => ({ subscription_event: 'subscribe' }),
    shows: {},
    isForReaders: true,
    again: 'it is so already',
  },
  {
    text: '/unsubscribe',
    said: 'You follow this no more.',
    changes: () => ({ subscription_event: 'unsubscribe' }),
    shows: {},
    isForReaders: true,
    again: 'it is so already',
  },
  ...['award', 'react'].map((name) => ({
    text: `/${name} :thumbsup:`,
    said: 'Gave :thumbsup:.',
    changes: () => ({ emoji_award: 'thumbsup' }),
    shows: { upvotes: 1 },
    isForReaders: true as const,
    again: 'you have given it already, or may not give any',
  })),
];
/** Settled to-dos and removed subscriptions need earlier ones. */
const prepareEpicForCommand = async ({ before, text }: CommandRow, name: Name = 'planner'): Promise<void> => {
  if (before) await put(before).expect(200);
  if (text === '/done') await say('/todo', name).expect(202);
  if (text === '/unsubscribe')
    await say('/subscribe', name).expect(({ status }) => expect([202, 400]).toContain(status));
  if (text === '/subscribe')
    await say('/unsubscribe', name).expect(({ status }) => expect([202, 400]).toContain(status));
};

/** Returns all events and notes of an epic, without times and ids. */
async function recordedChanges(of: ShownEpic, after: number): Promise<unknown> {
  const list = async (tail: string) =>
    (await as(who('owner')).get(epicPathById(tail, of)).expect(200)).body as object[];
  const events = await service.database.query<{ subject: string; data: Record<string, unknown> }>(
    `select subject, payload as data from outbox
     where id > $2 and coalesce(payload->>'epic_id', payload->>'noteable_id') = $1 order by id`,
    [String(of.id), after],
  );
  expect(events).not.toEqual([]);
  const plain = (value: unknown): unknown =>
    JSON.parse(
      JSON.stringify(value, (key, one: unknown) =>
        /(^id|_id|_iid|_at|^date)$/.test(key) ? (one === null ? null : 'some') : one,
      ),
    );
  const { state, title, confidential, labels: named } = await shown(of);
  return plain({
    state: { state, title, confidential, named },
    notes: await bodiesOf(who('owner'), epicPathById('/notes', of)),
    states: await list('/resource_state_events'),
    labelled: await list('/resource_label_events'),
    events,
  });
}
const readLastEventId = async (): Promise<number> => {
  const [row] = await service.database.query<{ id: number }>('select coalesce(max(id), 0) as id from outbox');
  return Number(row!.id);
};

describe.each(ROWS)('$text', (row) => {
  it('is executed by a note, which is not stored', async () => {
    await prepareEpicForCommand(row);
    expect(answerOf(await say(row.text))).toEqual([202, { commands_changes: row.changes(), summary: [row.said] }]);
    expect(await shown()).toMatchObject({ ...row.shows, title: expect.any(String) });
    const { body } = await as(who('owner')).get(epicPathById('/notes')).query({ activity_filter: 'only_comments' });
    expect(body).toEqual([]);
    if (row.again === undefined) return;
    const name = row.text.slice(1).split(' ')[0]!.toLowerCase();
    expect(answerOf(await say(row.text))).toEqual(expectedRefusal(`Could not apply /${name}: ${row.again}.`));
  });

  it('is executed by a note with text, which is stored', async () => {
    await prepareEpicForCommand(row);
    const { status, body } = await say(`Words\n${row.text}\nand more`);
    expect([status, body]).toEqual([
      201,
      expect.objectContaining({ body: 'Words\nand more', commands_changes: row.changes() }),
    ]);
    expect(await shown()).toMatchObject(row.shows);
  });

  it('is executed by a changed description and removed from it', async () => {
    await prepareEpicForCommand(row);
    const [status, body] = answerOf(await put({ description: `Words\n${row.text}` }));
    expect([status, body]).toEqual([200, expect.objectContaining({ ...row.shows, description: 'Words' })]);
    expect((await put({ description: row.text }).expect(200)).body).toMatchObject({ description: '' });
  });

  it('is executed by the description of a new epic', async () => {
    const made = await opened({ description: `Words\n${row.text}` });
    expect(made).toMatchObject({ description: 'Words', ...(row.before ? {} : row.shows) });
  });

  it('publishes the same events and notes as its route', async () => {
    if (!row.route) return;
    await prepareEpicForCommand(row);
    const [before, other] = [await readLastEventId(), epic];
    await say(row.text).expect(202);
    const byCommand = await recordedChanges(other, before);
    epic = await opened();
    await prepareEpicForCommand(row);
    const start = await readLastEventId();
    await put(row.route).expect(200);
    expect(byCommand).toEqual(await recordedChanges(epic, start));
  });

  it.each(['guest', 'reporter', 'outsider'] as const)('has the permissions of its route for a %s', async (name) => {
    // The reporter role is above the planner role.
    const may = row.isForReaders === true || name === 'reporter';
    await prepareEpicForCommand(row, name);
    const before = await shown();
    const command = row.text.slice(1).split(' ')[0]!.toLowerCase();
    const not = expectedRefusal(`Could not apply /${command}: you are not allowed to.`);
    const done = [202, { commands_changes: row.changes(), summary: [row.said] }];
    expect(answerOf(await say(row.text, name))).toEqual(may ? done : not);
    if (!may) {
      expect((await say(`Words\n${row.text}`, name).expect(201)).body).toMatchObject({
        body: 'Words',
        commands_changes: {},
      });
      const { user_notes_count: _, updated_at: __, ...rest } = before;
      expect(await shown()).toMatchObject(rest);
    }
    const changed = { description: `Words\n${row.text}` };
    expect((await put(changed, name)).status).toBe(name === 'reporter' ? 200 : 403);
    expect((await send(changed, name)).status).toBe(name === 'reporter' ? 201 : 403);
  });
});

describe('many commands', () => {
  it('are each executed or refused, in their order', async () => {
    expect(answerOf(await say('/close\n/title  \n/label ~nope\n/label ~bug\n/award :nope:\n/todo'))).toEqual([
      202,
      {
        commands_changes: { state_event: 'close', add_label_ids: [labels['bug']], todo_event: 'mark' },
        summary: [
          "Closed this epic. Could not apply /title: the title can't be blank. " +
            'Could not apply /label: it names no label that is known here. Added ~bug. ' +
            'Could not apply /award: no emoji has that name. Added a to-do item.',
        ],
      },
    ]);
    expect(await shown()).toMatchObject({ state: 'closed', title: 'A goal', labels: ['bug'] });
  });

  it('that violate tree rules are refused individually', async () => {
    const child = await opened();
    await say(`/child_epic &${child.iid}`).expect(202);
    expect(answerOf(await say('/close\n/confidential'))).toEqual([
      202,
      {
        commands_changes: { state_event: 'close' },
        summary: [
          'Closed this epic. Could not apply /confidential: A confidential epic takes confidential child epics only.',
        ],
      },
    ]);
    expect(await shown()).toMatchObject({ state: 'closed', confidential: false });
  });

  it('on the tree and on the epic can be combined', async () => {
    const child = await opened({ confidential: true });
    await say(`/confidential\n/child_epic &${child.iid}`).expect(202);
    expect(await shown(child)).toMatchObject({ parent_id: epic.id });
    const made = await opened({ description: `/child_epic &${child.iid}\n/confidential`, parent_id: epic.id });
    expect(made).toMatchObject({ parent_id: epic.id, confidential: true, description: '' });
    expect(await shown(child)).toMatchObject({ parent_id: made.id });
    await put({ description: `Words\n/remove_child_epic &${child.iid}`, parent_id: made.id }).expect(409);
    expect(await shown(child)).toMatchObject({ parent_id: made.id });
  });

  it('of a description are executed after its fields', async () => {
    const { body } = await put({ title: 'One', labels: 'old', description: 'Words\n/title Two\n/label ~bug' }).expect(
      200,
    );
    expect(body).toMatchObject({ title: 'Two', labels: ['bug', 'old'], description: 'Words' });
  });

  it('for issues only are text', async () => {
    const text = '/lock\n/assign me\n/due 2031-02-03\n/weight 3\n/milestone %v1\n/estimate 1h\n/cc @x\n/duplicate #1';
    expect((await say(text).expect(201)).body).toMatchObject({ body: text, commands_changes: {} });
    expect((await put({ description: text }).expect(200)).body).toMatchObject({ description: text });
  });

  it('in code and quotes are text; /shrug becomes a shrug', async () => {
    const text = '```\n/close\n```\n> /close\n';
    expect((await put({ description: text }).expect(200)).body).toMatchObject({ description: text, state: 'opened' });
    const shrug = (await put({ description: '/shrug who knows' }).expect(200)).body as object;
    expect(shrug).toMatchObject({ description: 'who knows ¯\\＿(ツ)＿/¯' });
  });

  it('of a changed note are text', async () => {
    const { body } = await say('Words').expect(201);
    const note = epicPathById(`/notes/${(body as { id: number }).id}`);
    const changed = await as(who('planner')).put(note).send({ body: 'Words\n/close' }).expect(200);
    expect(changed.body).toMatchObject({ body: 'Words\n/close', commands_changes: {} });
    expect(await shown()).toMatchObject({ state: 'opened' });
  });
});

describe('a refused request', () => {
  it('executes no command', async () => {
    expect((await put({ title: '', description: '/close\n/todo' })).status).toBe(400);
    expect((await put({ description: '/close' }, 'guest')).status).toBe(403);
    const elsewhere = { ...epic, iid: 99_999 };
    const sent = { description: '/close' };
    expect(answerOf(await as(who('planner')).put(epicPathByIid('', elsewhere)).send(sent))).toEqual(
      answerOf(await as(who('planner')).put(epicPathByIid('', elsewhere)).send({ title: 'x' })),
    );
    expect(await shown()).toMatchObject({ state: 'opened', description: null });
    expect((await as(who('planner')).get('/api/v4/todos').expect(200)).body).not.toContainEqual(
      expect.objectContaining({ target: expect.objectContaining({ id: epic.id }) }),
    );
  });

  it('is refused for a hidden epic', async () => {
    await put({ confidential: true }).expect(200);
    expect(answerOf(await say('/close', 'guest'))).toEqual([404, { message: '404 Epic Not Found' }]);
    expect(await shown()).toMatchObject({ state: 'opened' });
  });

  it('counts in the limit per minute', async () => {
    const { id } = people.planner;
    await service.database.query(
      `insert into note_creations as c (user_id, window_started_at, notes_count) values ($1, now() + interval '1 hour', 300)
       on conflict (user_id) do update set window_started_at = excluded.window_started_at, notes_count = 300`,
      [id],
    );
    expect((await put({ description: '/todo' })).status).toBe(429);
    expect((await send({ description: '/todo' })).status).toBe(429);
    expect((await say('/close')).status).toBe(429);
    await service.database.query('delete from note_creations where user_id = $1', [id]);
    expect(await shown()).toMatchObject({ state: 'opened', description: null });
  });
});

it('an epic is opened confidential, from its first moment', async () => {
  const before = await readLastEventId();
  const made = await opened({ description: `Words for @${people.guest.username}\n/Make_Confidential` });
  expect(made).toMatchObject({ confidential: true });
  const events = await service.database.query<{ subject: string; confidential: boolean }>(
    `select subject, (payload->>'confidential')::boolean as confidential from outbox where id > $1 order by id`,
    [before],
  );
  expect(events.find(({ subject }) => subject.includes('epic.created'))).toMatchObject({ confidential: true });
  expect(events.filter(({ subject }) => subject.includes('epic.updated'))).toEqual([]);
});
