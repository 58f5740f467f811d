import { randomUUID } from 'node:crypto';
import type { DirectoryProject } from '@rookery/contracts';
import { Work } from '@rookery/persistence';
import {
  registerForeignParentTests,
  registerListPagingTests,
  registerParameterEncodingTests,
  startNats,
  registerVisibilityTests,
} from '@rookery/testing';
import type { PrivateNats, SeededService, SeededUser } from '@rookery/testing';
import { UserRemovals } from '../../src/removal/user-removals';
import { UserRemovalsConsumer } from '../../src/removal/user-removals.consumer';
import { castOf, eventsOf, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { issueActions } from '../support/issue-actions';
import { startWorker } from '../support/worker';
import type { Worker } from '../support/worker';

let service: SeededService;
let nats: PrivateNats;
let worker: Worker;
let project: DirectoryProject;
let cast: Cast;
let issue: { id: number; iid: number };

beforeAll(async () => {
  service = await startCollaboration();
  nats = await startNats();
  worker = await startWorker({ databaseUrl: service.databaseUrl, nats });
  project = await service.seed.project();
  cast = await castOf(service.seed, project);
});
afterAll(async () => {
  await worker.stop();
  await nats.drop();
  await service.close();
});
beforeEach(async () => void (issue = await anIssue()));

type Body = Record<string, unknown>;
type Award = { id: number; name: string };
const { by, anIssue, comment } = issueActions(() => ({ service, project, cast }));
const as = (name: keyof Cast) => by(cast[name]);
const anonymous = () => service.app.as(service.seed.anonymous());
const at = (tail = '') => `/api/v4/projects/${project.id}/issues/${issue.iid}${tail}`;
const onNote = (note: { id: number }, tail = '') => at(`/notes/${note.id}/award_emoji${tail}`);
const give = async (name: keyof Cast, emoji: string, path = at('/award_emoji')): Promise<Award> =>
  (await as(name).post(path).send({ name: emoji }).expect(201)).body as Award;
const namesAt = async (path = at('/award_emoji')): Promise<string[]> =>
  ((await anonymous().get(path).expect(200)).body as Award[]).map((award) => award.name);
const statusAndBody = async (request: PromiseLike<{ status: number; body: unknown }>): Promise<unknown[]> => {
  const { status, body } = await request;
  return [status, body];
};
const votes = async (): Promise<unknown[]> => {
  const { body } = await as('guest').get(at()).expect(200);
  return [body.upvotes, body.downvotes];
};
const taken = [404, { message: '404 Award Emoji Name has already been taken Not Found' }];

describe('awarding an emoji', () => {
  test('answers it, publishes an event, and shows it to all readers', async () => {
    const award = await give('guest', 'blowfish');
    expect(award).toEqual({
      id: expect.any(Number),
      name: 'blowfish',
      user: expect.objectContaining({ id: cast.guest.id, username: cast.guest.username }),
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
      awardable_id: issue.id,
      awardable_type: 'Issue',
      url: null,
    });
    expect((await anonymous().get(at('/award_emoji'))).body).toEqual([award]);
    expect((await anonymous().get(at(`/award_emoji/${award.id}`))).body).toEqual(award);
    expect((await eventsOf(service.database, 'collaboration.award_emoji.created.v1')).at(-1)).toMatchObject({
      noteable_type: 'Issue',
      noteable_id: issue.id,
      note_id: null,
      project_id: project.id,
      author_id: cast.guest.id,
    });
  });

  test('to a note adds it to the note and not to the issue', async () => {
    const note = await comment(issue, 'x');
    const award = await give('guest', 'rocket', onNote(note));
    expect(award).toMatchObject({ awardable_id: note.id, awardable_type: 'Note' });
    expect([await namesAt(onNote(note)), await namesAt()]).toEqual([['rocket'], []]);
    await give('guest', 'thumbsup', onNote(note));
    expect(await votes()).toEqual([0, 0]);
  });

  test('accepts every name of an emoji', async () => {
    expect((await give('guest', '+1')).name).toBe('thumbsup');
    expect(await statusAndBody(as('guest').post(at('/award_emoji')).send({ name: 'thumbsup' }))).toEqual(taken);
    await give('guest', 'thumbsdown');
    await give('reporter', '-1');
    expect(await votes()).toEqual([1, 2]);
  });

  test('twice is refused with the documented message, also fifty times at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => as('guest').post(at('/award_emoji')).send({ name: 'thumbsup' })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    for (const { status, body } of answers.filter((answer) => answer.status !== 201))
      expect([status, body]).toEqual(taken);
    expect([await namesAt(), await votes()]).toEqual([['thumbsup'], [1, 0]]);
  });

  test.each([
    [{}, [400, { error: 'name is missing' }]],
    [{ name: ['x'] }, [400, { error: 'name is invalid' }]],
    [{ name: '' }, [404, { message: '404 Award Emoji Name is not a valid emoji name Not Found' }]],
    [{ name: ':rocket:' }, [404, { message: '404 Award Emoji Name is not a valid emoji name Not Found' }]],
    [{ name: "x' or 1=1 --" }, [404, { message: '404 Award Emoji Name is not a valid emoji name Not Found' }]],
    [{ name: 'x'.repeat(256) }, [400, { error: 'name is too long (maximum is 255 characters)' }]],
    [{ name: 'a\u0000' }, [400, { error: 'name is invalid' }]],
  ])('%.60j is refused', async (body, refusal) => {
    const answer = await statusAndBody(as('guest').post(at('/award_emoji')).send(body));
    expect(answer[0]).toBe(refusal[0]);
    if (!('name' in body && String(body.name).length > 200)) expect(answer).toEqual(refusal);
  });

  registerParameterEncodingTests({
    app: () => service.app,
    to: () => ({
      viewer: service.seed.viewer(cast.guest),
      method: 'POST',
      path: at('/award_emoji'),
      params: { name: '+1' },
    }),
    seen: ({ name }) => name,
    expected: 'thumbsup',
  });

  test('is refused on system notes, in locked discussions for non-members, and in archived projects', async () => {
    const denied = [404, { message: '404 Award Emoji Not Found' }];
    await as('owner').put(at()).send({ state_event: 'close', discussion_locked: true }).expect(200);
    const systemNote = ((await as('owner').get(at('/notes'))).body as { id: number; system: boolean }[])[0]!;
    expect(await statusAndBody(as('owner').post(onNote(systemNote)).send({ name: 'eyes' }))).toEqual(denied);
    expect(await statusAndBody(as('stranger').post(at('/award_emoji')).send({ name: 'eyes' }))).toEqual(denied);
    await give('guest', 'eyes');
    await service.seed.put('projects', { ...project, archived: true });
    try {
      expect(await statusAndBody(as('owner').post(at('/award_emoji')).send({ name: 'eyes' }))).toEqual(denied);
      expect(await namesAt()).toEqual(['eyes']);
    } finally {
      await service.seed.put('projects', project);
    }
  });

  test('needs a token', async () => {
    const award = await give('guest', 'eyes');
    for (const request of [
      anonymous().post(at('/award_emoji')).send({ name: 'eyes' }),
      anonymous().delete(at(`/award_emoji/${award.id}`)),
    ]) {
      expect(await statusAndBody(request)).toEqual([401, { message: '401 Unauthorized' }]);
    }
  });
});

