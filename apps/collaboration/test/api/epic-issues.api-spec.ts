import type { DirectoryNamespace, DirectoryProject } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';
import {
  registerForeignParentTests,
  registerListPagingTests,
  registerRefusalOrderTests,
  requestOf,
  untilBlocked,
} from '@rookery/testing';
import type { Method, SeededService, SeededUser, RoleCase } from '@rookery/testing';
import { Client } from 'pg';
import type { Response } from 'supertest';
import { startCollaboration } from '../support/app';
import { epicPlaces } from '../support/epics';
import type { ShownEpic } from '../support/epics';
import { manualOrderTests } from '../support/manual-order';

interface ShownIssue {
  readonly id: number;
  readonly iid: number;
  readonly title: string;
  readonly epic_issue_id: number;
  readonly relative_position: number;
}
interface EpicIssueLink {
  readonly id: number;
  readonly epic: ShownEpic;
  readonly issue: ShownIssue;
}

let service: SeededService;
let group: DirectoryNamespace;
let project: DirectoryProject;
let secret: DirectoryProject;
let elsewhere: DirectoryProject;
let planner: SeededUser;
let guest: SeededUser;
let epic: ShownEpic;
const { as, bodiesOf, pathOf, standing, group: groupOf, open, who } = epicPlaces(() => service);
const answerOf = ({ status, body }: Response): [number, unknown] => [status, body];
const at = (tail: number | string = '', of = epic, place = group): string =>
  `${pathOf(place)}/${of.iid}/issues${tail === '' ? '' : `/${tail}`}`;
const issueIn = async (place: DirectoryProject, fields: object = {}): Promise<ShownIssue> =>
  (
    await as(who(planner))
      .post(`/api/v4/projects/${place.id}/issues`)
      .send({ title: 'An egg', ...fields })
      .expect(201)
  ).body as ShownIssue;
const assigned = async (issue: ShownIssue, to = epic): Promise<EpicIssueLink> =>
  (await as(who(planner)).post(at(issue.id, to)).send({}).expect(201)).body as EpicIssueLink;
const listed = async (user = planner): Promise<ShownIssue[]> =>
  (await as(who(user)).get(at()).expect(200)).body as ShownIssue[];
const notesOf = (path: string): Promise<string[]> => bodiesOf(who(planner), path);
const epicNotes = ({ id }: ShownEpic): Promise<string[]> => notesOf(`${pathOf(group)}/${id}/notes`);
const issueNotes = ({ iid }: ShownIssue, { id }: DirectoryProject): Promise<string[]> =>
  notesOf(`/api/v4/projects/${id}/issues/${iid}/notes`);

beforeAll(async () => {
  service = await startCollaboration();
  group = await groupOf();
  project = await service.seed.project({ namespace_id: group.id });
  secret = await service.seed.project({ namespace_id: group.id, visibility: 'private' });
  elsewhere = await service.seed.project();
  planner = await service.seed.user();
  guest = await service.seed.user();
  await service.seed.member(planner, group, 'planner');
  await service.seed.member(planner, elsewhere, 'planner');
  await service.seed.member(guest, elsewhere, 'guest');
});
afterAll(() => service.close());
beforeEach(async () => void (epic = await open(who(planner), group)));

it('an issue is added to an epic, listed there and removed again', async () => {
  const issue = await issueIn(project);
  const made = await as(who(planner)).post(at(issue.id)).send({});
  const link = { id: expect.any(Number), epic: expect.anything(), issue: expect.anything() };
  expect(answerOf(made)).toEqual([201, link]);
  const { id, epic: shown, issue: inside } = made.body as EpicIssueLink;
  expect(shown).toEqual((await as(who(planner)).get(pathOf(group)).expect(200)).body[0]);
  const { body: whole } = await as(who(planner)).get(`/api/v4/projects/${project.id}/issues/${issue.iid}`);
  const { subscribed: _, ...plain } = whole as Record<string, unknown>;
  expect(inside).toEqual(plain);
  expect(await listed()).toEqual([{ ...plain, epic_issue_id: id, relative_position: 0 }]);
  expect(answerOf(await as(who(planner)).post(at(issue.id)).send({}))).toEqual([
    409,
    { message: 'Issue(s) already assigned' },
  ]);
  const removed = await as(who(planner)).delete(at(id)).send({});
  expect(answerOf(removed)).toEqual([200, { ...made.body, issue: expect.objectContaining({ id: issue.id }) }]);
  expect(await listed()).toEqual([]);
  expect(answerOf(await as(who(planner)).delete(at(id)))).toEqual([404, { message: '404 Not found' }]);
  const ref = `${group.full_path}/${project.path}#${issue.iid}`;
  expect(await epicNotes(epic)).toEqual([`added issue ${ref}`, `removed issue ${ref}`]);
  expect(await issueNotes(issue, project)).toEqual([`added to epic &${epic.iid}`, `removed from epic &${epic.iid}`]);
});

