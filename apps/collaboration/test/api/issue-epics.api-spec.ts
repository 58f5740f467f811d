import type { DirectoryNamespace, DirectoryProject } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';
import { registerParameterEncodingTests, untilBlocked } from '@rookery/testing';
import type { SeededService, SeededUser, RoleCase } from '@rookery/testing';
import { Client } from 'pg';
import { startCollaboration } from '../support/app';
import { epicPlaces } from '../support/epics';
import type { ShownEpic } from '../support/epics';

interface ShownIssue {
  readonly id: number;
  readonly iid: number;
  readonly title: string;
  readonly epic_iid: number | null;
  readonly epic: Readonly<Record<string, unknown>> | null;
}

let service: SeededService;
let group: DirectoryNamespace;
let hidden: DirectoryNamespace;
let free: DirectoryNamespace;
let project: DirectoryProject;
let planner: SeededUser;
let guest: SeededUser;
let epic: ShownEpic;
let issue: ShownIssue;
const { as, bodiesOf, pathOf, standing, group: groupOf, open, who } = epicPlaces(() => service);
const issuesPath = (): string => `/api/v4/projects/${project.id}/issues`;
const at = ({ iid }: Pick<ShownIssue, 'iid'> = issue): string => `${issuesPath()}/${iid}`;
const opened = async (fields: object = {}, user = planner): Promise<ShownIssue> =>
  (
    await as(who(user))
      .post(issuesPath())
      .send({ title: 'An egg', ...fields })
      .expect(201)
  ).body as ShownIssue;
const serve = ({ id }: ShownIssue, to: ShownEpic, place = group, user = planner) =>
  as(who(user))
    .post(`${pathOf(place)}/${to.iid}/issues/${id}`)
    .expect(201);
const shown = async (viewer: Viewer, one = issue): Promise<ShownIssue> =>
  (await as(viewer).get(at(one)).expect(200)).body as ShownIssue;
const epicOf = async (user = planner, one = issue) => (await shown(who(user), one)).epic?.['id'] ?? null;
const listNoteBodies = (path: string): Promise<string[]> => bodiesOf(who(planner), path);

beforeAll(async () => {
  service = await startCollaboration();
  group = await groupOf();
  hidden = await groupOf({ visibility: 'private' });
  free = await groupOf({ plan: 'free' });
  project = await service.seed.project({ namespace_id: group.id });
  planner = await service.seed.user();
  guest = await service.seed.user();
  for (const place of [group, hidden, free]) await service.seed.member(planner, place, 'planner');
  await service.seed.member(guest, group, 'guest');
});
afterAll(() => service.close());
beforeEach(async () => {
  epic = await open(who(planner), group, { title: 'A goal "with" quotes' });
  issue = await opened();
});

const expectedEpicSummary = ({ id, iid, title }: ShownEpic, place = group) => ({
  id,
  iid,
  title,
  url: `/groups/${place.full_path}/-/epics/${iid}`,
  group_id: place.id,
});

