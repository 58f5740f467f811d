import { once } from 'node:events';
import type { ContextClaims } from '@rookery/contracts';
import { createLogger, LocalServer, Neighbours, ShutdownOrder } from '@rookery/platform';
import type { LocalHandler, LocalRequest } from '@rookery/platform';
import { request } from 'undici';
import { Estate, eventually } from '../support/estate';
import type { Gateway } from '../support/estate';

const ISSUES = '/api/v4/projects/1/issues';
const FILE = '/api/v4/projects/1/packages/generic/a/1.0/f.bin';

interface LocalSeen extends LocalRequest {
  readonly claims: ContextClaims | null;
}

describe('calls to services in the same process', () => {
  const estate = new Estate();
  const neighbours = new Neighbours(true);
  const seen: LocalSeen[] = [];
  let gateway: Gateway;
  let handler: LocalHandler;
  const answered: LocalHandler = (response) => {
    const body = '{"by":"a local call"}';
    const headers = { 'content-type': 'application/json', 'content-length': String(body.length), 'x-total': '1' };
    const inside = { 'x-rookery-secret': 'inside', server: 'inside' };
    response.writeHead(200, Object.entries({ ...headers, ...inside }).flat()).end(body);
    return Promise.resolve();
  };
  beforeAll(async () => {
    await estate.start();
    for (const service of ['collaboration', 'package']) {
      const find = (received: LocalRequest): LocalHandler | null => {
        if (received.url === FILE) return null;
        return (response, claims) => {
          seen.push({ ...received, claims });
          return handler(response, claims);
        };
      };
      const shutdown = new ShutdownOrder(createLogger({ service, level: 'silent' }));
      new LocalServer(find, () => undefined).listen(service, neighbours, shutdown);
    }
    gateway = await estate.gateway({}, {}, neighbours);
  });
  afterAll(() => estate.stop());
  beforeEach(() => {
    handler = answered;
    seen.length = 0;
    estate.collaboration.seen.length = 0;
    estate.package.seen.length = 0;
  });

  const ask = (path: string, options: Parameters<typeof request>[1] = {}) => request(`${gateway.url}${path}`, options);

  it('passes the claims without a signature, and gives the client the same headers as over HTTP', async () => {
    const local = await ask(`${ISSUES}?state=opened`, {
      headers: { 'x-request-id': 'r1', 'x-rookery-context': 'forged' },
    });
    expect([local.statusCode, await local.body.json()]).toEqual([200, { by: 'a local call' }]);
    const [{ method, url, headers, body, claims }] = seen as [LocalSeen];
    expect([method, url, body]).toEqual(['GET', `${ISSUES}?state=opened`, null]);
    expect(headers).toEqual({ 'x-request-id': 'r1', 'x-forwarded-for': '127.0.0.1' });
    expect(claims).toMatchObject({ aud: 'collaboration', req: `GET ${ISSUES}?state=opened`, rid: 'r1', sub: null });
    expect(estate.collaboration.seen).toEqual([]);

    const other = await ask('/api/v4/users', { headers: { 'x-request-id': 'r1' } });
    await other.body.dump();
    expect(Object.keys(local.headers)).toEqual(Object.keys(other.headers));
  });

  it('passes bodies as they were sent', async () => {
    const body = '{"title":"Ei im Nest \u{1F95A}"}';
    const answer = await ask(ISSUES, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
    await answer.body.dump();
    expect(seen.map((one) => [one.method, one.headers['content-type'], String(one.body)])).toEqual([
      ['POST', 'application/json', body],
    ]);
  });

  it.each<[string, string, Parameters<typeof request>[1]]>([
    ['HEAD', ISSUES, { method: 'HEAD' }],
    ['repeated headers', ISSUES, { headers: ['accept', 'text/html', 'accept', 'application/json'] }],
    ['bodies that are streamed', ISSUES, { method: 'POST', body: Buffer.alloc(70_000, 32) }],
    ['requests that the service does not accept', FILE, { method: 'PUT', body: 'bytes' }],
  ])('uses HTTP for %s', async (_, path, options) => {
    const answer = await ask(path, options);
    await answer.body.dump();
    expect(answer.statusCode).toBe(200);
    expect(seen).toEqual([]);
    expect([...estate.collaboration.seen, ...estate.package.seen]).toHaveLength(1);
  });

  it('closes the response of the service when the client disconnects', async () => {
    const calls: Promise<unknown>[] = [];
    handler = async (response) => {
      calls.push(once(response, 'close'));
      await calls[0];
    };
    const leaving = new AbortController();
    const asked = ask(ISSUES, { signal: leaving.signal }).catch((error: Error) => error.name);
    await eventually(() => calls.length === 1);
    leaving.abort();
    expect(await asked).toBe('AbortError');
    await calls[0];
  });

  it('answers 502 for a call that ends without an answer, and does not repeat it', async () => {
    handler = () => Promise.resolve();
    const answer = await ask(ISSUES);
    expect([answer.statusCode, await answer.body.json()]).toEqual([502, { message: '502 Bad Gateway' }]);
    expect(seen).toHaveLength(1);
  });

  it('ends a call at the deadline of its request', async () => {
    const calls: Promise<unknown>[] = [];
    handler = async (response) => {
      calls.push(once(response, 'close'));
      await calls[0];
    };
    const answer = await ask('/api/v4/projects/1/slow');
    await answer.body.dump();
    expect(answer.statusCode).toBe(504);
    await calls[0];
  });

  it('sends long answers whole', async () => {
    const long = JSON.stringify('nest '.repeat(100_000));
    handler = (response) => {
      response.writeHead(200, ['content-type', 'application/json', 'content-length', String(long.length)]).end(long);
      return Promise.resolve();
    };
    const answer = await ask(ISSUES);
    expect(await answer.body.text()).toBe(long);
  });
});