it('an issue of another epic moves, with system notes on all three; projects of other groups are allowed', async () => {
  const other = await open(who(planner), group);
  const issue = await issueIn(elsewhere);
  const first = await assigned(issue, other);
  const second = await assigned(issue);
  expect(second.id).not.toBe(first.id);
  expect((await listed()).map(({ id }) => id)).toEqual([issue.id]);
  expect((await as(who(planner)).get(at('', other)).expect(200)).body).toEqual([]);
  const ref = `${(await as(who(planner)).get(`/api/v4/projects/${elsewhere.id}/issues/${issue.iid}`)).body.references.full}`;
  expect(await epicNotes(other)).toEqual([`added issue ${ref}`, `removed issue ${ref}`]);
  expect(await epicNotes(epic)).toEqual([`added issue ${ref}`]);
  const named = (one: ShownEpic): string => `${group.full_path}&${one.iid}`;
  expect(await issueNotes(issue, elsewhere)).toEqual([
    `added to epic ${named(other)}`,
    `removed from epic ${named(other)}`,
    `added to epic ${named(epic)}`,
  ]);
});

it('an issue is in one epic after concurrent additions', async () => {
  const epics = [epic, await open(who(planner), group), await open(who(planner), group)];
  const issue = await issueIn(project);
  await Promise.all(epics.map((one) => assigned(issue, one)));
  const lists = await Promise.all(
    epics.map(async (one) => (await as(who(planner)).get(at('', one))).body as unknown[]),
  );
  expect(lists.flat()).toHaveLength(1);
  const notes = (await Promise.all(epics.map(epicNotes))).flat();
  expect(notes.map((note) => note.split(' ')[0]).sort()).toEqual(['added', 'added', 'added', 'removed', 'removed']);
});

it('epics are locked in one order, so that no deadlock occurs', async () => {
  const later = await open(who(planner), group);
  const issue = await issueIn(project);
  await assigned(issue);
  const other = new Client({ connectionString: service.databaseUrl });
  await other.connect();
  try {
    await other.query('begin');
    await other.query('select 1 from epics where id = $1 for update', [epic.id]);
    const moved = assigned(issue, later);
    await untilBlocked((sql) => service.database.query(sql));
    await other.query('select 1 from epics where id = $1 for update nowait', [later.id]);
    await other.query('commit');
    await moved;
  } finally {
    await other.end();
  }
  expect(await listed()).toEqual([]);
});

describe('the order', () => {
  manualOrderTests({
    put: async (title) => (await assigned(await issueIn(project, { title }))).id,
    order: async () => (await listed()).map(({ title }) => title),
    move: (id, wish) => as(who(planner)).put(at(id)).send(wish),
    refusal: 'Issue could not be moved!',
  });
});

describe('inherited dates', () => {
  const days = async (): Promise<unknown[]> => {
    const { body } = await as(who(planner))
      .get(`${pathOf(group)}/${epic.iid}`)
      .expect(200);
    const shown = body as Record<string, unknown>;
    expect([shown['start_date_from_milestones'], shown['due_date_from_milestones']]).toEqual([
      shown['start_date_from_inherited_source'],
      shown['due_date_from_inherited_source'],
    ]);
    return [shown['start_date'], shown['due_date']];
  };
  const milestones = () => `/api/v4/projects/${project.id}/milestones`;
  const milestone = async (start_date: string | null, due_date: string | null): Promise<number> =>
    (
      await as(who(planner))
        .post(milestones())
        .send({ title: `from ${start_date} to ${due_date} ${Math.random()}`, start_date, due_date })
        .expect(201)
    ).body.id as number;

  it('are those of the milestones of its issues, and follow every change', async () => {
    const [early, late] = [await milestone('2026-01-01', '2026-02-01'), await milestone('2026-01-15', '2026-03-01')];
    expect(await days()).toEqual([null, null]);
    const first = await assigned(await issueIn(project, { milestone_id: early }));
    expect(await days()).toEqual(['2026-01-01', '2026-02-01']);
    const issue = await issueIn(project, { milestone_id: late });
    await assigned(issue);
    expect(await days()).toEqual(['2026-01-01', '2026-03-01']);
    const path = `/api/v4/projects/${project.id}/issues/${issue.iid}`;
    await as(who(planner)).put(path).send({ state_event: 'close' }).expect(200);
    await as(who(planner)).put(`${milestones()}/${late}`).send({ due_date: '2026-04-01' }).expect(200);
    expect(await days()).toEqual(['2026-01-01', '2026-04-01']);
    await as(who(planner)).delete(at(first.id)).expect(200);
    expect(await days()).toEqual(['2026-01-15', '2026-04-01']);
    await as(who(planner)).put(path).send({ milestone_id: 0 }).expect(200);
    expect(await days()).toEqual([null, null]);
  });

  it('are not used where fixed ones are set', async () => {
    await assigned(await issueIn(project, { milestone_id: await milestone('2026-01-01', '2026-02-01') }));
    const fixed = { start_date_is_fixed: true, start_date_fixed: '2025-05-05' };
    await as(who(planner))
      .put(`${pathOf(group)}/${epic.iid}`)
      .send(fixed)
      .expect(200);
    expect(await days()).toEqual(['2025-05-05', '2026-02-01']);
  });
});