it('an issue shows its epic in all answers', async () => {
  const milestones = `/api/v4/projects/${project.id}/milestones`;
  const milestone = (
    await as(who(planner))
      .post(milestones)
      .send({ title: `v${issue.id}` })
  ).body as { id: number };
  const other = await opened();
  await as(who(planner)).put(at()).send({ milestone_id: milestone.id }).expect(200);
  const link = { target_project_id: project.id, target_issue_iid: issue.iid };
  await as(who(planner))
    .post(`${at(other)}/links`)
    .send(link)
    .expect(201);
  expect(await shown(who(planner))).toMatchObject({ epic: null, epic_iid: null });
  await serve(issue, epic);
  const wanted = { epic: expectedEpicSummary(epic), epic_iid: epic.iid };
  expect(await shown(who(planner))).toMatchObject(wanted);
  const { body: todo } = await as(who(planner)).post(`${at()}/todo`).expect(201);
  expect((todo as { target: unknown }).target).toMatchObject(wanted);
  expect((await as(who(planner)).post(`${at()}/unsubscribe`).expect(201)).body).toMatchObject(wanted);
  expect((await as(who(planner)).put(at()).send({ title: 'Newer' }).expect(200)).body).toMatchObject(wanted);
  for (const list of [
    `${issuesPath()}?iids[]=${issue.iid}`,
    `/api/v4/groups/${group.id}/issues?search=Newer&epic_id=${epic.id}`,
    `/api/v4/issues?epic_id=${epic.id}`,
    `${milestones}/${milestone.id}/issues`,
    `${at(other)}/links`,
    `${pathOf(group)}/${epic.iid}/issues`,
  ]) {
    const { body } = await as(who(planner)).get(list).expect(200);
    expect([list, body]).toEqual([list, [expect.objectContaining({ id: issue.id, ...wanted })]]);
  }
  const { body: todos } = await as(who(planner)).get('/api/v4/todos').query({ project_id: project.id }).expect(200);
  expect((todos as { target: ShownIssue }[])[0]!.target).toMatchObject(wanted);
});

describe('an epic is shown with its issue', () => {
  type Place = 'own' | 'confidential' | 'hidden' | 'free';
  const READERS: Readonly<Record<Place, readonly RoleCase[]>> = {
    own: ['outsider', 'external', 'guest', 'planner', 'reporter', 'admin'],
    confidential: ['planner', 'reporter', 'admin'],
    hidden: ['admin'],
    free: [],
  };
  it.each(Object.keys(READERS) as Place[])('only to its readers: %s', async (place) => {
    const home = place === 'hidden' ? hidden : group;
    const secret = place === 'confidential' ? await open(who(planner), group, { confidential: true }) : null;
    const goal = secret ?? (await open(who(planner), home));
    if (secret) await as(who(planner)).put(at()).send({ confidential: true }).expect(200);
    await serve(issue, goal, home);
    if (secret) await service.database.query('update issues set confidential = false where id = $1', [issue.id]);
    if (place === 'free') await service.seed.put('namespaces', { ...group, plan: 'free' });
    for (const how of ['anonymous', 'outsider', 'external', 'guest', 'planner', 'reporter', 'admin'] as const) {
      const viewer = await standing(group, how);
      const wanted = READERS[place].includes(how) ? goal.id : null;
      expect([how, (await shown(viewer)).epic?.['id'] ?? null]).toEqual([how, wanted]);
      const find = async (query: string): Promise<number> =>
        ((await as(viewer).get(`${issuesPath()}?iids[]=${issue.iid}&${query}`).expect(200)).body as unknown[]).length;
      const found = wanted === null ? 0 : 1;
      const asked = [
        `epic_id=${goal.id}`,
        'epic_id=any',
        'epic_id=None',
        `not[epic_id]=${goal.id}`,
        'not[epic_id]=Any',
      ];
      expect([how, await Promise.all(asked.map(find))]).toEqual([how, [found, found, 1 - found, 1 - found, 1 - found]]);
    }
    if (place === 'free') await service.seed.put('namespaces', group);
  });
});

