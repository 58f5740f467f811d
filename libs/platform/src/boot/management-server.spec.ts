import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { startManagementServer } from './management-server';
import type { ManagementServer } from './management-server';
import { Metrics } from '../observability/metrics';
import type { Outages } from '../observability/outages';
import { Readiness } from './readiness';

describe('management server', () => {
  const readiness = new Readiness();
  const metrics = new Metrics();
  const noted: string[] = [];
  const outages = { recordOutage: (reason: string) => void noted.push(reason) } as unknown as Outages;
  let server: ManagementServer;
  beforeAll(async () => {
    server = await startManagementServer({ host: '127.0.0.1', port: 0, readiness, metrics, outages });
  });
  afterAll(() => server.close());
  const get = (path: string, init?: RequestInit): Promise<Response> =>
    fetch(`http://127.0.0.1:${server.port}${path}`, init);

  it('is live even if checks fail', async () => {
    readiness.addCheck('database', () => 'no connection');
    expect((await get('/-/health/live')).status).toBe(200);
    readiness.removeCheck('database');
  });

  it('is ready only when every check is, and reports the reasons otherwise', async () => {
    readiness.addCheck('database', () => null);
    expect((await get('/-/health/ready')).status).toBe(200);
    readiness.addCheck('directory', () => Promise.resolve('never filled'));
    readiness.addCheck('disk', () => Promise.reject(new Error('full')));
    const answer = await get('/-/health/ready');
    expect(answer.status).toBe(503);
    expect(await answer.json()).toEqual({
      status: 'unavailable',
      reasons: { directory: 'never filled', disk: 'full' },
    });
    readiness.removeCheck('directory');
    readiness.removeCheck('disk');
  });

  it('limits the wait for a check', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick'] });
    const slow = new Readiness();
    slow.addCheck('stuck', () => new Promise(() => undefined));
    const report = slow.runChecks();
    jest.advanceTimersByTime(2000);
    jest.useRealTimers();
    expect(await report).toEqual({ ready: false, reasons: { stuck: 'no answer within 2000 ms' } });
  });

  it('shows metrics', async () => {
    metrics.counter('rookery_test_total', 'A test.', ['kind']).inc({ kind: 'a' });
    const answer = await get('/-/metrics');
    expect(answer.headers.get('content-type')).toContain('text/plain');
    expect(await answer.text()).toContain('rookery_test_total{kind="a"} 1');
  });

  it('refuses other paths and methods', async () => {
    expect((await get('/')).status).toBe(404);
    expect((await get('/-/health/live', { method: 'POST' })).status).toBe(405);
    expect((await get('/-/health/live', { method: 'HEAD' })).status).toBe(200);
  });

  it('fails with EADDRINUSE on a port that is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as AddressInfo;
    await expect(startManagementServer({ host: '127.0.0.1', port, readiness, metrics, outages })).rejects.toMatchObject(
      {
        code: 'EADDRINUSE',
      },
    );
    other.close();
  });
});

describe('metrics', () => {
  it('return the same metric for the same name, and refuse another kind', () => {
    const metrics = new Metrics();
    expect(metrics.counter('rookery_a_total', 'A.')).toBe(metrics.counter('rookery_a_total', 'A.'));
    expect(() => metrics.gauge('rookery_a_total', 'A.')).toThrow('exists as another kind');
  });

  it('omit gauges that cannot be sampled, and count them', async () => {
    const metrics = new Metrics();
    let isAway = false;
    const sample = (): number => {
      if (isAway) throw new Error('the database is away');
      return 7;
    };
    metrics.gauge('rookery_depth', 'Depth.', [], (gauge) => Promise.resolve().then(() => gauge.set(sample())));
    metrics.gauge('rookery_ages', 'Ages.', ['of'], (gauge) => gauge.set({ of: 'x' }, sample()));
    metrics.counter('rookery_others_total', 'Others.').inc(3);
    expect((await metrics.text()).body).toMatch(/^rookery_depth 7$/m);
    isAway = true;
    const { body } = await metrics.text();
    expect(body).not.toMatch(/^rookery_(depth|ages)[ {]/m);
    expect(body).toMatch(/^rookery_others_total 3$/m);
    isAway = false;
    const after = (await metrics.text()).body;
    expect(after).toMatch(/^rookery_depth 7$/m);
    expect(after).toMatch(/^rookery_ages\{of="x"\} 7$/m);
    expect(after).toMatch(/^rookery_metrics_missing_total\{metric="rookery_depth"\} 1$/m);
  });

  it('export counts that are kept elsewhere', async () => {
    const metrics = new Metrics();
    let count = 1;
    metrics.total('rookery_kept_total', 'Kept.', ['of'], () => [{ labels: { of: 'x' }, count: (count += 1) }]);
    await metrics.text();
    const { body } = await metrics.text();
    expect(body).toContain('# TYPE rookery_kept_total counter');
    expect(body).toContain('rookery_kept_total{of="x"} 3');
  });

  it('collect a gauge at each scrape', async () => {
    const metrics = new Metrics();
    let age = 1;
    metrics.gauge('rookery_age_seconds', 'Age.', [], (gauge) => gauge.set((age += 1)));
    expect((await metrics.text()).body).toContain('rookery_age_seconds 2');
    expect((await metrics.text()).body).toContain('rookery_age_seconds 3');
  });
});
