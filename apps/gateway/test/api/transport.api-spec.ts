import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { request } from 'undici';
import { countsOutage, Estate, eventually } from '../support/estate';
import type { Gateway } from '../support/estate';
import { RawClient } from '../support/raw';

const MIB = 1024 * 1024;
const NOTES = '/api/v4/projects/1/issues/1/notes';
const ISSUES = '/api/v4/projects/1/issues';
const FILE = '/api/v4/projects/1/packages/generic/a/1.0/f.bin';
/** Bytes of buffers that are still referenced. */
function heldBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  // The second collection waits until the first has freed its buffers.
  collect();
  collect();
  return process.memoryUsage().arrayBuffers;
}
const TOO_LARGE = { message: '413 Request Entity Too Large' };

describe('transport', () => {
  const estate = new Estate();
  let gateway: Gateway;
  /** Only for tests of slow peers: on a busy machine any client may be that slow. */
  let impatient: Gateway;
  beforeAll(async () => {
    await estate.start();
    gateway = await estate.gateway({ GATEWAY_SLOW_PEER_MS: '60000' });
    impatient = await estate.gateway({ GATEWAY_SLOW_PEER_MS: '400' });
  });
  afterAll(() => estate.stop());
  beforeEach(() => (estate.collaboration.seen.length = 0));

  const post = (path: string, body: Buffer | string | Readable | null, headers: Record<string, string> = {}) =>
    request(`${gateway.url}${path}`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', ...headers },
    });
  const raw = (text: string): Promise<string> =>
    RawClient.exchange(
      gateway.port,
      text.replaceAll('\n', '\r\n').replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'),
    );

  it('sends the common headers with every answer', async () => {
    const answer = await request(`${gateway.url}/api/v4/todos`);
    await answer.body.dump();
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json',
      vary: 'Origin',
      'cache-control': 'max-age=0, private, must-revalidate',
      'x-content-type-options': 'nosniff',
      'x-total': '1',
    });
    expect(answer.headers['x-runtime']).toMatch(/^\d+\.\d{6}$/);
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
  });

  it('rounds the duration of a refusal, so that hidden and missing resources look alike', async () => {
    const hidden = '/api/v4/projects/404/issues';
    estate.collaboration.on(hidden, (_, response) => response.writeHead(404).end('{}'));
    const refused = ['/api/v4/nowhere', '/api/v4/personal_access_tokens/self', hidden].map(
      (path) => gateway.url + path,
    );
    for (const url of refused) {
      const answer = await request(url);
      await answer.body.dump();
      expect(answer.statusCode).toBeGreaterThanOrEqual(400);
      expect(answer.headers['x-runtime']).toMatch(/^\d+\.\d00000$/);
    }
  });

  it('answers HEAD with the headers of GET and no body', async () => {
    const answer = await raw('HEAD /api/v4/todos HTTP/1.1\nHost: x\n\n');
    expect(answer).toMatch(/^HTTP\/1.1 200/);
    expect(answer.toLowerCase()).toContain('x-total: 1');
    expect(answer.toLowerCase()).toMatch(/content-length: [1-9]/);
    expect(answer.split('\r\n\r\n')[1]).toBe('');
    expect(estate.collaboration.last.method).toBe('GET');
  });

  it('serves avatars, which are outside of the API, with their ETags and cache headers', async () => {
    const path = '/uploads/-/system/user/avatar/7/my.face_1+2.tar.png';
    const headers = {
      'content-type': 'image/png',
      'cache-control': 'max-age=0, public, must-revalidate',
      'content-disposition': 'inline; filename="my.face_1+2.tar.png"',
      'content-security-policy': "default-src 'none'",
      etag: '"v1"',
    };
    estate.identity.on(path, (seen, response) => {
      const isKnown = seen.headers['if-none-match'] === '"v1"';
      response.writeHead(isKnown ? 304 : 200, headers).end(isKnown ? undefined : 'png');
    });
    const get = (known: Record<string, string> = {}) => request(`${gateway.url}${path}`, { headers: known });
    const answer = await get();
    expect([answer.statusCode, await answer.body.text()]).toEqual([200, 'png']);
    expect(answer.headers).toMatchObject({ ...headers, 'x-content-type-options': 'nosniff' });
    expect(estate.identity.last).toMatchObject({ url: path, claims: { sub: null } });
    const same = await get({ 'if-none-match': '"v1"' });
    expect([same.statusCode, await same.body.text(), same.headers['etag']]).toEqual([304, '', '"v1"']);
    expect(same.headers['cache-control']).toBe('max-age=0, public, must-revalidate');
    for (const [url, status] of [
      [path.replace('my.', 'my%2F..%2F'), 400],
      [`${path}/more`, 404],
    ] as const) {
      const refused = await request(`${gateway.url}${url}`);
      await refused.body.dump();
      expect([url, refused.statusCode]).toEqual([url, status]);
    }
  });

  it('does not read a long answer to HEAD to its end', async () => {
    estate.package.on(FILE, (_, response) => {
      response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': 50 * MIB });
      response.write(Buffer.alloc(MIB));
    });
    const answer = await raw(`HEAD ${FILE} HTTP/1.1\nHost: x\n\n`);
    expect(answer.toLowerCase()).toContain(`content-length: ${50 * MIB}`);
    await eventually(() => estate.package.abortsOf(FILE) === 1);
  });

  it('answers preflight requests and names the methods', async () => {
    const headers = {
      origin: 'https://app.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'private-token, content-type',
    };
    const answer = await request(`${gateway.url}${ISSUES}`, { method: 'OPTIONS', headers });
    expect(answer.statusCode).toBe(204);
    expect(answer.headers).toMatchObject({
      allow: 'GET, HEAD, OPTIONS, POST',
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET, HEAD, OPTIONS, POST',
      'access-control-allow-headers': 'private-token, content-type',
    });
    expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
    const plain = await request(`${gateway.url}/api/v4/nothing`, { method: 'OPTIONS' });
    expect(plain.statusCode).toBe(404);
    await plain.body.dump();
  });

  it('exposes the paging headers to pages of other origins', async () => {
    const answer = await request(`${gateway.url}/api/v4/todos`, { headers: { origin: 'https://app.example' } });
    await answer.body.dump();
    expect(answer.headers['access-control-allow-origin']).toBe('*');
    expect(answer.headers['access-control-expose-headers']).toContain('Link, X-Total');
  });

  it('names the methods of a known path', async () => {
    const answer = await request(`${gateway.url}${ISSUES}`, { method: 'DELETE' });
    expect(answer.statusCode).toBe(405);
    expect(answer.headers['allow']).toBe('GET, HEAD, OPTIONS, POST');
    expect(await answer.body.json()).toEqual({ error: '405 Not Allowed' });
  });

  it.each(['/api/v4/nothing', '/api/v5/todos', '/', '/internal/tokens/resolve', '/metrics'])(
    'knows no %s',
    async (path) => {
      const answer = await request(`${gateway.url}${path}`);
      expect(answer.statusCode).toBe(404);
      expect(await answer.body.json()).toEqual({ error: '404 Not Found' });
    },
  );

  describe('bodies', () => {
    it.each([
      ['the default limit', ISSUES, MIB],
      ['the limit of the route', NOTES, 8 * MIB],
    ])('refuses more than %s by its stated length', async (_, path, limit) => {
      const good = await post(path, Buffer.alloc(limit, 32));
      expect(good.statusCode).toBe(200);
      await good.body.dump();
      expect(estate.collaboration.last.length).toBe(limit);
      const bad = await post(path, Buffer.alloc(limit + 1, 32));
      expect(bad.statusCode).toBe(413);
      expect(await bad.body.json()).toEqual(TOO_LARGE);
    });

    it('refuses more than the limit by counting when no length is stated', async () => {
      const chunks = Readable.from(Array.from({ length: 40 }, () => Buffer.alloc(64 * 1024, 32)));
      const answer = await post(ISSUES, chunks);
      expect(answer.statusCode).toBe(413);
      expect(await answer.body.json()).toEqual(TOO_LARGE);
    });

    it('answers 413 before the body is sent when the client waits for 100 Continue', async () => {
      const head = `POST ${ISSUES} HTTP/1.1\nHost: x\nContent-Type: application/json\nExpect: 100-continue\n`;
      const answer = await raw(`${head}Content-Length: ${MIB + 1}\n\n`);
      expect(answer).toMatch(/^HTTP\/1.1 413/);
      expect(answer).not.toContain('100 Continue');
    });

    it.each([
      ['small', 20],
      ['streamed', 100_000],
    ])('sends 100 Continue for a %s body and forwards it without the header', async (_, length) => {
      const client = await RawClient.open(gateway.port);
      client.write(`POST ${ISSUES} HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: ${length}\r\n\r\n`);
      await eventually(() => client.received.includes('HTTP/1.1 100 Continue\r\n\r\n'));
      client.write('x'.repeat(length));
      await eventually(() => client.received.includes('HTTP/1.1 200 OK'));
      expect(estate.collaboration.last.length).toBe(length);
      expect(estate.collaboration.last.headers['expect']).toBeUndefined();
      client.socket.destroy();
    });

    it('accepts JSON content types without a body, as some clients send them', async () => {
      for (const method of ['GET', 'HEAD', 'DELETE'] as const) {
        const answer = await request(`${gateway.url}${NOTES}/5`, {
          method,
          headers: { 'content-type': 'application/json' },
        });
        expect(answer.statusCode).toBe(200);
        await answer.body.dump();
      }
      const withBody = await request(`${gateway.url}${NOTES}/5`, { method: 'DELETE', body: '{"a":1}' });
      await withBody.body.dump();
      expect(estate.collaboration.last).toMatchObject({ method: 'DELETE', length: 7 });
    });

    it('disconnects a client that sends its headers slowly', async () => {
      const client = await RawClient.open(impatient.port);
      client.write('GET /api/v4/todos HTTP/1.1\r\nHost: x\r\nX-Slow: ');
      await eventually(() => client.isClosed);
      expect(client.received).toMatch(/^HTTP\/1.1 408[\s\S]*\{"message":"408 Request Timeout"\}$/);
    });

    it.each([
      ['small', 50],
      ['streamed', 900_000],
    ])('disconnects a client that sends a %s body slowly', async (_, length) => {
      const client = await RawClient.open(impatient.port);
      client.write(`POST ${ISSUES} HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\nx`);
      await eventually(() => client.received.startsWith('HTTP/1.1 408'));
      client.socket.destroy();
    });
  });

  it('streams 50 MB up and down with little memory', async () => {
    const piece = randomBytes(MIB);
    const size = 50 * MIB;
    const wanted = createHash('sha256');
    for (let index = 0; index < 50; index += 1) wanted.update(piece);
    const digest = wanted.digest('hex');
    const got = createHash('sha256');
    const before = heldBytes();
    let most = 0;
    const pieces = function* (): Generator<Buffer> {
      for (let index = 0; index < 50; index += 1) {
        if (index % 10 === 9) most = Math.max(most, heldBytes());
        yield piece;
      }
    };
    estate.package.on(FILE, (req, response) => {
      if (req.method === 'PUT')
        req.on('data', (chunk: Buffer) => got.update(chunk)).on('end', () => response.end('{}'));
      else Readable.from(pieces()).pipe(response);
    });
    const up = await request(`${gateway.url}${FILE}`, {
      method: 'PUT',
      headers: { 'content-length': String(size) },
      body: Readable.from(pieces()),
    });
    expect(up.statusCode).toBe(200);
    await up.body.dump();
    expect(got.digest('hex')).toBe(digest);
    const down = await request(`${gateway.url}${FILE}`);
    const back = createHash('sha256');
    for await (const chunk of down.body) back.update(chunk as Buffer);
    expect(back.digest('hex')).toBe(digest);
    // Client, gateway and service share this process; a copy of the body anywhere would be 50 MB more.
    expect(most - before).toBeLessThan(25 * MIB);
  });

  describe('failures', () => {
    it('cancels the service’s work when the client leaves', async () => {
      let arrived = false;
      estate.collaboration.on('/api/v4/projects/9/issues', () => (arrived = true));
      const client = await RawClient.open(gateway.port);
      client.write('GET /api/v4/projects/9/issues HTTP/1.1\r\nHost: x\r\n\r\n');
      await eventually(() => arrived);
      client.socket.destroy();
      await eventually(() => estate.collaboration.abortsOf('/api/v4/projects/9/issues') === 1);
    });

    it('cancels the service’s work when the client leaves in the middle of its body', async () => {
      let arrived = false;
      estate.collaboration.on('/api/v4/projects/8/issues', (incoming) => {
        arrived = true;
        incoming.resume();
      });
      const client = await RawClient.open(gateway.port);
      client.write(
        `POST /api/v4/projects/8/issues HTTP/1.1\r\nHost: x\r\nContent-Length: 900000\r\n\r\n${'x'.repeat(70_000)}`,
      );
      await eventually(() => arrived);
      client.socket.destroy();
      await eventually(() => estate.collaboration.abortsOf('/api/v4/projects/8/issues') === 1);
    });

    it('answers 504 for a service that does not answer in time', async () => {
      estate.collaboration.on('/api/v4/projects/1/slow', () => undefined);
      const answer = await request(`${gateway.url}/api/v4/projects/1/slow`);
      expect(answer.statusCode).toBe(504);
      expect(await answer.body.json()).toEqual({ message: '504 Gateway Timeout' });
      await countsOutage(gateway, 'deadline');
      await eventually(() => estate.collaboration.abortsOf('/api/v4/projects/1/slow') === 1);
    });

    it('aborts the answer when the service aborts it', async () => {
      estate.collaboration.on('/api/v4/projects/7/issues', (_, response) => {
        response.writeHead(200, { 'content-length': 1000 });
        response.write('x'.repeat(10), () => response.destroy());
      });
      const answer = await request(`${gateway.url}/api/v4/projects/7/issues`);
      await expect(answer.body.text()).rejects.toThrow();
    });

    it('answers 502 when the service disconnects before its answer, and retries only reads', async () => {
      let count = 0;
      estate.collaboration.on('/api/v4/projects/6/issues', (incoming, response) => {
        count += 1;
        if (count === 1 || incoming.method === 'POST') incoming.socket.destroy();
        else response.end('[]');
      });
      const read = await request(`${gateway.url}/api/v4/projects/6/issues`);
      expect(read.statusCode).toBe(200);
      await read.body.dump();
      expect(count).toBe(2);
      const write = await post('/api/v4/projects/6/issues', '{}');
      expect(write.statusCode).toBe(502);
      expect(await write.body.json()).toEqual({ message: '502 Bad Gateway' });
      await countsOutage(gateway, 'connection lost');
      expect(count).toBe(3);
    });

    it('refuses only the routes of a service that is down', async () => {
      await estate.package.stop();
      const dead = await request(`${gateway.url}${FILE}`);
      expect(dead.statusCode).toBe(503);
      expect(dead.headers['content-type']).toBe('application/json');
      expect(dead.headers['retry-after']).toBe('1');
      expect(await dead.body.json()).toEqual({ message: '503 Service Unavailable' });
      await countsOutage(gateway, 'service away');
      const alive = await request(`${gateway.url}/api/v4/todos`);
      expect(alive.statusCode).toBe(200);
      await alive.body.dump();
      await estate.package.start();
      const back = await request(`${gateway.url}/api/v4/projects/1/packages/maven/a/b`);
      expect(back.statusCode).toBe(200);
      await back.body.dump();
    });
  });

  describe('refusals by the parser and the header check', () => {
    it.each([
      ['more than 100 headers', `GET /api/v4/todos HTTP/1.1\nHost: x\n${'A: b\n'.repeat(101)}\n`, 431],
      ['headers of more than 16 KiB', `GET /api/v4/todos HTTP/1.1\nHost: x\nA: ${'b'.repeat(17_000)}\n\n`, 431],
      ['headers past the parser', `GET /api/v4/todos HTTP/1.1\nHost: x\nA: ${'b'.repeat(60_000)}\n\n`, 431],
      ['a query of more than 16 KiB', `GET /api/v4/todos?a=${'b'.repeat(17_000)} HTTP/1.1\nHost: x\n\n`, 414],
      ['two lengths', `POST ${ISSUES} HTTP/1.1\nHost: x\nContent-Length: 1\nContent-Length: 2\n\nx`, 400],
      [
        'a length beside chunks',
        `POST ${ISSUES} HTTP/1.1\nHost: x\nContent-Length: 1\nTransfer-Encoding: chunked\n\nx`,
        400,
      ],
      ['an absolute target', 'GET http://evil/api/v4/todos HTTP/1.1\nHost: x\n\n', 400],
      ['no HTTP at all', 'hello\n\n', 400],
    ])('%s', async (_, text, status) => {
      const answer = await raw(text);
      expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
      expect(answer.toLowerCase()).toContain('content-type: application/json');
    });

    it('accepts a query of nearly 16 KiB', async () => {
      const answer = await request(`${gateway.url}/api/v4/todos?a=${'b'.repeat(16_000)}`);
      expect(answer.statusCode).toBe(200);
      await answer.body.dump();
    });
  });
});
