import { Refused } from '@rookery/kernel';
import { Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { untilBlocked } from '@rookery/testing';
import { AccessTokensQueries } from '../../src/tokens/access-tokens.queries';
import { AccessTokensService } from '../../src/tokens/access-tokens.service';
import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';

const ROUNDS = 40;
const AT_ONCE = 50;

let identity: IdentityApp;
let tokens: AccessTokensService;
let ada: Person;
beforeAll(async () => {
  identity = await startIdentity();
  tokens = identity.app.get(AccessTokensService);
  ada = await identity.person('ada');
});
afterAll(() => identity.close());

const createToken = () =>
  tokens.create({ userId: ada.id, name: 'spun', scopes: ['api'], impersonation: false, createdBy: ada.id });
const listWorkingTokenIds = async (familyId: number) =>
  (
    await identity.db.query<{ id: number }>(`select id from access_tokens where family_id = $1 and not revoked`, [
      familyId,
    ])
  ).map((row) => row.id);
const rotateToken = (id: number) =>
  tokens.rotateToken(id, undefined, { userId: ada.id, tokenId: null, impersonatorId: null });
/** A transaction that keeps its locks until it is released. */
async function holdLocks(take: (tx: Tx) => Promise<unknown>): Promise<{ release: () => Promise<void> }> {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  let held = (): void => undefined;
  const isHeld = new Promise<void>((resolve) => (held = resolve));
  const transaction = identity.app.get(Work).run(async (tx) => {
    await take(tx);
    held();
    await released;
  });
  await isHeld;
  return {
    release: () => {
      release();
      return transaction;
    },
  };
}
const lockTokenRow = (id: number) =>
  holdLocks((tx) => tx.query(`select id from access_tokens where id = $1 for update`, [id]));
const waitForBlocked = (count: number) => untilBlocked((sql) => identity.db.query(sql), count);
const fulfilled = <T>(results: PromiseSettledResult<T>[]) => results.filter((one) => one.status === 'fulfilled');

describe('concurrent rotations of one token', () => {
  it(`leave at most one valid token, in ${ROUNDS} rounds of ${AT_ONCE}`, async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { id } = await createToken();
      const results = await Promise.allSettled(Array.from({ length: AT_ONCE }, () => rotateToken(id)));
      expect(fulfilled(results)).toHaveLength(1);
      const refusals = results.filter((one) => one.status === 'rejected').map((one) => one.reason as unknown);
      expect(refusals.filter((reason) => !(reason instanceof Refused))).toEqual([]);
      expect(await listWorkingTokenIds(id)).toEqual([]);
    }
  });

  it('see each other when one rotates a token of the family and another revokes the family', async () => {
    const first = await createToken();
    const second = await rotateToken(first.id);
    const held = await lockTokenRow(second.id);
    const renewal = rotateToken(second.id);
    await waitForBlocked(1);
    // Reuse of the first token revokes the family while the second is being rotated: the successor must not survive.
    const reuse = rotateToken(first.id);
    await waitForBlocked(2);
    await held.release();
    await expect(renewal).resolves.toMatchObject({ revoked: false });
    await expect(reuse).rejects.toThrow('Token already revoked');
    expect(await listWorkingTokenIds(first.id)).toEqual([]);
  });

  it('let the first one finish, and then revoke the family', async () => {
    const { id } = await createToken();
    // The first is between its two statements, before it has a row.
    const first = await holdLocks((tx) => identity.app.get(AccessTokensQueries).tryLockFamily(tx, id));
    const second = rotateToken(id);
    await waitForBlocked(1);
    expect(await listWorkingTokenIds(id)).toEqual([id]);
    await first.release();
    await expect(second).rejects.toThrow('Token already revoked');
    expect(await listWorkingTokenIds(id)).toEqual([]);
  });

  it('emit one event each, with the recipients', async () => {
    const first = await createToken();
    const second = await rotateToken(first.id);
    const rows = await identity.db.query<{ payload: Record<string, unknown> }>(
      `select payload from outbox where subject = 'identity.access_token.rotated.v1' and aggregate_id = $1`,
      [second.id],
    );
    expect(rows.map((row) => row.payload)).toEqual([
      {
        token_id: second.id,
        previous_token_id: first.id,
        user_id: ada.id,
        rotated_at: second.created_at.toISOString(),
        recipient_ids: [ada.id],
      },
    ]);
  });
});
