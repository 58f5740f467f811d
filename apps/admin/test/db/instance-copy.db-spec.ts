import { createServer, request as httpRequest } from 'node:http';
import type { Server } from 'node:http';
import { Test } from '@nestjs/testing';
import type { TestingModule } from '@nestjs/testing';
import { applicationSettings, InstanceSettings, instanceMigrations, InstanceModule } from '@rookery/instance';
import { Unavailable } from '@rookery/kernel';
import type { Viewer } from '@rookery/kernel';
import { Database, databaseSettingsFor, PersistenceModule, plumbingMigrations } from '@rookery/persistence';
import { PlatformModule, Readiness, pickSettings } from '@rookery/platform';
import { internalAuthorization, unusedPort, testDatabase, testSettings, until } from '@rookery/testing';
import type { SeededService, TestApp, TestDatabase } from '@rookery/testing';
import { startAdmin } from '../support/app';

const NAME = 'packages_protected_packages_delete';

/** A proxy to admin, which can be interrupted and restored. */
class InterruptibleProxy {
  private server: Server | undefined;
  port = 0;

  constructor(private readonly to: string) {}

  async open(): Promise<void> {
    const server = createServer((asked, answer) => {
      const on = httpRequest(this.to + asked.url!, { headers: asked.headers }, (reply) => {
        answer.writeHead(reply.statusCode!, reply.headers);
        reply.pipe(answer);
      });
      on.on('error', () => answer.destroy());
      answer.on('close', () => on.destroy());
      on.end();
    });
    this.server = server;
    this.port ||= await unusedPort();
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
  }

  async cut(): Promise<void> {
    const gone = new Promise((resolve) => this.server!.close(resolve));
    this.server!.closeAllConnections();
    await gone;
  }
}

let service: SeededService;
let root: Viewer;
let way: InterruptibleProxy;
let copy: TestingModule;
let database: TestDatabase;
const more: TestDatabase[] = [];

beforeAll(async () => {
  service = await startAdmin();
  root = service.seed.viewer(await service.seed.user({ admin: true }));
  way = new InterruptibleProxy(service.app.baseUrl);
  await way.open();
  database = await createFollowerDatabase();
  copy = await startFollower(way.port);
});
afterAll(async () => {
  await copy.close();
  await way.cut();
  await service.close();
  for (const one of more) await one.drop();
});

/** Database of a service that has received one answer from admin, before anything was set. */
async function createFollowerDatabase(): Promise<TestDatabase> {
  const made = await testDatabase('instance', [...plumbingMigrations, ...instanceMigrations]);
  more.push(made);
  return made;
}

/** A process of a service that follows admin. All share a database unless one is given. */
async function startFollower(port: number | null, { url } = database): Promise<TestingModule> {
  const stored = databaseSettingsFor('package');
  const values = testSettings({
    service: 'package',
    settings: [applicationSettings, stored],
    databaseUrl: url,
    env: {
      ADMIN_URL: port === null ? 'none' : `http://127.0.0.1:${port}`,
      LOG_LEVEL: 'silent',
      DELETION_DELAY_DAYS: '3',
    },
  });
  const imports = [
    PlatformModule.forRoot({ service: 'package', values }),
    PersistenceModule.forRoot({ service: 'package', entities: [], settings: pickSettings(values, stored) }),
    InstanceModule.forRoot({ service: 'package' }),
  ];
  return (await Test.createTestingModule({ imports }).compile()).init();
}

const setFeature = (value: boolean, app: TestApp = service.app) =>
  app.as(root).post(`/api/v4/features/${NAME}`).send({ value }).expect(201);
const deletionDaysIn = (module: TestingModule): number =>
  module.get(InstanceSettings).setting('deletion_adjourned_period');
async function readStoredVersion(module: TestingModule): Promise<number | undefined> {
  const [kept] = await module.get(Database).query<{ version: number }>('select version from instance_answers');
  return kept?.version;
}
const isFeatureOn = (module = copy): boolean => module.get(InstanceSettings).isOn(NAME, {});