describe('epic_id', () => {
  it('adds an issue to an epic and removes it, like the routes of the epic', async () => {
    const fresh = await opened({ epic_id: epic.id });
    expect(fresh).toMatchObject({ epic_iid: epic.iid, epic: expectedEpicSummary(epic) });
    const other = await open(who(planner), group);
    const put = async (fields: object) => (await as(who(planner)).put(at(fresh)).send(fields).expect(200)).body;
    expect(await put({ epic_id: other.id })).toMatchObject({ epic_iid: other.iid });
    expect(await put({ epic_id: other.id, title: 'Newer' })).toMatchObject({ epic_iid: other.iid, title: 'Newer' });
    for (const nothing of [0, null, '']) {
      expect(await put({ epic_id: nothing })).toMatchObject({ epic: null });
      expect(await put({ epic_id: nothing })).toMatchObject({ epic: null });
      await put({ epic_id: other.id });
    }
    const ref = `${group.full_path}/${project.path}#${fresh.iid}`;
    expect(await listNoteBodies(`${pathOf(group)}/${epic.id}/notes`)).toEqual([
      `added issue ${ref}`,
      `removed issue ${ref}`,
    ]);
    expect((await listNoteBodies(`${at(fresh)}/notes`)).filter((note) => note.includes('epic'))).toEqual([
      `added to epic &${epic.iid}`,
      `removed from epic &${epic.iid}`,
      ...Array.from({ length: 3 }, () => [`added to epic &${other.iid}`, `removed from epic &${other.iid}`]).flat(),
      `added to epic &${other.iid}`,
    ]);
    expect(await opened({ epic_id: 0 })).toMatchObject({ epic: null });
  });

  it('of an unknown, unlicensed or incompatible epic is refused, and nothing is written', async () => {
    const secret = await open(who(planner), group, { confidential: true });
    const hiddenEpic = await open(who(planner), hidden);
    const outsider = await service.seed.user();
    const own = (await opened({}, outsider)) as ShownIssue;
    const missing = { message: '404 Epic Not Found' };
    for (const [user, id, status, body] of [
      [planner, 999_999, 404, missing],
      [guest, secret.id, 404, missing],
      [guest, hiddenEpic.id, 404, missing],
      [outsider, epic.id, 403, { message: '403 Forbidden' }],
      [planner, secret.id, 409, { message: 'A confidential epic takes confidential issues only' }],
    ] as const) {
      const send = { title: 'Never', epic_id: id };
      const created = await as(who(user)).post(issuesPath()).send(send);
      expect([created.status, created.body]).toEqual([status, body]);
      const mine = user === outsider ? own : await opened({}, user);
      const changed = await as(who(user)).put(at(mine)).send(send);
      expect([changed.status, changed.body]).toEqual([status, body]);
      expect((await shown(who(user), mine)).title).toBe('An egg');
    }
    expect((await as(who(guest)).put(at()).send({ epic_id: epic.id }).expect(403)).body).toEqual({
      message: '403 Forbidden',
    });
    await service.seed.put('namespaces', { ...group, plan: 'free' });
    await as(who(planner)).put(at()).send({ epic_id: epic.id }).expect(404);
    await service.seed.put('namespaces', group);
    expect((await as(who(planner)).put(at()).send({ epic_id: 'x' }).expect(400)).body).toEqual({
      error: 'epic_id is invalid',
    });
    expect((await as(who(planner)).get(issuesPath()).query({ search: 'Never' }).expect(200)).body).toEqual([]);
  });

  it('may be confidential if the same change makes the issue confidential', async () => {
    const secret = await open(who(planner), group, { confidential: true });
    const change = { confidential: true, epic_id: secret.id };
    const own = (await opened({}, guest)) as ShownIssue;
    const refused = await as(who(planner))
      .put(at(own))
      .send({ ...change, confidential: false })
      .expect(409);
    expect(refused.body).toEqual({ message: 'A confidential epic takes confidential issues only' });
    const { body } = await as(who(planner)).put(at(own)).send(change).expect(200);
    expect(body).toMatchObject({ confidential: true, epic: { id: secret.id } });
  });

  it('can be the number of an epic of the group of the project', async () => {
    const above = await open(who(planner), group);
    const put = async (fields: object, user = planner) => as(who(user)).put(at()).send(fields);
    expect(await opened({ epic_iid: above.iid })).toMatchObject({ epic_iid: above.iid });
    expect((await put({ epic_iid: epic.iid })).body).toMatchObject({ epic: { id: epic.id } });
    for (const nothing of [0, null, '']) {
      expect((await put({ epic_iid: nothing })).body).toMatchObject({ epic: null });
      expect((await put({ epic_iid: String(above.iid) })).body).toMatchObject({ epic: { id: above.id } });
    }
    await as(who(planner)).put(at()).type('form').send(`epic_iid=${epic.iid}`).expect(200);
    expect(await shown(who(planner))).toMatchObject({ epic_iid: epic.iid });
    const commanded = { epic_iid: above.iid, description: 'Text\n/title by a command' };
    expect(await opened(commanded)).toMatchObject({ epic_iid: above.iid, title: 'by a command' });

    const secret = await open(who(planner), group, { confidential: true });
    const missing = [404, { message: '404 Epic Not Found' }];
    for (const [fields, user, expected] of [
      [{ epic_iid: 999_999 }, planner, missing],
      [{ epic_iid: secret.iid }, guest, missing],
      [{ epic_iid: epic.iid, epic_id: epic.id }, planner, [400, { error: 'epic_id, epic_iid are mutually exclusive' }]],
      [{ epic_iid: 'x' }, planner, [400, { error: 'epic_iid is invalid' }]],
    ] as const) {
      for (const answer of [
        await put(fields, user),
        await as(who(user))
          .post(issuesPath())
          .send({ title: 'Never', ...fields }),
      ]) {
        expect([answer.status, answer.body]).toEqual(expected);
      }
    }
  });

  it('does not remove an issue from an epic that the caller cannot read', async () => {
    const hiddenEpic = await open(who(planner), hidden);
    const mine = await opened({}, guest);
    await as(who(planner))
      .post(`${pathOf(hidden)}/${hiddenEpic.iid}/issues/${mine.id}`)
      .expect(201);
    const { body } = await as(who(guest)).put(at(mine)).send({ epic_id: 0, title: 'Newer' }).expect(200);
    expect(body).toMatchObject({ epic: null, title: 'Newer' });
    expect(await epicOf(planner, mine)).toBe(hiddenEpic.id);
  });

  it('with twenty writes at once leaves one epic', async () => {
    const other = await open(who(planner), group);
    const writes = Array.from({ length: 20 }, (_, n) => ({ epic_id: [epic.id, other.id, 0][n % 3] }));
    const answers = await Promise.all(writes.map((fields) => as(who(planner)).put(at()).send(fields)));
    expect(answers.map(({ status }) => status)).toEqual(writes.map(() => 200));
    const [row] = await service.database.query('select count(*)::integer as n from epic_issues where issue_id = $1', [
      issue.id,
    ]);
    const one = (await epicOf()) === null ? 0 : 1;
    expect(row).toEqual({ n: one });
  });

  it('filters lists by an id, None or Any', async () => {
    const { body } = await as(who(planner)).get(issuesPath()).query({ epic_id: 'soon' }).expect(400);
    expect(body).toEqual({ error: 'epic_id is invalid' });
  });
});

