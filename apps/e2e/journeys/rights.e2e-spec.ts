import { addMember, call, control, estate, eventually, person, projectOf, itInSixProcesses } from '../support/estate';
import type { Answer, Person } from '../support/estate';

/**
 * A revoked permission is refused: at once in normal operation, and within a second when any part has failed.
 * Source: reference reliability 3; docs/architecture.md 4; ADR 0050.
 */
interface Replica {
  readonly baseUrl: string;
}

let owner: Person;
let project: number;
let second: Replica;

beforeAll(async () => {
  owner = await person('keeper');
  project = (await projectOf(owner, 'rights')).id;
  second = await control<Replica>('/replicas/gateway');
});

const read = (who: Person, base?: string) =>
  call('GET', `/projects/${project}`, { token: who.token, ...(base ? { base } : {}) });

/**
 * Repeats a call until it is refused. A call that begins more than a second after the permission was revoked must be
 * refused, however long its answer takes on a busy machine.
 */
async function expectRefusal(ask: () => Promise<Answer>, refusal: number): Promise<void> {
  const from = Date.now();
  let askedAt = from;
  const { status } = await eventually(
    () => {
      askedAt = Date.now();
      return ask();
    },
    (answer) => answer.status === refusal || (answer.status < 300 && askedAt - from >= 1000),
  );
  expect(status).toBe(refusal);
}

it('a member has access right after being added and none right after being removed', async () => {
  const guest = await person('guest');
  for (let round = 0; round < 10; round += 1) {
    expect((await addMember(project, guest, 10, owner)).status).toBe(201);
    expect((await read(guest)).status).toBe(200);
    expect((await call('GET', `/projects/${project}/issues`, { token: guest.token })).status).toBe(200);
    await call('DELETE', `/projects/${project}/members/${guest.id}`, { token: owner.token });
    expect((await read(guest)).status).toBe(404);
    expect((await call('GET', `/projects/${project}/issues`, { token: guest.token })).status).toBe(404);
  }
});

it('a token revoked through one gateway is refused by the other within a second', async () => {
  const leaver = await person('leaver');
  await addMember(project, leaver, 10, owner);
  expect([(await read(leaver)).status, (await read(leaver, second.baseUrl)).status]).toEqual([200, 200]);
  expect((await call('DELETE', '/personal_access_tokens/self', { token: leaver.token })).status).toBe(204);
  expect((await read(leaver)).status).toBe(401);
  await expectRefusal(() => read(leaver, second.baseUrl), 401);
});

it('a revoked token is refused while NATS is down, and all other calls work', async () => {
  const leaver = await person('nightly');
  await addMember(project, leaver, 30, owner);
  await control('/nats/stop');
  try {
    expect((await read(leaver, second.baseUrl)).status).toBe(200);
    const issue = await call('POST', `/projects/${project}/issues`, {
      token: leaver.token,
      json: { title: 'in the dark' },
    });
    expect(issue.status).toBe(201);
    await call('DELETE', '/personal_access_tokens/self', { token: leaver.token });
    await expectRefusal(() => read(leaver, second.baseUrl), 401);
  } finally {
    await control('/nats/start');
  }
  const events = () => call('GET', `/projects/${project}/events?target_type=issue`, { token: owner.token });
  const isThere = ({ body }: { body: { target_title: string }[] }) =>
    body.some(({ target_title }) => target_title === 'in the dark');
  await eventually(events, isThere);
});

it('a blocked user is refused by both gateways', async () => {
  const blocked = await person('blocked');
  await addMember(project, blocked, 10, owner);
  await read(blocked, second.baseUrl);
  expect((await call('POST', `/users/${blocked.id}/block`)).body).toBe(true);
  expect((await read(blocked)).status).toBe(403);
  await expectRefusal(() => read(blocked, second.baseUrl), 403);
});

