import {
  makeViewer,
  registerForeignParentTests,
  registerListPagingTests,
  registerParameterEncodingTests,
  requestOf,
} from '@rookery/testing';
import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';

let identity: IdentityApp;
let ada: Person;
beforeAll(async () => {
  identity = await startIdentity();
  ada = await identity.person('ada');
});
afterAll(() => identity.close());

let serial = 0;
const uniqueName = (stem: string) => `${stem}-${++serial}`;
const createPerson = (over = {}) => identity.person(uniqueName('person'), over);
type RequestRoutes = { id: number; base: string; members: string; encoded: string };

async function createGroupOrProject(
  kind: 'group' | 'project',
  over: Readonly<Record<string, unknown>> = {},
): Promise<RequestRoutes> {
  const path = uniqueName('source');
  const body = { name: path, path, visibility: 'public', ...over };
  const { body: made }: { body: { id: number; full_path?: string; path_with_namespace?: string } } = await ada.client
    .post(`/api/v4/${kind}s`)
    .send(body)
    .expect(201);
  const encoded = encodeURIComponent(made.full_path ?? made.path_with_namespace ?? '');
  const base = `/api/v4/${kind}s/${made.id}/access_requests`;
  return {
    id: made.id,
    base,
    members: `/api/v4/${kind}s/${made.id}/members`,
    encoded: `/api/v4/${kind}s/${encoded}/access_requests`,
  };
}