describe('commands', () => {
  const say = async (body: string, user = planner, one = issue) =>
    (
      await as(who(user))
        .post(`${at(one)}/notes`)
        .send({ body })
    ).body as object;
  it('add an issue to an epic and remove it', async () => {
    expect(await say(`/epic &${epic.iid}`)).toEqual({
      commands_changes: { epic: epic.id },
      summary: [`Added to the epic &${epic.iid}.`],
    });
    expect(await epicOf()).toBe(epic.id);
    const hiddenEpic = await open(who(planner), hidden);
    const named = `${hidden.full_path.toUpperCase()}&${hiddenEpic.iid}`;
    expect(await say(`Text\n/epic ${named}`)).toMatchObject({
      body: 'Text',
      commands_changes: { epic: hiddenEpic.id },
    });
    expect(await epicOf()).toBe(hiddenEpic.id);
    expect(await say('/remove_epic')).toEqual({ commands_changes: { epic: null }, summary: ['Removed the epic.'] });
    expect(await epicOf()).toBe(null);
    const fresh = await opened({ description: `Words\n/epic &${epic.iid}\n/close` });
    expect(fresh).toMatchObject({ description: 'Words', state: 'closed', epic_iid: epic.iid });
  });

  it('that cannot be executed answer the reason', async () => {
    const hiddenEpic = await open(who(planner), hidden);
    const outsider = await service.seed.user();
    await serve(issue, hiddenEpic, hidden);
    const refused = (command: string, why: string) => ({
      message: { commands_only: [`Could not apply /${command}: ${why}.`] },
    });
    expect(await say('/epic soon')).toEqual(refused('epic', 'it names no epic'));
    expect(await say('/epic &99999')).toEqual(refused('epic', 'it was not found'));
    expect(await say(`/epic nowhere&${epic.iid}`)).toEqual(refused('epic', 'it was not found'));
    expect(await say(`/epic ${hidden.full_path}&${hiddenEpic.iid}`)).toEqual(
      refused('epic', 'Issue(s) already assigned'),
    );
    expect(await say(`/epic ${hidden.full_path}&${hiddenEpic.iid}`, guest)).toEqual(
      refused('epic', 'it was not found'),
    );
    expect(await say('/remove_epic', guest)).toEqual(refused('remove_epic', 'it is so already'));
    expect(await say(`/epic &${epic.iid}`, outsider)).toEqual(refused('epic', 'you are not allowed to'));
    expect(await epicOf()).toBe(hiddenEpic.id);
  });

  it('and requests at once do not deadlock', async () => {
    const writes = Array.from({ length: 12 }, (_, n) =>
      n % 3 === 0
        ? as(who(planner))
            .post(`${at()}/notes`)
            .send({ body: `/title T${n}\n/epic &${epic.iid}\n/remove_epic` })
        : n % 3 === 1
          ? as(who(planner))
              .put(at())
              .send({ epic_id: epic.id, title: `T${n}` })
          : as(who(planner)).post(`${pathOf(group)}/${epic.iid}/issues/${issue.id}`),
    );
    const statuses = (await Promise.all(writes)).map(({ status }) => status);
    expect(statuses.filter((status) => ![200, 201, 202, 409].includes(status))).toEqual([]);
  });
});

