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
let mina: TokenHolder;
let otto: TokenHolder;
beforeAll(async () => {
  identity = await startIdentity();
  [mina, otto] = [await createTokenHolder('mina'), await createTokenHolder('otto')];
});
afterAll(() => identity.close());

interface TokenHolder {
  readonly id: number;
  readonly token: string;
}
/** Creates a person who has a token. */
async function createTokenHolder(username: string): Promise<TokenHolder> {
  const { id } = await identity.person(username);
  return { id, token: await createToken(id, ['api']) };
}
async function createToken(id: number, scopes: readonly string[], kind = 'personal_access'): Promise<string> {
  const asked = { name: 'laptop', scopes };
  const { body } = await identity.root.post(`/api/v4/users/${id}/${kind}_tokens`).send(asked).expect(201);
  return (body as TokenHolder).token;
}

async function startSession(token: string, more: object = {}, id = randomUUID()): Promise<string | null> {
  const digest = createHash('sha256').update(token).digest('hex');
  const asked = { id, digest, ip: '192.0.2.1', user_agent: 'Lynx', ...more };
  const answer = await internalCall<StartWebSessionAnswer>(identity, INTERNAL_PATHS.startWebSession, asked);
  return answer.is_started ? id : null;
}
async function isLive(id: string | null, ip = '192.0.2.1'): Promise<boolean> {
  const answer = await internalCall<CheckWebSessionAnswer>(identity, INTERNAL_PATHS.checkWebSession, { id, ip });
  return answer.is_live;
}
async function listSessions(id: string | null): Promise<readonly ListedWebSession[]> {
  return (await internalCall<ListWebSessionsAnswer>(identity, INTERNAL_PATHS.listWebSessions, { id })).sessions!;
}
const endSession = (id: string | null, ended_id: string | null): Promise<EndWebSessionAnswer> =>
  internalCall(identity, INTERNAL_PATHS.endWebSession, { id, ended_id });
const makeColumnOlder = (id: string | null, column: string, by: string): Promise<unknown> =>
  identity.db.query(`update web_sessions set ${column} = now() - interval '${by}' where id = $1`, [id]);

beforeEach(() => identity.db.query('delete from web_sessions'));

it('lists the sessions of a user, the one seen last first', async () => {
  const first = await startSession(mina.token, { user_agent: null, ip: 'nonsense' });
  const second = await startSession(mina.token);
  await startSession(otto.token);
  await makeColumnOlder(first, 'last_seen_at', '1 minute');
  expect(
    (await listSessions(first)).map(({ id, is_current, ip, user_agent }) => [id, is_current, ip, user_agent]),
  ).toEqual([
    [second, false, '192.0.2.1', 'Lynx'],
    [first, true, null, null],
  ]);
});

it('starts none for a token that is unknown or revoked', async () => {
  expect(await startSession('unknown')).toBeNull();
  const other = await createTokenHolder('vera');
  await identity.db.query('update access_tokens set revoked = true where user_id = $1', [other.id]);
  expect(await startSession(other.token)).toBeNull();
});

it('ends own sessions, and none of others', async () => {
  const [mine, also, his] = [
    await startSession(mina.token),
    await startSession(mina.token),
    await startSession(otto.token),
  ];
  await endSession(mine, his);
  await endSession(randomUUID(), also);
  expect([await isLive(his), await isLive(also)]).toEqual([true, true]);
  await endSession(mine, also);
  expect([await isLive(also), await isLive(mine)]).toEqual([false, true]);
});

it('records the use of a session at most every ten minutes', async () => {
  const id = await startSession(mina.token);
  await makeColumnOlder(id, 'last_seen_at', '9 minutes');
  await isLive(id, '192.0.2.9');
  expect((await listSessions(id))[0]!.ip).toBe('192.0.2.1');
  await makeColumnOlder(id, 'last_seen_at', '11 minutes');
  await isLive(id, '192.0.2.9');
  expect((await listSessions(id))[0]!.ip).toBe('192.0.2.9');
});

it('ends sessions after fourteen days, and removes them later', async () => {
  const [old, young] = [await startSession(mina.token), await startSession(mina.token)];
  await makeColumnOlder(old, 'created_at', '14 days');
  expect([await isLive(old), await isLive(young)]).toEqual([false, true]);
  expect((await listSessions(young)).map(({ id }) => id)).toEqual([young]);
  await identity.app.get(WebSessionsService).removeOld();
  expect(await identity.db.query('select id from web_sessions')).toEqual([{ id: young }]);
});

it('keeps a hundred sessions of a user', async () => {
  const first = await startSession(mina.token);
  await makeColumnOlder(first, 'created_at', '1 hour');
  const his = await startSession(otto.token);
  for (let count = 0; count < 100; count += 1) await startSession(mina.token);
  expect([await isLive(first), await isLive(his)]).toEqual([false, true]);
});

it('lists none whose token is revoked', async () => {
  const [mine, his] = [await startSession(mina.token), await startSession(otto.token)];
  await identity.db.query('update access_tokens set revoked = true where user_id = $1', [otto.id]);
  expect([(await listSessions(his)).length, (await listSessions(mine)).length]).toEqual([0, 1]);
});

it('starts a session once, however often the request is repeated', async () => {
  const id = randomUUID();
  expect([await startSession(mina.token, {}, id), await startSession(mina.token, {}, id)]).toEqual([id, id]);
  expect(await startSession(otto.token, {}, id)).toBeNull();
  expect(await listSessions(id)).toHaveLength(1);
});

it('is closed to tokens without the scope, which end their own session still', async () => {
  const [whole, reading, narrow] = [
    await startSession(mina.token),
    await startSession(await createToken(mina.id, ['read_api'])),
    await startSession(await createToken(mina.id, ['read_user'])),
  ];
  expect([(await listSessions(reading)).length, await listSessions(narrow)]).toEqual([3, null]);
  for (const own of [reading, narrow]) expect(await endSession(own, whole)).toEqual({ is_permitted: false });
  expect(await isLive(whole)).toBe(true);
  for (const own of [reading, narrow]) expect(await endSession(own, own)).toEqual({ is_permitted: true });
  expect([await isLive(reading), await isLive(narrow)]).toEqual([false, false]);
});

it('keeps sessions of an administrator who impersonates a user apart', async () => {
  const own = await startSession(mina.token);
  const token = await createToken(mina.id, ['api'], 'impersonation');
  const [impersonated, also] = [await startSession(token), await startSession(token)];
  expect((await listSessions(own)).map(({ id }) => id)).toEqual([own]);
  expect((await listSessions(impersonated)).map(({ id }) => id).sort()).toEqual([impersonated, also].sort());
  await endSession(own, also);
  await endSession(impersonated, own);
  expect([await isLive(own), await isLive(also)]).toEqual([true, true]);
});
