import { createHash } from 'node:crypto';
import { INTERNAL_PATHS } from '@rookery/contracts';
import { TEST_INTERNAL_SECRET } from '@rookery/testing';
import type { TestClient } from '@rookery/testing';
import { TokenUpkeepJob } from '../../src/housekeeping/token-upkeep.job';
import { maker } from '../support/groups-and-projects';
import { startIdentity } from '../support/identity-app';
import type { IdentityApp, Person } from '../support/identity-app';

interface Token {
  readonly id: number;
  readonly user_id: number;
  readonly token: string;
}

let identity: IdentityApp;
let owner: Person;
const make = maker(() => identity);
beforeAll(async () => {
  identity = await startIdentity({ DELETION_DELAY_DAYS: '0', TOKEN_BOT_RETENTION_DAYS: '30' });
  owner = await make.person();
});
afterAll(() => identity.close());

const give = (where: string, over: object = {}, client = owner.client) =>
  client
    .post(`${where}/access_tokens`)
    .body({ name: 'Deploy bot', scopes: ['api'], ...over })
    .json<Token>();
const botOf = (token: Token): TestClient =>
  identity.as({ userId: token.user_id, username: `bot${token.user_id}`, isBot: true, tokenId: token.id });
const exists = async (userId: number) => (await identity.root.get(`/users/${userId}`)).status === 200;
const upkeep = () => identity.app.get(TokenUpkeepJob).run();
/** As if so many days had passed since the tokens of the bot were changed last. */
const age = (userId: number, days: number) =>
  identity.db.query(`update access_tokens set updated_at = updated_at - make_interval(days => $2) where user_id = $1`, [
    userId,
    days,
  ]);
async function outcome(token: string): Promise<string> {
  const response = await fetch(`${identity.app.baseUrl}${INTERNAL_PATHS.resolveToken}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TEST_INTERNAL_SECRET}`, 'content-type': 'application/json' },
    body: JSON.stringify({ digest: createHash('sha256').update(token).digest('hex'), ip: '127.0.0.1' }),
  });
  return ((await response.json()) as { outcome: string }).outcome;
}

