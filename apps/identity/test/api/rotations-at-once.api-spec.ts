import { untilBlocked } from '@rookery/testing';
import type { Agent } from 'supertest';
import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';
import { maker } from '../support/groups-and-projects';
import { resolve } from '../support/internal-calls';

const AT_ONCE = 50;
const CHECKS = 20;
/** Less than the longest statement of the product, after which the first would be cancelled. Units: ms. */
const HELD_MS = 2500;

interface Token {
  readonly id: number;
  readonly user_id: number;
  readonly token: string;
}

// With as many connections as in production, because the test is about their number.
let identity: IdentityApp;
let owner: Person;
let stranger: Person;
const make = maker(() => identity);
beforeAll(async () => {
  identity = await startIdentity();
  [owner, stranger] = [await make.person(), await make.person()];
});
afterAll(() => identity.close());

const wanted = { name: 'ci', scopes: ['api'] };
const createToken = async (by: Agent, path: string) => (await by.post(path).send(wanted).expect(201)).body as Token;
const asTokenHolder = ({ id, user_id }: Token): Agent =>
  identity.as({ userId: user_id, username: `holder${user_id}`, tokenId: id });
const asBot = ({ id, user_id }: Token): Agent =>
  identity.as({ userId: user_id, username: `bot${user_id}`, isBot: true, tokenId: id });

/** Each way to rotate a token: creates one, and returns the caller and the route of its rotation. */
const WAYS: Readonly<Record<string, () => Promise<{ token: Token; by: Agent; path: string }>>> = {
  'a personal token': async () => {
    const token = await createToken(identity.root, `/api/v4/users/${owner.id}/personal_access_tokens`);
    return { token, by: owner.client, path: `/api/v4/personal_access_tokens/${token.id}/rotate` };
  },
  'a personal token that rotates itself': async () => {
    const token = await createToken(identity.root, `/api/v4/users/${owner.id}/personal_access_tokens`);
    return { token, by: asTokenHolder(token), path: '/api/v4/personal_access_tokens/self/rotate' };
  },
  'an impersonation token': async () => {
    const token = await createToken(identity.root, `/api/v4/users/${owner.id}/impersonation_tokens`);
    return { token, by: identity.root, path: `/api/v4/personal_access_tokens/${token.id}/rotate` };
  },
  'a token of a group': async () => {
    const tokens = `/api/v4/groups/${(await make.group(owner)).id}/access_tokens`;
    const token = await createToken(owner.client, tokens);
    return { token, by: owner.client, path: `${tokens}/${token.id}/rotate` };
  },
  'a token of a project that rotates itself': async () => {
    const tokens = `/api/v4/projects/${(await make.project(owner)).id}/access_tokens`;
    const token = await createToken(owner.client, tokens);
    return { token, by: asBot(token), path: `${tokens}/self/rotate` };
  },
  'a token of a service account': async () => {
    const accounts = `/api/v4/groups/${(await make.group(owner)).id}/service_accounts`;
    const { body: account } = await owner.client.post(accounts).send({}).expect(201);
    const tokens = `${accounts}/${account.id}/personal_access_tokens`;
    const token = await createToken(owner.client, tokens);
    return { token, by: owner.client, path: `${tokens}/${token.id}/rotate` };
  },
};

const countWaitingStatements = async (): Promise<number> =>
  (
    await identity.db.query(
      `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
  ).length;

describe(`${AT_ONCE} rotations at once`, () => {
  it.each(Object.keys(WAYS))(
    'of %s: one succeeds, the others are refused, and other requests do not wait',
    async (way) => {
      const innocent = await createToken(identity.root, `/api/v4/users/${owner.id}/personal_access_tokens`);
      const { token, by, path } = await WAYS[way]!();
      // Blocks the first rotation, and with it all that wait for the family.
      const slow = await identity.db.openConnection('slow', 60_000);
      await slow.query('begin');
      await slow.query('select id from access_tokens where id = $1 for update', [token.id]);
      const heldUntil = performance.now() + HELD_MS;
      const rotations = Promise.all(
        Array.from({ length: AT_ONCE }, async () => {
          const { status, body } = await by.post(path).send({});
          return { status, body: body as unknown };
        }),
      );
      await untilBlocked((sql) => identity.db.query(sql), 2);
      // Token checks as the gateway requests them for the late ones.
      const late = Array.from({ length: AT_ONCE }, () => resolve(identity, token.token, { rotating: true }));
      // Other requests are served while the family is locked; they would not be without free connections.
      let mostWaiting = 0;
      for (let check = 0; check < CHECKS && performance.now() < heldUntil; check += 1) {
        mostWaiting = Math.max(mostWaiting, await countWaitingStatements());
        expect(await resolve(identity, innocent.token)).toMatchObject({ outcome: 'valid' });
        await stranger.client.get('/api/v4/user').expect(200);
      }
      mostWaiting = Math.max(mostWaiting, await countWaitingStatements());
      // The first waits for the lock, one waits for the first, and the others hold no connection.
      expect(mostWaiting).toBe(2);
      await slow.query('rollback');
      await slow.end();
      await Promise.all(late);
      const answers = await rotations;
      const refusals = answers.filter(({ status }) => status !== 200);
      expect(refusals).toHaveLength(AT_ONCE - 1);
      for (const refusal of refusals) {
        expect(refusal).toEqual({ status: 400, body: { message: '400 Bad request - Token already revoked' } });
      }
      const [left] = await identity.db.query<{ count: number }>(
        `select count(*)::int as count from access_tokens where family_id = $1 and not revoked`,
        [token.id],
      );
      expect(left!.count).toBe(0);
    },
  );
});