it.each([
  ['issues in one order', '/duplicate', (own: ShownIssue) => `issues where id = ${own.id}`],
  ['issues before epics', '/epic', () => `epics where id = ${epic.id}`],
])('commands that involve other issues lock %s', async (_, command, held) => {
  const first = await opened();
  const own = await opened();
  const body = `/epic &${epic.iid}\n/duplicate #${first.iid}`;
  const other = new Client({ connectionString: service.databaseUrl });
  await other.connect();
  try {
    await other.query('begin');
    await other.query('select 1 from issues where id = $1 for update', [first.id]);
    const said = as(who(planner))
      .post(`${at(own)}/notes`)
      .send({ body: body.slice(body.indexOf(command)) })
      .then(({ status }) => status);
    await untilBlocked((sql) => service.database.query(sql));
    expect((await other.query(`select 1 from ${held(own)} for update nowait`)).rows).toHaveLength(1);
    await other.query('commit');
    expect(await said).toBe(202);
  } finally {
    await other.end();
  }
});

it('an issue does not become public while its epic becomes confidential', async () => {
  const goal = await open(who(planner), group);
  const secret = await opened({ confidential: true, epic_id: goal.id });
  const other = new Client({ connectionString: service.databaseUrl });
  await other.connect();
  try {
    await other.query('begin');
    await other.query('update epics set confidential = true where id = $1', [goal.id]);
    const change = as(who(planner))
      .put(at(secret))
      .send({ confidential: false })
      .then(({ status, body }) => [status, body as unknown]);
    await Promise.race([untilBlocked((sql) => service.database.query(sql)), change]);
    await other.query('commit');
    const message = { confidential: ['A confidential epic takes confidential issues only'] };
    expect(await change).toEqual([400, { message }]);
  } finally {
    await other.end();
  }
  expect(await shown(who(planner), secret)).toMatchObject({ confidential: true });
});

registerParameterEncodingTests({
  app: () => service.app,
  to: () => ({ viewer: who(planner), method: 'PUT', path: at(), params: { epic_id: epic.id } }),
  seen: ({ epic: served }) => (served as { id: number } | null)?.id === epic.id,
  expected: true,
});