describe('the bot of a token', () => {
  it.each(['group', 'project'] as const)('of a %s is a user of its own and a direct member', async (kind) => {
    const { id } = await make[kind](owner);
    const token = await give(`/${kind}s/${id}`, { access_level: 30 });
    const { body } = await identity.root.get(`/users/${token.user_id}`);
    expect(body).toMatchObject({ name: 'Deploy bot', bot: true, state: 'active' });
    expect(body.username).toMatch(new RegExp(`^${kind}_${id}_bot_[0-9a-f]{32}$`));
    const [row] = await identity.db.query(
      `select email, kind, external, confirmed_at is not null as confirmed, created_by_id, can_create_group, password_digest
       from users where id = $1`,
      [token.user_id],
    );
    expect(row).toEqual({
      email: `${body.username}@noreply.localhost`,
      kind: 'project_bot',
      external: false,
      confirmed: true,
      created_by_id: owner.id,
      can_create_group: false,
      password_digest: null,
    });
    const member = await owner.client.get(`/${kind}s/${id}/members/${token.user_id}`);
    expect(member.body).toMatchObject({ id: token.user_id, access_level: 30, expires_at: null });
    expect(member.body.created_by).toMatchObject({ id: owner.id });
    const events = await identity.db.query(
      `select payload ->> 'source_type' as kind, (payload ->> 'access_level')::int as level from outbox
       where subject = 'identity.member.added.v1' and (payload ->> 'user_id')::bigint = $1`,
      [token.user_id],
    );
    expect(events).toEqual([{ kind, level: 30 }]);
  });

  it('is external as its maker is', async () => {
    const outsider = await make.person({ external: true });
    const { id } = await make.group(owner);
    await make.join(`/groups/${id}`, outsider, 50);
    const token = await give(`/groups/${id}`, {}, outsider.client);
    const [row] = await identity.db.query(`select external from users where id = $1`, [token.user_id]);
    expect(row).toEqual({ external: true });
  });

  it('is one a token; a rotation keeps it and its membership', async () => {
    const { id } = await make.group(owner);
    const [one, two] = [await give(`/groups/${id}`), await give(`/groups/${id}`)];
    expect(one.user_id).not.toBe(two.user_id);
    const before = await owner.client.get(`/groups/${id}/members/${one.user_id}`);
    const next = await owner.client.post(`/groups/${id}/access_tokens/${one.id}/rotate`).json<Token>();
    expect(next.user_id).toBe(one.user_id);
    expect((await owner.client.get(`/groups/${id}/members/${one.user_id}`)).body).toEqual(before.body);
  });

  it('shows the level that it has as a member now', async () => {
    const { id } = await make.group(owner);
    const token = await give(`/groups/${id}`);
    await owner.client.put(`/groups/${id}/members/${token.user_id}`).body({ access_level: 20 }).json();
    expect((await owner.client.get(`/groups/${id}/access_tokens/${token.id}`)).body.access_level).toBe(20);
    await owner.client.delete(`/groups/${id}/members/${token.user_id}`);
    expect((await owner.client.get(`/groups/${id}/access_tokens/${token.id}`)).body.access_level).toBe(40);
  });

  it('acts with its level', async () => {
    const { id } = await make.group(owner);
    const bot = botOf(await give(`/groups/${id}`, { access_level: 50 }));
    expect((await bot.get(`/groups/${id}`)).status).toBe(200);
    expect((await bot.post('/groups').body({ name: 'x', path: make.unique('sub'), parent_id: id })).status).toBe(201);
    const top = await bot.post('/groups').body({ name: 'x', path: make.unique('top') });
    expect([top.status, top.body]).toEqual([403, { message: '403 Forbidden' }]);
  });

  it('makes no further tokens unless it is an owner', async () => {
    const project = await make.project(owner);
    const text = '400 Bad request - User does not have permission to create project access token';
    const maintainer = botOf(await give(`/projects/${project.id}`, { access_level: 40 }));
    const refused = await maintainer.post(`/projects/${project.id}/access_tokens`).body({ name: 'x', scopes: ['api'] });
    expect([refused.status, refused.body]).toEqual([400, { message: text }]);
    const boss = botOf(await give(`/projects/${project.id}`, { access_level: 50 }));
    const made = await boss.post(`/projects/${project.id}/access_tokens`).body({ name: 'x', scopes: ['api'] });
    expect(made.status).toBe(201);
  });

  it('is given no other tokens, not even by administrators', async () => {
    const token = await give(`/groups/${(await make.group(owner)).id}`);
    for (const kind of ['personal_access', 'impersonation']) {
      const path = `/users/${token.user_id}/${kind}_tokens`;
      const { status, body } = await identity.root.post(path).body({ name: 'x', scopes: ['api'] });
      expect([status, body]).toEqual([400, { message: '400 Bad request - User cannot have tokens of its own' }]);
    }
    const own = await botOf(token)
      .post('/user/personal_access_tokens')
      .body({ name: 'x', scopes: ['self_rotate'] });
    expect(own.status).toBe(400);
  });

  it('belongs to its group and what lies below, and nowhere else', async () => {
    const group = await make.group(owner);
    const below = await make.group(owner, { parent_id: group.id });
    const beside = await make.group(owner);
    const project = await make.project(owner, { namespace_id: below.id });
    const elsewhere = await make.project(owner, { namespace_id: beside.id });
    const token = await give(`/groups/${group.id}`, { access_level: 20 });
    const ofProject = await give(`/projects/${project.id}`, { access_level: 20 });
    const add = async (where: string, user: number) =>
      (await owner.client.post(`${where}/members`).body({ user_id: user, access_level: 30 })).status;
    expect(await add(`/groups/${below.id}`, token.user_id)).toBe(201);
    expect(await add(`/projects/${project.id}`, token.user_id)).toBe(201);
    for (const [where, user] of [
      [`/groups/${beside.id}`, token.user_id],
      [`/projects/${elsewhere.id}`, token.user_id],
      [`/groups/${below.id}`, ofProject.user_id],
      [`/projects/${elsewhere.id}`, ofProject.user_id],
    ] as const) {
      const { status, body } = await owner.client.post(`${where}/members`).body({ user_id: user, access_level: 30 });
      const text = 'project bots cannot be added to other groups / projects';
      expect([where, status, body]).toEqual([where, 400, { message: { user_id: [text] } }]);
    }
  });

  it('stays a member when its group moves', async () => {
    const [parent, group] = [await make.group(owner), await make.group(owner)];
    const token = await give(`/groups/${group.id}`);
    expect((await owner.client.post(`/groups/${group.id}/transfer`).body({ group_id: parent.id })).status).toBe(201);
    expect((await owner.client.get(`/groups/${group.id}/members/${token.user_id}`)).status).toBe(200);
    expect((await owner.client.get(`/groups/${group.id}/access_tokens`)).body).toHaveLength(1);
    expect((await owner.client.get(`/groups/${parent.id}/access_tokens`)).body).toEqual([]);
  });
});

