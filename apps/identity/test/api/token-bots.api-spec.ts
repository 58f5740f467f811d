import type { Agent } from 'supertest';
import { EndedBotsRemovalJob } from '../../src/removal/people/ended-bots.job';
import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';
import { maker } from '../support/groups-and-projects';
import { resolve } from '../support/internal-calls';

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

const createToken = async (where: string, over: object = {}, client = owner.client) =>
  (
    await client
      .post(`${where}/access_tokens`)
      .send({ name: 'Deploy bot', scopes: ['api'], ...over })
      .expect(201)
  ).body as Token;
const asBot = (token: Token): Agent =>
  identity.as({ userId: token.user_id, username: `bot${token.user_id}`, isBot: true, tokenId: token.id });
const userExists = async (userId: number) => (await identity.root.get(`/api/v4/users/${userId}`)).status === 200;
const removeEndedBots = () => identity.app.get(EndedBotsRemovalJob).run();
/** Moves the last change of the bot's tokens so many days into the past. */
const makeTokensOlder = (userId: number, days: number) =>
  identity.db.query(`update access_tokens set updated_at = updated_at - make_interval(days => $2) where user_id = $1`, [
    userId,
    days,
  ]);
const resolveOutcome = async (token: string) => (await resolve(identity, token)).outcome;

