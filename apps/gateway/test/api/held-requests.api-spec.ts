import net from 'node:net';
import { Agent, request } from 'undici';
import { Estate, eventually } from '../support/estate';
import type { Gateway } from '../support/estate';
import { aHolder } from '../support/fake-identity';
import { RawClient } from '../support/raw';

const ISSUES = '/api/v4/projects/1/issues';
const LONG = Buffer.alloc(32 * 1024 * 1024, 32);
/** Connections to a service for one caller. */
const SHARE = 16;

describe('requests that take long', () => {
  let estate: Estate;
  let gateway: Gateway;
  beforeEach(async () => {
    estate = await new Estate().start();
    estate.identityInside.give('glpat-good', aHolder({ admin: true, scopes: ['api', 'sudo'] }));
    gateway = await estate.gateway({ GATEWAY_AUTH_LEASE_MS: '0' });
  });
  afterEach(() => estate.stop());

  const asks = (): number => estate.identityInside.asked.filter((one) => one.digest !== null).length;
  const todos = async (token = 'glpat-good', query = ''): Promise<number> => {
    const answer = await request(`${gateway.url}/api/v4/todos${query}`, { headers: { 'private-token': token } });
    await answer.body.dump();
    return answer.statusCode;
  };
  const head = (verb: string): string => `${verb} ${ISSUES} HTTP/1.1\r\nHost: x\r\nPRIVATE-TOKEN: glpat-good\r\n`;

  describe('while their body is being sent', () => {
    const begun = async (): Promise<RawClient> => {
      const client = await RawClient.open(gateway.port);
      client.write(`${head('POST')}Transfer-Encoding: chunked\r\n\r\n3\r\n{} \r\n`);
      await eventually(() => asks() > 0);
      return client;
    };
    const answered = async (client: RawClient): Promise<string> => {
      client.write('1\r\n \r\n0\r\n\r\n');
      await eventually(() => client.received.includes('\r\n\r\n'));
      return client.received.split('\r\n')[0]!;
    };

    it('reach their service if nothing changes', async () => {
      expect(await answered(await begun())).toBe('HTTP/1.1 200 OK');
      expect(estate.collaboration.last.length).toBe(4);
    });

    it.each([
      ['the token is revoked', { outcome: 'revoked' }],
      ['their owner is blocked', { outcome: 'user_refused', reason: 'Your account has been blocked' }],
      ['their owner is no longer an administrator', { outcome: 'valid', holder: aHolder({ scopes: ['api', 'sudo'] }) }],
      [
        'their owner becomes external',
        { outcome: 'valid', holder: aHolder({ admin: true, external: true, scopes: ['api', 'sudo'] }) },
      ],
    ])('do nothing when %s', async (_, outcome) => {
      const client = await begun();
      estate.identityInside.change('glpat-good', outcome as never, 70);
      expect(await answered(client)).toMatch(/^HTTP\/1\.1 (401|403|503) /);
      expect(estate.collaboration.seen).toEqual([]);
    });
  });

  it('of one caller that reads no answers leave connections to others, and are rechecked after they waited', async () => {
    estate.identityInside.give('glpat-other', aHolder({ user_id: 8, token_id: 80 }));
    estate.collaboration.on(ISSUES, (_, response) => void response.end(LONG));
    const readers = await Promise.all(Array.from({ length: SHARE }, () => RawClient.open(gateway.port)));
    for (const reader of readers) {
      reader.socket.pause();
      reader.write(`${head('GET')}\r\n`);
    }
    await eventually(() => estate.collaboration.seen.length === SHARE);
    const waiting = (await RawClient.open(gateway.port)).write(`${head('GET')}\r\n`);
    await eventually(() => asks() > SHARE);
    expect(await todos('glpat-other')).toBe(200);

    const waitedFrom = Date.now();
    await eventually(() => Date.now() - waitedFrom > 1000);
    expect(waiting.received).toBe('');
    estate.identityInside.change('glpat-good', { outcome: 'revoked' } as never, 70);
    readers[0]!.socket.destroy();
    await eventually(() => waiting.received !== '');
    expect(waiting.received).toMatch(/^HTTP\/1\.1 401 /);
    expect(estate.collaboration.seen.filter(({ url }) => url === ISSUES)).toHaveLength(SHARE);
    for (const { socket } of [waiting, ...readers]) socket.destroy();
  });

  it.each([
    ['on', 20],
    ['off', 0],
  ])(
    'of one caller wait, 184 of them, or any number without limits: with limits %s %i of 220 are refused',
    async (limits, many) => {
      const gate = await estate.gateway({ RATE_LIMITS: limits, GATEWAY_SOCKETS_PER_ADDRESS_COUNT: '0' });
      let open = (): void => undefined;
      const held = new Promise<void>((resolve) => (open = resolve));
      estate.collaboration.on(ISSUES, (_, response) => void held.then(() => response.end('[]')));
      const refusals: string[] = [];
      const agent = new Agent({ connections: 220 });
      const asked = Array.from({ length: 220 }, async () => {
        const headers = { 'private-token': 'glpat-good' };
        const { statusCode, body } = await request(`${gate.url}${ISSUES}`, { headers, dispatcher: agent });
        const text = await body.text();
        if (statusCode === 429) refusals.push(text);
        return statusCode;
      });
      await eventually(() => gate.requests === 220 && refusals.length >= many);
      expect(refusals).toHaveLength(many);
      open();
      const statuses = await Promise.all(asked);
      await agent.close();
      expect(statuses.filter((status) => status === 200)).toHaveLength(220 - many);
      for (const text of refusals) expect(text).toBe('Retry later\nThe limit requests_of_one_caller is 200 at once.\n');
    },
  );

  it('of bots with one creator share the connections of one caller', async () => {
    for (let bot = 0; bot <= SHARE; bot += 1)
      estate.identityInside.give(
        `glpat-bot${bot}`,
        aHolder({ user_id: 100 + bot, token_id: 100 + bot, bot: true, maker_id: 7 }),
      );
    let open = (): void => undefined;
    const held = new Promise<void>((resolve) => (open = resolve));
    estate.collaboration.on(ISSUES, (_, response) => void held.then(() => response.end('[]')));
    const ask = (bot: number): Promise<number> =>
      request(`${gateway.url}${ISSUES}`, { headers: { 'private-token': `glpat-bot${bot}` } }).then(
        async ({ statusCode, body }) => (await body.dump(), statusCode),
      );
    const asked = Array.from({ length: SHARE }, (_, bot) => ask(bot));
    await eventually(() => estate.collaboration.seen.length === SHARE);
    expect(estate.collaboration.seen.every(({ claims }) => claims.mkr === 7)).toBe(true);
    const last = ask(SHARE);
    await eventually(() => asks() > SHARE);
    // Requests of another user pass while it waits.
    estate.identityInside.give('glpat-other', aHolder({ user_id: 8, token_id: 80 }));
    expect(await todos('glpat-other')).toBe(200);
    expect(estate.collaboration.seen.filter(({ url }) => url === ISSUES)).toHaveLength(SHARE);
    open();
    expect(new Set(await Promise.all([...asked, last]))).toEqual(new Set([200]));
  });

  it('are rechecked when the gateway was blocked before it wrote them', async () => {
    const connect = net.connect;
    const service = new URL(estate.collaboration.url).port;
    let hasStood = false;
    const opened = jest.spyOn(net, 'connect').mockImplementation(((options: net.NetConnectOpts) => {
      const socket = connect(options);
      if (hasStood || String((options as net.TcpNetConnectOpts).port) !== service) return socket;
      hasStood = true;
      // Signed but not yet written: the token is revoked while the process is blocked.
      estate.identityInside.change('glpat-good', { outcome: 'revoked' } as never, 70);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1200);
      return socket;
    }) as never);
    try {
      expect(await todos()).toBe(401);
      expect(hasStood).toBe(true);
      expect(estate.collaboration.seen).toEqual([]);
    } finally {
      opened.mockRestore();
    }
  });

  it('are rechecked when resolving sudo took long', async () => {
    estate.identityInside.sudoUsers.set('kim', {
      id: 9,
      username: 'kim',
      admin: false,
      external: false,
      bot: false,
      state: 'active',
    } as never);
    expect(await todos('glpat-good', '?sudo=kim')).toBe(200);
    let open = (): void => undefined;
    estate.identityInside.sudoGate = new Promise((resolve) => (open = resolve));
    const late = todos('glpat-good', '?sudo=kim');
    await eventually(() => asks() === 2);
    const waitedFrom = Date.now();
    await eventually(() => Date.now() - waitedFrom > 1100);
    estate.identityInside.change('glpat-good', { outcome: 'revoked' } as never, 70);
    open();
    expect(await late).toBe(401);
  });
});
