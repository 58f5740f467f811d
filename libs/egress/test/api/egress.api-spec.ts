import type { RequestListener } from 'node:http';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { Egress } from '../../src/egress';
import type { EgressOptions } from '../../src/egress';
import { parseAllowedDestinations } from '../../src/destination';
import { CERTIFICATE, startOutside } from '../support/outside';
import type { Outside } from '../support/outside';

const open: Outside[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((outside) => outside.close()));
});

async function startServer(answer: RequestListener, o?: Parameters<typeof startOutside>[1]): Promise<Outside> {
  const started = await startOutside(answer, o);
  open.push(started);
  return started;
}

const resolveToLoopback = (): Promise<string[]> => Promise.resolve(['127.0.0.1']);

function createEgress(listed: readonly string[], o: Partial<EgressOptions> = {}): Egress {
  return new Egress({ listed: parseAllowedDestinations(listed), ports: [443], resolve: resolveToLoopback, ...o });
}

/** Starts a server that the operator has listed under a name of its own. */
async function startListedServer(answer: RequestListener): Promise<{ server: Outside; url: string; client: Egress }> {
  const server = await startServer(answer);
  return {
    server,
    url: `http://forge.internal:${server.port}`,
    client: createEgress([`forge.internal:${server.port}`]),
  };
}

const egressErrorLike = (reason: string) => ({ name: 'EgressError', reason });

describe('an answer', () => {
  it('is read whole, with its status and headers', async () => {
    const { server, url, client } = await startListedServer((request, response) => {
      response.writeHead(404, { 'x-one': 'a', link: ['<b>', '<c>'] }).end(`you asked for ${request.url}`);
    });
    const answer = await client.request({ url: `${url}/a%2Fb?c=d#e`, headers: { 'private-token': 'secret' } });
    expect(answer).toMatchObject({ status: 404, headers: { 'x-one': 'a', link: '<b>, <c>' } });
    expect(answer.body.toString()).toBe('you asked for /a%2Fb?c=d');
    expect(server.requests[0]!.headers).toMatchObject({
      host: `forge.internal:${server.port}`,
      'private-token': 'secret',
    });
  });

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('is decompressed from %s', async (name, pack) => {
    const { url, client } = await startListedServer((_request, response) => {
      response.writeHead(200, { 'content-encoding': name }).end(pack('eggs '.repeat(1000)));
    });
    expect((await client.request({ url })).body.toString()).toBe('eggs '.repeat(1000));
  });

  it('is read while it arrives', async () => {
    const passed: (() => void)[] = [];
    const { url, client } = await startListedServer((_request, response) => {
      response.write('first');
      passed.push(() => response.end('last'));
    });
    const { status, body, close } = await client.open({ url });
    const texts: string[] = [];
    for await (const chunk of body) {
      texts.push(String(chunk));
      passed.pop()?.();
    }
    await close();
    expect([status, texts]).toEqual([200, ['first', 'last']]);
  });

  it('to a POST gets its body', async () => {
    const { url, client } = await startListedServer((request, response) => void request.pipe(response));
    const answer = await client.request({ url, method: 'POST', body: 'an egg' });
    expect(answer.body.toString()).toBe('an egg');
  });

  it('to HEAD has no body', async () => {
    const { url, client } = await startListedServer((_request, response) => void response.writeHead(200).end());
    expect(await client.request({ url, method: 'HEAD' })).toMatchObject({ status: 200, body: Buffer.alloc(0) });
  });
});

describe('a private address', () => {
  it.each([
    ...['127.0.0.1', '127.1', '2130706433', '0x7f.1', '１２７。０。０．１', '[::ffff:127.0.0.1]', '[::127.0.0.1]'],
    ...['localhost', 'evil.example'],
  ])('gets no connection as %s', async (host) => {
    const server = await startServer((_request, response) => void response.end());
    const client = createEgress([], { ports: [server.port] });
    await expect(client.request({ url: `https://${host}:${server.port}/` })).rejects.toMatchObject(
      egressErrorLike('address refused'),
    );
    expect(server.connections()).toBe(0);
  });

  it('gets none when only one address of several is private', async () => {
    const server = await startServer((_request, response) => void response.end());
    const client = createEgress([], { ports: [server.port], resolve: () => Promise.resolve(['1.1.1.1', '127.0.0.1']) });
    await expect(client.request({ url: `https://evil.example:${server.port}` })).rejects.toMatchObject(
      egressErrorLike('address refused'),
    );
    expect(server.connections()).toBe(0);
  });

  it('gets none by another name or port than the listed one', async () => {
    const [named, other] = [
      await startServer((_, response) => void response.end()),
      await startServer(() => undefined),
    ];
    const client = createEgress([`forge.internal:${named.port}`]);
    const urls = [`http://forge.internal:${other.port}`, `http://evil.example:${named.port}`];
    for (const url of urls)
      await expect(client.request({ url })).rejects.toMatchObject(egressErrorLike('address refused'));
    expect([named.connections(), other.connections()]).toEqual([0, 0]);
  });
});

