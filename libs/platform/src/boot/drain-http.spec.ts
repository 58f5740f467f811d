import { once } from 'node:events';
import { Agent, createServer, get, request } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { drainHttpServer } from './drain-http';
import { createLogger } from '../observability/logger';
import { ShutdownOrder } from './shutdown';

const WRITERS = 8;

describe('draining an HTTP server', () => {
  let server: Server;
  let shutdown: ShutdownOrder;
  let agent: Agent;
  let held: ServerResponse[];
  let port: number;

  beforeEach(async () => {
    held = [];
    agent = new Agent({ keepAlive: true });
    shutdown = new ShutdownOrder(createLogger({ service: 'test', level: 'silent' }));
    server = createServer({ keepAliveTimeout: 60_000 }, (_, response) => void held.push(response));
    drainHttpServer(server, shutdown);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port;
  });
  afterEach(() => {
    agent.destroy();
    server.closeAllConnections();
  });

  const ask = async (): Promise<{ answer: Promise<IncomingMessage>; response: ServerResponse }> => {
    const before = held.length;
    const request = get({ host: '127.0.0.1', port, agent });
    const answer = once(request, 'response').then(([message]) => message as IncomingMessage);
    answer.catch(() => undefined);
    await once(server, 'request');
    return { answer, response: held[before] as ServerResponse };
  };
  const bodyOf = async (answer: Promise<IncomingMessage>): Promise<string> => {
    let text = '';
    for await (const piece of await answer) text += String(piece);
    return text;
  };

  it('finishes requests in flight with `Connection: close`, and refuses new connections', async () => {
    const unanswered = await ask();
    const begun = await ask();
    begun.response.write('be');
    const begunAnswer = await begun.answer;
    const running = shutdown.runAll();
    await expect(once(connect(port, '127.0.0.1'), 'connect')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    unanswered.response.end('late');
    expect((await unanswered.answer).headers.connection).toBe('close');
    expect(await bodyOf(unanswered.answer)).toBe('late');
    expect(shutdown.unfinishedSteps).toEqual(['requests in flight']);
    begun.response.end('gun');
    expect(await bodyOf(Promise.resolve(begunAnswer))).toBe('begun');
    expect(await running).toBe(true);
    await expectNoConnections(server);
  });

  it('sends `Connection: close` before it refuses connections, so that a busy client loses no request', async () => {
    const replicas = await Promise.all([startReplica(shutdown), startReplica(null)]);
    let ready = 0;
    // As a load balancer does: new connections go to the ready replica.
    const balanced = new Agent({ keepAlive: true, maxSockets: WRITERS });
    Object.assign(balanced, { createConnection: () => connect(portOf(replicas[ready] as Server), '127.0.0.1') });
    const failures: unknown[] = [];
    let isOver = false;
    const writers = Array.from({ length: WRITERS }, async () => {
      while (!isOver) await sendPost(balanced).catch((error: unknown) => failures.push(error));
    });
    while ((await countConnections(replicas[0])) < WRITERS) await new Promise(setImmediate);
    ready = 1;
    await shutdown.runAnnouncement();
    // The product waits seconds; here each connection gets its answer first.
    await expectNoConnections(replicas[0]);
    expect(await shutdown.runAll()).toBe(true);
    isOver = true;
    await Promise.all(writers);
    expect(failures).toEqual([]);
    balanced.destroy();
    for (const one of replicas) one.close().closeAllConnections();
  });

  it('closes idle connections at once', async () => {
    const first = await ask();
    first.response.end('x');
    await bodyOf(first.answer);
    expect(await countConnections(server)).toBe(1);
    expect(await shutdown.runAll()).toBe(true);
    await expectNoConnections(server);
  });
});

function countConnections(server: Server): Promise<number> {
  return new Promise((resolve, reject) =>
    server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  );
}

/** Waits until there are none, bounded by jest's timeout. */
async function expectNoConnections(server: Server): Promise<void> {
  while ((await countConnections(server)) > 0) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** A server that answers every request, with or without a shutdown order. */
async function startReplica(shutdown: ShutdownOrder | null): Promise<Server> {
  const server = createServer({ keepAliveTimeout: 60_000 }, (asked, response) => {
    asked.resume().on('end', () => response.end('done'));
  });
  if (shutdown) drainHttpServer(server, shutdown);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

async function sendPost(agent: Agent): Promise<void> {
  const asked = request({ host: '127.0.0.1', method: 'POST', agent });
  asked.end('text');
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  await once(answer.resume(), 'end');
}
