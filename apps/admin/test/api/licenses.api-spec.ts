import type { Viewer } from '@rookery/kernel';
import type { SeededService, TestApp } from '@rookery/testing';
import { startAdmin } from '../support/app';

let service: SeededService;
let app: TestApp;
let root: Viewer;

beforeAll(async () => {
  service = await startAdmin();
  ({ app } = service);
  root = service.seed.viewer(await service.seed.user({ admin: true }));
});
afterAll(() => service.close());

const fetchLicense = async (path = '/license'): Promise<Record<string, unknown>> =>
  (await app.as(root).get(`/api/v4${path}`).expect(200)).body as Record<string, unknown>;

it('is a single licence that includes all features, for any number of users, without an end', async () => {
  const license = await fetchLicense();
  const created = String(license['created_at']);
  expect(Date.parse(created)).toBeLessThanOrEqual(Date.now());
  expect(license).toEqual({
    id: 1,
    plan: 'ultimate',
    created_at: created,
    starts_at: created.slice(0, 10),
    expires_at: null,
    historical_max: 1,
    maximum_user_count: 1,
    licensee: {},
    add_ons: {},
    expired: false,
    overage: 0,
    user_limit: 0,
    active_users: 1,
  });
  expect(await fetchLicense('/license/1')).toEqual(license);
  expect(await fetchLicense('/licenses')).toEqual([license]);
});

it('counts active users and keeps the maximum', async () => {
  const { seed } = service;
  const before = (await fetchLicense())['active_users'] as number;
  const people = [await seed.user(), await seed.user()];
  await seed.user({ kind: 'service_account' });
  await seed.user({ state: 'blocked' });
  expect(await fetchLicense()).toMatchObject({ active_users: before + 2, historical_max: before + 2 });
  for (const { id } of people) await seed.remove('users', id);
  expect(await fetchLicense()).toMatchObject({
    active_users: before,
    historical_max: before + 2,
    maximum_user_count: before + 2,
  });
});

it.each([
  ['/license/2', 404, { message: '404 Not found' }],
  ['/license/x', 400, { error: 'id is invalid' }],
])('%s is %d', async (path, status, body) => {
  const answer = await app.as(root).get(`/api/v4${path}`);
  expect([answer.status, answer.body]).toEqual([status, body]);
});

it('lists the licence on the first page', async () => {
  const first = await app.as(root).get('/api/v4/licenses').query({ per_page: 1 }).expect(200);
  expect([first.get('x-total'), first.get('x-total-pages'), first.get('x-next-page')]).toEqual(['1', '1', '']);
  expect((await app.as(root).get('/api/v4/licenses').query({ page: 2 }).expect(200)).body).toEqual([]);
});
