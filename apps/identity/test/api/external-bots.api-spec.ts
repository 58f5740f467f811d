import type { Agent } from 'supertest';
import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';
import { maker } from '../support/groups-and-projects';
import type { MadeGroup } from '../support/groups-and-projects';
import { resolve, sudo } from '../support/internal-calls';

interface Token {
  readonly id: number;
  readonly user_id: number;
  readonly token: string;
}

let identity: IdentityApp;
/** Owners of a group each. */
let inga: Person;
let eve: Person;
let nest: MadeGroup;
const make = maker(() => identity);
beforeAll(async () => {
  identity = await startIdentity();
});
beforeEach(async () => {
  [inga, eve] = [await make.person(), await make.person({ external: true })];
  nest = await make.group(inga);
  await make.join(`/api/v4/groups/${nest.id}`, eve, 50);
});
afterAll(() => identity.close());

const wanted = { name: 'ci', scopes: ['api'] };
const groupPath = (): string => `/api/v4/groups/${nest.id}`;
const createServiceAccount = async (by: Person): Promise<number> =>
  (await by.client.post(`${groupPath()}/service_accounts`).send({}).expect(201)).body.id as number;
const createAccountToken = async (id: number, by: Agent): Promise<Token> =>
  (await by.post(`${groupPath()}/service_accounts/${id}/personal_access_tokens`).send(wanted).expect(201))
    .body as Token;
const createGroupToken = async (by: Agent): Promise<Token> =>
  (
    await by
      .post(`${groupPath()}/access_tokens`)
      .send({ ...wanted, access_level: 50 })
      .expect(201)
  ).body as Token;
const rotateToken = async (by: Agent, path: string): Promise<Token> =>
  (await by.post(`${path}/rotate`).send({}).expect(200)).body as Token;
const asBot = (token: Token): Agent =>
  identity.as({ userId: token.user_id, username: `bot${token.user_id}`, isBot: true, tokenId: token.id });
const putUser = (id: number, body: Record<string, unknown>) => identity.root.put(`/api/v4/users/${id}`).send(body);
const setExternal = (id: number, external: boolean) => putUser(id, { external }).expect(200);

/** Whether the user is external according to token resolution, sudo, the row, and the change log, which all agree. */
async function isExternal(token: Token): Promise<boolean> {
  const answer = (await resolve(identity, token.token)) as { holder?: { external: boolean } };
  const [row] = await identity.db.query<{ row: boolean; copy: boolean }>(
    `select u.external as row, (select (c.state ->> 'external')::boolean from directory_changes c
       where c.kind = 'user' and c.entity_id = u.id order by c.version desc limit 1) as copy
     from users u where u.id = $1`,
    [token.user_id],
  );
  const said = [answer.holder!.external, (await sudo(identity, String(token.user_id)))!.external, row!.row, row!.copy];
  expect(new Set(said).size).toBe(1);
  return said[0]!;
}

