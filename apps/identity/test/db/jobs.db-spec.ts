import { startNats, until } from '@rookery/testing';
import type { PrivateNats } from '@rookery/testing';
import { startIdentity } from '../support/app';
import type { IdentityApp } from '../support/app';
import { startWorker } from '../support/worker';
import type { Worker } from '../support/worker';

let identity: IdentityApp;
let nats: PrivateNats;
let worker: Worker;
beforeAll(async () => {
  identity = await startIdentity();
  nats = await startNats();
  worker = await startWorker({ databaseUrl: identity.databaseUrl, nats });
});
afterAll(async () => {
  await worker.stop();
  await nats.drop();
  await identity.close();
});

test('a removal that is too long for the request is finished by a worker', async () => {
  const ann = await identity.person('ann');
  await identity.db.query(
    `insert into projects (namespace_id, creator_id, name, path, visibility)
     select $1, $2, 'p' || n, 'p' || n, 'private' from generate_series(1, 350) n`,
    [ann.namespaceId, ann.id],
  );
  await identity.root.delete(`/api/v4/users/${ann.id}`).expect(204);
  const job = `select state from background_jobs where name = 'finish-user-removal'`;
  expect(await identity.db.query(job)).toHaveLength(1);
  const status = async () => (await identity.root.get(`/api/v4/users/${ann.id}`)).status;
  await until(async () => (await status()) === 404, 'the end of the removal');
  await until(async () => {
    const [row] = await identity.db.query<{ state: string }>(job);
    return row?.state === 'done';
  }, 'the end of the job');
});

test('all housekeeping jobs are scheduled, each by its cron line', async () => {
  const known = 'select identifier from graphile_worker._private_known_crontabs order by identifier';
  await until(async () => (await identity.db.query(known)).length > 0, 'the lines');
  expect((await identity.db.query<{ identifier: string }>(known)).map((row) => row.identifier)).toEqual([
    'compact-change-log',
    'count-seats',
    'expire-memberships',
    'lapse-unconfirmed-addresses',
    'remove-due',
    'remove-ended-bots',
    'remove-old-web-sessions',
    'tell-of-ending-tokens',
  ]);
});

test('a due housekeeping job is run by a worker', async () => {
  const [eve, fox] = [await identity.person('eve'), await identity.person('fox')];
  const { body: group } = await eve.client.post('/api/v4/groups').send({ name: 'Crew', path: 'crew' }).expect(201);
  await eve.client.post(`/api/v4/groups/${group.id}/members`).send({ user_id: fox.id, access_level: 30 }).expect(201);
  await identity.db.query('update members set expires_on = $2 where user_id = $1', [fox.id, '2026-01-01']);
  await identity.db.query(`select graphile_worker.add_job('expire-memberships', queue_name => 'expire-memberships')`);
  await until(
    async () => (await identity.db.query('select 1 from members where user_id = $1', [fox.id])).length === 0,
    'the end of the membership',
  );
});
