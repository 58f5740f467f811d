import { TokenExpiryNoticesJob } from '../../src/tokens/token-upkeep.job';
import { TokenExpiryNotices } from '../../src/tokens/notices/expiry-notices';
import { maker } from '../support/groups-and-projects';
import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';

interface Token {
  readonly id: number;
  readonly user_id: number;
}

let identity: IdentityApp;
const make = maker(() => identity);
beforeAll(async () => {
  identity = await startIdentity();
});
afterAll(() => identity.close());

const createToken = async (userId: number, over: object = {}, kind = 'personal_access') =>
  (
    await identity.root
      .post(`/api/v4/users/${userId}/${kind}_tokens`)
      .send({ name: 'x', scopes: ['api'], ...over })
      .expect(201)
  ).body as Token;
/** Sets the token's expiry so many days ahead; the day of notices starts at 01:00 UTC. */
const setDaysLeft = (id: number, days: number) =>
  identity.db.query(
    `update access_tokens set expires_on = ((now() at time zone 'UTC') - interval '1 hour')::date + $2::int where id = $1`,
    [id, days],
  );
const sendNotices = () => identity.app.get(TokenExpiryNotices).sendNotices();
const listNotices = async (id: number) =>
  (
    await identity.db.query<{ payload: { days_left: number; recipient_ids: number[] } }>(
      `select payload from outbox where subject = 'identity.access_token.expiry_approached.v1' and aggregate_id = $1
       order by id`,
      [id],
    )
  ).map((row) => row.payload);
const listNoticeDays = async (id: number) => (await listNotices(id)).map((payload) => payload.days_left);

describe('expiry notices', () => {
  it('are sent once each, 60, 30 and 7 days before the expiry and at the expiry', async () => {
    const ada = await make.person();
    const { id } = await createToken(ada.id);
    for (const days of [365, 61, 60, 60, 59, 31, 30, 29, 8, 7, 6, 1, 0, 0, -1]) {
      await setDaysLeft(id, days);
      await sendNotices();
    }
    expect(await listNoticeDays(id)).toEqual([60, 30, 7, 0]);
    const [first] = await listNotices(id);
    expect(first).toEqual({
      token_id: id,
      user_id: ada.id,
      days_left: 60,
      expires_on: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
      recipient_ids: [ada.id],
    });
  });

  it('that were missed are sent as one', async () => {
    const { id } = await createToken((await make.person()).id);
    await setDaysLeft(id, 5);
    await sendNotices();
    expect(await listNoticeDays(id)).toEqual([5]);
    const late = await createToken((await make.person()).id);
    await setDaysLeft(late.id, -3);
    await sendNotices();
    await sendNotices();
    expect(await listNoticeDays(late.id)).toEqual([]);
  });

  it('are sent once by many concurrent processes', async () => {
    const { id: holder } = await make.person();
    const ids = await Promise.all(Array.from({ length: 20 }, async () => (await createToken(holder)).id));
    for (const id of ids) await setDaysLeft(id, 30);
    await Promise.all([sendNotices(), sendNotices(), sendNotices(), identity.app.get(TokenExpiryNoticesJob).run()]);
    await sendNotices();
    for (const id of ids) expect(await listNoticeDays(id)).toEqual([30]);
  });

  it('are not sent for days before the token was created', async () => {
    const ada = await make.person();
    const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
    const short = await createToken(ada.id, { expires_at: inDays(7) });
    const longer = await createToken(ada.id, { expires_at: inDays(45) });
    await sendNotices();
    expect([await listNoticeDays(short.id), await listNoticeDays(longer.id)]).toEqual([[], []]);
    await setDaysLeft(longer.id, 30);
    await setDaysLeft(short.id, 0);
    await sendNotices();
    expect([await listNoticeDays(short.id), await listNoticeDays(longer.id)]).toEqual([[0], [30]]);
  });

  it('are not sent for revoked and impersonation tokens, nor to blocked users', async () => {
    const [ada, bob] = [await make.person(), await make.person()];
    const revoked = await createToken(ada.id);
    await identity.root.delete(`/api/v4/personal_access_tokens/${revoked.id}`);
    const impersonation = await createToken(ada.id, {}, 'impersonation');
    const blocked = await createToken(bob.id);
    await identity.root.post(`/api/v4/users/${bob.id}/block`);
    for (const { id } of [revoked, impersonation, blocked]) await setDaysLeft(id, 7);
    await sendNotices();
    for (const { id } of [revoked, impersonation, blocked]) expect(await listNotices(id)).toEqual([]);
  });
});