describe('confidential epics', () => {
  it('accept only confidential issues', async () => {
    epic = await open(who(planner), group, { confidential: true });
    const refused = [409, { message: 'A confidential epic takes confidential issues only' }];
    expect(answerOf(await as(who(planner)).post(at((await issueIn(project)).id)))).toEqual(refused);
    await assigned(await issueIn(project, { confidential: true }));
  });

  it('keep their issues confidential', async () => {
    epic = await open(who(planner), group, { confidential: true });
    const issue = await issueIn(project, { confidential: true });
    const link = await assigned(issue);
    const path = `/api/v4/projects/${project.id}/issues/${issue.iid}`;
    const opened = (): Promise<Response> =>
      as(who(planner)).put(path).send({ confidential: false, title: 'Open' }) as unknown as Promise<Response>;
    expect(answerOf(await opened())).toEqual([
      400,
      { message: { confidential: ['A confidential epic takes confidential issues only'] } },
    ]);
    expect((await as(who(planner)).get(path)).body).toMatchObject({ title: 'An egg', confidential: true });
    await as(who(planner)).put(path).send({ confidential: true, title: 'Still' }).expect(200);
    await as(who(planner)).delete(at(link.id)).expect(200);
    expect((await opened()).body).toMatchObject({ title: 'Open', confidential: false });
  });

  it('cannot contain public issues when they become confidential', async () => {
    const link = await assigned(await issueIn(project));
    const path = `${pathOf(group)}/${epic.iid}`;
    expect(answerOf(await as(who(planner)).put(path).send({ confidential: true }))).toEqual([
      400,
      { message: { confidential: ['A confidential epic takes confidential issues only'] } },
    ]);
    await as(who(planner)).delete(at(link.id)).expect(200);
    await as(who(planner)).put(path).send({ confidential: true }).expect(200);
  });
});

it.each(['all_notes', 'only_comments', 'only_activity'])(
  'notes of an epic can be listed in every order and usual page size, with %s',
  async (activity) => {
    await assigned(await issueIn(secret));
    await as(who(planner))
      .post(`${pathOf(group)}/${epic.id}/notes`)
      .send({ body: 'something that you may not see' })
      .expect(201);
    const sent = ['created_at', 'updated_at'].flatMap((order_by) =>
      ['asc', 'desc'].flatMap((sort) => [20, 50, 100].map((per_page) => ({ order_by, sort, per_page }))),
    );
    for (const query of sent) {
      const { status } = await as(who(planner))
        .get(`${pathOf(group)}/${epic.id}/notes`)
        .query({ ...query, activity_filter: activity });
      expect([query, status]).toEqual([query, 200]);
    }
  },
);