it('tokens created by a blocked administrator are refused by both gateways, unless their owner rotated them', async () => {
  const [admin, other] = [await person('admin'), await person('other')];
  expect((await call('PUT', `/users/${admin.id}`, { json: { admin: true } })).status).toBe(200);
  const give = async (userId: number, kind: string): Promise<Person> => {
    const json = { name: 'given', scopes: ['api'] };
    const path = `/users/${userId}/${kind}_tokens`;
    const { status, body } = await call('POST', path, { token: admin.token, json });
    expect(status).toBe(201);
    return { ...admin, token: body.token };
  };
  const given = [
    await give(1, 'personal_access'),
    await give(other.id, 'personal_access'),
    await give(1, 'impersonation'),
  ];
  const rotation = await call('POST', '/personal_access_tokens/self/rotate', {
    token: (await give(other.id, 'personal_access')).token,
    json: {},
  });
  const own = { ...other, token: rotation.body.token as string };
  const whoIs = ({ token }: Person, base?: string) => call('GET', '/user', { token, ...(base ? { base } : {}) });
  for (const base of [undefined, second.baseUrl]) {
    for (const one of given) expect((await whoIs(one, base)).status).toBe(200);
  }
  expect((await call('POST', `/users/${admin.id}/block`)).body).toBe(true);
  for (const one of given) {
    expect((await whoIs(one)).status).toBe(401);
    await expectRefusal(() => whoIs(one, second.baseUrl), 401);
    expect((await call('POST', `/users/${admin.id}/unblock`, { token: one.token })).status).toBe(401);
  }
  expect((await whoIs(own)).body.id).toBe(other.id);
  expect((await whoIs({ ...admin, token: estate.rootToken })).body.id).toBe(1);
});

it('feature flags are refused as soon as a project disables them, and available once it enables them', async () => {
  const base = `/projects/${project}`;
  const json = { name: 'eggs', strategies: [{ name: 'default', scopes: [{ environment_scope: '*' }] }] };
  expect((await call('POST', `${base}/feature_flags`, { token: owner.token, json })).status).toBe(201);
  const { token } = (await call('GET', `${base}/feature_flags_client`, { token: owner.token })).body;
  const headers = { 'unleash-instanceid': token, 'unleash-appname': 'production' };
  const seen = async () => {
    const asked = ['feature_flags', 'feature_flags_user_lists', 'feature_flags_client'];
    const answers = await Promise.all([
      ...asked.map((rest) => call('GET', `${base}/${rest}`, { token: owner.token })),
      call('GET', `/feature_flags/unleash/${project}/client/features`, { token: null, headers }),
    ]);
    return answers.map(({ status }) => status);
  };
  const become = async (levels: object, statuses: readonly number[]): Promise<void> => {
    expect((await call('PUT', base, { token: owner.token, json: levels })).status).toBe(200);
    expect(await seen()).toEqual(statuses);
  };
  for (let round = 0; round < 5; round += 1) {
    await become({ feature_flags_access_level: 'disabled' }, [403, 403, 403, 401]);
    await become({ feature_flags_access_level: 'private' }, [200, 200, 200, 200]);
    await become({ repository_access_level: 'disabled' }, [403, 403, 403, 401]);
    await become({ repository_access_level: 'enabled', feature_flags_access_level: 'enabled' }, [200, 200, 200, 200]);
  }
});

it('confidential issues are counted only for users who can read them', async () => {
  const { id } = await projectOf(owner, 'counted');
  const [planner, guest] = [await person('planner'), await person('counting')];
  await addMember(id, planner, 15, owner);
  await addMember(id, guest, 10, owner);
  const issues = `/projects/${id}/issues`;
  for (const confidential of [true, true, false])
    await call('POST', issues, { token: owner.token, json: { title: 'x', confidential } });
  const counts = () =>
    Promise.all(
      [owner, planner, guest].map(async ({ token }) => {
        const [one, list] = await Promise.all([
          call('GET', `/projects/${id}`, { token }),
          call('GET', '/projects?membership=true', { token }),
        ]);
        const listed = list.body.find((project: { id: number }) => project.id === id);
        return [one.body.open_issues_count, listed?.open_issues_count];
      }),
    );
  const become = (all: number, open: number) =>
    eventually(
      counts,
      (found) =>
        JSON.stringify(found) ===
        JSON.stringify([
          [all, all],
          [all, all],
          [open, open],
        ]),
    );
  await become(3, 1);
  const change = (iid: number, json: object) => call('PUT', `${issues}/${iid}`, { token: owner.token, json });
  await change(1, { confidential: false });
  await become(3, 2);
  await change(3, { state_event: 'close', confidential: true });
  await become(2, 1);
  await call('DELETE', `${issues}/2`, { token: owner.token });
  await become(1, 1);
});

itInSixProcesses('a killed service affects only its own routes, and recovers', async () => {
  await control('/processes/admin/kill');
  const dead = await call('GET', '/broadcast_messages');
  expect([502, 503]).toContain(dead.status);
  expect(dead.headers.get('content-type')).toBe('application/json');
  expect((await read(owner)).status).toBe(200);
  await control('/processes/admin/restart');
  await eventually(
    () => call('GET', '/broadcast_messages'),
    ({ status }) => status === 200,
  );
});
