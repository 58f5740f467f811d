import { request } from 'undici';
import { aHolder } from '../support/fake-identity';
import { countsOutage, Estate, eventually } from '../support/estate';
import type { Gateway } from '../support/estate';

const REVOKED = { outcome: 'revoked' } as never;
/** A lease that ends only by a push or a write. */
const LASTING = { authLeaseMs: 600_000 };

describe('leases of token checks', () => {
  let estate: Estate;
  beforeEach(async () => {
    estate = await new Estate().start();
    estate.identityInside.give('glpat-good');
  });
  afterEach(() => estate.stop());

  const status = async (gateway: Gateway, token = 'glpat-good', path = '/todos'): Promise<number> => {
    const answer = await request(`${gateway.url}/api/v4${path}`, { headers: { 'private-token': token } });
    await answer.body.dump();
    return answer.statusCode;
  };
  const asks = (): number => estate.identityInside.asked.filter((one) => one.digest !== null).length;
  /** Thirty requests that all arrive before identity answers the first. */
  const thirtyAtOnce = async (gateway: Gateway, one: () => Promise<number>): Promise<Set<number>> => {
    let open = (): void => undefined;
    estate.identityInside.gate = new Promise((resolve) => (open = resolve));
    const before = gateway.requests;
    const answers = Array.from({ length: 30 }, one);
    await eventually(() => gateway.requests === before + 30);
    open();
    return new Set(await Promise.all(answers));
  };

  it('asks identity once for concurrent requests, and not again for the next one', async () => {
    const gateway = await estate.gateway({}, LASTING);
    expect(await thirtyAtOnce(gateway, () => status(gateway))).toEqual(new Set([200]));
    expect(asks()).toBe(1);
    await status(gateway);
    expect(asks()).toBe(1);
  });

  it('asks again when the lease has expired', async () => {
    const gateway = await estate.gateway();
    await eventually(async () => (await status(gateway)) === 200 && asks() > 1);
  });

  it('waits for a token check as long as the request may take', async () => {
    const gateway = await estate.gateway();
    estate.identityInside.slowness = 600;
    expect(await status(gateway)).toBe(200);
  });

  it('repeats a check whose answer is more than a second old when it arrives', async () => {
    const gateway = await estate.gateway();
    estate.identityInside.slowness = 1500;
    const answer = status(gateway);
    await eventually(() => asks() === 1);
    estate.identityInside.slowness = 0;
    expect(await answer).toBe(200);
    // On a slow machine the repeated answer may be late too.
    expect(asks()).toBeGreaterThan(1);
  });

  it('does not share a check that is more than a second old', async () => {
    const gateway = await estate.gateway();
    estate.identityInside.slowness = 5000;
    const first = status(gateway);
    await eventually(() => asks() === 1);
    const startedAt = Date.now();
    estate.identityInside.slowness = 0;
    await eventually(() => Date.now() - startedAt > 1000);
    expect(await status(gateway)).toBe(200);
    expect(asks()).toBe(2);
    expect(await first).toBe(200);
  });

  it('asks for each request when leases are off', async () => {
    const gateway = await estate.gateway({ GATEWAY_AUTH_LEASE_MS: '0' });
    await Promise.all([status(gateway), status(gateway), status(gateway)]);
    expect(asks()).toBe(3);
  });

  it('sends identity that the endpoint is a rotation', async () => {
    const gateway = await estate.gateway();
    await status(gateway);
    const answer = await request(`${gateway.url}/api/v4/personal_access_tokens/1/rotate`, {
      method: 'POST',
      headers: { 'private-token': 'glpat-good' },
    });
    await answer.body.dump();
    expect(estate.identityInside.asked.at(-1)).toMatchObject({ rotating: true, ip: '127.0.0.1' });
  });

  it('asks identity once for concurrent rotations of a token, and again for a later one', async () => {
    const gateway = await estate.gateway();
    const rotate = async (): Promise<number> => {
      const answer = await request(`${gateway.url}/api/v4/personal_access_tokens/self/rotate`, {
        method: 'POST',
        headers: { 'private-token': 'glpat-good' },
      });
      await answer.body.dump();
      return answer.statusCode;
    };
    expect(await thirtyAtOnce(gateway, rotate)).toEqual(new Set([200]));
    expect(asks()).toBe(1);
    await rotate();
    expect(asks()).toBe(2);
  });

  it.each([
    ['its token', 'token', 70, { impersonator_id: 1 }],
    ['its user', 'user', 7, { impersonator_id: 1 }],
    ['the administrator behind it', 'user', 1, { impersonator_id: 1 }],
    ['the administrator who gave it out', 'user', 1, { given_by_id: 1 }],
  ] as const)('ends a lease at both gateways when identity says that %s changed', async (_, kind, id, over) => {
    estate.identityInside.give('glpat-good', aHolder(over));
    const gateways = [await estate.gateway({}, LASTING), await estate.gateway({}, LASTING)];
    for (const gateway of gateways) expect(await status(gateway)).toBe(200);
    estate.identityInside.change('glpat-good', REVOKED, 0);
    estate.identityInside.push(kind, id);
    for (const gateway of gateways) await eventually(async () => (await status(gateway)) === 401);
  });

  it('keeps the leases of other users', async () => {
    const gateway = await estate.gateway({}, LASTING);
    await status(gateway);
    estate.identityInside.push('token', 12345);
    estate.identityInside.push('project', 70);
    await eventually(async () => {
      await status(gateway);
      return estate.collaboration.last.claims.ver === estate.identityInside.version;
    });
    expect(asks()).toBe(1);
  });

  it('refuses a revoked token within a second also without pushes', async () => {
    const gateway = await estate.gateway();
    expect(await status(gateway)).toBe(200);
    estate.identityInside.isSilent = true;
    estate.identityInside.change('glpat-good', REVOKED, 70);
    const changedAt = Date.now();
    for (let found = 200; found !== 401;) {
      const askedAt = Date.now();
      found = await status(gateway);
      // However long an answer takes, a request sent more than a second after the change is refused.
      if (found !== 401) expect([found, askedAt - changedAt < 1000]).toEqual([200, true]);
    }
  });

  it('refuses a token at once, before any push, if a write through this gateway revoked it', async () => {
    const gateway = await estate.gateway();
    expect(await status(gateway)).toBe(200);
    estate.identityInside.isSilent = true;
    estate.identity.on('/api/v4/users/7', (_, response) => {
      estate.identityInside.change('glpat-good', REVOKED, 70);
      response.writeHead(204, { 'x-rookery-directory-version': String(estate.identityInside.version) }).end();
    });
    estate.identityInside.give('root', aHolder({ user_id: 1, token_id: 1, admin: true }));
    const answer = await request(`${gateway.url}/api/v4/users/7`, {
      method: 'DELETE',
      headers: { 'private-token': 'root' },
    });
    await answer.body.dump();
    expect(answer.headers['x-rookery-directory-version']).toBeUndefined();
    expect(await status(gateway)).toBe(401);
  });

  it('refuses the family of a revoked token at once, before any push, when a rotation endpoint gets it', async () => {
    const gateway = await estate.gateway();
    estate.identityInside.change('glpat-old', REVOKED, 69);
    expect(await status(gateway)).toBe(200);
    estate.identityInside.isSilent = true;
    estate.identityInside.change('glpat-good', REVOKED, 70);
    const reuse = await request(`${gateway.url}/api/v4/personal_access_tokens/self/rotate`, {
      method: 'POST',
      headers: { 'private-token': 'glpat-old' },
    });
    await reuse.body.dump();
    expect(reuse.statusCode).toBe(401);
    expect(await status(gateway)).toBe(401);
  });

  it('raises the version of all further requests after a write, for anonymous callers too', async () => {
    const gateway = await estate.gateway();
    await status(gateway);
    estate.identity.on('/api/v4/users/7', (_, response) => {
      response.writeHead(204, { 'x-rookery-directory-version': '5000' }).end();
    });
    const write = await request(`${gateway.url}/api/v4/users/7`, { method: 'DELETE' });
    await write.body.dump();
    const anonymous = await request(`${gateway.url}/api/v4/todos`);
    await anonymous.body.dump();
    expect(estate.collaboration.last.claims.ver).toBe(5000);
  });

  it('ignores versions from other services', async () => {
    const gateway = await estate.gateway();
    estate.collaboration.on('/api/v4/todos', (_, response) => {
      response.writeHead(200, { 'x-rookery-directory-version': '9000' }).end('[]');
    });
    await status(gateway);
    await status(gateway);
    expect(estate.collaboration.last.claims.ver).toBe(100);
  });

  it('drops every lease when the log starts over', async () => {
    const gateway = await estate.gateway({}, LASTING);
    await status(gateway);
    estate.identityInside.epoch = 'e2';
    estate.identityInside.version = 3;
    estate.identityInside.push('project', 1);
    await eventually(async () => {
      await status(gateway);
      return estate.collaboration.last.claims.epo === 'e2';
    });
    expect(estate.collaboration.last.claims.ver).toBe(4);
    expect(asks()).toBe(2);
  });
});