describe('removing an award', () => {
  test('is for its author and administrators', async () => {
    const award = await give('guest', 'thumbsup');
    for (const name of ['stranger', 'reporter', 'maintainer', 'owner'] as const) {
      expect(await statusAndBody(as(name).delete(at(`/award_emoji/${award.id}`)))).toEqual([
        401,
        { message: '401 Unauthorized' },
      ]);
    }
    const gone = await as('guest').delete(at(`/award_emoji/${award.id}`));
    expect([gone.status, gone.text, await votes()]).toEqual([204, '', [0, 0]]);
    expect(await statusAndBody(as('guest').delete(at(`/award_emoji/${award.id}`)))).toEqual([
      404,
      { message: '404 Not found' },
    ]);
    const other = await give('guest', 'thumbsup');
    await as('admin')
      .delete(at(`/award_emoji/${other.id}`))
      .expect(204);
    expect(await namesAt()).toEqual([]);
  });

  test('succeeds once when done many times at once', async () => {
    const award = await give('guest', 'thumbsup');
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => as('guest').delete(at(`/award_emoji/${award.id}`))),
    );
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 404)).toHaveLength(9);
    expect(await votes()).toEqual([0, 0]);
  });
});

describe('visibility', () => {
  const READS: [keyof Cast | 'anonymous', boolean, boolean][] = [
    ['anonymous', false, false],
    ['stranger', false, false],
    ['guest', false, false],
    ['planner', true, false],
    ['reporter', true, true],
    ['developer', true, true],
    ['maintainer', true, true],
    ['owner', true, true],
    ['admin', true, true],
  ];
  test.each(READS)('%s: confidential %s, internal %s', async (name, readsConfidential, readsInternal) => {
    const client = () => (name === 'anonymous' ? anonymous() : as(name));
    const note = await comment(issue, 'secret', cast.owner, { internal: true });
    const award = await give('owner', 'eyes', onNote(note));
    for (const path of [onNote(note), onNote(note, `/${award.id}`)]) {
      const answer = await client().get(path);
      expect([path, answer.status]).toEqual([path, readsInternal ? 200 : 404]);
      if (!readsInternal) expect(answer.body).toEqual({ message: '404 Note Not Found' });
    }
    if (name !== 'anonymous') {
      const write = await client().post(onNote(note)).send({ name: 'rocket' });
      expect(write.status).toBe(readsInternal ? 201 : 404);
      if (!readsInternal) expect((await client().delete(onNote(note, `/${award.id}`))).status).toBe(404);
    }
    issue = await anIssue({ confidential: true });
    const secret = await give('owner', 'eyes');
    for (const path of [at('/award_emoji'), at(`/award_emoji/${secret.id}`)]) {
      const answer = await client().get(path);
      expect(answer.status).toBe(readsConfidential ? 200 : 404);
      if (!readsConfidential) expect(answer.body).toEqual({ message: '404 Issue Not Found' });
    }
  });

  registerVisibilityTests({
    app: () => service.app,
    from: async (level, standing) => {
      const there = await service.seed.project({ visibility: level });
      const path = `/api/v4/projects/${there.id}/issues`;
      const { body } = await as('admin').post(path).send({ title: 'x' }).expect(201);
      const viewer = async () => {
        if (standing === 'anonymous') return service.seed.anonymous();
        const user = await service.seed.user({ admin: standing === 'admin', external: standing === 'external' });
        if (!['admin', 'external', 'outsider'].includes(standing)) {
          await service.seed.member(user, there, standing as never);
        }
        return service.seed.viewer(user);
      };
      return { viewer: await viewer(), path: `${path}/${(body as { iid: number }).iid}/award_emoji` };
    },
  });
});

