import { createHash } from 'node:crypto';
import {
  makeViewer,
  anonymousViewer,
  registerForeignParentTests,
  registerListPagingTests,
  registerParameterEncodingTests,
  registerRefusalOrderTests,
  registerVisibilityTests,
} from '@rookery/testing';
import type { Method } from '@rookery/testing';
import type { Agent } from 'supertest';
import { inDays, maker } from '../support/groups-and-projects';
import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';

interface Token {
  readonly id: number;
  readonly user_id: number;
  readonly token: string;
}
interface Source {
  readonly id: number;
  readonly base: string;
  readonly fullPath: string;
}

let identity: IdentityApp;
let owner: Person;
const make = maker(() => identity);
beforeAll(async () => {
  identity = await startIdentity();
  owner = await make.person();
});
afterAll(() => identity.close());

const viewerOf = (person: Person) => makeViewer({ userId: person.id, username: person.username });
const asBot = (token: Token, scopes = ['api']): Agent =>
  identity.as({ userId: token.user_id, username: `bot${token.user_id}`, isBot: true, tokenId: token.id, scopes });
const createSource = {
  group: async (over: object = {}): Promise<Source> => {
    const { id, full_path } = await make.group(owner, over as Record<string, unknown>);
    return { id, base: `/api/v4/groups/${id}/access_tokens`, fullPath: full_path };
  },
  project: async (over: object = {}): Promise<Source> => {
    const { id, path_with_namespace } = await make.project(owner, over as Record<string, unknown>);
    return { id, base: `/api/v4/projects/${id}/access_tokens`, fullPath: path_with_namespace };
  },
};