it('follows every change and reset', async () => {
  const times: number[] = [];
  for (const value of [true, false, true, false, true]) {
    const from = performance.now();
    await setFeature(value);
    await until(() => isFeatureOn() === value, `the copy says ${value}`);
    times.push(Math.round(performance.now() - from));
  }
  process.stdout.write(`changes of a feature, until the copy has them, in ms: ${times.join(', ')}\n`);
  await service.app.as(root).delete(`/api/v4/features/${NAME}`).expect(204);
  await until(() => !isFeatureOn(), 'the default counts');
});

it('follows changed settings, which override the environment', async () => {
  const instance = copy.get(InstanceSettings);
  expect([instance.setting('deletion_adjourned_period'), instance.setting('default_plan')]).toEqual([3, 'ultimate']);
  const change = (params: object) => service.app.as(root).put('/api/v4/application/settings').send(params).expect(200);
  const wren = await service.seed.user({ username: 'wren' });
  await change({ deletion_adjourned_period: 0, notes_create_limit_allowlist: ['wren'] });
  await until(() => instance.setting('deletion_adjourned_period') === 0, 'the copy has the setting');
  expect(instance.setting('notes_create_limit_allowlist')).toEqual([wren.id]);
  await change({ deletion_adjourned_period: 5 });
  await until(() => instance.setting('deletion_adjourned_period') === 5, 'the copy has the setting');
});

it('follows changes made by another replica of admin', async () => {
  const other = await service.again({});
  try {
    for (const value of [true, false]) {
      await setFeature(value, other);
      await until(() => isFeatureOn() === value, `the copy says ${value}`);
    }
  } finally {
    await other.close();
  }
});

it('keeps the last state while admin is unavailable, and catches up', async () => {
  await setFeature(true);
  await until(() => isFeatureOn(), 'the copy says on');
  await way.cut();
  try {
    await setFeature(false);
    expect(isFeatureOn()).toBe(true);
    expect((await copy.get(Readiness).runChecks()).reasons).toEqual({});
  } finally {
    await way.open();
  }
  await until(() => !isFeatureOn(), 'the copy has caught up');
});

it('accepts the state of an older backup', async () => {
  await setFeature(true);
  await until(() => isFeatureOn(), 'the copy says on');
  await service.database.query('update instance_features set is_on = false');
  await service.database.query('update instance_versions set version = 1');
  await until(() => copy.get(InstanceSettings).version === 1 && !isFeatureOn(), 'the copy is as old as the backup');
});

it('starts with the defaults, and is ready only after waiting for admin', async () => {
  const alone = await startFollower(await unusedPort(), await createFollowerDatabase());
  try {
    expect([isFeatureOn(alone), alone.get(InstanceSettings).version]).toEqual([false, -1]);
    expect(await alone.get(Readiness).runChecks()).toEqual({
      ready: false,
      reasons: { instance: 'admin was not asked for features and settings yet' },
    });
    await until(async () => (await alone.get(Readiness).runChecks()).ready, 'ready by the defaults', 30_000);
    expect(alone.get(InstanceSettings).version).toBe(-1);
  } finally {
    await alone.close();
  }
});

it('starts with the last received state while admin is unavailable', async () => {
  const change = (days: number) =>
    service.app.as(root).put('/api/v4/application/settings').send({ deletion_adjourned_period: days }).expect(200);
  const kept = await createFollowerDatabase();
  const heard = await startFollower(way.port, kept);
  await setFeature(true);
  await change(9);
  await until(
    async () =>
      (await readStoredVersion(heard)) === heard.get(InstanceSettings).version &&
      isFeatureOn(heard) &&
      deletionDaysIn(heard) === 9,
    'the answer is kept',
  );
  await heard.close();
  const restarted = await startFollower(await unusedPort(), kept);
  try {
    expect([deletionDaysIn(restarted), isFeatureOn(restarted)]).toEqual([9, true]);
    expect((await restarted.get(Readiness).runChecks()).reasons).toEqual({
      instance: 'admin was not asked for features and settings yet',
    });
    await until(async () => (await restarted.get(Readiness).runChecks()).ready, 'ready by what was kept', 30_000);
    expect([deletionDaysIn(restarted), isFeatureOn(restarted)]).toEqual([9, true]);
  } finally {
    await restarted.close();
    await change(5);
  }
});

