import { makeViewer, registerListPagingTests } from '@rookery/testing';
import { MembershipExpiryJob } from '../../src/members/expiry.job';
import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';

let identity: IdentityApp;
let ada: Person;
let bob: Person;
beforeAll(async () => {
  identity = await startIdentity();
  ada = await identity.person('ada');
  bob = await identity.person('bob', { public_email: 'bob@example.com' });
});
afterAll(() => identity.close());

let serial = 0;
const uniqueName = (stem: string) => `${stem}-${++serial}`;
const dayAfterDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
async function createGroup(
  over: Readonly<Record<string, unknown>> = {},
): Promise<{ id: number; base: string; full_path: string }> {
  const path = uniqueName('g');
  const { body: made }: { body: { id: number; full_path: string } } = await ada.client
    .post('/api/v4/groups')
    .send({ name: path, path, ...over })
    .expect(201);
  return { ...made, base: `/api/v4/groups/${made.id}/members` };
}
async function createProject(over: Readonly<Record<string, unknown>> = {}): Promise<{ id: number; base: string }> {
  const { body: made }: { body: { id: number } } = await ada.client
    .post('/api/v4/projects')
    .send({ name: uniqueName('p'), ...over })
    .expect(201);
  return { ...made, base: `/api/v4/projects/${made.id}/members` };
}
const createPerson = () => identity.person(uniqueName('person'));
const levelsByUserId = (body: { id: number; access_level: number }[]) =>
  Object.fromEntries(body.map((row) => [row.id, row.access_level]));

it('a new membership is announced with the version of the directory that has it', async () => {
  const source = await createProject();
  await ada.client.post(source.base).send({ user_id: bob.id, access_level: 30 }).expect(201);
  const rows = await identity.db.query(
    `select payload, directory_version = (select version from directory_head) as is_current from outbox
     where subject = 'identity.member.added.v1' order by id desc limit 1`,
  );
  const payload = { user_id: bob.id, source_type: 'project', source_id: source.id, access_level: 30 };
  expect(rows).toEqual([{ payload: { ...payload, added_at: expect.any(String) }, is_current: true }]);
});

describe('a changed membership is announced', () => {
  it.each([
    ['another level', { access_level: 20 }, 20],
    ['another end', { access_level: 30, expires_at: dayAfterDays(9) }, 30],
    ['neither', { access_level: 30 }, null],
  ])('with %s', async (_, fields, level) => {
    const source = await createProject();
    await ada.client.post(source.base).send({ user_id: bob.id, access_level: 30 }).expect(201);
    await ada.client.put(`${source.base}/${bob.id}`).send(fields).expect(200);
    const rows = await identity.db.query<{ payload: Record<string, unknown> }>(
      `select payload from outbox where subject = 'identity.member.changed.v1' and (payload ->> 'source_id')::bigint = $1
         and payload ->> 'source_type' = 'project'`,
      [source.id],
    );
    const payload = { user_id: bob.id, source_type: 'project', source_id: source.id, access_level: level };
    expect(rows).toEqual(level === null ? [] : [{ payload: { ...payload, changed_at: expect.any(String) } }]);
  });
});

