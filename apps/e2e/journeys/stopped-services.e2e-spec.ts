import { addMember, call, control, estate, eventually, person, projectOf } from '../support/estate';
import type { Answer, Person } from '../support/estate';

/**
 * A stopped process still receives requests, which the kernel queues. When the process continues, it executes them with the
 * permissions that the callers have at that time. Source: ADR 0050.
 */
interface Replica {
  readonly baseUrl: string;
  readonly managementUrl: string;
}

let owner: Person;
let project: number;
let gateway: Replica;
beforeAll(async () => {
  owner = await person('patient');
  project = (await projectOf(owner, 'stillness')).id;
  gateway = await control<Replica>('/replicas/gateway');
});

const member = async (name: string): Promise<Person> => {
  const one = await person(name);
  expect((await addMember(project, one, 30, owner)).status).toBe(201);
  return one;
};
const change = async (who: Person, json: object): Promise<void> => {
  expect((await call('PUT', `/users/${who.id}`, { json })).status).toBe(200);
};
/** Returns the owner with an impersonation token that an administrator created. */
const impersonated = async (admin: Person): Promise<Person> => {
  const json = { name: 'held', scopes: ['api'] };
  const { body } = await call('POST', `/users/${owner.id}/impersonation_tokens`, { token: admin.token, json });
  return { ...owner, token: body.token };
};

const issues = () => `/projects/${project}/issues`;
const readBy = ({ token }: Person): Promise<Answer> => call('GET', issues(), { token, base: gateway.baseUrl });
const writeBy = ({ token }: Person): Promise<Answer> =>
  call('POST', issues(), { token, base: gateway.baseUrl, json: { title: 'still there' } });

/** Returns the gateway's number of requests in flight and of token checks so far. */
async function atGateway(): Promise<{ inFlight: number; admitted: number }> {
  const text = await (await fetch(`${gateway.managementUrl}/-/metrics`)).text();
  const sum = (name: string): number =>
    [...text.matchAll(new RegExp(`^rookery_gateway_${name}(?:\\{[^}]*\\})? (\\d+)`, 'gm'))].reduce(
      (all, [, count]) => all + Number(count),
      0,
    );
  return { inFlight: sum('in_flight'), admitted: sum('token_checks_total') };
}

/** Sends requests while the service is stopped, and continues it more than a second after `meanwhile`. */
async function whileServiceIsStopped(
  ask: () => Promise<Answer>[],
  meanwhile: () => Promise<unknown>,
): Promise<readonly number[]> {
  const { pids } = (await (await fetch(estate.controlUrl)).json()) as { pids: Record<string, number> };
  const service = pids['collaboration']!;
  const before = await atGateway();
  let answers: Promise<Answer>[];
  process.kill(service, 'SIGSTOP');
  try {
    answers = ask();
    await eventually(
      atGateway,
      ({ inFlight, admitted }) => inFlight >= answers.length && admitted - before.admitted >= answers.length,
    );
    await meanwhile();
    const lostAt = Date.now();
    await eventually(
      () => Date.now() - lostAt,
      (passed) => passed > 1500,
    );
  } finally {
    process.kill(service, 'SIGCONT');
  }
  return (await Promise.all(answers)).map(({ status }) => status);
}

it('requests queued while a service was stopped are authorized by the state when it continues', async () => {
  const [revoked, blocked, chief, admin] = [
    await member('revoked'),
    await member('shut-out'),
    await person('chief'),
    await person('impersonator'),
  ];
  for (const one of [chief, admin]) await change(one, { admin: true });
  const [innocent, borrowed] = [await member('innocent'), await impersonated(admin)];
  const holders = [revoked, blocked, chief, borrowed, innocent];
  for (const holder of holders) expect((await readBy(holder)).status).toBe(200);

  const statuses = await whileServiceIsStopped(
    () => holders.flatMap((holder) => [readBy(holder), writeBy(holder)]),
    async () => {
      expect((await call('DELETE', '/personal_access_tokens/self', { token: revoked.token })).status).toBe(204);
      for (const one of [blocked, admin]) expect((await call('POST', `/users/${one.id}/block`)).status).toBe(201);
      await change(chief, { admin: false });
    },
  );
  expect(statuses).toEqual([401, 401, 403, 403, 503, 503, 401, 401, 200, 201]);
  const { body } = await call('GET', issues());
  expect((body as { author: { id: number } }[]).map(({ author }) => author.id)).toEqual([innocent.id]);
});
