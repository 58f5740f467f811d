import type { ServerResponse } from 'node:http';
import { Estate, eventually } from '../support/estate';
import type { Gateway } from '../support/estate';
import { RawClient } from '../support/raw';

const ISSUES = '/api/v4/projects/1/issues';
const TODOS = '/api/v4/todos';
const SLOW_PEER_MS = 400;

describe('streams that break', () => {
  const estate = new Estate();
  let gateway: Gateway;
  beforeAll(async () => {
    await estate.start();
    gateway = await estate.gateway({ GATEWAY_SLOW_PEER_MS: String(SLOW_PEER_MS) });
  });
  afterAll(() => estate.stop());

  const send = async (text: string): Promise<RawClient & { failure?: string }> => {
    const client: RawClient & { failure?: string } = await RawClient.open(gateway.port);
    client.socket.on('error', ({ code }: NodeJS.ErrnoException) => (client.failure = code!));
    return Object.assign(client, client.write(text.replaceAll('\n', '\r\n')));
  };
  /** The service begins an answer. Returns a promise of its response. */
  const begins = (path: string, text: string): Promise<ServerResponse> =>
    new Promise((resolve) =>
      estate.collaboration.on(path, (_, response) => {
        response.writeHead(200, { 'content-type': 'text/plain' }).write(text);
        resolve(response);
      }),
    );
  const inFlight = async (): Promise<string> =>
    /^rookery_gateway_in_flight (.*)$/m.exec((await gateway.metrics.text()).body)![1]!;

  const answers = async (): Promise<number> => {
    const counts = (await gateway.metrics.text()).body.matchAll(/^rookery_gateway_requests_total\{.*\} (\d+)$/gm);
    return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
  };

  it('never look complete to HTTP/1.0, where the end of a connection ends an answer without a length', async () => {
    const begun = begins(TODOS, 'half');
    const client = await send(`GET ${TODOS} HTTP/1.0\nHost: x\n\n`);
    await eventually(() => client.received.endsWith('half'));
    (await begun).destroy();
    await eventually(() => client.isClosed);
    expect(client.failure).toBe('ECONNRESET');
  });

  it.each([
    ['a request that the parser refuses', 'no HTTP at all\n\n'],
    ['the head of a request that never ends', 'GET /api/v4/todos HTTP/1.1\nHost:'],
  ])('hold nothing but the answer, also when %s follows', async (_, following) => {
    const begun = begins(TODOS, 'half');
    const client = await send(`GET ${TODOS} HTTP/1.1\nHost: x\n\n`);
    await eventually(() => client.received.includes('half'));
    client.write(following.replaceAll('\n', '\r\n'));
    await eventually(() => client.isClosed);
    expect(client.received.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200']);
    expect(client.received).not.toMatch(/\r\n0\r\n\r\n/);
    (await begun).destroy();
  });

  describe('before their service has them', () => {
    const UPLOAD = '/api/v4/projects/1/packages/maven/a';
    /** As many as one caller may have at a service at once. */
    const SHARE = 16;

    it('are refused when no byte comes', async () => {
      const client = await send(`PUT ${UPLOAD} HTTP/1.1\nHost: x\nContent-Length: 100000\n\n`);
      await eventually(() => client.received.startsWith('HTTP/1.1 408 '), 5000);
      client.socket.destroy();
    });

    it('wait in line for as long as their route allows', async () => {
      const held: ServerResponse[] = [];
      estate.collaboration.on(TODOS, (_, response) => void held.push(response));
      const clients: RawClient[] = [];
      for (let n = 0; n < SHARE; n += 1) clients.push(await send(`GET ${TODOS} HTTP/1.1\nHost: x\n\n`));
      await eventually(() => held.length === SHARE);
      const last = await send('POST /a/b.git/git-upload-pack HTTP/1.1\nHost: x\nContent-Length: 4\n\n0000');
      const waitedFrom = Date.now();
      await eventually(() => Date.now() - waitedFrom > 5 * SLOW_PEER_MS, 10_000);
      expect(last.received).toBe('');
      for (const response of held) response.end('[]');
      await eventually(() => last.received.startsWith('HTTP/1.1 200 '), 5000);
      for (const { socket } of [last, ...clients]) socket.destroy();
    });

    it('are refused when their sender loses the right while they wait in line', async () => {
      estate.identityInside.give('glpat-good');
      const lazy = await estate.gateway({ GATEWAY_AUTH_LEASE_MS: '0' });
      const head = (start: string): string => `${start} HTTP/1.1\r\nHost: x\r\nPRIVATE-TOKEN: glpat-good\r\n`;
      let held = 0;
      estate.collaboration.on(TODOS, () => void (held += 1));
      const clients = await Promise.all(Array.from({ length: SHARE + 1 }, () => RawClient.open(lazy.port)));
      const last = clients.pop()!;
      for (const client of clients) client.write(`${head(`GET ${TODOS}`)}\r\n`);
      await eventually(() => held === SHARE);
      const asked = estate.identityInside.asked.length;
      last.write(`${head(`POST ${ISSUES}`)}Transfer-Encoding: chunked\r\n\r\n3\r\n{} \r\n`);
      await eventually(() => estate.identityInside.asked.length > asked);
      estate.identityInside.change('glpat-good', { outcome: 'revoked' } as never, 70);
      last.write('1\r\n \r\n0\r\n\r\n');
      await eventually(() => last.received.startsWith('HTTP/1.1 401 '), 5000);
      for (const { socket } of [last, ...clients]) socket.destroy();
    });
  });

  it('end when the body is refused after the answer has begun', async () => {
    const begun = begins(ISSUES, 'half');
    const client = await send(`POST ${ISSUES} HTTP/1.1\nHost: x\nTransfer-Encoding: chunked\n\n1\nx\n1\ny\n`);
    await eventually(() => client.received.includes('half'));
    const chunk = `${(64 * 1024).toString(16)}\r\n${'x'.repeat(64 * 1024)}\r\n`;
    client.write(chunk.repeat(17));
    await eventually(() => client.isClosed, 5000);
    expect(client.received).not.toMatch(/\r\n0\r\n\r\n/);
    (await begun).destroy();
  });

  it.each([
    ['an answer', TODOS, 1],
    ['a refusal', '/api/v4/nowhere', 300],
    ['an answer of the gateway', '/api/v4/openapi.json', 1],
  ])('end when their client does not take the end of %s', async (_, path, ahead) => {
    const end = 'x'.repeat(60_000);
    estate.collaboration.on(TODOS, (_, response) => {
      response.writeHead(200, { 'content-length': end.length }).end(end);
    });
    const client = await RawClient.open(gateway.port);
    client.socket.pause();
    let [sent, hasWaited] = [await answers(), false];
    // Until an answer no longer fits into the buffers of the kernel. A paused client learns of a reset when it writes.
    await eventually(async () => {
      const isWaiting = (await answers()) < sent;
      client.write(isWaiting ? '\r\n' : `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(ahead));
      if (!isWaiting) sent += ahead;
      // A request that was not accepted counts as no load.
      else if ((await inFlight()) === '0') hasWaited = true;
      return client.isClosed;
    }, 30_000);
    expect(hasWaited).toBe(true);
  });
});