describe.each([
  ['group', createGroup],
  ['project', createProject],
] as const)('members of a %s', (kind, make) => {
  it('can be added, read, changed and deleted', async () => {
    const source = await make();
    const added = await ada.client
      .post(source.base)
      .send({ user_id: bob.id, access_level: 30, expires_at: dayAfterDays(10) })
      .expect(201);
    expect(added.body).toEqual({
      id: bob.id,
      username: 'bob',
      public_email: 'bob@example.com',
      name: 'Name of bob',
      state: 'active',
      locked: false,
      avatar_url: null,
      web_url: 'http://localhost:8080/bob',
      access_level: 30,
      created_at: expect.any(String),
      created_by: expect.objectContaining({ id: ada.id, username: 'ada' }),
      expires_at: dayAfterDays(10),
      membership_state: 'active',
    });
    expect((await ada.client.get(`${source.base}/${bob.id}`)).body).toEqual(added.body);
    const changed = await ada.client.put(`${source.base}/${bob.id}`).send({ access_level: '20', expires_at: null });
    expect([changed.status, changed.body.access_level, changed.body.expires_at]).toEqual([200, 20, null]);
    const gone = await ada.client.delete(`${source.base}/${bob.id}`);
    expect([gone.status, gone.text]).toEqual([204, '']);
    expect((await ada.client.get(`${source.base}/${bob.id}`)).body).toEqual({ message: '404 Not found' });
    expect((await ada.client.put(`${source.base}/${bob.id}`).send({ access_level: 20 })).body).toEqual({
      message: '404 Not found',
    });
    expect((await ada.client.delete(`${source.base}/${bob.id}`)).body).toEqual({ message: '404 Not found' });
  });

  it('can be added by username, and several in one request', async () => {
    const source = await make();
    const [one, two, three] = [await createPerson(), await createPerson(), await createPerson()];
    expect(
      (
        await ada.client
          .post(source.base)
          .type('form')
          .send({ username: one.username.toUpperCase(), access_level: '10' })
      ).body,
    ).toMatchObject({ id: one.id });
    const several = await ada.client.post(source.base).send({ user_id: `${two.id},${three.id}`, access_level: 20 });
    expect([several.status, several.body]).toEqual([201, { status: 'success' }]);
    const mixed = await ada.client.post(source.base).send({ user_id: `${two.id},${bob.id},999999`, access_level: 20 });
    expect([mixed.status, mixed.body]).toEqual([
      400,
      { status: 'error', message: { [two.username]: 'Member already exists', '999999': 'User Not Found' } },
    ]);
    await ada.client.get(`${source.base}/${bob.id}`).expect(200);
    const odd = await ada.client.post(source.base).send({ username: '__proto__,constructor', access_level: 20 });
    expect([odd.status, odd.text]).toEqual([
      400,
      '{"status":"error","message":{"__proto__":"User Not Found","constructor":"User Not Found"}}',
    ]);
  });

  it('are added in the order of ids, independent of the request, so that requests cannot deadlock', async () => {
    const source = await make();
    const ids: number[] = [];
    for (let i = 0; i < 4; i += 1) ids.push((await createPerson()).id);
    const add = (order: number[]) => ada.client.post(source.base).send({ user_id: order.join(), access_level: 20 });
    const answers = await Promise.all([add([...ids].reverse()), add(ids)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400]);
    const { body: members }: { body: { id: number }[] } = await ada.client
      .get(source.base)
      .query({ user_ids: ids.join() })
      .expect(200);
    expect(members.map(({ id }) => id)).toEqual(ids);
  });

  it('are refused with the documented bodies', async () => {
    const source = await make();
    await ada.client.post(source.base).send({ user_id: bob.id, access_level: 20 }).expect(201);
    const cases: [object, number, unknown][] = [
      [{ user_id: bob.id, access_level: 20 }, 409, { message: 'Member already exists' }],
      [{ user_id: 999999, access_level: 20 }, 404, { message: '404 User Not Found' }],
      [{ user_id: bob.id, access_level: 25 }, 400, { error: 'access_level does not have a valid value' }],
      [{ user_id: bob.id }, 400, { error: 'access_level is missing' }],
      [{ access_level: 20 }, 400, { error: 'user_id, username are missing, exactly one parameter must be provided' }],
      [{ user_id: 'x', access_level: 20 }, 400, { error: 'user_id is invalid' }],
      [
        { user_id: 999999, access_level: 20, expires_at: dayAfterDays(-1) },
        400,
        { message: { expires_at: ['cannot be a date in the past'] } },
      ],
    ];
    for (const [body, status, expected] of cases) {
      const response = await ada.client.post(source.base).send(body);
      expect([body, response.status, response.body]).toEqual([body, status, expected]);
    }
  });

  it('may leave, and can be managed by callers with permission', async () => {
    const source = await make({ visibility: 'public' });
    const [guest, manager, stranger] = [await createPerson(), await createPerson(), await createPerson()];
    await ada.client.post(source.base).send({ user_id: guest.id, access_level: 10 }).expect(201);
    await ada.client.post(source.base).send({ user_id: manager.id, access_level: 40 }).expect(201);
    const add = (by: Person) => by.client.post(source.base).send({ user_id: stranger.id, access_level: 10 });
    expect((await add(guest)).body).toEqual({ message: '403 Forbidden' });
    await add(stranger).expect(403);
    await add(manager).expect(kind === 'group' ? 403 : 201);
    expect((await identity.anonymous.get(source.base)).body).toEqual({ message: '401 Unauthorized' });
    await stranger.client.get(source.base).expect(200);
    await guest.client.delete(`${source.base}/${guest.id}`).expect(204);
    const [event] = await identity.db.query<{ payload: string }>(
      `select o::text as payload from outbox o where o::text like '%member.removed%' order by o::text desc limit 1`,
    );
    expect(event).toBeDefined();
  });

  it('expire at their end', async () => {
    const source = await make();
    const member = await createPerson();
    await ada.client
      .post(source.base)
      .send({ user_id: member.id, access_level: 30, expires_at: dayAfterDays(0) })
      .expect(201);
    await member.client.get(source.base).expect(404);
    await ada.client.get(`${source.base}/${member.id}`).expect(404);
    expect(levelsByUserId((await ada.client.get(`${source.base}/all`)).body)).not.toHaveProperty(String(member.id));
    // Expired members can be added again, whether or not they are deleted yet.
    await ada.client.post(source.base).send({ user_id: member.id, access_level: 20 }).expect(201);
    // A change that ends the membership today returns its present state.
    const ended = await ada.client
      .put(`${source.base}/${member.id}`)
      .send({ access_level: 30, expires_at: dayAfterDays(0) });
    expect(ended.body).toMatchObject({
      id: member.id,
      access_level: 30,
      expires_at: dayAfterDays(0),
      created_by: { id: ada.id },
    });
  });

  it('honour If-Unmodified-Since', async () => {
    const source = await make();
    await ada.client.post(source.base).send({ user_id: bob.id, access_level: 20 }).expect(201);
    await ada.client
      .delete(`${source.base}/${bob.id}`)
      .set('if-unmodified-since', 'Thu, 01 Jan 2015 00:00:00 GMT')
      .expect(412);
  });
});

