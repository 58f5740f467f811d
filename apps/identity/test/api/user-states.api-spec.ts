import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';

let identity: IdentityApp;
let target: Person;
beforeAll(async () => {
  identity = await startIdentity();
  target = await identity.person('someone');
});
afterAll(() => identity.close());

const CHANGES = ['activate', 'approve', 'ban', 'block', 'deactivate', 'unban', 'unblock'] as const;
type Change = (typeof CHANGES)[number];
type State = 'active' | 'blocked' | 'banned' | 'deactivated' | 'blocked_pending_approval';

const requestStateChange = (id: number, what: Change) => identity.root.post(`/api/v4/users/${id}/${what}`);
const setStateInDatabase = (id: number, state: State) =>
  identity.db.query(`update users set state = $2 where id = $1`, [id, state]);
const fetchState = async (id: number): Promise<string> => (await identity.root.get(`/api/v4/users/${id}`)).body.state;
const ANSWERS = { true: 'true', null: 'null', false: 'false' } as const;

const BLOCKED_ACTIVATE = '403 Forbidden - A blocked user must be unblocked to be activated';
const NOT_PENDING = 'The user you are trying to approve is not pending approval';
const BLOCKED_DEACTIVATE = '403 Forbidden - A blocked user cannot be deactivated by the API';

/** State before, change, answer or text of the 403, state after. Source: reference identity-and-import 10.1, 10.6. */
const TABLE: [State, Change, string, State][] = [
  ['active', 'activate', ANSWERS.true, 'active'],
  ['deactivated', 'activate', ANSWERS.true, 'active'],
  ['blocked', 'activate', BLOCKED_ACTIVATE, 'blocked'],
  ['banned', 'activate', BLOCKED_ACTIVATE, 'banned'],
  ['blocked_pending_approval', 'activate', BLOCKED_ACTIVATE, 'blocked_pending_approval'],
  ['blocked_pending_approval', 'approve', ANSWERS.true, 'active'],
  ['active', 'approve', NOT_PENDING, 'active'],
  ['blocked', 'approve', NOT_PENDING, 'blocked'],
  ['active', 'ban', ANSWERS.true, 'banned'],
  ['banned', 'ban', 'You cannot ban banned users.', 'banned'],
  ['blocked', 'ban', 'You cannot ban blocked users.', 'blocked'],
  ['deactivated', 'ban', 'You cannot ban deactivated users.', 'deactivated'],
  ['active', 'block', ANSWERS.true, 'blocked'],
  ['deactivated', 'block', ANSWERS.true, 'blocked'],
  ['blocked', 'block', ANSWERS.null, 'blocked'],
  ['banned', 'block', ANSWERS.null, 'banned'],
  ['active', 'deactivate', ANSWERS.true, 'deactivated'],
  ['deactivated', 'deactivate', ANSWERS.null, 'deactivated'],
  ['blocked', 'deactivate', BLOCKED_DEACTIVATE, 'blocked'],
  ['banned', 'deactivate', BLOCKED_DEACTIVATE, 'banned'],
  ['banned', 'unban', ANSWERS.true, 'active'],
  ['active', 'unban', 'You cannot unban active users.', 'active'],
  ['blocked', 'unban', 'You cannot unban blocked users.', 'blocked'],
  ['blocked', 'unblock', ANSWERS.true, 'active'],
  ['active', 'unblock', ANSWERS.false, 'active'],
  ['banned', 'unblock', ANSWERS.false, 'banned'],
  ['deactivated', 'unblock', '403 Forbidden - Deactivated users cannot be unblocked by the API', 'deactivated'],
];

