import { request } from 'undici';
import { aHolder } from '../support/fake-identity';
import { Estate, eventually } from '../support/estate';
import type { Gateway } from '../support/estate';
import { RawClient } from '../support/raw';

const get = async (gateway: Gateway, path: string, headers: Record<string, string> = {}) => {
  const answer = await request(`${gateway.url}${path}`, { headers });
  return { status: answer.statusCode, headers: answer.headers, body: await answer.body.text() };
};

describe('limits', () => {
  let estate: Estate;
  beforeEach(async () => {
    estate = await new Estate().start();
    estate.identityInside.give('glpat-good');
    estate.identityInside.give('glpat-other', aHolder({ user_id: 8, token_id: 80 }));
  });
  afterEach(() => estate.stop());

  it('reports the rate, and refuses requests beyond it as plain text', async () => {
    const gateway = await estate.gateway({ RATE_LIMITS: 'on', GATEWAY_RATE_USER_PER_MINUTE_COUNT: '2' });
    const mine = { 'private-token': 'glpat-good' };
    const first = await get(gateway, '/api/v4/todos', mine);
    expect(first.headers).toMatchObject({
      'ratelimit-name': 'throttle_authenticated_api',
      'ratelimit-limit': '2',
      'ratelimit-observed': '1',
      'ratelimit-remaining': '1',
    });
    const reset = Number(first.headers['ratelimit-reset']) - Date.now() / 1000;
    expect(reset).toBeGreaterThan(50);
    expect(reset).toBeLessThan(62);
    expect(first.headers['retry-after']).toBeUndefined();
    await get(gateway, '/api/v4/todos', mine);
    const third = await get(gateway, '/api/v4/todos', mine);
    const limitText = 'The limit throttle_authenticated_api is 2 a minute, set by GATEWAY_RATE_USER_PER_MINUTE_COUNT.';
    expect(third).toMatchObject({ status: 429, body: `Retry later\n${limitText}\n` });
    expect(third.headers).toMatchObject({ 'content-type': 'text/plain', 'ratelimit-remaining': '0' });
    expect(Number(third.headers['retry-after'])).toBeGreaterThan(50);
    expect(third.headers['ratelimit-resettime']).toMatch(/GMT$/);
    expect((await get(gateway, '/api/v4/todos', { 'private-token': 'glpat-other' })).status).toBe(200);
    expect((await get(gateway, '/api/v4/todos')).headers['ratelimit-name']).toBe('throttle_unauthenticated_api');
  });

  it('counts requests of bots against the user who created them', async () => {
    estate.identityInside.give('glpat-bot', aHolder({ user_id: 9, token_id: 90, bot: true, maker_id: 7 }));
    estate.identityInside.give('glpat-maker', aHolder({ user_id: 7, token_id: 70 }));
    const gateway = await estate.gateway({ RATE_LIMITS: 'on', GATEWAY_RATE_USER_PER_MINUTE_COUNT: '2' });
    const statuses: number[] = [];
    for (const token of ['glpat-bot', 'glpat-maker', 'glpat-bot', 'glpat-other'])
      statuses.push((await get(gateway, '/api/v4/todos', { 'private-token': token })).status);
    expect(statuses).toEqual([200, 200, 429, 200]);
  });

  it('keeps the headers of a limit of the service', async () => {
    const gateway = await estate.gateway({ RATE_LIMITS: 'on' });
    estate.collaboration.on('/api/v4/todos', (_, response) => {
      response.writeHead(429, ['ratelimit-name', 'pins', 'ratelimit-limit', '3', 'retry-after', '7']).end('{}');
    });
    const { status, headers } = await get(gateway, '/api/v4/todos');
    expect([status, headers['ratelimit-name'], headers['ratelimit-limit']]).toEqual([429, 'pins', '3']);
    expect(headers['ratelimit-observed']).toBeUndefined();
  });

  it('reports the tighter limit, its own or that of the service', async () => {
    const gateway = await estate.gateway({ RATE_LIMITS: 'on', GATEWAY_RATE_ADDRESS_PER_MINUTE_COUNT: '4' });
    estate.collaboration.on('/api/v4/todos', (_, response) => {
      const head = [
        'ratelimit-name',
        'pins',
        'ratelimit-limit',
        '3',
        'ratelimit-remaining',
        '2',
        'ratelimit-reset',
        '1',
      ];
      response.writeHead(200, head).end('[]');
    });
    const reported = [];
    for (let index = 0; index < 3; index += 1) {
      const { headers } = await get(gateway, '/api/v4/todos');
      reported.push([headers['ratelimit-name'], headers['ratelimit-limit'], headers['ratelimit-remaining']]);
    }
    const ours = 'throttle_unauthenticated_api';
    expect(reported).toEqual([
      ['pins', '3', '2'],
      ['pins', '3', '2'],
      [ours, '4', '1'],
    ]);
  });

  it('tells Conan in its list of errors, for requests and for failed logins', async () => {
    const one = { RATE_LIMITS: 'on', GATEWAY_RATE_PACKAGES_PER_MINUTE_COUNT: '1' };
    const gateway = await estate.gateway({ ...one, GATEWAY_RATE_FAILED_AUTH_PER_MINUTE_COUNT: '1' });
    const login = (token: string) =>
      get(gateway, '/api/v4/projects/1/packages/conan/v1/ping', { authorization: `Bearer ${token}` });
    for (const [token, first, limit, setting] of [
      ['glpat-good', 200, 'throttle_authenticated_packages_api', 'GATEWAY_RATE_PACKAGES_PER_MINUTE_COUNT'],
      ['wrong', 401, 'throttle_unknown_credentials', 'GATEWAY_RATE_FAILED_AUTH_PER_MINUTE_COUNT'],
    ] as const) {
      expect((await login(token)).status).toBe(first);
      const { status, headers, body } = await login(token);
      const message = `Retry later\nThe limit ${limit} is 1 a minute, set by ${setting}.`;
      expect([status, headers['content-type'], JSON.parse(body)]).toEqual([
        ...[429, 'application/json', { errors: [{ status: 429, message }] }],
      ]);
      expect(Number(headers['retry-after'])).toBeGreaterThan(50);
    }
  });

  it('gives each replica its share', async () => {
    const gateway = await estate.gateway({
      RATE_LIMITS: 'on',
      GATEWAY_RATE_ADDRESS_PER_MINUTE_COUNT: '10',
      GATEWAY_REPLICAS_COUNT: '5',
    });
    expect((await get(gateway, '/api/v4/todos')).headers['ratelimit-limit']).toBe('2');
  });

  it('sends no rate headers when limits are off', async () => {
    const gateway = await estate.gateway();
    expect((await get(gateway, '/api/v4/todos')).headers['ratelimit-limit']).toBeUndefined();
  });

  describe('of an address that guesses credentials', () => {
    const guess = (gateway: Gateway, secret: string) => get(gateway, '/api/v4/todos', { 'private-token': secret });
    const guessing = async (env: Readonly<Record<string, string>> = {}): Promise<Gateway> => {
      const limits = { RATE_LIMITS: 'on', GATEWAY_RATE_FAILED_AUTH_PER_MINUTE_COUNT: '3' };
      const gateway = await estate.gateway({ ...limits, ...env });
      for (let index = 0; index < 3; index += 1) {
        const refused = await guess(gateway, `guess${index}`);
        expect(refused).toMatchObject({ status: 401, body: '{"message":"401 Unauthorized"}' });
        expect(refused.headers).toMatchObject({
          'ratelimit-name': 'throttle_unknown_credentials',
          'ratelimit-limit': '3',
          'ratelimit-remaining': String(2 - index),
        });
      }
      return gateway;
    };

    it('refuse unknown credentials with the limit, and admit valid ones, new ones too', async () => {
      const gateway = await guessing();
      const fourth = await guess(gateway, 'guess4');
      const limitText =
        'The limit throttle_unknown_credentials is 3 a minute, set by GATEWAY_RATE_FAILED_AUTH_PER_MINUTE_COUNT.';
      expect(fourth).toMatchObject({ status: 429, body: `Retry later\n${limitText}\n` });
      expect(fourth.headers).toMatchObject({ 'ratelimit-remaining': '0' });
      expect(Number(fourth.headers['retry-after'])).toBeGreaterThan(0);
      const job = await get(gateway, '/api/v4/todos', { 'job-token': 'guess5' });
      expect(job).toMatchObject({ status: 429 });
      expect((await guess(gateway, 'glpat-good')).status).toBe(200);
      estate.identityInside.change('glpat-ended', { outcome: 'expired' } as never, 90);
      expect((await guess(gateway, 'glpat-ended')).status).toBe(401);
      expect((await guess(gateway, 'guess6')).status).toBe(429);
    });

    it('check two credentials at a time, and do not delay one that was valid a moment ago', async () => {
      const gateway = await guessing({ GATEWAY_AUTH_LEASE_MS: '1' });
      expect((await guess(gateway, 'glpat-good')).status).toBe(200);
      let open = (): void => undefined;
      estate.identityInside.gate = new Promise((resolve) => (open = resolve));
      const before = estate.identityInside.asked.length;
      const asked = (): number => estate.identityInside.asked.length - before;
      const guesses = Array.from({ length: 9 }, (_, index) => guess(gateway, `guess at once ${index}`));
      await eventually(() => gateway.requests >= 13 && asked() === 2);
      const known = guess(gateway, 'glpat-good');
      const other = guess(gateway, 'glpat-other');
      await eventually(() => asked() === 3);
      open();
      expect((await known).status).toBe(200);
      expect((await other).status).toBe(200);
      expect((await Promise.all(guesses)).map(({ status }) => status)).toEqual(Array.from({ length: 9 }, () => 429));
    });
  });

  it('sheds by class when too much is in flight, and never health', async () => {
    const gateway = await estate.gateway({ GATEWAY_IN_FLIGHT_COUNT: '10' });
    const held: (() => void)[] = [];
    estate.identity.on('/api/v4/projects/import', (_, response) => held.push(() => response.end('{}')));
    const hold = async (): Promise<void> => {
      const wanted = held.length + 1;
      void request(`${gateway.url}/api/v4/projects/import`, { method: 'POST' }).then((answer) => answer.body.dump());
      await eventually(() => held.length === wanted);
    };
    const signedIn = { 'private-token': 'glpat-good' };
    const statuses = async (): Promise<number[]> => [
      (await get(gateway, '/api/v4/todos')).status,
      (await get(gateway, '/api/v4/todos', signedIn)).status,
      (await get(gateway, '/api/v4/user', signedIn)).status,
    ];
    for (let count = 0; count < 6; count += 1) await hold();
    expect(await statuses()).toEqual([200, 200, 200]);
    await hold();
    expect(await statuses()).toEqual([503, 200, 200]);
    await hold();
    expect(await statuses()).toEqual([503, 503, 200]);
    await hold();
    expect(await statuses()).toEqual([503, 503, 503]);
    await hold();
    const shed = await get(gateway, '/api/v4/todos');
    expect(shed.body).toBe('{"message":"503 Service Unavailable"}');
    expect(Number(shed.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    expect(Number(shed.headers['retry-after'])).toBeLessThanOrEqual(5);
    const write = await request(`${gateway.url}/api/v4/projects`, { method: 'POST' });
    await write.body.dump();
    expect(write.statusCode).toBe(503);
    const removal = await request(`${gateway.url}/api/v4/projects/1`, { method: 'DELETE' });
    await removal.body.dump();
    expect(removal.statusCode).toBe(200);
    expect((await get(gateway, '/-/health/live')).status).toBe(200);
    for (const release of held) release();
    await eventually(async () => (await get(gateway, '/api/v4/todos')).status === 200);
  });

  it('does not count clients that left while they waited', async () => {
    const few = { GATEWAY_IN_FLIGHT_COUNT: '10', GATEWAY_UPSTREAM_CONNECTIONS_COUNT: '7' };
    const gateway = await estate.gateway(few);
    const held: (() => void)[] = [];
    estate.identity.on('/api/v4/projects/import', (_, response) => held.push(() => response.end('{}')));
    const answers = Array.from({ length: 7 }, () =>
      request(`${gateway.url}/api/v4/projects/import`, { method: 'POST' }),
    );
    await eventually(() => held.length === 7);
    const inFlight = async () => /^rookery_gateway_in_flight (.*)$/m.exec((await gateway.metrics.text()).body)![1];
    const leaving = await Promise.all(Array.from({ length: 5 }, () => RawClient.open(gateway.port)));
    for (const [count, client] of leaving.entries()) {
      client.write('GET /api/v4/user HTTP/1.1\r\nHost: x\r\nPRIVATE-TOKEN: glpat-good\r\n\r\n');
      await eventually(async () => (await inFlight()) === String(8 + count));
    }
    for (const { socket } of leaving) socket.destroy();
    await eventually(async () => (await inFlight()) === '7');
    const unknown = await get(gateway, '/api/v4/todos');
    for (const release of held) release();
    for (const answer of answers) await (await answer).body.dump();
    expect(unknown.status).toBe(503);
  });

  it('does not count uploads without a first byte as load', async () => {
    const gateway = await estate.gateway({ GATEWAY_IN_FLIGHT_COUNT: '10' });
    const inFlight = async () => /^rookery_gateway_in_flight (.*)$/m.exec((await gateway.metrics.text()).body)![1];
    const clients = await Promise.all(Array.from({ length: 20 }, () => RawClient.open(gateway.port)));
    for (const [count, client] of clients.entries()) {
      client.write('PUT /api/v4/projects/1/packages/maven/a HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n');
      await eventually(async () => (await inFlight()) === String(1 + count));
    }
    expect((await get(gateway, '/api/v4/todos')).status).toBe(200);
    for (const client of clients.slice(1)) client.write('x');
    await eventually(() => clients.slice(1).every(({ received }) => received.startsWith('HTTP/1.1 200 ')));
    for (const { socket } of clients) socket.destroy();
    await eventually(async () => (await inFlight()) === '0');
    expect((await get(gateway, '/api/v4/todos')).status).toBe(200);
  });

  it('begins pipelined requests one after the other, so that none is counted after its connection closed', async () => {
    const gateway = await estate.gateway();
    const inFlight = async () => /^rookery_gateway_in_flight (.*)$/m.exec((await gateway.metrics.text()).body)![1];
    const held: (() => void)[] = [];
    estate.identity.on('/api/v4/projects/import', (_, response) => held.push(() => response.end('{}')));
    const first = 'POST /api/v4/projects/import HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n';
    const next = 'GET /api/v4/user/nowhere HTTP/1.1\r\nHost: x\r\n\r\n';
    const client = (await RawClient.open(gateway.port)).write(first + next.repeat(32));
    await eventually(() => held.length === 1);
    expect(await inFlight()).toBe('1');
    held[0]!();
    await eventually(() => client.received.split('HTTP/1.1 404 ').length === 33);
    expect(client.received).toMatch(/^HTTP\/1\.1 200 /);
    await eventually(async () => (await inFlight()) === '0');
    client.write(first + next.repeat(5));
    await eventually(() => held.length === 2);
    client.socket.destroy();
    await eventually(async () => (await inFlight()) === '0');
    const greedy = (await RawClient.open(gateway.port)).write(first + next.repeat(33));
    await eventually(() => greedy.isClosed);
    await eventually(async () => (await inFlight()) === '0');
    for (const release of held.slice(1)) release();
  });

  it('does not count a refused request as load, though its client continues sending', async () => {
    const gateway = await estate.gateway();
    const client = await RawClient.open(gateway.port);
    client.write('POST /api/v4/user/nowhere HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n');
    await eventually(() => client.received.startsWith('HTTP/1.1 404 '));
    expect(client.isClosed).toBe(false);
    const inFlight = async () => /^rookery_gateway_in_flight (.*)$/m.exec((await gateway.metrics.text()).body)![1];
    expect(await inFlight()).toBe('0');
    await eventually(() => client.isClosed);
    expect(await inFlight()).toBe('0');
  });

  it('limits connections of one address', async () => {
    const gateway = await estate.gateway({ GATEWAY_SOCKETS_PER_ADDRESS_COUNT: '2' });
    const open = () => RawClient.open(gateway.port);
    const clients = [await open(), await open(), await open(), await open()];
    const [first, , third] = clients;
    const beyond = await open();
    await eventually(() => beyond.isClosed);
    const lingering = clients[3]!;
    lingering.write('POST /api/v4/user HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n');
    await eventually(() => lingering.received.startsWith('HTTP/1.1 429 '));
    expect((await gateway.metrics.text()).body).toMatch(/^rookery_gateway_in_flight 0$/m);
    third!.write('GET /api/v4/user HTTP/1.1\r\nHost: x\r\n\r\n');
    await eventually(() => third!.isClosed);
    const [head, text] = third!.received.split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 429 /);
    expect(head).toMatch(/^retry-after: 1$/im);
    expect(head).toMatch(/^connection: close$/im);
    expect(text).toBe(
      'Retry later\nThe limit connections_per_address is 2 at once, set by GATEWAY_SOCKETS_PER_ADDRESS_COUNT.\n',
    );
    first!.socket.destroy();
    await eventually(async () => {
      const next = await RawClient.open(gateway.port);
      next.write('GET /-/health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
      await eventually(() => next.isClosed);
      return next.received.startsWith('HTTP/1.1 200');
    });
    for (const client of clients) client.socket.destroy();
  });

  it('finishes requests in flight when it stops', async () => {
    const gateway = await estate.gateway();
    let release = (): void => undefined;
    estate.collaboration.on('/api/v4/todos', (_, response) => (release = () => response.end('[]')));
    const pending = request(`${gateway.url}/api/v4/todos`);
    await eventually(() => release.toString().includes('end'));
    const stopped = gateway.shutdown.runAll();
    release();
    const answer = await pending;
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['connection']).toBe('close');
    await answer.body.dump();
    expect(await stopped).toBe(true);
    await expect(request(`${gateway.url}/api/v4/todos`)).rejects.toThrow();
  });
});