describe('the bot of a token', () => {
  it('counts for its creator, also through another bot', async () => {
    const { id } = await make.group(owner);
    const where = `/api/v4/groups/${id}`;
    const makerOf = async (token: string) => {
      const answer = await resolve(identity, token);
      return answer.outcome === 'valid' ? answer.holder.maker_id : answer.outcome;
    };
    const first = await createToken(where, { access_level: 50 });
    const second = await createToken(where, { access_level: 30 }, asBot(first));
    const { body: account } = await owner.client.post(`${where}/service_accounts`).send({}).expect(201);
    const { body: third } = await owner.client
      .post(`${where}/service_accounts/${account.id}/personal_access_tokens`)
      .send({ name: 'ci', scopes: ['api'] })
      .expect(201);
    const makers = await Promise.all([first, second, third as Token].map(({ token }) => makerOf(token)));
    expect(makers).toEqual([owner.id, owner.id, owner.id]);
    const { body: own } = await identity.root
      .post(`/api/v4/users/${owner.id}/personal_access_tokens`)
      .send({ name: 'own', scopes: ['api'] })
      .expect(201);
    expect(await makerOf((own as Token).token)).toBeNull();
  });

  it('is named with its creator by events about members and moves, also if a bot created it', async () => {
    const { id } = await make.group(owner);
    const below = await make.group(owner, { parent_id: id });
    const project = await make.project(owner, { namespace_id: id });
    const where = `/api/v4/groups/${id}`;
    const first = await createToken(where, { access_level: 50 });
    const second = await createToken(where, { access_level: 50 }, asBot(first));
    const bot = asBot(second);
    const friend = await make.person();
    await bot.post(`${where}/members`).send({ user_id: friend.id, access_level: 20 }).expect(201);
    await bot.put(`${where}/members/${friend.id}`).send({ access_level: 30 }).expect(200);
    await bot
      .put(`/api/v4/projects/${project.id}`)
      .send({ path: make.unique('renamed') })
      .expect(200);
    await bot.put(`/api/v4/projects/${project.id}/transfer`).send({ namespace: below.id }).expect(200);
    const events = (actorId: number, ...subjects: readonly string[]) =>
      identity.db.query(
        `select subject, (payload ->> 'responsible_id')::int as by from outbox
         where actor_id = $1 and subject = any($2) order by subject`,
        [actorId, subjects],
      );
    const members = ['identity.member.added.v1', 'identity.member.changed.v1'];
    const moves = ['identity.project.moved.v1', 'identity.project.renamed.v1'];
    expect(await events(second.user_id, ...members, ...moves)).toEqual(
      [...members, ...moves].map((subject) => ({ subject, by: owner.id })),
    );
    await owner.client.put(`${where}/members/${friend.id}`).send({ access_level: 20 }).expect(200);
    expect(await events(owner.id, 'identity.member.changed.v1')).toEqual([
      { subject: 'identity.member.changed.v1', by: null },
    ]);
  });

  it.each(['group', 'project'] as const)('of a %s is a user of its own and a direct member', async (kind) => {
    const { id } = await make[kind](owner);
    const token = await createToken(`/api/v4/${kind}s/${id}`, { access_level: 30 });
    const { body } = await identity.root.get(`/api/v4/users/${token.user_id}`);
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
    const member = await owner.client.get(`/api/v4/${kind}s/${id}/members/${token.user_id}`);
    expect(member.body).toMatchObject({ id: token.user_id, access_level: 30, expires_at: null });
    expect(member.body.created_by).toMatchObject({ id: owner.id });
    const events = await identity.db.query(
      `select payload ->> 'source_type' as kind, (payload ->> 'access_level')::int as level from outbox
       where subject = 'identity.member.added.v1' and (payload ->> 'user_id')::bigint = $1`,
      [token.user_id],
    );
    expect(events).toEqual([{ kind, level: 30 }]);
  });

  it('is external if its creator is', async () => {
    const outsider = await make.person({ external: true });
    const { id } = await make.group(owner);
    await make.join(`/api/v4/groups/${id}`, outsider, 50);
    const token = await createToken(`/api/v4/groups/${id}`, {}, outsider.client);
    const [row] = await identity.db.query(`select external from users where id = $1`, [token.user_id]);
    expect(row).toEqual({ external: true });
  });

  it('exists once per token; a rotation keeps it with its membership', async () => {
    const { id } = await make.group(owner);
    const [one, two] = [await createToken(`/api/v4/groups/${id}`), await createToken(`/api/v4/groups/${id}`)];
    expect(one.user_id).not.toBe(two.user_id);
    const before = await owner.client.get(`/api/v4/groups/${id}/members/${one.user_id}`);
    const { body: next }: { body: Token } = await owner.client
      .post(`/api/v4/groups/${id}/access_tokens/${one.id}/rotate`)
      .expect(200);
    expect(next.user_id).toBe(one.user_id);
    expect((await owner.client.get(`/api/v4/groups/${id}/members/${one.user_id}`)).body).toEqual(before.body);
  });

  it('is shown with its present level as a member', async () => {
    const { id } = await make.group(owner);
    const token = await createToken(`/api/v4/groups/${id}`);
    await owner.client.put(`/api/v4/groups/${id}/members/${token.user_id}`).send({ access_level: 20 }).expect(200);
    expect((await owner.client.get(`/api/v4/groups/${id}/access_tokens/${token.id}`)).body.access_level).toBe(20);
    await owner.client.delete(`/api/v4/groups/${id}/members/${token.user_id}`);
    expect((await owner.client.get(`/api/v4/groups/${id}/access_tokens/${token.id}`)).body.access_level).toBe(40);
  });

  it('acts with its level', async () => {
    const { id } = await make.group(owner);
    const bot = asBot(await createToken(`/api/v4/groups/${id}`, { access_level: 50 }));
    await bot.get(`/api/v4/groups/${id}`).expect(200);
    await bot
      .post('/api/v4/groups')
      .send({ name: 'x', path: make.unique('sub'), parent_id: id })
      .expect(201);
    const top = await bot.post('/api/v4/groups').send({ name: 'x', path: make.unique('top') });
    expect([top.status, top.body]).toEqual([403, { message: '403 Forbidden' }]);
  });

  it('cannot create further tokens unless it is an owner', async () => {
    const project = await make.project(owner);
    const text = '400 Bad request - User does not have permission to create project access token';
    const maintainer = asBot(await createToken(`/api/v4/projects/${project.id}`, { access_level: 40 }));
    const refused = await maintainer
      .post(`/api/v4/projects/${project.id}/access_tokens`)
      .send({ name: 'x', scopes: ['api'] });
    expect([refused.status, refused.body]).toEqual([400, { message: text }]);
    const boss = asBot(await createToken(`/api/v4/projects/${project.id}`, { access_level: 50 }));
    await boss
      .post(`/api/v4/projects/${project.id}/access_tokens`)
      .send({ name: 'x', scopes: ['api'] })
      .expect(201);
  });

  it('cannot get other tokens, not even from administrators', async () => {
    const token = await createToken(`/api/v4/groups/${(await make.group(owner)).id}`);
    for (const kind of ['personal_access', 'impersonation']) {
      const path = `/api/v4/users/${token.user_id}/${kind}_tokens`;
      const { status, body } = await identity.root.post(path).send({ name: 'x', scopes: ['api'] });
      expect([status, body]).toEqual([400, { message: '400 Bad request - User cannot have tokens of its own' }]);
    }
    await asBot(token)
      .post('/api/v4/user/personal_access_tokens')
      .send({ name: 'x', scopes: ['self_rotate'] })
      .expect(400);
  });

  it('may join its group and groups and projects below, but no others', async () => {
    const group = await make.group(owner);
    const below = await make.group(owner, { parent_id: group.id });
    const sibling = await make.group(owner);
    const project = await make.project(owner, { namespace_id: below.id });
    const elsewhere = await make.project(owner, { namespace_id: sibling.id });
    const token = await createToken(`/api/v4/groups/${group.id}`, { access_level: 20 });
    const ofProject = await createToken(`/api/v4/projects/${project.id}`, { access_level: 20 });
    const add = async (where: string, user: number) =>
      (await owner.client.post(`${where}/members`).send({ user_id: user, access_level: 30 })).status;
    expect(await add(`/api/v4/groups/${below.id}`, token.user_id)).toBe(201);
    expect(await add(`/api/v4/projects/${project.id}`, token.user_id)).toBe(201);
    for (const [where, user] of [
      [`/api/v4/groups/${sibling.id}`, token.user_id],
      [`/api/v4/projects/${elsewhere.id}`, token.user_id],
      [`/api/v4/groups/${below.id}`, ofProject.user_id],
      [`/api/v4/projects/${elsewhere.id}`, ofProject.user_id],
    ] as const) {
      const { status, body } = await owner.client.post(`${where}/members`).send({ user_id: user, access_level: 30 });
      const text = 'project bots cannot be added to other groups / projects';
      expect([where, status, body]).toEqual([where, 400, { message: { user_id: [text] } }]);
    }
  });

  it('of a group or project that the caller cannot see is unknown, wherever the request names it', async () => {
    const curious = await identity.person(`curious-${Date.now()}`);
    const hidden = await make.group(owner, { visibility: 'private' });
    const token = await createToken(`/api/v4/groups/${hidden.id}`);
    const own = await make.group(curious);
    const within = await make.project(curious, { namespace_id: own.id });
    const { username } = (await identity.root.get(`/api/v4/users/${token.user_id}`)).body as { username: string };
    for (const where of [`/api/v4/groups/${own.id}`, `/api/v4/projects/${within.id}`]) {
      const add = (sent: object) => curious.client.post(`${where}/members`).send({ ...sent, access_level: 30 });
      for (const sent of [{ user_id: token.user_id }, { username }, { user_id: 999_999_999 }]) {
        const { status, body } = await add(sent);
        expect([where, status, body]).toEqual([where, 404, { message: '404 User Not Found' }]);
      }
      const { body } = await add({ user_id: `${token.user_id},999999999` });
      const unknown = { [token.user_id]: 'User Not Found', 999999999: 'User Not Found' };
      expect([where, body]).toEqual([where, { status: 'error', message: unknown }]);
    }
    // Below its group it is a member already, so managers of a subgroup can see it.
    const below = await make.group(owner, { parent_id: hidden.id, visibility: 'private' });
    await owner.client.post(`/api/v4/groups/${below.id}/members`).send({ user_id: curious.id, access_level: 50 });
    const sent = { user_id: token.user_id, access_level: 50 };
    await curious.client.post(`/api/v4/groups/${below.id}/members`).send(sent).expect(201);
  });

  it('stays a member when its group moves', async () => {
    const [parent, group] = [await make.group(owner), await make.group(owner)];
    const token = await createToken(`/api/v4/groups/${group.id}`);
    await owner.client.post(`/api/v4/groups/${group.id}/transfer`).send({ group_id: parent.id }).expect(201);
    await owner.client.get(`/api/v4/groups/${group.id}/members/${token.user_id}`).expect(200);
    expect((await owner.client.get(`/api/v4/groups/${group.id}/access_tokens`)).body).toHaveLength(1);
    expect((await owner.client.get(`/api/v4/groups/${parent.id}/access_tokens`)).body).toEqual([]);
  });
});