describe('POST /users/:id/…', () => {
  it.each(TABLE)('for a user who is %s: %s answers %s', async (before, what, expected, after) => {
    await setStateInDatabase(target.id, before);
    const { status, text, body } = await requestStateChange(target.id, what);
    const isAnswer = Object.values<string>(ANSWERS).includes(expected);
    expect([status, isAnswer ? text : body]).toEqual(isAnswer ? [201, expected] : [403, { message: expected }]);
    expect(await fetchState(target.id)).toBe(after);
    await setStateInDatabase(target.id, 'active');
  });

  it.each(CHANGES)('%s is for administrators, and for existing users', async (what) => {
    expect((await target.client.post(`/api/v4/users/1/${what}`)).body).toEqual({ message: '403 Forbidden' });
    expect((await identity.anonymous.post(`/api/v4/users/1/${what}`)).body).toEqual({ message: '401 Unauthorized' });
    expect((await requestStateChange(987654321, what)).body).toEqual({ message: '404 User Not Found' });
    expect((await identity.root.post(`/api/v4/users/x/${what}`)).body).toEqual({ error: 'id is invalid' });
  });

  it.each([
    ['block', '403 Forbidden - The API initiating user cannot be blocked by the API'],
    ['ban', 'You cannot ban yourself.'],
    ['deactivate', '403 Forbidden - The API initiating user cannot be deactivated by the API'],
  ] as const)('refuses %s of oneself', async (what, message) => {
    expect((await requestStateChange(1, what)).body).toEqual({ message });
  });

  it.each([
    ['block', 'An internal user cannot be blocked'],
    ['ban', 'You cannot ban internal users.'],
    ['deactivate', '403 Forbidden - An internal user cannot be deactivated by the API'],
  ] as const)('refuses %s of the ghost', async (what, message) => {
    await identity.db.query(
      `insert into users (id, username, name, email, kind) values (900000, 'ghost', 'Ghost', 'g@ghost.invalid', 'ghost') on conflict do nothing`,
    );
    expect((await requestStateChange(900000, what)).body).toEqual({ message });
  });

  it('recently active users cannot be deactivated', async () => {
    const message =
      '403 Forbidden - The user you are trying to deactivate has been active in the past 90 days and cannot be deactivated by the API';
    const lee = await identity.person('lee');
    for (const days of [1, 89]) {
      await identity.db.query(`update users set last_activity_on = current_date - $2::int where id = $1`, [
        lee.id,
        days,
      ]);
      expect((await requestStateChange(lee.id, 'deactivate')).body).toEqual({ message });
    }
    await identity.db.query(`update users set last_activity_on = current_date - 91 where id = $1`, [lee.id]);
    await identity.root
      .post(`/api/v4/users/${lee.id}/personal_access_tokens`)
      .send({ name: 't', scopes: ['api'] })
      .expect(201);
    await identity.db.query(`update access_tokens set last_used_at = now() where user_id = $1`, [lee.id]);
    expect((await requestStateChange(lee.id, 'deactivate')).body).toEqual({ message });
    await identity.db.query(`update access_tokens set last_used_at = null where user_id = $1`, [lee.id]);
    expect((await requestStateChange(lee.id, 'deactivate')).text).toBe('true');
  });

  it('users whose removal is in progress cannot be reactivated', async () => {
    const fin = await identity.person('fin');
    await identity.db.query(`insert into user_removals (user_id, hard_delete) values ($1, false)`, [fin.id]);
    await setStateInDatabase(fin.id, 'blocked');
    expect((await requestStateChange(fin.id, 'unblock')).body).toEqual({ message: '404 User Not Found' });
    expect((await identity.root.put(`/api/v4/users/${fin.id}`).send({ name: 'x' })).body).toEqual({
      message: '404 User Not Found',
    });
  });
});

describe('a change of state', () => {
  it.each(['block', 'ban', 'deactivate'] as const)(
    '%s changes the directory and tokens in one version',
    async (what) => {
      const gus = await identity.person(`gus-${what}`);
      const { body: token }: { body: { id: number } } = await identity.root
        .post(`/api/v4/users/${gus.id}/personal_access_tokens`)
        .send({ name: 't', scopes: ['api'] })
        .expect(201);
      await requestStateChange(gus.id, what);
      const rows = await identity.db.query<{ kind: string; state: { state: string } | null }>(
        `select kind, state from directory_changes where version = (select max(version) from directory_changes) order by kind`,
      );
      expect(rows.map((row) => row.kind)).toEqual(['token', 'user']);
      expect(rows[1]!.state!.state).toBe(await fetchState(gus.id));
      const [entry] = await identity.db.query(
        `select 1 from directory_changes where kind = 'token' and entity_id = $1`,
        [token.id],
      );
      expect(entry).toBeDefined();
    },
  );

  it('one of two administrators who block each other concurrently stays', async () => {
    for (let round = 0; round < 5; round += 1) {
      const ann = await identity.person(`ann${round}`, { admin: true });
      const answers = await Promise.all([
        requestStateChange(ann.id, 'block'),
        ann.client.post('/api/v4/users/1/block'),
      ]);
      expect(answers.map((one) => one.status).sort()).toEqual([201, 403]);
      await identity.db.query(
        `update users set state = case when id = 1 then 'active' else 'blocked' end where id in (1, $1)`,
        [ann.id],
      );
    }
  });
});
