import { createHash, randomUUID } from 'node:crypto';
import { INTERNAL_PATHS } from '@rookery/contracts';
import type {
  CheckWebSessionAnswer,
  EndWebSessionAnswer,
  ListedWebSession,
  ListWebSessionsAnswer,
  StartWebSessionAnswer,
} from '@rookery/contracts';
import { WebSessionsService } from '../../src/web-sessions/web-sessions.service';
import type { IdentityApp } from '../support/app';
import { startIdentity } from '../support/app';
import { internalCall } from '../support/internal-calls';

let identity: IdentityApp;
let mina: Holder;
let otto: Holder;
beforeAll(async () => {
  identity = await startIdentity();
  [mina, otto] = [await holder('mina'), await holder('otto')];
});
afterAll(() => identity.close());

interface Holder {
  readonly id: number;
  readonly token: string;
}
/** Creates a person who has a token. */
async function holder(username: string): Promise<Holder> {
  const { id } = await identity.person(username);
  return { id, token: await tokenOf(id, ['api']) };
}
async function tokenOf(id: number, scopes: readonly string[], kind = 'personal_access'): Promise<string> {
  const asked = { name: 'laptop', scopes };
  const { body } = await identity.root.post(`/api/v4/users/${id}/${kind}_tokens`).send(asked).expect(201);
  return (body as Holder).token;
}

async function start(token: string, more: object = {}, id = randomUUID()): Promise<string | null> {
  const digest = createHash('sha256').update(token).digest('hex');
  const asked = { id, digest, ip: '192.0.2.1', user_agent: 'Lynx', ...more };
  const answer = await internalCall<StartWebSessionAnswer>(identity, INTERNAL_PATHS.startWebSession, asked);
  return answer.is_started ? id : null;
}
async function isLive(id: string | null, ip = '192.0.2.1'): Promise<boolean> {
  const answer = await internalCall<CheckWebSessionAnswer>(identity, INTERNAL_PATHS.checkWebSession, { id, ip });
  return answer.is_live;
}
async function list(id: string | null): Promise<readonly ListedWebSession[]> {
  return (await internalCall<ListWebSessionsAnswer>(identity, INTERNAL_PATHS.listWebSessions, { id })).sessions!;
}
const end = (id: string | null, ended_id: string | null): Promise<EndWebSessionAnswer> =>
  internalCall(identity, INTERNAL_PATHS.endWebSession, { id, ended_id });
const age = (id: string | null, column: string, by: string): Promise<unknown> =>
  identity.db.query(`update web_sessions set ${column} = now() - interval '${by}' where id = $1`, [id]);

beforeEach(() => identity.db.query('delete from web_sessions'));

it('lists the sessions of a user, the one seen last first', async () => {
  const first = await start(mina.token, { user_agent: null, ip: 'nonsense' });
  const second = await start(mina.token);
  await start(otto.token);
  await age(first, 'last_seen_at', '1 minute');
  expect((await list(first)).map(({ id, is_current, ip, user_agent }) => [id, is_current, ip, user_agent])).toEqual([
    [second, false, '192.0.2.1', 'Lynx'],
    [first, true, null, null],
  ]);
});

it('starts none for a token that is unknown or revoked', async () => {
  expect(await start('unknown')).toBeNull();
  const other = await holder('vera');
  await identity.db.query('update access_tokens set revoked = true where user_id = $1', [other.id]);
  expect(await start(other.token)).toBeNull();
});

it('ends own sessions, and none of others', async () => {
  const [mine, also, his] = [await start(mina.token), await start(mina.token), await start(otto.token)];
  await end(mine, his);
  await end(randomUUID(), also);
  expect([await isLive(his), await isLive(also)]).toEqual([true, true]);
  await end(mine, also);
  expect([await isLive(also), await isLive(mine)]).toEqual([false, true]);
});

it('records the use of a session at most every ten minutes', async () => {
  const id = await start(mina.token);
  await age(id, 'last_seen_at', '9 minutes');
  await isLive(id, '192.0.2.9');
  expect((await list(id))[0]!.ip).toBe('192.0.2.1');
  await age(id, 'last_seen_at', '11 minutes');
  await isLive(id, '192.0.2.9');
  expect((await list(id))[0]!.ip).toBe('192.0.2.9');
});

it('ends sessions after fourteen days, and removes them later', async () => {
  const [old, young] = [await start(mina.token), await start(mina.token)];
  await age(old, 'created_at', '14 days');
  expect([await isLive(old), await isLive(young)]).toEqual([false, true]);
  expect((await list(young)).map(({ id }) => id)).toEqual([young]);
  await identity.app.get(WebSessionsService).removeOld();
  expect(await identity.db.query('select id from web_sessions')).toEqual([{ id: young }]);
});

it('keeps a hundred sessions of a user', async () => {
  const first = await start(mina.token);
  await age(first, 'created_at', '1 hour');
  const his = await start(otto.token);
  for (let count = 0; count < 100; count += 1) await start(mina.token);
  expect([await isLive(first), await isLive(his)]).toEqual([false, true]);
});

it('lists none whose token is revoked', async () => {
  const [mine, his] = [await start(mina.token), await start(otto.token)];
  await identity.db.query('update access_tokens set revoked = true where user_id = $1', [otto.id]);
  expect([(await list(his)).length, (await list(mine)).length]).toEqual([0, 1]);
});

it('starts a session once, however often the request is repeated', async () => {
  const id = randomUUID();
  expect([await start(mina.token, {}, id), await start(mina.token, {}, id)]).toEqual([id, id]);
  expect(await start(otto.token, {}, id)).toBeNull();
  expect(await list(id)).toHaveLength(1);
});

it('is closed to tokens without the scope, which end their own session still', async () => {
  const [whole, reading, narrow] = [
    await start(mina.token),
    await start(await tokenOf(mina.id, ['read_api'])),
    await start(await tokenOf(mina.id, ['read_user'])),
  ];
  expect([(await list(reading)).length, await list(narrow)]).toEqual([3, null]);
  for (const own of [reading, narrow]) expect(await end(own, whole)).toEqual({ is_permitted: false });
  expect(await isLive(whole)).toBe(true);
  for (const own of [reading, narrow]) expect(await end(own, own)).toEqual({ is_permitted: true });
  expect([await isLive(reading), await isLive(narrow)]).toEqual([false, false]);
});

it('keeps sessions of an administrator who impersonates a user apart', async () => {
  const own = await start(mina.token);
  const token = await tokenOf(mina.id, ['api'], 'impersonation');
  const [impersonated, also] = [await start(token), await start(token)];
  expect((await list(own)).map(({ id }) => id)).toEqual([own]);
  expect((await list(impersonated)).map(({ id }) => id).sort()).toEqual([impersonated, also].sort());
  await end(own, also);
  await end(impersonated, own);
  expect([await isLive(own), await isLive(also)]).toEqual([true, true]);
});