describe('lists', () => {
  let source: { id: number; base: string };
  beforeAll(async () => {
    source = await createGroup();
    for (const name of ['m-one', 'm-two', 'm-three', 'm-four']) {
      const member = await identity.person(name, name === 'm-two' ? { public_email: 'm-two@example.com' } : {});
      await ada.client.post(source.base).send({ user_id: member.id, access_level: 20 }).expect(201);
    }
  });
  it.each(['', '/all'])('filter by user: members%s', async (all) => {
    const find = async (query: Record<string, unknown>, client = ada.client) =>
      (await client.get(`${source.base}${all}`).query(query)).body.map((row: { username: string }) => row.username);
    expect(await find({ query: 'M-T' })).toEqual(['m-two', 'm-three']);
    expect(await find({ query: 'name of m-o' })).toEqual(['m-one']);
    expect(await find({ query: 'm-two@example.com' })).toEqual(['m-two']);
    expect(await find({ query: 'm-one@example.com' })).toEqual([]);
    expect(await find({ query: 'o@example' })).toEqual([]);
    expect(await find({ query: 'm-one@example.com' }, identity.root)).toEqual(['m-one']);
    expect(await find({ query: 'm-one@exam' }, identity.root)).toEqual(['m-one']);
    expect(await find({ 'user_ids[]': [ada.id] })).toEqual(['ada']);
    if (all === '') expect(await find({ skip_users: `${ada.id}` })).toEqual(['m-one', 'm-two', 'm-three', 'm-four']);
  });
  describe.each(['', '/all'])('members%s', (all) => {
    registerListPagingTests(() => ({
      app: identity.app,
      viewer: makeViewer({ userId: ada.id, username: 'ada' }),
      path: `${source.base}${all}`,
      query: { show_seat_info: true },
      rows: 5,
    }));
  });
});

describe('members with inherited levels', () => {
  it('are listed once, with the highest level', async () => {
    const top = await createGroup();
    const below = await createGroup({ parent_id: top.id });
    const inside = await createProject({ namespace_id: below.id });
    const [reader, both] = [await createPerson(), await createPerson()];
    await ada.client.post(top.base).send({ user_id: reader.id, access_level: 20 }).expect(201);
    await ada.client.post(top.base).send({ user_id: both.id, access_level: 10 }).expect(201);
    await ada.client.post(inside.base).send({ user_id: both.id, access_level: 40 }).expect(201);
    const { body } = await ada.client.get(`${inside.base}/all`);
    expect(levelsByUserId(body)).toEqual({ [ada.id]: 50, [reader.id]: 20, [both.id]: 40 });
    expect((await ada.client.get(inside.base)).body.map((row: { id: number }) => row.id)).toEqual([both.id]);
    expect((await ada.client.get(`${inside.base}/all/${reader.id}`)).body).toMatchObject({
      id: reader.id,
      access_level: 20,
    });
    await ada.client.get(`${inside.base}/${reader.id}`).expect(404);
    expect((await ada.client.get(`${inside.base}/all/${bob.id}`)).body).toEqual({ message: '404 Not found' });
  });

  it('include invited groups, with at most the level of the invitation', async () => {
    const [host, invited] = [await createGroup(), await createGroup()];
    const guest = await createPerson();
    await ada.client.post(invited.base).send({ user_id: guest.id, access_level: 40 }).expect(201);
    await identity.db.query(
      `insert into shares (source_type, source_id, group_id, access_level) values ('namespace', $1, $2, 20)`,
      [host.id, invited.id],
    );
    expect(levelsByUserId((await ada.client.get(`${host.base}/all`)).body)).toMatchObject({
      [guest.id]: 20,
      [ada.id]: 50,
    });
    await guest.client.get(`/api/v4/groups/${host.id}`).expect(200);
  });
});