describe('a name', () => {
  it('is looked up once, and later results are ignored', async () => {
    const intended = await startServer((_request, response) => void response.end('intended'));
    const trap = await startServer((_request, response) => void response.end('trap'), {
      host: '127.0.0.2',
      port: intended.port,
    });
    const answers = [['127.0.0.1'], ['127.0.0.2']];
    const resolve = jest.fn(() => Promise.resolve(answers.shift() ?? ['127.0.0.2']));
    const client = createEgress([`forge.internal:${intended.port}`], { resolve });
    const { body } = await client.request({ url: `http://forge.internal:${intended.port}` });
    expect([body.toString(), resolve.mock.calls.length, trap.connections()]).toEqual(['intended', 1, 0]);
  });

  it('without an address is reported as unknown', async () => {
    const resolve = () => Promise.reject(Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' }));
    const client = createEgress([], { resolve });
    await expect(client.request({ url: 'https://nowhere.example' })).rejects.toMatchObject(
      egressErrorLike('name unknown'),
    );
  });

  it('is not waited for longer than the limit of the head', async () => {
    const client = createEgress([], { resolve: () => new Promise(() => undefined) });
    const request = client.request({ url: 'https://slow.example', limits: { firstByteMs: 50 } });
    await expect(request).rejects.toMatchObject(egressErrorLike('too slow'));
  });

  it('with an unreachable address is tried at the next address', async () => {
    const server = await startServer((_request, response) => void response.end('here'));
    const resolve = () => Promise.resolve(['127.0.0.3', '127.0.0.1']);
    const client = createEgress([`forge.internal:${server.port}`], { resolve });
    expect((await client.request({ url: `http://forge.internal:${server.port}` })).body.toString()).toBe('here');
  });
});

describe('a redirect', () => {
  const to = (location: (port: number) => string, status = 302) =>
    startListedServer((request, response) => {
      if (request.url === '/end') response.end('end');
      else response.writeHead(status, { location: location(request.socket.localPort!) }).end('moved');
    });

  it('within host and port is followed, and the name is checked again', async () => {
    const { server, url } = await to(() => '/end');
    const resolve = jest.fn(resolveToLoopback);
    const client = createEgress([`forge.internal:${server.port}`], { resolve });
    const answer = await client.request({ url });
    expect([answer.body.toString(), answer.url, resolve.mock.calls.length]).toEqual(['end', `${url}/end`, 2]);
  });

  it.each([
    ['another host', (port: number) => `http://evil.example:${port}/end`],
    ['an address', (port: number) => `http://127.0.0.1:${port}/end`],
    ['another port', (port: number) => `http://forge.internal:${port === 80 ? 81 : 80}/end`],
    ['another scheme', (port: number) => `https://forge.internal:${port}/end`],
    ['the metadata of a cloud', () => 'http://169.254.169.254/latest/meta-data/'],
    ['a file', () => 'file:///etc/passwd'],
    ['nonsense', () => 'http://['],
  ])('to %s is not', async (_what, location) => {
    const { server, url, client } = await to(location);
    await expect(client.request({ url })).rejects.toMatchObject(egressErrorLike('redirected'));
    expect(server.connections()).toBe(1);
  });

  it('to another server is followed without the headers if the request says so, and is checked again', async () => {
    const other = await startServer((_request, response) => void response.end('image'));
    const { server, url } = await to(() => `http://cdn.internal:${other.port}/end`);
    const list = [`forge.internal:${server.port}`, `cdn.internal:${other.port}`];
    const request = { url, headers: { authorization: 'secret' }, canLeaveServer: true };
    expect((await createEgress(list).request(request)).body.toString()).toBe('image');
    expect(server.requests[0]!.headers.authorization).toBe('secret');
    expect(other.requests.map(({ headers }) => headers.authorization)).toEqual([undefined]);
    await expect(createEgress(list.slice(0, 1)).request(request)).rejects.toMatchObject(
      egressErrorLike('address refused'),
    );
    expect(other.connections()).toBe(1);
  });

  it('from a public server to a listed one is not followed', async () => {
    const inside = await startServer((_request, response) => void response.end('internal'));
    const location = `http://site2.internal:${inside.port}/any/path`;
    const forge = await startServer((_request, response) => void response.writeHead(302, { location }).end(), {
      isTls: true,
    });
    const request = { url: `https://secure.example:${forge.port}/`, canLeaveServer: true };
    const rules = { ports: [forge.port], ca: CERTIFICATE };
    await jest.isolateModulesAsync(async () => {
      // No test server has a public address.
      jest.doMock('../../src/public-address', () => ({ isPublicAddress: () => true }));
      const { Egress: WithPublicLoopback } = await import('../../src/egress');
      const clientOf = (listed: readonly string[]): Egress =>
        new WithPublicLoopback({ listed: parseAllowedDestinations(listed), resolve: resolveToLoopback, ...rules });
      const site = `site2.internal:${inside.port}`;
      await expect(clientOf([site]).request(request)).rejects.toMatchObject(egressErrorLike('address refused'));
      expect([forge.connections(), inside.connections()]).toEqual([1, 0]);
      const { body } = await clientOf([site, `secure.example:${forge.port}`]).request(request);
      expect(body.toString()).toBe('internal');
    });
    jest.dontMock('../../src/public-address');
  });

  it('with a name and a password in it is refused', async () => {
    const { server, url, client } = await to((port) => `http://name:word@forge.internal:${port}/end`);
    await expect(client.request({ url })).rejects.toMatchObject(egressErrorLike('address refused'));
    expect(server.connections()).toBe(1);
  });

  it('to itself ends', async () => {
    const { server, url, client } = await to(() => '/again');
    await expect(client.request({ url })).rejects.toMatchObject(egressErrorLike('redirected'));
    expect(server.connections()).toBe(4);
  });

  it('of a write is not followed', async () => {
    const { server, url, client } = await to(() => '/end', 307);
    const request = client.request({ url, method: 'POST', body: 'x' });
    await expect(request).rejects.toMatchObject(egressErrorLike('redirected'));
    expect(server.requests).toHaveLength(1);
  });
});

describe('a hostile server', () => {
  it('that never begins is left', async () => {
    const { url, client } = await startListedServer(() => undefined);
    await expect(client.request({ url, limits: { firstByteMs: 100 } })).rejects.toMatchObject(
      egressErrorLike('too slow'),
    );
  });

  it('whose head never ends is left', async () => {
    const { url, client } = await startListedServer((request) => {
      const { socket } = request;
      socket.write('HTTP/1.1 200 OK\r\n');
      const drip = setInterval(() => socket.write('x: y\r\n'), 10);
      socket.on('close', () => clearInterval(drip));
    });
    await expect(client.request({ url, limits: { firstByteMs: 300 } })).rejects.toMatchObject(
      egressErrorLike('too slow'),
    );
  });

  it('whose body drips is left', async () => {
    const { url, client } = await startListedServer((_request, response) => {
      response.writeHead(200);
      const drip = setInterval(() => response.write('.'), 10);
      response.on('close', () => clearInterval(drip));
    });
    await expect(client.request({ url, limits: { totalMs: 500 } })).rejects.toMatchObject(egressErrorLike('too slow'));
  });

  it('is disconnected when the reader closes the answer', async () => {
    const { server, url, client } = await startListedServer((_request, response) => void response.write('.'));
    const answer = await client.open({ url });
    const socket = server.requests[0]!.socket;
    const disconnected = new Promise((resolve) => socket.once('close', resolve));
    await answer.close();
    await disconnected;
  });

  it('that sends less than it announced has no answer', async () => {
    const { url, client } = await startListedServer((_request, response) => {
      response.writeHead(200, { 'content-length': 10 }).write('short', () => response.socket!.end());
    });
    await expect(client.request({ url })).rejects.toMatchObject(egressErrorLike('unreachable'));
  });

  it('whose body never ends is disconnected', async () => {
    let disconnected: Promise<unknown> | undefined;
    const { url, client } = await startListedServer((_request, response) => {
      disconnected = new Promise((resolve) => response.once('close', resolve));
      const more = (): void => {
        if (response.destroyed) return;
        if (response.write(Buffer.alloc(4096))) setImmediate(more);
        else response.once('drain', more);
      };
      more();
    });
    await expect(client.request({ url, limits: { bodyBytes: 100_000 } })).rejects.toMatchObject(
      egressErrorLike('too large'),
    );
    await disconnected;
  });

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('that sends a bomb in %s gets no memory for it', async (name, pack) => {
    const bomb = pack(Buffer.alloc(20 * 1024 * 1024));
    const { url, client } = await startListedServer((_request, response) => {
      response.writeHead(200, { 'content-encoding': name }).end(bomb);
    });
    const bounded = client.request({ url, limits: { bodyBytes: 1000 } });
    await expect(bounded).rejects.toMatchObject(egressErrorLike('too large'));
    const roomy = client.request({ url, limits: { bodyBytes: 1024 ** 3 } });
    await expect(roomy).rejects.toMatchObject({
      ...egressErrorLike('too large'),
      message: expect.stringContaining('honest'),
    });
  });

  it.each(['gzip, gzip', 'zstd', '__proto__'])('that encodes in %s is not decoded', async (encoding) => {
    const { url, client } = await startListedServer((_request, response) => {
      response.writeHead(200, { 'content-encoding': encoding }).end('x');
    });
    await expect(client.request({ url })).rejects.toMatchObject(egressErrorLike('malformed'));
  });

  it('whose body is not what its encoding says is reported as malformed', async () => {
    const { url, client } = await startListedServer((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end('not packed');
    });
    await expect(client.request({ url })).rejects.toMatchObject(egressErrorLike('malformed'));
  });

  it('with a head larger than 16 KiB is left', async () => {
    const { url, client } = await startListedServer((_request, response) => {
      response.writeHead(200, { 'x-large': 'x'.repeat(20_000) }).end();
    });
    await expect(client.request({ url })).rejects.toMatchObject(egressErrorLike('too large'));
  });

  it('that breaks off is reported as unreachable', async () => {
    const { url, client } = await startListedServer((_request, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('half', () => response.destroy());
    });
    await expect(client.request({ url })).rejects.toMatchObject(egressErrorLike('unreachable'));
  });

  it('that does not speak HTTP is reported as malformed', async () => {
    const { url, client } = await startListedServer((request) => void request.socket.end('220 mail.example ESMTP\r\n'));
    await expect(client.request({ url })).rejects.toMatchObject(egressErrorLike('malformed'));
  });

  it('that answers with another type is refused', async () => {
    const { url, client } = await startListedServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end('<p>');
    });
    const request = client.request({ url, accepts: ['application/json'] });
    await expect(request).rejects.toMatchObject(egressErrorLike('malformed'));
  });
});