describe('of another parent', () => {
  let award: Award;
  let noteAward: Award;
  let note: { id: number };
  let own: string;
  beforeEach(async () => {
    note = await comment(issue, 'x');
    award = await give('owner', 'eyes');
    noteAward = await give('owner', 'eyes', onNote(note));
    own = at(`/award_emoji/${award.id}`);
  });
  registerForeignParentTests({
    app: () => service.app,
    viewer: () => service.seed.viewer(cast.owner),
    requests: async () => {
      const there = note;
      issue = await anIssue();
      const here = await comment(issue, 'y');
      return [
        { method: 'GET', path: at(`/award_emoji/${award.id}`) },
        { method: 'DELETE', path: at(`/award_emoji/${award.id}`) },
        { method: 'GET', path: at(`/award_emoji/${noteAward.id}`) },
        { method: 'GET', path: onNote(here, `/${noteAward.id}`) },
        { method: 'DELETE', path: onNote(here, `/${noteAward.id}`) },
        { method: 'GET', path: onNote(there) },
        { method: 'POST', path: onNote(there), body: { name: 'rocket' } },
      ];
    },
    untouched: async () => (await as('owner').get(own)).body as unknown,
  });
});

describe('the list', () => {
  let path: string;
  beforeAll(async () => {
    issue = await anIssue();
    path = at('/award_emoji');
    for (const name of ['eyes', 'rocket', 'tada', 'heart', '100', 'star', 'fire']) await give('owner', name);
  });
  registerListPagingTests(() => ({ app: service.app, viewer: service.seed.anonymous(), path, rows: 7 }));

  test("of issues is filtered by the caller's awards, and sorted by votes", async () => {
    const there = await service.seed.project();
    const issues = `/api/v4/projects/${there.id}/issues`;
    const iids: number[] = [];
    for (let i = 0; i < 4; i++)
      iids.push(
        (
          await as('admin')
            .post(issues)
            .send({ title: `${i}` })
        ).body.iid as number,
      );
    const award = (iid: number, name: keyof Cast, emoji: string) => give(name, emoji, `${issues}/${iid}/award_emoji`);
    await award(iids[1]!, 'guest', 'thumbsup');
    await award(iids[1]!, 'owner', 'thumbsup');
    await award(iids[2]!, 'guest', 'rocket');
    await award(iids[3]!, 'owner', 'thumbsup');
    const { body: note } = await as('admin').post(`${issues}/${iids[0]}/notes`).send({ body: 'x' }).expect(201);
    await give('guest', 'rocket', `${issues}/${iids[0]}/notes/${note.id}/award_emoji`);
    const found = async (query: Body, client = as('guest')): Promise<number[]> =>
      (
        (
          await client
            .get(issues)
            .query({ sort: 'asc', ...query })
            .expect(200)
        ).body as { iid: number }[]
      ).map((one) => one.iid);
    const [, b, c] = iids;
    expect(await found({ my_reaction_emoji: 'thumbsup' })).toEqual([b]);
    expect(await found({ my_reaction_emoji: '+1' })).toEqual([b]);
    expect(await found({ my_reaction_emoji: 'Any' })).toEqual([b, c]);
    expect(await found({ my_reaction_emoji: 'None' })).toEqual([iids[0], iids[3]]);
    expect(await found({ my_reaction_emoji: 'nothing' })).toEqual([]);
    expect(await found({ 'not[my_reaction_emoji]': 'rocket' })).toEqual([iids[0], b, iids[3]]);
    expect(await found({ my_reaction_emoji: 'Any' }, anonymous())).toEqual([]);
    expect(await found({ my_reaction_emoji: 'None' }, anonymous())).toHaveLength(4);
    expect(await found({ order_by: 'popularity', sort: 'desc' })).toEqual([b, iids[3], c, iids[0]]);
    const page = await as('guest').get(issues).query({ my_reaction_emoji: 'Any' });
    expect(page.get('x-total')).toBe('2');
  });
});

