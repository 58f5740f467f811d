import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { gzipSync } from 'node:zlib';
import { request } from 'undici';
import { eventually } from '../support/estate';
import { aHolder, FakeIdentity } from '../support/fake-identity';
import { RawClient } from '../support/raw';
import { StartedProcess } from '../support/streams/started-process';
import { MIB } from '../support/streams/streams.module';
import type { seen } from '../support/streams/streams.module';

const GIB = 1024 * MIB;
/** Most memory that one transfer adds. Node 24 leaves tens of megabytes of read buffers until it collects them. Units: bytes. */
const GROWTH = 64 * MIB;
/** The largest buffer of a socket that the kernel of this machine grants. Units: bytes. */
const largestBuffer = (kind: 'tcp_rmem' | 'tcp_wmem'): number =>
  Number(readFileSync(`/proc/sys/net/ipv4/${kind}`, 'utf8').trim().split(/\s+/).at(-1));
/** The most bytes between a producer and a consumer that does not read: buffers of the kernel for two hops, and our own. */
const IN_BETWEEN = 2 * (largestBuffer('tcp_rmem') + largestBuffer('tcp_wmem')) + 8 * MIB;
const BLOB = '/api/v4/projects/1/packages/blobs/dir/a%20b.bin';
const TOKEN = { 'private-token': 'glpat-good' };
const PIECE = Buffer.alloc(64 * 1024, 'rookery ');

type Seen = typeof seen;

/** A stream that generates bytes as they are read, and counts them. */
class Producer extends Readable {
  made = 0;
  constructor(private readonly total: number) {
    super({ highWaterMark: 64 * 1024 });
  }
  override _read(): void {
    const next = PIECE.subarray(0, Math.min(PIECE.length, this.total - this.made));
    this.made += next.length;
    this.push(next.length === 0 ? null : next);
  }
}

function digestOf(total: number): string {
  const hash = createHash('sha256');
  for (let left = total; left > 0; left -= PIECE.length) hash.update(PIECE.subarray(0, Math.min(left, PIECE.length)));
  return hash.digest('hex');
}