describe('TLS', () => {
  const answer: RequestListener = (_request, response) => void response.end('secure');

  it('is verified, for the name of the address', async () => {
    const server = await startServer(answer, { isTls: true });
    const allowed = [`secure.example:${server.port}`, `forge.internal:${server.port}`];
    const trusting = createEgress(allowed, { ca: CERTIFICATE });
    const url = `https://secure.example:${server.port}`;
    expect((await trusting.request({ url })).body.toString()).toBe('secure');
    const other = trusting.request({ url: `https://forge.internal:${server.port}` });
    await expect(other).rejects.toMatchObject(egressErrorLike('certificate'));
    await expect(createEgress(allowed).request({ url })).rejects.toMatchObject(egressErrorLike('certificate'));
    expect(server.requests).toHaveLength(1);
  });
});

test('the caller may abort a request', async () => {
  const { url, client } = await startListedServer(() => undefined);
  const stop = new AbortController();
  const request = client.request({ url, signal: stop.signal });
  stop.abort(new Error('no longer wanted'));
  await expect(request).rejects.toThrow('no longer wanted');
});

test('a server that is away is unreachable', async () => {
  const { server, url, client } = await startListedServer(() => undefined);
  await server.close();
  await expect(client.request({ url })).rejects.toMatchObject(egressErrorLike('unreachable'));
});
