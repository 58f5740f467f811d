import { Client } from 'pg';
import { call, control, eventually, mark, person, projectOf, itInSixProcesses } from '../support/estate';
import type { Answer, Person } from '../support/estate';

/**
 * Settings of administrators take effect in other services: within a second in normal operation, also while the bus is
 * down, and after restarts. Tests print how long it took, and allow for a busy machine.
 * Source: reference packages-and-admin 10; ADR 0180.
 */
const FEATURE = '/features//packages_protected_packages_delete';
let owner: Person;
let project: { id: number; path: string };
let rules: string;

beforeAll(async () => {
  owner = await person('keeper-instance');
  project = await projectOf(owner, `instance-${mark}`);
  rules = `/projects/${project.id}/packages/protection/rules`;
});
afterAll(() => call('DELETE', FEATURE));

const set = (value: boolean): Promise<Answer> => call('POST', FEATURE, { json: { value, project: project.path } });
const ofRules = (): Promise<Answer> => call('GET', rules, { token: owner.token });
const levels = ({ body }: Answer): unknown[] =>
  Array.isArray(body) ? body.map((rule: Record<string, unknown>) => rule['minimum_access_level_for_delete']) : [];
const shows =
  (level: string | null) =>
  (answer: Answer): boolean =>
    answer.status === 200 && levels(answer)[0] === level;

async function timed(label: string, act: () => Promise<void>): Promise<void> {
  const from = performance.now();
  await act();
  process.stderr.write(`${label}: ${Math.round(performance.now() - from)} ms\n`);
}

async function expectInForce(value: boolean): Promise<void> {
  expect((await set(value)).status).toBe(201);
  await timed(`a feature set ${value} is in force in another service`, async () => {
    await eventually(ofRules, shows(value ? 'owner' : null));
  });
}

it('a feature of a project takes effect in the package service', async () => {
  expect((await set(true)).body).toMatchObject({
    state: 'conditional',
    gates: [
      { key: 'boolean', value: false },
      { key: 'actors', value: [`Project:${project.id}`] },
    ],
  });
  let serial = 0;
  const write = (): Promise<Answer> => {
    const json = {
      package_name_pattern: `@nest/${(serial += 1)}`,
      package_type: 'npm',
      minimum_access_level_for_push: 'maintainer',
      minimum_access_level_for_delete: 'owner',
    };
    return call('POST', rules, { token: owner.token, json });
  };
  await timed('a feature set true takes effect', async () => {
    await eventually(write, ({ body }) => body?.minimum_access_level_for_delete === 'owner');
  });
  for (const written of (await ofRules()).body.slice(0, -1)) {
    await call('DELETE', `${rules}/${written.id}`, { token: owner.token });
  }
});

it('a feature takes effect while NATS is down', async () => {
  await control('/nats/stop');
  try {
    for (const value of [true, false]) await expectInForce(value);
  } finally {
    await control('/nats/start');
  }
});

itInSixProcesses('a feature stays in force while admin is down, and after restarts of both services', async () => {
  await expectInForce(true);
  await control('/processes/admin/kill');
  try {
    expect([502, 503]).toContain((await set(false)).status);
    expect(shows('owner')(await ofRules())).toBe(true);
    await control('/processes/package/restart');
    // During its start the service may refuse requests, but never lose the setting.
    await eventually(ofRules, (answer) => {
      if (answer.status === 200) expect(levels(answer)[0]).toBe('owner');
      return answer.status === 200;
    });
  } finally {
    await control('/processes/admin/restart');
  }
  await control('/processes/package/restart');
  await eventually(ofRules, shows('owner'), 60_000);
  await eventually(
    () => call('GET', '/features'),
    ({ status }) => status === 200,
    60_000,
  );
  await expectInForce(false);
});