describe('permissions', () => {
  it('links do not reveal the issues of an epic that the caller cannot read', async () => {
    const hidden = await assigned(await issueIn(secret));
    const seen = await assigned(await issueIn(elsewhere));
    const outsider = await service.seed.user();
    await service.seed.member(outsider, elsewhere, 'guest');
    for (const wish of [{ move_before_id: hidden.id }, { move_after_id: hidden.id }, { move_before_id: 0 }]) {
      const path = at(seen.id);
      expect([wish, ...answerOf(await as(who(outsider)).put(path).send(wish))]).toEqual([
        wish,
        400,
        { message: { error: 'Issue could not be moved!' } },
      ]);
    }
    await as(who(planner)).put(at(seen.id)).send({ move_before_id: hidden.id }).expect(200);
  });

  it('issues that the caller cannot read are omitted, and cannot be removed or added', async () => {
    const hidden = await issueIn(secret);
    const link = await assigned(hidden);
    await assigned(await issueIn(project, { title: 'seen' }));
    const outsider = await service.seed.user();
    expect((await listed(outsider)).map(({ title }) => title)).toEqual(['seen']);
    await as(who(outsider)).delete(at(link.id)).expect(404);
    expect(answerOf(await as(who(outsider)).post(at(hidden.id)))).toEqual([404, { message: '404 Issue Not Found' }]);
    expect(answerOf(await as(who(planner)).post(at(0)))).toEqual([404, { message: '404 Issue Not Found' }]);
  });

  it.each<[RoleCase, number]>([
    ['anonymous', 401],
    ['outsider', 403],
    ['guest', 201],
    ['planner', 201],
    ['reporter', 201],
    ['owner', 201],
    ['admin', 201],
  ])('%s in the group, with an issue of a project in it: %d', async (how, expected) => {
    const issue = await issueIn(project);
    const response = await as(await standing(group, how))
      .post(at(issue.id))
      .send({});
    expect([how, response.status]).toEqual([how, expected]);
    const linkId = expected === 201 ? (response.body as EpicIssueLink).id : (await assigned(issue)).id;
    const removed = await as(await standing(group, how)).delete(at(linkId));
    expect([how, removed.status]).toEqual([how, expected === 201 ? 200 : expected]);
  });

  it('a role in the project of the issue is sufficient', async () => {
    const issue = await issueIn(elsewhere);
    const { body } = await as(who(guest)).post(at(issue.id)).expect(201);
    await as(who(guest))
      .delete(at((body as EpicIssueLink).id))
      .expect(200);
  });

  it('no user may change epics of issues in archived projects', async () => {
    const archived = await service.seed.project({ namespace_id: group.id });
    const issue = await issueIn(archived);
    await service.seed.put('projects', { ...archived, archived: true });
    expect((await as(who(planner)).post(at(issue.id))).status).toBe(403);
  });

  it.each<[Method, string]>([
    ['GET', ''],
    ['POST', '1'],
    ['PUT', '1'],
    ['DELETE', '1'],
  ])('%s %s needs the plan and a readable epic and issue', async (method, tail) => {
    const free = await groupOf({ plan: 'free' });
    const ask = async (path: string, viewer: Viewer) =>
      answerOf(await requestOf(as(viewer), method, path).send(method === 'PUT' ? { move_before_id: 1 } : {}));
    expect(await ask(at(tail, epic, free), await standing(free, 'owner'))).toEqual([403, { message: '403 Forbidden' }]);
    epic = await open(who(planner), group, { confidential: true });
    expect(await ask(at(tail), await standing(group, 'guest'))).toEqual([404, { message: '404 Not found' }]);
    expect(await ask(at(tail).replace('/epics/', '/-/epics/'), await standing(group, 'guest'))).toEqual([
      404,
      { message: '404 Not found' },
    ]);
  });

  registerRefusalOrderTests(
    () => service.app,
    async () => {
      const place = await groupOf({ visibility: 'private' });
      const [outsider, allowed] = [await standing(group, 'outsider'), await standing(place, 'planner')];
      const own = await open(allowed, place);
      const inside = await service.seed.project({ namespace_id: place.id });
      const links: number[] = [];
      for (const title of ['a', 'b']) {
        const { body } = await as(allowed).post(`/api/v4/projects/${inside.id}/issues`).send({ title });
        const { body: link } = await as(allowed).post(at((body as ShownIssue).id, own, place));
        links.push((link as EpicIssueLink).id);
      }
      const { directory } = service.seed.anonymous();
      return {
        method: 'PUT',
        path: at(links[0], own, place),
        good: { move_before_id: links[1] },
        bad: {},
        anonymous: service.seed.anonymous(),
        outsider: { ...outsider, directory },
        allowed: { ...allowed, directory },
      };
    },
  );
});

describe('through another epic', () => {
  registerForeignParentTests({
    app: () => service.app,
    viewer: () => who(planner),
    requests: async () => {
      const other = await open(who(planner), group);
      const { id } = await assigned(await issueIn(project));
      return [
        { method: 'PUT', path: at(id, other), body: { move_before_id: id } },
        { method: 'DELETE', path: at(id, other) },
      ];
    },
  });
});

describe('pages', () => {
  beforeEach(async () => {
    for (let count = 0; count < 5; count++) await assigned(await issueIn(project));
  });
  registerListPagingTests(() => ({ app: service.app, viewer: who(planner), path: at(), rows: 5 }));
});