describe.each(['group', 'project'] as const)('access tokens of a %s', (kind) => {
  const needed = kind === 'group' ? 50 : 40;
  const noun = kind === 'group' ? 'Group' : 'Project';
  let source: Source;
  beforeAll(async () => {
    source = await createSource[kind]();
  });
  const give = async (over: object = {}, where = source) =>
    (
      await owner.client
        .post(where.base)
        .send({ name: 'deploy', scopes: ['api'], ...over })
        .expect(201)
    ).body as Token;
  const member = async (level: number, where = source): Promise<Person> => {
    const person = await make.person();
    await make.join(`/api/v4/${kind}s/${where.id}`, person, level);
    return person;
  };
  const shown = (token: Token) => ({
    id: token.id,
    name: 'deploy',
    revoked: false,
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    description: null,
    scopes: ['api'],
    user_id: token.user_id,
    last_used_at: null,
    last_used_ips: [],
    active: true,
    expires_at: inDays(365),
    access_level: 40,
    resource_type: kind,
    resource_id: source.id,
  });

  describe('creating', () => {
    it('shows the token once, with its defaults', async () => {
      const { body } = await owner.client
        .post(source.base)
        .send({ name: 'deploy', scopes: ['api'] })
        .expect(201);
      expect(body).toEqual({ ...shown(body), token: expect.stringMatching(/^glpat-[A-Za-z0-9_-]{20}$/) });
      expect((await owner.client.get(`${source.base}/${body.id}`)).body).toEqual(shown(body));
      const [row] = await identity.db.query<{ digest: Buffer }>(`select digest from access_tokens where id = $1`, [
        body.id,
      ]);
      expect(row!.digest).toEqual(createHash('sha256').update(body.token).digest());
    });

    it('accepts all documented parameters, by the encoded path', async () => {
      const sent = {
        name: 'reader',
        description: 'for reports',
        scopes: ['read_api', 'self_rotate'],
        access_level: 20,
      };
      const base = `/api/v4/${kind}s/${encodeURIComponent(source.fullPath)}/access_tokens`;
      const { status, body } = await owner.client.post(base).send({ ...sent, expires_at: inDays(30) });
      expect([status, body]).toEqual([201, expect.objectContaining({ ...sent, expires_at: inDays(30) })]);
    });

    it('accepts today: the token is expired at once', async () => {
      expect(await give({ expires_at: inDays(0) })).toMatchObject({ active: false, expires_at: inDays(0) });
    });

    registerParameterEncodingTests({
      app: () => identity.app,
      to: async () => ({
        viewer: viewerOf(owner),
        method: 'POST',
        path: source.base,
        params: { name: 'x', scopes: ['read_api', 'read_repository'], access_level: 30, expires_at: inDays(9) },
      }),
      seen: ({ name, scopes, access_level, expires_at }) => ({ name, scopes, access_level, expires_at }),
      expected: { name: 'x', scopes: ['read_api', 'read_repository'], access_level: 30, expires_at: inDays(9) },
    });

    const good = { name: 'x', scopes: ['api'] };
    it.each<[object, object]>([
      [{ scopes: ['api'] }, { error: 'name is missing' }],
      [{ name: '', scopes: ['api'] }, { error: 'name is empty' }],
      [{ name: 'a\0', scopes: ['api'] }, { error: 'name is invalid' }],
      [
        { name: 'x', scopes: ['api'], description: 'x'.repeat(256) },
        { error: 'description is too long (maximum is 255 characters)' },
      ],
      [{ name: 'x' }, { error: 'scopes is missing' }],
      [{ name: 'x', scopes: [] }, { error: 'scopes is empty' }],
      [{ name: 'x', scopes: ['api', 'nope'] }, { error: 'scopes does not have a valid value' }],
      [{ name: 'x', scopes: ['sudo'] }, { error: 'scopes does not have a valid value' }],
      [{ name: 'x', scopes: ['read_user'] }, { error: 'scopes does not have a valid value' }],
      [{ ...good, access_level: 35 }, { error: 'access_level does not have a valid value' }],
      [{ ...good, access_level: 5 }, { error: 'access_level does not have a valid value' }],
      [{ ...good, access_level: 'much' }, { error: 'access_level is invalid' }],
      [{ ...good, expires_at: 'soon' }, { error: 'expires_at is invalid' }],
      [{ ...good, expires_at: inDays(-1) }, { message: '400 Bad request - Expiration date cannot be in the past' }],
      [
        { ...good, expires_at: inDays(366) },
        { message: `400 Bad request - Expiration date must be before ${inDays(366)}` },
      ],
    ])('refuses %j', async (body, expected) => {
      const response = await owner.client.post(source.base).send(body);
      expect([response.status, response.body]).toEqual([400, expected]);
    });

    it('refuses callers without permission, with the reason', async () => {
      const below = await member(needed === 50 ? 40 : 30);
      const { status, body } = await below.client.post(source.base).send(good);
      const text = `400 Bad request - User does not have permission to create ${kind} access token`;
      expect([status, body]).toEqual([400, { message: text }]);
    });

    it('allows administrators every level', async () => {
      await identity.root
        .post(source.base)
        .send({ ...good, access_level: 50 })
        .expect(201);
    });
  });

  describe('the list', () => {
    let listed: Source;
    beforeAll(async () => {
      listed = await createSource[kind]();
      for (const name of ['b', 'a', 'd', 'c', 'e'])
        await give({ name, expires_at: inDays(name.charCodeAt(0)) }, listed);
      const dead = await give({ name: 'revoked one' }, listed);
      await owner.client.delete(`${listed.base}/${dead.id}`);
    });
    const names = async (query: Record<string, unknown>) =>
      (await owner.client.get(listed.base).query(query)).body.map((token: { name: string }) => token.name);
    const all = ['b', 'a', 'd', 'c', 'e', 'revoked one'];

    it.each<[Record<string, unknown>, string[]]>([
      [{}, all],
      [{ sort: 'name_asc' }, ['a', 'b', 'c', 'd', 'e', 'revoked one']],
      [{ sort: 'name_desc' }, ['revoked one', 'e', 'd', 'c', 'b', 'a']],
      [{ sort: 'created_asc' }, all],
      [{ sort: 'created_desc' }, [...all].reverse()],
      [{ sort: 'expires_asc' }, ['a', 'b', 'c', 'd', 'e', 'revoked one']],
      [{ sort: 'expires_desc' }, ['revoked one', 'e', 'd', 'c', 'b', 'a']],
      [{ sort: 'last_used_asc' }, all],
      [{ sort: 'last_used_desc' }, [...all].reverse()],
      [{ sort: 'id_desc' }, all],
      [{ revoked: true }, ['revoked one']],
      [{ revoked: 'False' }, ['b', 'a', 'd', 'c', 'e']],
      [{ state: 'active' }, ['b', 'a', 'd', 'c', 'e']],
      [{ state: 'inactive' }, ['revoked one']],
      [{ search: 'VOKED' }, ['revoked one']],
      [{ search: '%' }, []],
      [{ expires_before: inDays(99) }, ['b', 'a']],
      [{ expires_after: inDays(99) }, ['d', 'e', 'revoked one']],
      [{ created_after: '2999-01-01' }, []],
      [{ created_before: '2999-01-01' }, all],
      [{ last_used_before: '2999-01-01' }, []],
      [{ last_used_after: '1999-01-01' }, []],
    ])('filters by %j', async (query, expected) => expect(await names(query)).toEqual(expected));

    it.each<[Record<string, unknown>, object]>([
      [{ state: 'gone' }, { error: 'state does not have a valid value' }],
      [{ revoked: 'perhaps' }, { error: 'revoked is invalid' }],
      [{ created_after: 'then' }, { error: 'created_after is invalid' }],
      [{ expires_before: 'then' }, { error: 'expires_before is invalid' }],
    ])('refuses %j', async (query, expected) => {
      const { status, body } = await owner.client.get(listed.base).query(query);
      expect([status, body]).toEqual([400, expected]);
    });

    it('answers 401 to members below the role', async () => {
      const below = await member(needed === 50 ? 40 : 30, listed);
      for (const path of [listed.base, `${listed.base}/1`]) {
        const { status, body } = await below.client.get(path);
        expect([path, status, body]).toEqual([path, 401, { message: '401 Unauthorized' }]);
      }
      const enough = await member(needed, listed);
      expect((await enough.client.get(listed.base)).body).toHaveLength(6);
    });

    registerListPagingTests(() => ({
      app: identity.app,
      viewer: viewerOf(owner),
      path: listed.base,
      query: { state: 'active' },
      rows: 5,
    }));
  });

  registerVisibilityTests({
    app: () => identity.app,
    from: async (level, standing) => {
      const where = await createSource[kind]({ visibility: level });
      const path = where.base;
      if (standing === 'anonymous') return { viewer: anonymousViewer(), path };
      if (standing === 'admin') return { viewer: makeViewer({ userId: 1, isAdmin: true }), path };
      const person = await make.person({ external: standing === 'external' });
      const levels = { guest: 10, planner: 15, reporter: 20, developer: 30, maintainer: 40, owner: 50 };
      const held = levels[standing as keyof typeof levels] as number | undefined;
      if (held !== undefined) await make.join(`/api/v4/${kind}s/${where.id}`, person, held);
      return { viewer: { ...viewerOf(person), isExternal: standing === 'external' }, path };
    },
    anonymous: 401,
    seen: (standing) =>
      ['admin', 'owner', ...(kind === 'project' ? ['maintainer'] : [])].includes(standing) ? 200 : 401,
  });

  describe.each<[string, Method, (id: number) => string, Record<string, unknown>, Record<string, unknown>]>([
    ['the list', 'GET', () => '', {}, { state: 'gone' }],
    ['creating', 'POST', () => '', { name: 'x', scopes: ['api'] }, { name: 'x' }],
    ['rotating', 'POST', (id) => `/${id}/rotate`, {}, { expires_at: 'soon' }],
  ])('%s', (_, method, path, good, bad) => {
    registerRefusalOrderTests(
      () => identity.app,
      async () => ({
        method,
        path: `${source.base}${path((await give()).id)}`,
        good,
        bad,
        anonymous: anonymousViewer(),
        outsider: viewerOf(await make.person()),
        allowed: viewerOf(owner),
      }),
    );
  });

  describe('one token', () => {
    it('answers 404 with its name when it is missing', async () => {
      const expected = { message: `404 Could not find ${kind} access token with token_id: 424242 Not Found` };
      for (const client of [owner.client, identity.root]) {
        expect((await client.get(`${source.base}/424242`)).body).toEqual(expected);
        const gone = await client.delete(`${source.base}/424242`);
        expect([gone.status, gone.body]).toEqual([404, expected]);
      }
      const huge = await owner.client.get(`${source.base}/99999999999999999999`);
      expect([huge.status, huge.body]).toEqual([400, { error: 'token_id is invalid' }]);
    });

    it('is `self` for the bot that holds it, at any level, and for no other caller', async () => {
      const token = await give({ access_level: 10 });
      const own = await asBot(token, ['read_api']).get(`${source.base}/self`);
      expect([own.status, own.body]).toEqual([200, { ...shown(token), access_level: 10, last_used_at: null }]);
      const none = await owner.client.get(`${source.base}/self`);
      const text = `404 Could not find ${kind} access token with token_id: self Not Found`;
      expect([none.status, none.body]).toEqual([404, { message: text }]);
      const other = asBot(await give({ access_level: 10 }, await createSource[kind]({ visibility: 'public' })));
      expect((await other.get(`${source.base}/self`)).body).toEqual({ message: `404 ${noun} Not Found` });
      const open = await createSource[kind]({ visibility: 'public' });
      const refused = await asBot(token).get(`${open.base}/self`);
      expect([refused.status, refused.body]).toEqual([401, { message: '401 Unauthorized' }]);
    });

    it('is revoked with 204, also twice', async () => {
      const token = await give();
      for (let times = 0; times < 2; times += 1) {
        const gone = await owner.client.delete(`${source.base}/${token.id}`);
        expect([gone.status, gone.text]).toEqual([204, '']);
      }
      expect((await owner.client.get(`${source.base}/${token.id}`)).body).toMatchObject({
        revoked: true,
        active: false,
      });
    });

    it('cannot be revoked without permission', async () => {
      const token = await give();
      const below = await member(needed === 50 ? 40 : 30);
      const text = `400 Bad request - User does not have permission to delete ${kind} access token`;
      for (const id of [token.id, 424242]) {
        const { status, body } = await below.client.delete(`${source.base}/${id}`);
        expect([status, body]).toEqual([400, { message: text }]);
      }
      expect((await (await make.person()).client.delete(`${source.base}/${token.id}`)).body).toEqual({
        message: `404 ${noun} Not Found`,
      });
      await identity.anonymous.delete(`${source.base}/${token.id}`).expect(401);
      expect((await owner.client.get(`${source.base}/${token.id}`)).body.active).toBe(true);
    });

    describe('of another resource', () => {
      let token: Token;
      let other: Source;
      beforeAll(async () => {
        token = await give();
        other = await createSource[kind](kind === 'group' ? { parent_id: source.id } : {});
      });
      registerForeignParentTests({
        app: () => identity.app,
        viewer: () => makeViewer({ userId: 1, isAdmin: true }),
        requests: () => [
          { method: 'GET', path: `${other.base}/${token.id}` },
          { method: 'DELETE', path: `${other.base}/${token.id}` },
          { method: 'POST', path: `${other.base}/${token.id}/rotate`, body: {} },
        ],
        untouched: async () => (await owner.client.get(`${source.base}/${token.id}`)).body,
      });
      it('is not listed there', async () => expect((await owner.client.get(other.base)).body).toEqual([]));
      it('is 401 to rotate for callers who are not administrators', async () => {
        const { status, body } = await owner.client.post(`${other.base}/${token.id}/rotate`).send({});
        expect([status, body]).toEqual([401, { message: '401 Unauthorized' }]);
      });
    });
  });

  describe('rotation', () => {
    it('keeps bot, level and all fields but the secret, for a week', async () => {
      const old = await give({ description: 'd', scopes: ['read_api'], access_level: 30 });
      const { body } = await owner.client.post(`${source.base}/${old.id}/rotate`).send({}).expect(200);
      const same = { description: 'd', scopes: ['read_api'], access_level: 30, expires_at: inDays(7) };
      expect(body).toEqual({ ...shown({ ...old, id: body.id }), ...same, token: expect.stringMatching(/^glpat-/) });
      expect(body.id).not.toBe(old.id);
      expect(body.token).not.toBe(old.token);
      expect((await owner.client.get(`${source.base}/${old.id}`)).body).toMatchObject({ revoked: true, active: false });
      const dated = await owner.client.post(`${source.base}/${body.id}/rotate`).query({ expires_at: inDays(20) });
      expect(dated.body.expires_at).toBe(inDays(20));
    });

    it('of a revoked token revokes the family', async () => {
      const first = await give();
      const { body: second }: { body: Token } = await owner.client
        .post(`${source.base}/${first.id}/rotate`)
        .expect(200);
      const reuse = await owner.client.post(`${source.base}/${first.id}/rotate`);
      expect([reuse.status, reuse.body]).toEqual([400, { message: '400 Bad request - Token already revoked' }]);
      expect((await owner.client.get(`${source.base}/${second.id}`)).body.revoked).toBe(true);
    });

    it.each([
      [{ expires_at: inDays(-1) }, { message: '400 Bad request - Expiration date cannot be in the past' }],
      [{ expires_at: inDays(400) }, { message: `400 Bad request - Expiration date must be before ${inDays(366)}` }],
      [{ expires_at: 'soon' }, { error: 'expires_at is invalid' }],
    ])('refuses %j', async (body, expected) => {
      const token = await give();
      const { status, body: answer } = await owner.client.post(`${source.base}/${token.id}/rotate`).send(body);
      expect([status, answer]).toEqual([400, expected]);
      expect((await owner.client.get(`${source.base}/${token.id}`)).body.active).toBe(true);
    });

    it('of a missing token is 401, and 404 for administrators', async () => {
      const { status, body } = await owner.client.post(`${source.base}/424242/rotate`);
      expect([status, body]).toEqual([401, { message: '401 Unauthorized' }]);
      const asked = await identity.root.post(`${source.base}/424242/rotate`);
      expect([asked.status, asked.body]).toEqual([404, { message: '404 Not Found' }]);
    });

    it('is refused to members below the role, and to bots of other tokens', async () => {
      const token = await give();
      const below = await member(needed === 50 ? 40 : 30);
      const boss = asBot(await give({ access_level: 50 }));
      for (const client of [below.client, boss]) {
        const { status, body } = await client.post(`${source.base}/${token.id}/rotate`).send({});
        expect([status, body]).toEqual([401, { message: '401 Unauthorized' }]);
      }
      expect((await owner.client.get(`${source.base}/${token.id}`)).body.active).toBe(true);
    });
  });

  describe('self rotation', () => {
    it('requires api or self_rotate, and answers like any rotation', async () => {
      const token = await give({ scopes: ['self_rotate'], access_level: 10 });
      const denied = await asBot(token, ['read_api']).post(`${source.base}/self/rotate`).send({});
      expect([denied.status, denied.body]).toEqual([
        403,
        {
          error: 'insufficient_scope',
          error_description: 'The request requires higher privileges than provided by the access token.',
          scope: 'api self_rotate',
        },
      ]);
      const made = await asBot(token, ['self_rotate'])
        .post(`${source.base}/self/rotate`)
        .send({ expires_at: inDays(3) })
        .expect(200);
      const same = { scopes: ['self_rotate'], access_level: 10, expires_at: inDays(3) };
      expect(made.body).toEqual({ ...shown({ ...token, id: made.body.id }), ...same, token: expect.any(String) });
      expect((await owner.client.get(`${source.base}/${token.id}`)).body.revoked).toBe(true);
    });

    it('also works at the personal route, where the token stays one of the resource', async () => {
      const token = await give({ scopes: ['self_rotate'] });
      const { body: made }: { body: Token } = await asBot(token, ['self_rotate'])
        .post('/api/v4/personal_access_tokens/self/rotate')
        .expect(200);
      expect((await owner.client.get(`${source.base}/${made.id}`)).body).toMatchObject({
        id: made.id,
        user_id: token.user_id,
        access_level: 40,
        resource_id: source.id,
      });
    });

    it('is refused to users', async () => {
      const { status, body } = await owner.client.post(`${source.base}/self/rotate`).send({});
      expect([status, body]).toEqual([405, { message: '405 Method Not Allowed' }]);
    });

    it('is refused to bots of other resources: 401 where they can see it, else 404', async () => {
      const token = await give();
      const open = await createSource[kind]({ visibility: 'public' });
      const seen = await asBot(token).post(`${open.base}/self/rotate`).send({});
      expect([seen.status, seen.body]).toEqual([401, { message: '401 Unauthorized' }]);
      const hidden = await asBot(token)
        .post(`${(await createSource[kind]()).base}/self/rotate`)
        .send({});
      expect([hidden.status, hidden.body]).toEqual([404, { message: `404 ${noun} Not Found` }]);
      expect((await owner.client.get(`${source.base}/${token.id}`)).body.active).toBe(true);
    });

    it('by id is refused without the role', async () => {
      const token = await give({ access_level: 30 });
      await asBot(token).post(`${source.base}/${token.id}/rotate`).send({}).expect(401);
    });
  });
});

it('callers cannot create or rotate a token above their own level', async () => {
  const { id } = await make.project(owner);
  const base = `/api/v4/projects/${id}/access_tokens`;
  const maintainer = await make.person();
  await make.join(`/api/v4/projects/${id}`, maintainer, 40);
  const above = await maintainer.client.post(base).send({ name: 'x', scopes: ['api'], access_level: 50 });
  expect([above.status, above.body]).toEqual([
    400,
    {
      message: '400 Bad request - Access level of the token contains permissions not held by the creating user',
    },
  ]);
  const { body: token }: { body: Token } = await owner.client
    .post(base)
    .send({ name: 'x', scopes: ['api'], access_level: 50 })
    .expect(201);
  const renewed = await maintainer.client.post(`${base}/${token.id}/rotate`).send({});
  expect([renewed.status, renewed.body]).toEqual([
    400,
    { message: '400 Bad request - Not eligible to rotate token with access level higher than the user' },
  ]);
});
