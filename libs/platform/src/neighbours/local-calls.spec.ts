import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { INTERNAL_PATHS } from '@rookery/contracts';
import { ShutdownOrder } from '../boot/shutdown';
import { createLogger } from '../observability/logger';
import { parseInternalKeys } from '../signing/internal-keys';
import { runForWaiter, currentWaiter } from '../waiting/waiter';
import { InternalRoutes } from '../calling/internal-routes';
import { LocalServer } from './local-server';
import type { LocalHandler } from './local-server';
import type { LocalResponse } from './local-response';
import { Neighbours } from './neighbours';
import type { LocalCaller, LocalRequest } from './neighbours';

const KEY = `k1/package/collaboration:${Buffer.alloc(32, 7).toString('base64')}`;
const logger = createLogger({ service: 'test', level: 'silent' });

describe('calls between services of one process', () => {
  let http: Server;
  let overHttp: number;
  let shutdown: ShutdownOrder;
  let neighbours: Neighbours;
  let routes: InternalRoutes;
  /** Requests that the neighbour received. */
  let received: LocalRequest[];
  let failures: unknown[];

  beforeEach(async () => {
    overHttp = 0;
    received = [];
    failures = [];
    http = createServer((_, response) => {
      overHttp += 1;
      response.setHeader('content-type', 'application/json').end('{"by":"http"}');
    });
    http.listen(0, '127.0.0.1');
    await once(http, 'listening');
    const collaborationUrl = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
    const urls = { identityUrl: '', packageUrl: '', importUrl: '', collaborationUrl };
    shutdown = new ShutdownOrder(logger);
    neighbours = new Neighbours(true);
    routes = new InternalRoutes('package', urls, parseInternalKeys(KEY), neighbours);
  });
  afterEach(async () => {
    await routes.onModuleDestroy();
    http.closeAllConnections();
    http.close();
  });

  /** Serves calls with a handler, in the context in which this is called. */
  const serve = (handler: LocalHandler): void => {
    const find = (request: LocalRequest): LocalHandler => {
      received.push(request);
      return handler;
    };
    new LocalServer(find, (error) => failures.push(error)).listen('collaboration', neighbours, shutdown);
  };
  const open = (maxWaitMs = 60_000) =>
    routes.createClient<object, { by: string }>('collaboration', INTERNAL_PATHS.resolveRef, {
      connections: 1,
      maxWaitMs,
    });
  const answers = (body: unknown): LocalHandler => {
    return (response) => {
      response.writeHead(200, ['content-type', 'application/json']).end(JSON.stringify(body));
      return Promise.resolve();
    };
  };

  it('asks a registered service without HTTP, with the key of the pair and the time that the caller waits', async () => {
    serve(answers({ by: 'a neighbour' }));
    expect(await open(5000).ask({ ref: 'main' })).toEqual({ by: 'a neighbour' });
    expect(overHttp).toBe(0);
    const [{ method, url, headers, body }] = received as [LocalRequest];
    expect([method, url, body]).toEqual(['POST', INTERNAL_PATHS.resolveRef, '{"ref":"main"}']);
    expect(headers).toMatchObject({
      authorization: parseInternalKeys(KEY).signAuthorization('package', 'collaboration'),
      'content-type': 'application/json',
      'x-rookery-wait-ms': '5000',
    });
  });

  it('shares nothing by reference with the caller', async () => {
    const kept = { by: 'kept' };
    serve(answers(kept));
    (await open().ask({})).by = 'changed';
    expect(kept.by).toBe('kept');
  });

  it('uses HTTP for a service that is not registered, and for requests that it does not accept', async () => {
    expect(await open().ask({})).toEqual({ by: 'http' });
    neighbours.register('collaboration', { accept: () => null });
    expect(await open().ask({})).toEqual({ by: 'http' });
    expect(overHttp).toBe(2);
  });

  it('runs the call in the context of the callee, and continues in that of the caller', async () => {
    const place = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    place.run('callee', () =>
      serve(async (response) => {
        seen.push(place.getStore(), currentWaiter());
        await Promise.resolve();
        seen.push(place.getStore(), currentWaiter());
        await answers({})(response, null);
      }),
    );
    const waiter = { kind: 'holder', deadline: Date.now() + 60_000, outerTransaction: {} } as const;
    await place.run('caller', () =>
      runForWaiter(waiter, async () => {
        await open().ask({});
        expect([place.getStore(), currentWaiter()]).toEqual(['caller', waiter]);
      }),
    );
    expect(seen).toEqual(['callee', null, 'callee', null]);
  });

  it('ends a call that takes too long, and reports that to the service', async () => {
    let closed: Promise<unknown> = Promise.resolve();
    serve((response) => (closed = once(response, 'close')) as Promise<never>);
    await expect(open(5).ask({})).rejects.toMatchObject({ name: 'TimeoutError' });
    await closed;
  });

  it('reports refusals and answers that never come', async () => {
    serve((response) => {
      response.writeHead(429, ['retry-after', '7']).end('{}');
      return Promise.resolve();
    });
    await expect(open().ask({})).rejects.toMatchObject({ status: 429, retryAfterSeconds: 7 });
    serve(() => Promise.resolve());
    await expect(open().ask({})).rejects.toMatchObject({ code: 'UND_ERR_SOCKET' });
  });

  it('aborts the running calls when the caller stops', async () => {
    let isClosed = false;
    const begun = new Promise<void>((resolve) => {
      serve(async (response) => {
        resolve();
        await once(response, 'close');
        isClosed = true;
      });
    });
    const asked = open().ask({});
    await begun;
    await Promise.all([expect(asked).rejects.toMatchObject({ code: 'UND_ERR_DESTROYED' }), routes.onModuleDestroy()]);
    expect(isClosed).toBe(true);
  });

  it('waits for the running calls when the service stops, and accepts no others', async () => {
    let finish = (): void => undefined;
    const begun = new Promise<void>((resolve) => {
      serve(async (response) => {
        resolve();
        await new Promise<void>((done) => (finish = done));
        await answers({ by: 'a neighbour' })(response, null);
      });
    });
    const running = open().ask({});
    await begun;
    let isStopped = false;
    const stopped = shutdown.runAll().then(() => (isStopped = true));
    while (shutdown.unfinishedSteps.length === 0) await new Promise(setImmediate);
    expect(await open().ask({})).toEqual({ by: 'http' });
    expect([isStopped, shutdown.unfinishedSteps]).toEqual([false, ['local calls in flight']]);
    finish();
    expect(await running).toEqual({ by: 'a neighbour' });
    await stopped;
  });

  it('pauses an answer until its caller takes more', async () => {
    const text = 'x'.repeat(150_000);
    let response: LocalResponse | undefined;
    serve(async (given) => {
      response = given;
      given.writeHead(200, ['content-length', '150000', 'x-padded', ' a b\t']).end(text);
      await once(given, 'close');
    });
    const events: unknown[] = [];
    let resume = (): void => undefined;
    const ended = new Promise<void>((resolve) => {
      const caller: LocalCaller = {
        onConnect: () => undefined,
        onHeaders: (status, headers, given, reason) => {
          resume = given;
          events.push([status, reason, headers]);
        },
        onData: (chunk) => events.push(chunk.length) === 0,
        onComplete: () => resolve(),
        onError: () => events.push('failed'),
      };
      const request = { method: 'GET', url: '/', headers: {}, body: null };
      neighbours.accept('collaboration', request)!(caller, null);
    });
    await Promise.resolve();
    expect(events).toEqual([[200, 'OK', ['content-length', '150000', 'x-padded', 'a b']], 65_536]);
    expect([response!.writableLength, response!.closed]).toEqual([150_000 - 65_536, false]);
    resume();
    resume();
    await ended;
    expect([events.slice(2), response!.closed]).toEqual([[65_536, 18_928], true]);
  });

  it('ends the call of an answer that its service ends after it began', async () => {
    let response: LocalResponse | undefined;
    serve(async (given) => {
      response = given;
      given.writeHead(200, []).end('x'.repeat(150_000));
      await once(given, 'close');
    });
    const ends: unknown[] = [];
    const lost = new Promise<void>((resolve) => {
      const caller: LocalCaller = {
        onConnect: () => undefined,
        onHeaders: () => undefined,
        onData: () => false,
        onComplete: () => ends.push('complete'),
        onError: (error) => {
          ends.push(error);
          resolve();
        },
      };
      neighbours.accept('collaboration', { method: 'GET', url: '/', headers: {}, body: null })!(caller, null);
    });
    await new Promise(setImmediate);
    response!.destroy();
    await lost;
    expect(ends).toEqual([expect.objectContaining({ code: 'UND_ERR_SOCKET' })]);
  });

  it('reports a handler that fails, and ends its call', async () => {
    serve(() => Promise.reject(new Error('unexpected')));
    await expect(open().ask({})).rejects.toMatchObject({ code: 'UND_ERR_SOCKET' });
    expect(failures).toEqual([new Error('unexpected')]);
  });

  it('refuses headers that HTTP refuses', async () => {
    let problem: unknown;
    let answered: LocalResponse | undefined;
    serve((response) => {
      try {
        response.writeHead(200, ['content-length', '5', 'x-name', 'a\r\nb']);
      } catch (error) {
        problem = error;
      }
      response.writeHead(500, []).end();
      answered = response;
      return Promise.resolve();
    });
    await expect(open().ask({})).rejects.toMatchObject({ status: 500 });
    expect(problem).toMatchObject({ code: 'ERR_INVALID_CHAR' });
    expect(answered!.headers).toEqual([]);
  });
});