describe('a top-level group that forbids tokens', () => {
  it('refuses them for itself and for all below, as if nobody had the permission', async () => {
    const group = await make.group(owner);
    const below = await make.group(owner, { parent_id: group.id });
    const project = await make.project(owner, { namespace_id: below.id });
    const changed = await owner.client
      .put(`/groups/${group.id}`)
      .body({ resource_access_token_creation_allowed: false });
    expect(changed.body.resource_access_token_creation_allowed).toBe(false);
    for (const [kind, where] of [
      ['group', `/groups/${group.id}`],
      ['group', `/groups/${below.id}`],
      ['project', `/projects/${project.id}`],
    ] as const) {
      const text = `400 Bad request - User does not have permission to create ${kind} access token`;
      const { status, body } = await owner.client.post(`${where}/access_tokens`).body({ name: 'x', scopes: ['api'] });
      expect([where, status, body]).toEqual([where, 400, { message: text }]);
    }
    await owner.client.put(`/groups/${group.id}`).body({ resource_access_token_creation_allowed: true }).json();
    await give(`/groups/${below.id}`);
  });
});

describe('the end of a bot', () => {
  it('comes so many days after its last token was revoked, with its tokens', async () => {
    const { id } = await make.group(owner);
    const token = await give(`/groups/${id}`);
    const kept = await give(`/groups/${id}`);
    const next = await owner.client.post(`/groups/${id}/access_tokens/${token.id}/rotate`).json<Token>();
    await age(token.user_id, 31);
    await age(kept.user_id, 31);
    await upkeep();
    expect(await exists(token.user_id)).toBe(true);
    await owner.client.delete(`/groups/${id}/access_tokens/${next.id}`);
    await upkeep();
    expect(await exists(token.user_id)).toBe(true);
    expect((await owner.client.get(`/groups/${id}/access_tokens`).query({ state: 'inactive' })).body).toHaveLength(2);
    await age(token.user_id, 31);
    await upkeep();
    expect([await exists(token.user_id), await exists(kept.user_id)]).toEqual([false, true]);
    expect((await owner.client.get(`/groups/${id}/access_tokens`)).body).toHaveLength(1);
    expect((await owner.client.get(`/groups/${id}/members/${token.user_id}`)).status).toBe(404);
  });

  it('comes so many days after its last token ran out', async () => {
    const { id } = await make.project(owner);
    const token = await give(`/projects/${id}`);
    const runsOut = (days: number) =>
      identity.db.query(
        `update access_tokens set expires_on = (now() at time zone 'UTC')::date - $2::int where id = $1`,
        [token.id, days],
      );
    await runsOut(29);
    await upkeep();
    expect(await exists(token.user_id)).toBe(true);
    await runsOut(30);
    await upkeep();
    expect(await exists(token.user_id)).toBe(false);
  });

  it.each(['group', 'project'] as const)(
    'comes with the deletion of the %s, and its token is refused at once',
    async (kind) => {
      const parent = await make.group(owner);
      const thing = kind === 'group' ? parent : await make.project(owner, { namespace_id: parent.id });
      const token = await give(`/${kind}s/${thing.id}`);
      const other = await give(`/groups/${(await make.group(owner)).id}`);
      expect(await outcome(token.token)).toBe('valid');
      expect((await owner.client.delete(`/${kind}s/${thing.id}`)).status).toBe(202);
      expect(await outcome(token.token)).toBe('user_refused');
      await upkeep();
      expect([await exists(token.user_id), await outcome(token.token)]).toEqual([false, 'unknown']);
      expect([await exists(other.user_id), await outcome(other.token)]).toEqual([true, 'valid']);
    },
  );

  it('comes to the bots of projects when the group above is deleted', async () => {
    const parent = await make.group(owner);
    const project = await make.project(owner, { namespace_id: parent.id });
    const token = await give(`/projects/${project.id}`);
    expect((await owner.client.delete(`/groups/${parent.id}`)).status).toBe(202);
    expect(await outcome(token.token)).toBe('user_refused');
    await upkeep();
    expect(await exists(token.user_id)).toBe(false);
  });
});
