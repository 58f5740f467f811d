import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ReadyMessage } from '../src';
import { goodEnv, StartedProcess } from './process/started-process';

describe('a process', () => {
  const started: StartedProcess[] = [];
  const start = (args: readonly string[], env?: Readonly<Record<string, string>>): StartedProcess => {
    const process = new StartedProcess(args, env);
    started.push(process);
    return process;
  };
  afterEach(async () => {
    for (const { child, ended } of started.splice(0)) {
      child.kill('SIGKILL');
      await ended;
    }
  });

  it('serves health, metrics and its API, and ends with 0 on SIGTERM after the requests in flight', async () => {
    const process = start([]);
    const ready = await process.ready;
    expect(ready).toEqual({ type: 'ready', port: expect.any(Number), managementPort: expect.any(Number) });
    expect((await process.management('/-/health/live')).status).toBe(200);
    expect((await process.management('/-/health/ready')).status).toBe(200);
    const metrics = (await process.management('/-/metrics')).text;
    expect(metrics).toContain('nodejs_eventloop_lag_seconds');
    expect(metrics).toContain('rookery_tiny_total 1');

    const inFlight = process.api('/slow?ms=400');
    await process.says(/asked/);
    process.child.kill('SIGTERM');
    expect(JSON.parse((await inFlight).text)).toEqual({
      service: 'admin',
      year: true,
      level: 'info',
      link: 'http://localhost:8080/api/v4/version',
    });
    expect(await process.ended).toEqual({ code: 0, signal: null });
    expect(process.lines().map((line) => line['msg'])).toEqual([
      'ready',
      'asked',
      'stopping',
      'consumers drained',
      'stopped',
    ]);
    expect(process.lines()[1]).toMatchObject({ requestId: 'r-1', service: 'admin', level: 'info' });
    expect(process.output).not.toContain('c4n4ry');
  });

  it('fails readiness at once and still serves during the delay', async () => {
    const process = start(['api'], { ...goodEnv, SHUTDOWN_DELAY_MS: '10000' });
    await process.ready;
    process.child.kill('SIGTERM');
    await process.says(/stopping/);
    expect(await process.management('/-/health/ready')).toEqual({
      status: 503,
      text: '{"status":"unavailable","reasons":{"shutdown":"stopping"}}',
    });
    const answer = await process.api('/slow?ms=1');
    expect(answer.status).toBe(200);
    expect(answer.connection).toBe('close');
    expect((await process.management('/-/health/live')).status).toBe(200);
    expect(await process.ended).toEqual({ code: 0, signal: null });
  });

  it('ends with 0 when its parent is gone', async () => {
    const process = start(['worker'], { ...goodEnv, SHUTDOWN_DELAY_MS: '60000' });
    expect((await process.ready).port).toBeNull();
    process.child.disconnect();
    expect(await process.ended).toEqual({ code: 0, signal: null });
    expect(process.output).toContain('consumers drained');
  });

  it('rests at the request of its parent after the requests in flight, and restarts with only its log', async () => {
    const process = start([]);
    let { port, managementPort } = await process.ready;
    const ask = async (path: string): Promise<string> =>
      (await fetch(`http://127.0.0.1:${path.startsWith('/-') ? managementPort : port}${path}`)).text();
    const inFlight = ask('/slow?ms=300');
    await process.says(/asked/);
    const observed = (metrics: string): number => metrics.split('nodejs_eventloop_lag_seconds ').length;
    const before = await ask('/-/metrics');
    // More often than the listener limit of an emitter.
    for (let times = 0; times < 12; times += 1) {
      expect(await process.request('rest')).toEqual({ type: 'resting' });
      await expect(ask('/slow?ms=1')).rejects.toThrow('fetch failed');
      await expect(ask('/-/health/live')).rejects.toThrow('fetch failed');
      ({ port, managementPort } = (await process.request('resume')) as ReadyMessage);
      expect(JSON.parse(await ask('/slow?ms=1'))).toMatchObject({ service: 'admin' });
    }
    expect(JSON.parse(await inFlight)).toMatchObject({ service: 'admin' });
    const after = await ask('/-/metrics');
    expect(after).toContain('rookery_tiny_total 1');
    expect(observed(after)).toBe(observed(before));
    expect(process.errors.match(/root module made/g)).toHaveLength(13);
    expect(process.errors).not.toContain('MaxListeners');
    process.child.kill('SIGTERM');
    expect(await process.ended).toEqual({ code: 0, signal: null });
    // Lines are written asynchronously, so the last two may be swapped as the process exits.
    expect(process.lines().slice(-2)).toContainEqual(expect.objectContaining({ msg: 'stopped', clean: true }));
  });

  it('ends with 0 on SIGTERM while it rests', async () => {
    const process = start([]);
    await process.ready;
    await process.request('rest');
    process.child.kill('SIGTERM');
    expect(await process.ended).toEqual({ code: 0, signal: null });
  });

  it('ends with 1 when it cannot restart', async () => {
    const other = createServer();
    const listen = (port: number): Promise<void> => new Promise((resolve) => other.listen(port, '127.0.0.1', resolve));
    await listen(0);
    const { port } = other.address() as AddressInfo;
    await new Promise((resolve) => other.close(resolve));
    const process = start([], { ...goodEnv, MANAGEMENT_PORT: String(port) });
    await process.ready;
    await process.request('rest');
    await listen(port);
    process.child.send({ type: 'resume' });
    expect((await process.ended).code).toBe(1);
    expect(process.output).toContain(`port ${port} is in use`);
    other.close();
  });

  it('ends with 1 when a step outlasts the limit, and names it', async () => {
    const process = start([], { ...goodEnv, SHUTDOWN_GRACE_MS: '3000', HANG: 'drain' });
    await process.ready;
    process.child.kill('SIGINT');
    expect(await process.ended).toEqual({ code: 1, signal: null });
    expect(process.lines().at(-1)).toMatchObject({ msg: 'shutdown took too long', unfinished: ['hanging'] });
  });

  it('lists all bad settings without a stack trace and ends with 78', async () => {
    const process = start([], {
      PORT: 'http',
      MANAGEMENT_PORT: '70000',
      ROOKERY_INTERNAL_KEYS: 'k1/admin/identity:c4n4ry',
      ROOKERY_TYPO: 'x',
    });
    expect((await process.ended).code).toBe(78);
    expect(process.errors.split('\n')).toEqual([
      'admin: The configuration has 5 problems:',
      '  - PORT is not a whole number',
      '  - MANAGEMENT_PORT is out of range (0 to 65535)',
      '  - ROOKERY_INTERNAL_KEYS is unusable: key k1/admin/identity is not base64 of at least 32 bytes',
      expect.stringMatching(/^ {2}- ROOKERY_CONTEXT_KEYS is missing: Keys of the signed request context/),
      '  - ROOKERY_TYPO is not known',
      '',
    ]);
  });

  it.each([
    ['a master key', 'k1:'],
    ['the key of another service', 'k1/identity:'],
  ])('does not start with %s, which would let it sign for others', async (_, name) => {
    const keys = `${goodEnv.ROOKERY_CONTEXT_KEYS},${name.replace('k1', 'k0')}${Buffer.alloc(32, 2).toString('base64')}`;
    const process = start([], { ...goodEnv, ROOKERY_CONTEXT_KEYS: keys });
    expect((await process.ended).code).toBe(78);
    expect(process.errors).toContain('ROOKERY_CONTEXT_KEYS holds keys for others than admin');
  });

  it('does not start with a key of two other processes', async () => {
    const foreign = `k1/gateway/identity:${Buffer.alloc(32, 2).toString('base64')}`;
    const keys = `${goodEnv.ROOKERY_INTERNAL_KEYS},${foreign}`;
    const process = start([], { ...goodEnv, ROOKERY_INTERNAL_KEYS: keys });
    expect((await process.ended).code).toBe(78);
    expect(process.errors).toContain('ROOKERY_INTERNAL_KEYS holds keys for others than admin');
  });

  it('lists its roles for an unknown one, and ends with 64', async () => {
    const process = start(['serve']);
    expect((await process.ended).code).toBe(64);
    expect(process.errors).toContain('no role or command "serve"');
    expect(process.errors).toMatch(/^ {2}count +Prints the words that follow\.$/m);
  });

  it('migrates without creating the root module', async () => {
    const process = start(['migrate']);
    expect(await process.ended).toEqual({ code: 0, signal: null });
    expect(process.output).toContain('migrated');
    expect(process.errors).not.toContain('root module made');
  });

  it('runs a command with its arguments, its exit code and a clean stdout', async () => {
    const process = start(['count', 'a', 'b']);
    expect((await process.ended).code).toBe(2);
    expect(process.output).toBe('2\n');
    expect(process.lines(process.errors).map((line) => line['msg'])).toContain('not part of the output');
    const broken = start(['broken']);
    expect((await broken.ended).code).toBe(1);
    expect(broken.lines(broken.errors)).toMatchObject([{ level: 'error', msg: 'admin broken failed' }]);
    expect(broken.errors).not.toContain('c4n4ryc4n4ry');
  });

  it('ends a command only when a slow reader has read all output', async () => {
    const process = start(['lines', '20000']);
    expect(await process.ended).toEqual({ code: 0, signal: null });
    expect(process.output.split('\n').length - 1).toBe(20_000);
  });

  it('names a port that is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as AddressInfo;
    const process = start([], { ...goodEnv, MANAGEMENT_PORT: String(port) });
    expect((await process.ended).code).toBe(1);
    expect(process.lines()).toMatchObject([{ level: 'error', port, msg: `port ${port} is in use by another process` }]);
    other.close();
  });

  it('sends traces to a collector, and SIGTERM still ends it with 0', async () => {
    const received: string[] = [];
    const collector = createServer((request, response) => {
      request.resume().on('end', () => {
        received.push(request.url ?? '');
        response.end();
      });
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => collector.once('listening', resolve));
    const { port } = collector.address() as AddressInfo;
    const process = start(['api'], { ...goodEnv, OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` });
    await process.api('/slow?ms=1');
    process.child.kill('SIGTERM');
    expect(await process.ended).toEqual({ code: 0, signal: null });
    collector.close();
    expect(received).toContain('/v1/traces');
  });
});