describe('rules', () => {
  it('a level is never below the inherited one', async () => {
    const top = await createGroup();
    const below = await createGroup({ parent_id: top.id });
    await ada.client.post(top.base).send({ user_id: bob.id, access_level: 30 }).expect(201);
    const { status, body } = await ada.client.post(below.base).send({ user_id: bob.id, access_level: 20 });
    const name = top.full_path;
    expect([status, body]).toEqual([
      400,
      {
        message: {
          access_level: [`should be greater than or equal to Developer inherited membership from group ${name}`],
        },
      },
    ]);
    await ada.client.post(below.base).send({ user_id: bob.id, access_level: 40 }).expect(201);
  });

  it('callers cannot grant more than their own level', async () => {
    const source = await createProject();
    const [manager, other, owner] = [await createPerson(), await createPerson(), await createPerson()];
    await ada.client.post(source.base).send({ user_id: manager.id, access_level: 40 }).expect(201);
    await ada.client.post(source.base).send({ user_id: owner.id, access_level: 50 }).expect(201);
    expect((await manager.client.post(source.base).send({ user_id: other.id, access_level: 50 })).body).toEqual({
      message: '403 Forbidden',
    });
    await manager.client.put(`${source.base}/${owner.id}`).send({ access_level: 10 }).expect(403);
    await manager.client.delete(`${source.base}/${owner.id}`).expect(403);
  });

  it('the last owner of a group cannot leave', async () => {
    const source = await createGroup();
    expect((await ada.client.delete(`${source.base}/${ada.id}`)).body).toEqual({ message: '403 Forbidden' });
    await ada.client.put(`${source.base}/${ada.id}`).send({ access_level: 40 }).expect(403);
    await ada.client.post(source.base).send({ user_id: bob.id, access_level: 50 }).expect(201);
    const answers = await Promise.all([
      ada.client.delete(`${source.base}/${ada.id}`),
      bob.client.delete(`${source.base}/${bob.id}`),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 403]);
  });

  it('the user of a personal project cannot leave', async () => {
    const source = await createProject();
    expect((await identity.root.delete(`${source.base}/${ada.id}`)).body).toEqual({ message: '403 Forbidden' });
    await ada.client.put(`${source.base}/${ada.id}`).send({ access_level: 30 }).expect(403);
  });

  it('leaving a group also ends memberships below, unless they are to be kept', async () => {
    const top = await createGroup();
    const inside = await createProject({ namespace_id: top.id });
    const [one, two] = [await createPerson(), await createPerson()];
    for (const member of [one, two]) {
      await ada.client.post(top.base).send({ user_id: member.id, access_level: 20 }).expect(201);
      await ada.client.post(inside.base).send({ user_id: member.id, access_level: 30 }).expect(201);
    }
    await ada.client.delete(`${top.base}/${one.id}`).expect(204);
    await ada.client.delete(`${top.base}/${two.id}`).query({ skip_subresources: true }).expect(204);
    expect(levelsByUserId((await ada.client.get(inside.base)).body)).toEqual({ [two.id]: 30 });
  });

  it('expired memberships are deleted with an event', async () => {
    const source = await createGroup();
    await ada.client
      .post(source.base)
      .send({ user_id: bob.id, access_level: 30, expires_at: dayAfterDays(1) })
      .expect(201);
    await identity.db.query(
      `update members set expires_on = expires_on - 1 where source_type = 'namespace' and source_id = $1 and user_id = $2`,
      [source.id, bob.id],
    );
    await identity.app.get(MembershipExpiryJob).run();
    const [row] = await identity.db.query<{ count: number }>(
      `select count(*)::int as count from members where source_type = 'namespace' and source_id = $1 and user_id = $2`,
      [source.id, bob.id],
    );
    expect(row!.count).toBe(0);
    const events = await identity.db.query<{ text: string }>(`select o::text as text from outbox o`);
    expect(events.some(({ text }) => text.includes('expired'))).toBe(true);
  });
});