describe.each(['group', 'project'] as const)('access requests of a %s', (kind) => {
  const missing = { message: `404 ${kind === 'group' ? 'Group' : 'Project'} Not Found` };

  it('can be created and listed; approval without a level makes a developer', async () => {
    const source = await createGroupOrProject(kind);
    const bob = await createPerson();
    const asked = await bob.client.post(source.encoded).send({}).expect(201);
    expect(asked.body).toEqual({
      id: bob.id,
      username: bob.username,
      public_email: null,
      name: `Name of ${bob.username}`,
      state: 'active',
      locked: false,
      avatar_url: null,
      web_url: `http://localhost:8080/${bob.username}`,
      requested_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    });
    expect((await ada.client.get(source.base)).body).toEqual([asked.body]);
    const approved = await ada.client.put(`${source.base}/${bob.id}/approve`);
    expect([approved.status, approved.body.id, approved.body.access_level]).toEqual([201, bob.id, 30]);
    expect(approved.body.created_by.id).toBe(ada.id);
    expect((await ada.client.get(source.base)).body).toEqual([]);
    expect((await ada.client.get(`${source.members}/${bob.id}`)).body).toEqual(approved.body);
    expect((await ada.client.put(`${source.base}/${bob.id}/approve`)).body).toEqual({ message: '404 Not found' });
  });

  it('answer 400 for a user who has requested already or is a member', async () => {
    const source = await createGroupOrProject(kind);
    const bob = await createPerson();
    await bob.client.post(source.base).expect(201);
    const taken = { status: 400, body: { message: { user_id: ['already exists in source'] } } };
    expect(await bob.client.post(source.base)).toMatchObject(taken);
    expect(await ada.client.post(source.base)).toMatchObject(taken);
  });

  it('are refused where requests are disabled, and for bots', async () => {
    const source = await createGroupOrProject(kind, { request_access_enabled: false });
    expect(await (await createPerson()).client.post(source.base)).toMatchObject({
      status: 403,
      body: { message: '403 Forbidden' },
    });
    const open = await createGroupOrProject(kind);
    await identity
      .as({ userId: ada.id + 5000, isBot: true })
      .post(open.base)
      .expect(403);
  });

  it('can be denied by managers and withdrawn by their user; others are refused', async () => {
    const source = await createGroupOrProject(kind);
    const [bob, eve] = [await createPerson(), await createPerson()];
    await bob.client.post(source.base).expect(201);
    expect(await eve.client.delete(`${source.base}/${bob.id}`)).toMatchObject({
      status: 403,
      body: { message: '403 Forbidden' },
    });
    const withdrawn = await bob.client.delete(`${source.base}/${bob.id}`);
    expect([withdrawn.status, withdrawn.text]).toEqual([204, '']);
    await bob.client.post(source.base).expect(201);
    await ada.client.delete(`${source.base}/${bob.id}`).expect(204);
    expect(await ada.client.delete(`${source.base}/${bob.id}`)).toMatchObject({
      status: 404,
      body: { message: '404 Not found' },
    });
  });

  it('can be seen and approved only by managers of members', async () => {
    const source = await createGroupOrProject(kind);
    const [bob, helper] = [await createPerson(), await createPerson()];
    await bob.client.post(source.base).expect(201);
    const below = kind === 'group' ? 40 : 30;
    await ada.client.post(source.members).send({ user_id: helper.id, access_level: below }).expect(201);
    for (const refused of [
      await helper.client.get(source.base),
      await helper.client.put(`${source.base}/${bob.id}/approve`),
      await bob.client.put(`${source.base}/${bob.id}/approve`),
    ])
      expect([refused.status, refused.body]).toEqual([403, { message: '403 Forbidden' }]);
    expect((await identity.root.get(source.base)).body).toHaveLength(1);
  });

  it('are hidden with their source, and unavailable for anonymous callers', async () => {
    const source = await createGroupOrProject(kind, { visibility: 'private' });
    const bob = await createPerson();
    for (const [method, path] of [
      ['GET', source.base],
      ['POST', source.base],
      ['PUT', `${source.base}/${bob.id}/approve`],
      ['DELETE', `${source.base}/${bob.id}`],
    ] as const) {
      expect(await requestOf(bob.client, method, path)).toMatchObject({ status: 404, body: missing });
      expect(await requestOf(identity.anonymous, method, path)).toMatchObject({
        status: 401,
        body: { message: '401 Unauthorized' },
      });
    }
  });

  it('publish what becomes of them', async () => {
    const source = await createGroupOrProject(kind);
    const changesOf = async (bob: Person) => {
      const rows = await identity.db.query<{ payload: object; actor_id: number }>(
        `select payload, actor_id from outbox where subject = 'identity.access_request.changed.v1'
           and (payload ->> 'user_id')::bigint = $1 order by id`,
        [bob.id],
      );
      return rows.map(({ payload, actor_id: actorId }) => ({ ...payload, actorId }));
    };
    const expected = (bob: Person, state: string, actor: Person) => ({
      user_id: bob.id,
      source_type: kind,
      source_id: source.id,
      state,
      changed_at: expect.stringMatching(/Z$/),
      actorId: actor.id,
    });
    const ends: [string, (bob: Person) => Promise<unknown>, (bob: Person) => Person][] = [
      ['accepted', (bob) => ada.client.put(`${source.base}/${bob.id}/approve`).expect(201), () => ada],
      [
        'accepted',
        (bob) => ada.client.post(source.members).send({ user_id: bob.id, access_level: 10 }).expect(201),
        () => ada,
      ],
      ['denied', (bob) => ada.client.delete(`${source.base}/${bob.id}`).expect(204), () => ada],
      ['withdrawn', (bob) => bob.client.delete(`${source.base}/${bob.id}`).expect(204), (bob) => bob],
    ];
    for (const [state, settle, actor] of ends) {
      const bob = await createPerson();
      await bob.client.post(source.base).send({}).expect(201);
      expect(await changesOf(bob)).toEqual([expected(bob, 'requested', bob)]);
      await settle(bob);
      expect((await changesOf(bob)).slice(1)).toEqual([expected(bob, state, actor(bob))]);
    }
    const carl = await createPerson();
    await ada.client.post(source.members).send({ user_id: carl.id, access_level: 10 }).expect(201);
    expect(await changesOf(carl)).toEqual([]);
  });

  describe('approval', () => {
    registerParameterEncodingTests({
      app: () => identity.app,
      to: async () => {
        const [source, bob] = [await createGroupOrProject(kind), await createPerson()];
        await bob.client.post(source.base).expect(201);
        const path = `${source.encoded}/${bob.id}/approve`;
        return {
          viewer: makeViewer({ userId: ada.id, username: 'ada' }),
          method: 'PUT',
          path,
          params: { access_level: 20 },
        };
      },
      seen: (body) => body['access_level'],
      expected: 20,
    });

    it("refuses invalid levels, and levels above the caller's own or below the inherited one", async () => {
      const source = await createGroupOrProject(kind);
      const bob = await createPerson();
      await bob.client.post(source.base).expect(201);
      const approve = (access_level: number, who = ada) =>
        who.client.put(`${source.base}/${bob.id}/approve`).send({ access_level });
      expect(await approve(33)).toMatchObject({
        status: 400,
        body: { error: 'access_level does not have a valid value' },
      });
      if (kind === 'group') return;
      const keeper = await createPerson();
      await ada.client.post(source.members).send({ user_id: keeper.id, access_level: 40 }).expect(201);
      await approve(50, keeper).expect(403);
      await approve(40, keeper).expect(201);
    });
  });

  registerForeignParentTests({
    app: () => identity.app,
    viewer: () => makeViewer({ userId: ada.id, username: 'ada' }),
    requests: async () => {
      const [one, other, bob] = [
        await createGroupOrProject(kind),
        await createGroupOrProject(kind),
        await createPerson(),
      ];
      await bob.client.post(one.base).expect(201);
      return [
        { method: 'PUT', path: `${other.base}/${bob.id}/approve` },
        { method: 'DELETE', path: `${other.base}/${bob.id}` },
      ];
    },
  });

  describe('list', () => {
    let source: RequestRoutes;
    beforeAll(async () => {
      source = await createGroupOrProject(kind);
      for (let i = 0; i < 5; i++) await (await createPerson()).client.post(source.base).expect(201);
    });
    registerListPagingTests(() => ({
      app: identity.app,
      viewer: makeViewer({ userId: ada.id, username: 'ada' }),
      path: source.base,
      rows: 5,
    }));
  });

  it('end when their user is added directly, and are deleted with their source', async () => {
    const source = await createGroupOrProject(kind);
    const bob = await createPerson();
    await bob.client.post(source.base).expect(201);
    await ada.client.post(source.members).send({ user_id: bob.id, access_level: 10 }).expect(201);
    expect((await ada.client.get(source.base)).body).toEqual([]);
    await bob.client.post(source.base).expect(400);
  });

  it('stay one when requested concurrently', async () => {
    const [source, bob] = [await createGroupOrProject(kind), await createPerson()];
    const answers = await Promise.all(Array.from({ length: 8 }, () => bob.client.post(source.base)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(7).fill(400)]);
  });
});