describe('recipients', () => {
  const notices = async (id: number) => {
    await setDaysLeft(id, 7);
    await sendNotices();
    return (await listNotices(id)).flatMap((payload) => payload.recipient_ids);
  };
  const bot = async (by: Person, where: string, over: object = {}) =>
    (
      await by.client
        .post(`${where}/access_tokens`)
        .send({ name: 'x', scopes: ['api'], ...over })
        .expect(201)
    ).body as Token;

  it('of a group token are its owners, else those of groups above; never bots', async () => {
    const [owner, second, maintainer] = [await make.person(), await make.person(), await make.person()];
    const group = await make.group(owner);
    const below = await make.group(owner, { parent_id: group.id });
    await make.join(`/api/v4/groups/${group.id}`, second, 50);
    await make.join(`/api/v4/groups/${group.id}`, maintainer, 40);
    const [one, two] = [
      await bot(owner, `/api/v4/groups/${group.id}`, { access_level: 50 }),
      await bot(owner, `/api/v4/groups/${below.id}`),
    ];
    expect(await notices(one.id)).toEqual([owner.id, second.id]);
    expect(await notices(two.id)).toEqual([owner.id, second.id]);
    const third = await make.person();
    await make.join(`/api/v4/groups/${below.id}`, third, 50);
    expect(await notices((await bot(owner, `/api/v4/groups/${below.id}`)).id)).toEqual([third.id]);
  });

  it('of a project token are its maintainers and owners, else those of groups above', async () => {
    const [owner, maintainer, developer] = [await make.person(), await make.person(), await make.person()];
    const group = await make.group(owner);
    const project = await make.project(owner, { namespace_id: group.id });
    expect(await notices((await bot(owner, `/api/v4/projects/${project.id}`)).id)).toEqual([owner.id]);
    await make.join(`/api/v4/projects/${project.id}`, maintainer, 40);
    await make.join(`/api/v4/projects/${project.id}`, developer, 30);
    expect(await notices((await bot(owner, `/api/v4/projects/${project.id}`)).id)).toEqual([maintainer.id]);
    const own = await make.project(owner);
    expect(await notices((await bot(owner, `/api/v4/projects/${own.id}`)).id)).toEqual([owner.id]);
  });

  it('of the token of a service account are the owners of its group', async () => {
    const owner = await make.person();
    const group = await make.group(owner);
    const { body: account }: { body: { id: number } } = await owner.client
      .post(`/api/v4/groups/${group.id}/service_accounts`)
      .send({})
      .expect(201);
    expect(await notices((await createToken(account.id)).id)).toEqual([owner.id]);
  });

  it('of a rotation are the same', async () => {
    const [owner, maintainer] = [await make.person(), await make.person()];
    const project = await make.project(owner);
    await make.join(`/api/v4/projects/${project.id}`, maintainer, 40);
    const old = await bot(owner, `/api/v4/projects/${project.id}`);
    const { body: fresh }: { body: Token } = await owner.client
      .post(`/api/v4/projects/${project.id}/access_tokens/${old.id}/rotate`)
      .expect(200);
    const [row] = await identity.db.query<{ payload: { recipient_ids: number[] } }>(
      `select payload from outbox where subject = 'identity.access_token.rotated.v1' and aggregate_id = $1`,
      [fresh.id],
    );
    expect(row!.payload.recipient_ids).toEqual([owner.id, maintainer.id]);
  });
});
