import { call, control, estate, eventually, mark } from '../support/estate';
import type { Answer } from '../support/estate';

/**
 * A second estate, with databases and processes of its own, is a secondary of the one under test: a worker of the
 * primary asks it once a minute. The bounds allow for a machine that is busy.
 * Source: reference packages-and-admin 8.2, 8.4.
 */
const BOUND = 300_000;
let secondary: number;

const site = (json: Record<string, unknown>) => call('POST', '/geo_sites', { json });
const status = (): Promise<Answer> => call('GET', `/geo_sites/${secondary}/status`);
/** Checks the secondary for this answer, instead of waiting for the check of the next minute. */
const statusNow = (): Promise<Answer> => call('GET', `/geo_sites/${secondary}/status?refresh=true`);
const isHealthy =
  (wanted: boolean) =>
  ({ status: code, body }: Answer): boolean =>
    code === 200 && body.healthy === wanted;

beforeAll(async () => {
  await control('/second/start');
  expect((await site({ name: estate.baseUrl, url: estate.baseUrl, primary: true })).status).toBe(201);
  const made = await site({ name: `second-${mark}`, url: 'https://second.example', internal_url: estate.secondUrl });
  expect([made.status, made.text]).toEqual([201, expect.any(String)]);
  secondary = made.body.id as number;
}, BOUND * 2);
afterAll(async () => {
  for (const { id } of (await call('GET', '/geo_sites')).body) await call('DELETE', `/geo_sites/${id}`);
  await control('/second/stop');
}, BOUND);

test(
  'a secondary is healthy while it runs, unhealthy once it is stopped, and healthy when it is back',
  async () => {
    const first = await eventually(statusNow, isHealthy(true), BOUND);
    expect(first.body).toMatchObject({
      geo_node_id: secondary,
      health: 'Healthy',
      health_status: 'Healthy',
      projects_count: 0,
      version: (await call('GET', '/version')).body.version,
    });
    await control('/second/stop');
    const stopped = await eventually(status, isHealthy(false), BOUND);
    expect(stopped.body).toMatchObject({
      health_status: 'Unhealthy',
      health: expect.stringMatching(/^The server cannot be reached \(\w+\)\.$/),
      last_successful_status_check_timestamp: expect.any(Number),
    });
    await control('/second/start');
    const back = await eventually(statusNow, isHealthy(true), BOUND);
    expect(back.body.last_successful_status_check_timestamp).toBeGreaterThan(
      stopped.body.last_successful_status_check_timestamp as number,
    );
    const { body } = await call('GET', '/geo_sites/status');
    expect(body.map(({ healthy }: { healthy: boolean }) => healthy)).toEqual([true, true]);
  },
  BOUND * 4,
);

test('the gateway refuses the status of an estate without the secret', async () => {
  for (const headers of [{}, { 'rookery-geo-signature': `t=${Date.now()},v1=${'0'.repeat(64)}` }]) {
    const answer = await fetch(`${estate.baseUrl}/-/geo/status`, { headers });
    expect([answer.status, await answer.json()]).toEqual([401, { message: '401 Unauthorized' }]);
  }
});