it('is not ready where the service has never received an answer from admin, until it does', async () => {
  const never = await createFollowerDatabase();
  const alone = await startFollower(await unusedPort(), never);
  await alone.get(Database).query('delete from instance_answers');
  await alone.close();
  await way.cut();
  const restarted = await startFollower(way.port, never);
  try {
    expect(() => deletionDaysIn(restarted)).toThrow(Unavailable);
    expect(() => isFeatureOn(restarted)).toThrow(Unavailable);
    expect(await restarted.get(Readiness).runChecks()).toEqual({
      ready: false,
      reasons: { instance: 'admin was never asked for features and settings' },
    });
    await way.open();
    await until(async () => (await restarted.get(Readiness).runChecks()).ready, 'ready by an answer', 30_000);
    expect(deletionDaysIn(restarted)).toBe(5);
    await until(
      async () => (await readStoredVersion(restarted)) === restarted.get(InstanceSettings).version,
      'the answer is kept',
    );
  } finally {
    await restarted.close();
  }
});

it('uses the environment and is ready at once where admin is configured as absent', async () => {
  const alone = await startFollower(null, await createFollowerDatabase());
  try {
    await alone.get(Database).query('delete from instance_answers');
    expect([deletionDaysIn(alone), isFeatureOn(alone), await alone.get(Readiness).runChecks()]).toEqual([
      3,
      false,
      { ready: true, reasons: {} },
    ]);
  } finally {
    await alone.close();
  }
});

it('has the whole state from the first answer on after a restart', async () => {
  await setFeature(true);
  const restarted = await startFollower(way.port, await createFollowerDatabase());
  try {
    await until(() => isFeatureOn(restarted), 'the new copy says on');
    expect((await restarted.get(Readiness).runChecks()).ready).toBe(true);
  } finally {
    await restarted.close();
  }
});

describe('GET /internal/instance', () => {
  const ask = (query: string, authorization = internalAuthorization('package', 'admin')) =>
    service.app.bare().get(`/internal/instance?${query}`).set('authorization', authorization);

  it('answers a newer version at once, with all gates and limits', async () => {
    await service.app
      .as(root)
      .post(`/api/v4/features/${NAME}`)
      .send({ value: 5, key: 'percentage_of_actors' })
      .expect(400);
    await setFeature(false);
    await service.app.as(root).post(`/api/v4/features/${NAME}`).send({ value: 5 }).expect(201);
    const limit = { plan_name: 'free', generic_packages_max_file_size: 6_000_000_000 };
    await service.app.as(root).put('/api/v4/application/plan_limits').send(limit).expect(200);
    const { body } = await ask('after=-1&wait_ms=20000').expect(200);
    expect(body).toEqual({
      version: expect.any(Number),
      features: {
        [NAME]: { boolean: false, percentage_of_time: 5, percentage_of_actors: 0, actors: [], groups: [] },
      },
      settings: { deletion_adjourned_period: 5, notes_create_limit_allowlist: [expect.any(Number)] },
      plan_limits: { free: { generic_packages_max_file_size: 6_000_000_000 } },
    });
    expect((await ask(`after=${(body as { version: number }).version}&wait_ms=1`).expect(200)).body).toEqual(body);
  });

  it.each(['', 'after=1', 'wait_ms=1', 'after=x&wait_ms=1', 'after=1&wait_ms=1.5'])('refuses ?%s', async (query) => {
    await ask(query).expect(400);
  });

  it('requires an internal key', async () => {
    await ask('after=-1&wait_ms=0', `Bearer ${'x'.repeat(32)}`).expect(401);
    await ask('after=-1&wait_ms=0', internalAuthorization('package', 'identity')).expect(401);
    await ask('after=-1&wait_ms=0', internalAuthorization('gateway', 'admin')).expect(403);
  });
});