describe('identity away', () => {
  /** The deadline is a second; identity is away here for much longer than this bound. Units: milliseconds. */
  const IN_TIME_MS = 10_000;
  let estate: Estate;
  let gateway: Gateway;
  beforeEach(async () => {
    estate = await new Estate().start();
    estate.identityInside.give('glpat-good');
    gateway = await estate.gateway({ GATEWAY_AUTH_LEASE_MS: '100', GATEWAY_DEADLINE_MS: '1000' });
  });
  afterEach(() => estate.stop());
  const get = (headers: Record<string, string>) => request(`${gateway.url}/api/v4/todos`, { headers });

  it('answers signed-in callers 503 in time once the lease has expired, and recovers', async () => {
    const headers = { 'private-token': 'glpat-good' };
    await (await get(headers)).body.dump();
    await estate.identityInside.stop();
    await eventually(async () => {
      const startedAt = performance.now();
      const answer = await get(headers);
      await answer.body.dump();
      expect(performance.now() - startedAt).toBeLessThan(IN_TIME_MS);
      return answer.statusCode === 503 && answer.headers['retry-after'] === '1';
    });
    await estate.identityInside.start();
    await eventually(async () => (await get(headers)).statusCode === 200);
  });

  it('does not wait past the deadline for an identity that hangs', async () => {
    estate.identityInside.slowness = 600_000;
    const startedAt = performance.now();
    const answer = await get({ 'private-token': 'glpat-good' });
    expect(answer.statusCode).toBe(503);
    expect(await answer.body.json()).toEqual({ message: '503 Service Unavailable' });
    await countsOutage(gateway, 'identity away');
    expect(performance.now() - startedAt).toBeLessThan(IN_TIME_MS);
  });

  it('serves anonymous callers from the last known version until it is too old', async () => {
    const hasty = await estate.gateway({ GATEWAY_ANONYMOUS_FRESH_MS: '1' });
    await estate.identityInside.stop();
    expect((await get({})).statusCode).toBe(200);
    const anonymous = async (): Promise<number> => (await request(`${hasty.url}/api/v4/todos`)).statusCode;
    await eventually(async () => (await anonymous()) === 503);
  });
});