describe('streams through a gateway and a service in processes of their own', () => {
  const identity = new FakeIdentity();
  let service: StartedProcess;
  let gateway: StartedProcess;
  const startGateway = (): Promise<StartedProcess> => {
    const nowhere = 'http://127.0.0.1:1';
    return new StartedProcess('gateway', {
      IDENTITY_URL: identity.url,
      GATEWAY_UPSTREAM_PACKAGE: `http://127.0.0.1:${service.port}`,
      GATEWAY_UPSTREAM_IDENTITY: nowhere,
      GATEWAY_UPSTREAM_COLLABORATION: nowhere,
      GATEWAY_UPSTREAM_IMPORT: nowhere,
      GATEWAY_UPSTREAM_ADMIN: nowhere,
      GATEWAY_MANAGEMENT_PACKAGE: nowhere,
    }).ready();
  };
  beforeAll(async () => {
    await identity.start();
    identity.give('glpat-good');
    identity.give('glpat-guest', aHolder({ user_id: 8, token_id: 80 }));
    service = await new StartedProcess('package', {}).ready();
    gateway = await startGateway();
  });
  afterAll(async () => {
    await Promise.all([gateway, service].map((one) => one?.stop()));
    await identity.stop();
  });

  const reports = (): Promise<Seen> => service.ask<Seen>('seen');
  const url = (path: string): string => `http://127.0.0.1:${gateway.port}${path}`;
  /** A request whose body and answer the test handles piece by piece. */
  const open = (method: string, path: string, headers: Record<string, string> = {}): ClientRequest =>
    httpRequest(url(path), { method, headers: { ...TOKEN, ...headers }, agent: false }).on('error', () => undefined);
  const answered = (sent: ClientRequest): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => sent.once('response', resolve).once('error', reject));
  const upload = async (path: string, total: number): Promise<{ status: number; body: Record<string, unknown> }> => {
    const headers = { ...TOKEN, 'content-length': String(total) };
    const answer = await request(url(path), { method: 'PUT', headers, body: new Producer(total) });
    return { status: answer.statusCode, body: (await answer.body.json()) as Record<string, unknown> };
  };
  const download = async (total: number): Promise<number> => {
    const answer = await request(url(`${BLOB}?bytes=${total}`), { headers: TOKEN });
    let got = 0;
    await pipeline(answer.body, new Writable({ write: (chunk: Buffer, _, done) => done(void (got += chunk.length)) }));
    return got;
  };
  /** Resolves with a value once it was the same at 40 consecutive reads. */
  const settled = async (value: () => number | Promise<number>): Promise<number> => {
    let [last, repeats] = [-1, 0];
    await eventually(async () => {
      const now = await value();
      repeats = now === last ? repeats + 1 : 0;
      last = now;
      return repeats === 40;
    });
    return last;
  };
  const growthDuring = async (work: () => Promise<void>): Promise<number[]> => {
    const both = [gateway, service];
    await Promise.all(both.map((one) => one.ask('reset')));
    const before = await Promise.all(both.map((one) => one.facts()));
    await work();
    const after = await Promise.all(both.map((one) => one.facts()));
    return after.map(({ peak }, index) => peak - before[index]!.memory);
  };
  /**
   * Expects that both processes grow by little. On a busy machine garbage that is not collected yet counts as growth, so
   * the least of three transfers decides: a body that is held in memory grows in each.
   */
  const expectLittleGrowth = async (work: () => Promise<void>): Promise<void> => {
    let least = [Infinity, Infinity];
    for (let transfers = 0; transfers < 3 && Math.max(...least) >= GROWTH; transfers += 1) {
      const growth = await growthDuring(work);
      least = least.map((before, index) => Math.min(before, growth[index]!));
    }
    for (const grown of least) expect(grown).toBeLessThan(GROWTH);
  };

  describe('of 1 GB', () => {
    it('are uploaded in little memory, with size and digest', async () => {
      await upload(BLOB, 128 * MIB);
      await expectLittleGrowth(async () => {
        const { status, body } = await upload(BLOB, GIB);
        expect([status, body]).toEqual([200, { path: 'dir/a b.bin', size: GIB, sha256: digestOf(GIB) }]);
      });
    });

    it('are downloaded in little memory', async () => {
      await download(128 * MIB);
      await expectLittleGrowth(async () => expect(await download(GIB)).toBe(GIB));
    });

    it('wait for a service that does not read', async () => {
      await expectLittleGrowth(async () => {
        await service.ask('close');
        const producer = new Producer(GIB);
        const headers = { ...TOKEN, 'content-length': String(GIB) };
        const answer = request(url(`${BLOB}?waits=true`), { method: 'PUT', headers, body: producer });
        await eventually(() => producer.made > 0);
        expect(await settled(() => producer.made)).toBeLessThan(IN_BETWEEN);
        await service.ask('open');
        const { statusCode, body } = await answer;
        expect([statusCode, ((await body.json()) as { size: number }).size]).toEqual([200, GIB]);
      });
    });

    it('wait for a client that does not read', async () => {
      await expectLittleGrowth(async () => {
        const before = (await reports()).produced;
        const produced = async (): Promise<number> => (await reports()).produced - before;
        const sent = open('GET', `${BLOB}?bytes=${GIB}`);
        sent.end();
        const answer = await answered(sent);
        answer.pause();
        await eventually(async () => (await produced()) > 0);
        expect(await settled(produced)).toBeLessThan(IN_BETWEEN);
        let got = 0;
        for await (const chunk of answer) got += (chunk as Buffer).length;
        expect(got).toBe(GIB);
      });
    });
  });

  describe('whose client disconnects', () => {
    it.each([
      ['with a length', { 'content-length': String(GIB) }],
      ['in chunks', {}],
    ])('end in the service as cut uploads, %s, without a socket left', async (_, headers) => {
      const failures = (await reports()).failures.length;
      const consumed = (await reports()).consumed;
      const [before] = await Promise.all([service.facts()]);
      const sent = open('PUT', BLOB, headers);
      sent.write(Buffer.alloc(MIB));
      await eventually(async () => (await reports()).consumed > consumed);
      sent.destroy();
      await eventually(async () => (await reports()).failures.length > failures);
      expect((await reports()).failures.slice(failures)).toEqual(['UploadAborted']);
      await eventually(async () => (await service.facts()).sockets <= before.sockets);
    });

    it('close the source in the service, without a socket left', async () => {
      const before = await service.facts();
      const failures = (await reports()).failures.length;
      const sent = open('GET', `${BLOB}?bytes=${GIB}`);
      sent.end();
      const answer = await answered(sent);
      await new Promise((resolve) => answer.once('data', resolve));
      sent.destroy();
      await eventually(async () => (await reports()).failures.length > failures);
      expect((await reports()).failures.slice(failures)).toEqual(['not read to its end']);
      await eventually(async () => (await service.facts()).sockets <= before.sockets);
    });
  });

  describe('that are too large', () => {
    const SMALL = '/api/v4/projects/1/packages/small/x';
    const OCTETS = { 'content-type': 'application/octet-stream' };

    it('are refused by their length before a byte is read', async () => {
      const consumed = (await reports()).consumed;
      const sent = open('PUT', SMALL, { ...OCTETS, 'content-length': String(MIB + 1) });
      sent.flushHeaders();
      const answer = await answered(sent);
      expect([answer.statusCode, answer.headers.connection]).toEqual([413, 'close']);
      sent.destroy();
      expect((await reports()).consumed).toBe(consumed);
    });

    it('are refused while they arrive, and the connection is closed', async () => {
      const failures = (await reports()).failures.length;
      const sent = open('PUT', SMALL, OCTETS);
      void pipeline(new Producer(64 * MIB), sent).catch(() => undefined);
      const answer = await answered(sent);
      expect([answer.statusCode, answer.headers.connection]).toEqual([413, 'close']);
      await new Promise((resolve) => sent.once('close', resolve));
      // The gateway counts too, and ends the service's request.
      await eventually(async () => (await reports()).failures.length > failures);
    });

    it('are refused by their type', async () => {
      const sent = open('PUT', SMALL, { 'content-type': 'text/plain', 'content-length': '3' });
      sent.end('abc');
      const { statusCode, statusMessage } = await answered(sent);
      expect([statusCode, statusMessage]).toEqual([415, "The provided content-type 'text/plain' is not supported."]);
    });

    it('have the usual reason phrase where the endpoint does not ask for another', async () => {
      const sent = open('PUT', BLOB, { ...TOKEN, 'content-encoding': 'br', 'content-length': '3' });
      sent.end('abc');
      const { statusCode, statusMessage } = await answered(sent);
      expect([statusCode, statusMessage]).toEqual([415, 'Unsupported Media Type']);
    });
  });

  describe('whose client waits for 100 Continue', () => {
    const ask = async (path: string, headers: Record<string, string>): Promise<RawClient> => {
      const lines = Object.entries({ Host: 'x', Expect: '100-continue', ...headers }).map((one) => one.join(': '));
      const client = await RawClient.open(gateway.port);
      client.write(`PUT ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
      await eventually(() => client.received.includes('\r\n\r\n'));
      return client;
    };
    const length = { 'Content-Length': '10' };

    it('get 100 Continue once the service allows it', async () => {
      const client = await ask(BLOB, { ...length, 'PRIVATE-TOKEN': 'glpat-good' });
      expect(client.received).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\n$/);
      client.write('0123456789');
      await eventually(() => client.received.includes('"size":10'));
      expect(client.received).toContain('HTTP/1.1 200 OK');
      client.socket.destroy();
    });

    it.each([
      ['nobody', {}, 401],
      ['an unknown token', { 'PRIVATE-TOKEN': 'glpat-bad' }, 401],
      ['a guest', { 'PRIVATE-TOKEN': 'glpat-guest' }, 403],
    ])('are refused without their body: %s', async (_, headers, status) => {
      const consumed = (await reports()).consumed;
      const client = await ask(BLOB, { ...length, ...headers });
      expect(client.received).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
      expect(client.received).not.toContain('100 Continue');
      await eventually(() => client.isClosed);
      expect((await reports()).consumed).toBe(consumed);
    });

    it('are refused by the type of their body', async () => {
      const headers = { ...length, 'PRIVATE-TOKEN': 'glpat-good', 'Content-Type': 'text/plain' };
      const client = await ask('/api/v4/projects/1/packages/small/x', headers);
      expect(client.received).toMatch(/^HTTP\/1.1 415 /);
      client.socket.destroy();
    });
  });

  it.each(['x-rookery-admission', 'X-Rookery-Admission', 'x-rookery-look', 'x-rookery-context', 'x-rookery-wait-ms'])(
    'are not changed by the header %s of a client',
    async (name) => {
      for (const more of [{}, { connection: `close, ${name}` }]) {
        const sent = open('PUT', BLOB, { [name]: '1', 'content-length': '3', ...more });
        sent.end('abc');
        const answer = await answered(sent);
        const [body] = (await answer.toArray()) as Buffer[];
        expect([answer.statusCode, (JSON.parse(body!.toString()) as { size: number }).size]).toEqual([200, 3]);
      }
      const looked = await request(url(`${BLOB}?bytes=10`), { headers: { ...TOKEN, [name]: '1' } });
      expect([looked.statusCode, (await looked.body.text()).length]).toEqual([200, 10]);
    },
  );

  describe('that are downloaded', () => {
    const get = (headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') =>
      request(url(`${BLOB}?bytes=100000`), { method, headers: { ...TOKEN, ...headers } });
    const modified = 'Fri, 02 Jan 2026 03:04:05 GMT';

    it('answer HEAD without opening the stream', async () => {
      const { opened } = await reports();
      const answer = await get({ range: 'bytes=0-9' }, 'HEAD');
      expect([answer.statusCode, await answer.body.text()]).toEqual([200, '']);
      expect(answer.headers).toMatchObject({
        'content-length': '100000',
        'content-type': 'application/octet-stream',
        'accept-ranges': 'bytes',
        etag: '"v100000"',
        'last-modified': modified,
        'content-disposition': `attachment; filename="a b.bin"; filename*=UTF-8''a%20b.bin`,
        'x-content-type-options': 'nosniff',
      });
      expect((await reports()).opened).toBe(opened);
    });

    it.each([
      ['bytes=0-9', 206, 10, 'bytes 0-9/100000'],
      ['bytes=99990-', 206, 10, 'bytes 99990-99999/100000'],
      ['bytes=-5', 206, 5, 'bytes 99995-99999/100000'],
      ['bytes=0-200000', 206, 100_000, 'bytes 0-99999/100000'],
      ['bytes=100000-', 416, null, 'bytes */100000'],
      ['bytes=0-1,5-9', 200, 100_000, undefined],
      ['lines=0-9', 200, 100_000, undefined],
      ['bytes=x', 200, 100_000, undefined],
    ])('return ranges: %s', async (range, status, length, content) => {
      const answer = await get({ range });
      const bytes = Buffer.from(await answer.body.arrayBuffer());
      expect([answer.statusCode, answer.headers['content-range']]).toEqual([status, content]);
      if (length !== null) expect(bytes).toHaveLength(length);
      if (status === 206 && length === 5)
        expect(bytes.toString()).toBe(
          PIECE.toString()
            .slice(99_995 % 8)
            .slice(0, 5),
        );
    });

    it.each([
      [{ 'if-range': '"v100000"' }, 206],
      [{ 'if-range': '"other"' }, 200],
      [{ 'if-range': 'W/"v100000"' }, 200],
      [{ 'if-range': modified }, 206],
      [{ 'if-range': 'Fri, 02 Jan 2026 03:04:04 GMT' }, 200],
    ])('return a range only if the version matches: %j', async (headers, status) => {
      const answer = await get({ range: 'bytes=0-9', ...headers });
      await answer.body.dump();
      expect(answer.statusCode).toBe(status);
    });

    it.each([
      [{ 'if-none-match': 'W/"v100000"' }, 304],
      [{ 'if-none-match': '"other"', 'if-modified-since': modified }, 200],
      [{ 'if-modified-since': modified }, 304],
      [{ 'if-match': '"other"' }, 412],
      [{ 'if-unmodified-since': 'Fri, 02 Jan 2026 03:04:04 GMT', range: 'bytes=0-9' }, 412],
      [{ 'if-unmodified-since': modified, range: 'bytes=0-9' }, 206],
    ])('follow conditional headers: %j', async (headers, status) => {
      const { opened } = await reports();
      const answer = await get(headers);
      await answer.body.dump();
      expect(answer.statusCode).toBe(status);
      if (status > 300) expect((await reports()).opened).toBe(opened);
    });
  });

  describe('at wildcards', () => {
    const raw = (path: string, token = 'glpat-good'): Promise<string> =>
      RawClient.exchange(
        gateway.port,
        `GET ${path} HTTP/1.1\r\nHost: x\r\nPRIVATE-TOKEN: ${token}\r\nConnection: close\r\n\r\n`,
      );

    it.each([
      ['/group/sub/project.git/info/refs', 'group/sub/project'],
      ['/group/sub/project/info/refs', 'group/sub/project'],
      ['/group%2Fsub%2Fproject.git/info/refs', 'group/sub/project'],
      ['/gr%6Fup//sub/project%2Egit/info/refs/', 'group/sub/project'],
    ])('find the project of %s', async (path, full) => {
      const answer = await raw(path);
      expect(answer).toMatch(/^HTTP\/1.1 200 /);
      expect(answer).toContain(`{"full_path":"${full}","id":1}`);
    });

    it.each([
      // A path of digits is not an id.
      ['/1.git/info/refs', 404],
      ['/group/other.git/info/refs', 404],
      ['/.git/info/refs', 404],
      ['/info/refs', 404],
      ['/group/../sub/project.git/info/refs', 400],
      ['/group%2F..%2Fproject.git/info/refs', 400],
      ['/a%00b.git/info/refs', 400],
      ['/a%252Fb.git/info/refs', 400],
      ['/api/v4/projects/1.git/info/refs', 404],
      ['/api/v4/nothing', 404],
      ['/-/x.git/info/refs', 404],
      ['/uploads/x.git/info/refs', 404],
      ['/internal/x.git/info/refs', 404],
      ['/group/sub/project.git/git-upload-pack', 405],
    ])('answer %s with %i', async (path, status) => {
      expect(await raw(path)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    });

    it('never match paths of fixed routes', async () => {
      expect(await raw('/api/v4/projects/1/packages/plain')).toContain('"plain":true');
    });

    it('accept bodies, also compressed', async () => {
      const type = { 'content-type': 'application/x-git-upload-pack-request' };
      const post = async (body: Buffer, headers: Record<string, string> = {}): Promise<[number, unknown]> => {
        const all = { ...TOKEN, ...type, ...headers };
        const answer = await request(url('/a/b.git/git-upload-pack'), { method: 'POST', headers: all, body });
        return [answer.statusCode, await answer.body.json()];
      };
      expect(await post(Buffer.from('0000'))).toEqual([200, { full_path: 'a/b', size: 4 }]);
      const zipped = gzipSync(Buffer.alloc(100_000));
      expect(await post(zipped, { 'content-encoding': 'gzip' })).toEqual([200, { full_path: 'a/b', size: 100_000 }]);
      const bomb = gzipSync(Buffer.alloc(2 * MIB));
      expect((await post(bomb, { 'content-encoding': 'gzip' }))[0]).toBe(413);
      expect((await post(Buffer.from('no gzip'), { 'content-encoding': 'gzip' }))[0]).toBe(400);
      expect((await post(zipped.subarray(0, 40), { 'content-encoding': 'gzip' }))[0]).toBe(400);
      expect((await post(Buffer.from('x'), { 'content-encoding': 'br' }))[0]).toBe(415);
    });
  });

  it('that are inflated do not end before the last byte is sent', async () => {
    const type = 'application/x-git-upload-pack-request';
    const headers = { 'content-type': type, 'content-encoding': 'gzip', 'content-length': '1000' };
    const sent = open('POST', '/a/b.git/git-upload-pack', headers);
    const answer = answered(sent);
    sent.write(gzipSync(Buffer.alloc(100)));
    // The first chunk leaves the gateway when the third is there.
    for (let zeros = 0; zeros < 3; zeros += 1) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      sent.write(Buffer.alloc(10));
    }
    expect((await answer).statusCode).toBe(400);
    sent.destroy();
  });

  it('with progress are finished while the gateway stops', async () => {
    const stopping = await startGateway();
    await service.ask('close');
    const { consumed } = await reports();
    const path = `http://127.0.0.1:${stopping.port}${BLOB}`;
    const headers = { ...TOKEN, 'content-length': String(8 * MIB) };
    const up = httpRequest(path, { method: 'PUT', headers, agent: false });
    up.write(Buffer.alloc(4 * MIB));
    const down = httpRequest(`${path}?bytes=${32 * MIB}&waits=true`, { headers: TOKEN, agent: false });
    down.end();
    const coming = await answered(down);
    coming.pause();
    await eventually(async () => (await reports()).consumed > consumed);
    stopping.terminate();
    await eventually(
      () =>
        RawClient.open(stopping.port).then(
          (client) => void client.socket.destroy(),
          () => true,
        ) as Promise<boolean>,
    );
    const taken = answered(up);
    up.end(Buffer.alloc(4 * MIB));
    await service.ask('open');
    let got = 0;
    for await (const chunk of coming) got += (chunk as Buffer).length;
    expect(got).toBe(32 * MIB);
    const answer = await taken;
    expect(answer.statusCode).toBe(200);
    answer.resume();
    expect(await stopping.ended).toBe(0);
  });
});