describe('a bot of an external user', () => {
  it('is external if that user created the service account, whoever issues its token', async () => {
    const id = await createServiceAccount(eve);
    expect(await isExternal(await createAccountToken(id, inga.client))).toBe(true);
    expect(await isExternal(await createAccountToken(id, eve.client))).toBe(true);
    expect(await isExternal(await createAccountToken(await createServiceAccount(inga), inga.client))).toBe(false);
  });

  it('is external if that user issued a token, also of an account of another user', async () => {
    expect(await isExternal(await createGroupToken(eve.client))).toBe(true);
    const id = await createServiceAccount(inga);
    const first = await createAccountToken(id, inga.client);
    expect(await isExternal(first)).toBe(false);
    expect(await isExternal(await createAccountToken(id, eve.client))).toBe(true);
    // The account is one user, so all its tokens have the same access.
    expect(await isExternal(first)).toBe(true);
  });

  it('is external if that user rotates its token, and stays so', async () => {
    const first = await createGroupToken(inga.client);
    expect(await isExternal(first)).toBe(false);
    const second = await rotateToken(eve.client, `${groupPath()}/access_tokens/${first.id}`);
    expect(await isExternal(second)).toBe(true);
    expect(await isExternal(await rotateToken(inga.client, `${groupPath()}/access_tokens/${second.id}`))).toBe(true);
    const id = await createServiceAccount(inga);
    const tokens = `${groupPath()}/service_accounts/${id}/personal_access_tokens`;
    const third = await createAccountToken(id, inga.client);
    expect(await isExternal(await rotateToken(eve.client, `${tokens}/${third.id}`))).toBe(true);
  });

  it('becomes external with that user, immediately, and internal again with that user', async () => {
    const made = await createGroupToken(inga.client);
    const issued = await createAccountToken(await createServiceAccount(eve), inga.client);
    const before = (await resolve(identity, made.token)).version;
    await setExternal(inga.id, true);
    expect(await isExternal(made)).toBe(true);
    const rows = await identity.db.query(
      `select 1 from directory_changes where version > $1 and kind = 'token' and entity_id = $2`,
      [before, made.id],
    );
    expect(rows).toHaveLength(1);
    await setExternal(inga.id, false);
    expect(await isExternal(made)).toBe(false);
    // Eve created it and is still external.
    expect(await isExternal(issued)).toBe(true);
  });

  it('follows the issuer of its token also when it rotates the token itself', async () => {
    const ivan = await make.person();
    await make.join(groupPath() as `/api/v4/groups/${number}`, ivan, 50);
    const first = await rotateToken(
      ivan.client,
      `${groupPath()}/access_tokens/${(await createGroupToken(inga.client)).id}`,
    );
    const second = await rotateToken(asBot(first), `${groupPath()}/access_tokens/self`);
    await setExternal(ivan.id, true);
    expect(await isExternal(second)).toBe(true);
    await setExternal(ivan.id, false);
    expect(await isExternal(second)).toBe(false);
    const third = await rotateToken(inga.client, `${groupPath()}/access_tokens/${second.id}`);
    await setExternal(ivan.id, true);
    expect(await isExternal(third)).toBe(false);
  });

  it('no longer depends on that user when the token was replaced since, and then on no other', async () => {
    const ivan = await make.person();
    await make.join(groupPath() as `/api/v4/groups/${number}`, ivan, 50);
    const replaced = async (token: Token, by: Person): Promise<Token> =>
      rotateToken(by.client, `${groupPath()}/access_tokens/${token.id}`);
    const bound = await replaced(await replaced(await replaced(await createGroupToken(inga.client), ivan), eve), inga);
    await setExternal(ivan.id, true);
    expect(await isExternal(bound)).toBe(true);
    await setExternal(eve.id, false);
    expect(await isExternal(bound)).toBe(false);
  });

  it('makes the bots that it creates external', async () => {
    const first = await createGroupToken(inga.client);
    const second = await createGroupToken(asBot(first));
    const third = await createAccountToken(await createServiceAccount(inga), asBot(second));
    await setExternal(inga.id, true);
    for (const token of [first, second, third]) expect(await isExternal(token)).toBe(true);
    await setExternal(inga.id, false);
    for (const token of [first, second, third]) expect(await isExternal(token)).toBe(false);
  });

  it('cannot be made internal by an administrator, who may make others external', async () => {
    const bound = await createGroupToken(eve.client);
    const refusal = 'must stay: whoever made the bot, or gave out a token of it, is external';
    expect((await putUser(bound.user_id, { external: false })).body).toEqual({ message: { external: [refusal] } });
    expect(await isExternal(bound)).toBe(true);
    const free = await createGroupToken(inga.client);
    await setExternal(free.user_id, true);
    expect(await isExternal(free)).toBe(true);
    await setExternal(free.user_id, false);
    expect(await isExternal(free)).toBe(false);
  });

  it('is external also where a previous release did not store it', async () => {
    const [made, issued] = [
      await createGroupToken(eve.client),
      await createAccountToken(await createServiceAccount(inga), eve.client),
    ];
    await identity.db.query(`update users set external = false where id = any($1)`, [[made.user_id, issued.user_id]]);
    for (const token of [made, issued]) {
      expect(await resolve(identity, token.token)).toMatchObject({ holder: { external: true } });
    }
    expect(await sudo(identity, String(made.user_id))).toMatchObject({ external: true });
  });
});