describe('a top-level group that forbids tokens', () => {
  it('refuses them for itself and all groups below, as if permission was missing', async () => {
    const group = await make.group(owner);
    const below = await make.group(owner, { parent_id: group.id });
    const project = await make.project(owner, { namespace_id: below.id });
    const changed = await owner.client
      .put(`/api/v4/groups/${group.id}`)
      .send({ resource_access_token_creation_allowed: false });
    expect(changed.body.resource_access_token_creation_allowed).toBe(false);
    for (const [kind, where] of [
      ['group', `/api/v4/groups/${group.id}`],
      ['group', `/api/v4/groups/${below.id}`],
      ['project', `/api/v4/projects/${project.id}`],
    ] as const) {
      const text = `400 Bad request - User does not have permission to create ${kind} access token`;
      const { status, body } = await owner.client.post(`${where}/access_tokens`).send({ name: 'x', scopes: ['api'] });
      expect([where, status, body]).toEqual([where, 400, { message: text }]);
    }
    await owner.client
      .put(`/api/v4/groups/${group.id}`)
      .send({ resource_access_token_creation_allowed: true })
      .expect(200);
    await createToken(`/api/v4/groups/${below.id}`);
  });
});

describe('the removal of a bot', () => {
  it('happens some days after its last token was revoked, with its tokens', async () => {
    const { id } = await make.group(owner);
    const token = await createToken(`/api/v4/groups/${id}`);
    const kept = await createToken(`/api/v4/groups/${id}`);
    const { body: next }: { body: Token } = await owner.client
      .post(`/api/v4/groups/${id}/access_tokens/${token.id}/rotate`)
      .expect(200);
    await makeTokensOlder(token.user_id, 31);
    await makeTokensOlder(kept.user_id, 31);
    await removeEndedBots();
    expect(await userExists(token.user_id)).toBe(true);
    await owner.client.delete(`/api/v4/groups/${id}/access_tokens/${next.id}`);
    await removeEndedBots();
    expect(await userExists(token.user_id)).toBe(true);
    expect(
      (await owner.client.get(`/api/v4/groups/${id}/access_tokens`).query({ state: 'inactive' })).body,
    ).toHaveLength(2);
    await makeTokensOlder(token.user_id, 31);
    await removeEndedBots();
    expect([await userExists(token.user_id), await userExists(kept.user_id)]).toEqual([false, true]);
    expect((await owner.client.get(`/api/v4/groups/${id}/access_tokens`)).body).toHaveLength(1);
    await owner.client.get(`/api/v4/groups/${id}/members/${token.user_id}`).expect(404);
  });

  it('happens some days after its last token expired', async () => {
    const { id } = await make.project(owner);
    const token = await createToken(`/api/v4/projects/${id}`);
    const runsOut = (days: number) =>
      identity.db.query(
        `update access_tokens set expires_on = (now() at time zone 'UTC')::date - $2::int where id = $1`,
        [token.id, days],
      );
    await runsOut(29);
    await removeEndedBots();
    expect(await userExists(token.user_id)).toBe(true);
    await runsOut(30);
    await removeEndedBots();
    expect(await userExists(token.user_id)).toBe(false);
  });

  it.each(['group', 'project'] as const)(
    'happens with the deletion of the %s; its token is refused at once',
    async (kind) => {
      const parent = await make.group(owner);
      const target = kind === 'group' ? parent : await make.project(owner, { namespace_id: parent.id });
      const token = await createToken(`/api/v4/${kind}s/${target.id}`);
      const other = await createToken(`/api/v4/groups/${(await make.group(owner)).id}`);
      expect(await resolveOutcome(token.token)).toBe('valid');
      await owner.client.delete(`/api/v4/${kind}s/${target.id}`).expect(202);
      expect(await resolveOutcome(token.token)).toBe('user_refused');
      await removeEndedBots();
      expect([await userExists(token.user_id), await resolveOutcome(token.token)]).toEqual([false, 'unknown']);
      expect([await userExists(other.user_id), await resolveOutcome(other.token)]).toEqual([true, 'valid']);
    },
  );

  it('happens for bots of projects when the group above is deleted', async () => {
    const parent = await make.group(owner);
    const project = await make.project(owner, { namespace_id: parent.id });
    const token = await createToken(`/api/v4/projects/${project.id}`);
    await owner.client.delete(`/api/v4/groups/${parent.id}`).expect(202);
    expect(await resolveOutcome(token.token)).toBe('user_refused');
    await removeEndedBots();
    expect(await userExists(token.user_id)).toBe(false);
  });
});