describe('effects', () => {
  const pending = async (user: SeededUser): Promise<number> => {
    await worker.drained();
    return ((await by(user).get('/api/v4/todos').expect(200)).body as unknown[]).length;
  };
  const left = async (): Promise<number> => {
    await worker.drained();
    const rows = await service.database.query('select 1 from award_emoji where noteable_id = $1', [issue.id]);
    return rows.length;
  };

  test("the author's own to-dos on the issue are done, those of others are not", async () => {
    for (const on of ['issue', 'note'] as const) {
      issue = await anIssue({ assignee_ids: [cast.guest.id, cast.planner.id] });
      const note = await comment(issue, `@${cast.guest.username}`);
      const [mine, theirs] = [await pending(cast.guest), await pending(cast.planner)];
      await give('guest', 'eyes', on === 'issue' ? at('/award_emoji') : onNote(note));
      expect([await pending(cast.guest), await pending(cast.planner)]).toEqual([mine - 2, theirs]);
    }
  });

  test('awards are deleted with the note, the issue and their author', async () => {
    const note = await comment(issue, 'x');
    const person = await service.seed.user();
    const ghost = await service.seed.user({ kind: 'ghost' });
    for (const path of [at('/award_emoji'), onNote(note)]) {
      await by(person).post(path).send({ name: 'thumbsup' }).expect(201);
      await give('owner', 'thumbsup', path);
    }
    await worker.drained();
    await service.database.query('delete from directory_users where id = $1', [person.id]);
    const data = { user_id: person.id, ghost_user_id: ghost.id, hard_delete: false };
    const event = { id: randomUUID(), time: new Date().toISOString(), aggregateType: 'user', aggregateId: person.id };
    await worker
      .get(Work)
      .run((tx) => worker.get(UserRemovalsConsumer).userDeleted({ tx, events: [{ ...event, actorId: 1, data }] }));
    await worker.get(UserRemovals).runOnce();
    expect([await votes(), await left()]).toEqual([[1, 0], 2]);
    await as('owner')
      .delete(at(`/notes/${note.id}`))
      .expect(204);
    expect(await left()).toBe(1);
    await as('owner').delete(at()).expect(204);
    expect(await left()).toBe(0);
  });
});