describe('a setting', () => {
  const SETTINGS = '/application/settings';
  const change = (json: object): Promise<Answer> => call('PUT', SETTINGS, { json });
  const makeGroup = (path: string): Promise<Answer> =>
    call('POST', '/groups', { token: owner.token, json: { name: path, path: `${path}-${mark}` } });

  it('takes effect in the identity service, also while NATS is down', async () => {
    const { default_group_visibility: before } = (await call('GET', SETTINGS)).body;
    let serial = 0;
    const follows = async (visibility: string): Promise<void> => {
      expect((await change({ default_group_visibility: visibility })).body).toMatchObject({
        default_group_visibility: visibility,
      });
      await timed(`a setting changed to ${visibility} is in force in another service`, async () => {
        await eventually(
          () => makeGroup(`setting${(serial += 1)}`),
          ({ status, body }) => status === 201 && body.visibility === visibility,
        );
      });
    };
    try {
      await follows('public');
      await control('/nats/stop');
      try {
        await follows('internal');
      } finally {
        await control('/nats/start');
      }
    } finally {
      await change({ default_group_visibility: before });
    }
  });

  itInSixProcesses('takes effect in a service that starts while admin is down', async () => {
    const { default_group_visibility: before } = (await call('GET', SETTINGS)).body;
    let serial = 0;
    const made = () => makeGroup(`away${(serial += 1)}`);
    await change({ default_group_visibility: 'internal' });
    await eventually(made, ({ body }) => body.visibility === 'internal');
    await control('/processes/admin/kill');
    try {
      await control('/processes/identity/restart');
      await eventually(made, ({ status, body }) => {
        if (status === 201) expect(body.visibility).toBe('internal');
        return status === 201;
      });
    } finally {
      await control('/processes/admin/restart');
    }
    await eventually(
      () => change({ default_group_visibility: before }),
      ({ status }) => status === 200,
    );
  });
});

describe('a feature of admin itself', () => {
  it('takes effect at once, also while NATS is down, and is kept after a restart', async () => {
    const feature = '/features/role_targeted_broadcast_messages';
    const { body: message } = await call('POST', '/broadcast_messages', {
      json: { message: `For owners, ${mark}`, target_access_levels: [50] },
    });
    const isShown = async (): Promise<boolean> => {
      const path = `/broadcast_messages/displayed?per_page=100&project_id=${project.id}`;
      const { status, body } = await call('GET', path, { token: owner.token });
      expect(status).toBe(200);
      return (body as { id: number }[]).some(({ id }) => id === message.id);
    };
    const turned = async (value: boolean): Promise<boolean> => {
      expect((await call('POST', feature, { json: { value } })).status).toBe(201);
      return isShown();
    };
    try {
      expect([await isShown(), await turned(true)]).toEqual([false, true]);
      await control('/nats/stop');
      try {
        expect([await turned(false), await turned(true)]).toEqual([false, true]);
      } finally {
        await control('/nats/start');
      }
      await control('/processes/admin/restart');
      await eventually(
        () => call('GET', '/features'),
        ({ status }) => status === 200,
      );
      expect(await isShown()).toBe(true);
    } finally {
      await call('DELETE', feature);
      await call('DELETE', `/broadcast_messages/${message.id}`);
    }
  });
});

/**
 * The effects of settings on requests are tested in the suites of each service; these tests show that each service receives
 * changes. A service stores an answer of admin once it applies it.
 */
describe.each(['collaboration', 'identity', 'package'])('the service of %s', (service) => {
  const NAME = 'notes_create_limit';
  const databases = JSON.parse(process.env['TEST_DATABASE_URLS'] ?? '{}') as Record<string, string>;
  let client: Client;
  let before: number;

  beforeAll(async () => {
    client = new Client({ connectionString: databases[service]! });
    await client.connect();
    before = (await call('GET', '/application/settings')).body[NAME];
  });
  afterAll(async () => {
    await call('PUT', '/application/settings', { json: { [NAME]: before } });
    await client.end();
  });

  async function follows(limit: number): Promise<void> {
    expect((await call('PUT', '/application/settings', { json: { [NAME]: limit } })).status).toBe(200);
    await timed(`a setting changed to ${limit} is in force in ${service}`, async () => {
      const kept = async (): Promise<unknown> =>
        (await client.query(`select answer->'settings'->$1 as value from instance_answers`, [NAME])).rows[0]?.value;
      await eventually(kept, (value) => value === limit);
    });
  }

  it('receives a changed setting, also while NATS is down, and after a restart', async () => {
    await follows(7001);
    await control('/nats/stop');
    try {
      await follows(7002);
    } finally {
      await control('/nats/start');
    }
    await control(`/processes/${service}/restart`);
    await follows(7003);
  });
});

it.each([
  ['GET', '/features'],
  ['GET', '/features/definitions'],
  ['POST', FEATURE],
  ['DELETE', FEATURE],
  ['GET', '/application/settings'],
  ['PUT', '/application/settings'],
  ['GET', '/application/plan_limits'],
  ['PUT', '/application/plan_limits'],
  ['GET', '/license'],
  ['GET', '/license/1'],
  ['GET', '/licenses'],
])('%s %s is for administrators', async (method, path) => {
  const body = method === 'GET' ? {} : { json: { value: true, default_plan: 'free' } };
  const status = async (token: string | null) => (await call(method, path, { token, ...body })).status;
  expect([await status(null), await status(owner.token)]).toEqual([401, 403]);
});
