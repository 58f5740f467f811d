import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';

/** Parameters that have an effect for administrators only are named for other callers. Source: reference identity-and-import 1.2. */
let identity: IdentityApp;
let olga: Person;

beforeAll(async () => {
  identity = await startIdentity();
  olga = await identity.person('olga');
});
afterAll(() => identity.close());

const ATTRIBUTES = 'with_custom_attributes=true&custom_attributes[a]=b';

test.each([
  [
    `/users?two_factor=enabled&admins=true&order_by=name&${ATTRIBUTES}`,
    'two_factor, admins, with_custom_attributes, custom_attributes, order_by',
  ],
  [`/projects?order_by=repository_size&${ATTRIBUTES}`, 'with_custom_attributes, custom_attributes, order_by'],
  ['/projects?order_by=name&statistics=true', undefined],
  [
    `/groups?statistics=true&repository_storage=x&${ATTRIBUTES}`,
    'with_custom_attributes, custom_attributes, statistics, repository_storage',
  ],
] as const)('GET %s', async (path, names) => {
  const ofOlga = await olga.client.get(`/api/v4${path}`).expect(200);
  expect(ofOlga.headers['x-rookery-ignored']).toBe(names);
  const ofRoot = await identity.root.get(`/api/v4${path}`).expect(200);
  expect(ofRoot.headers['x-rookery-ignored']).toBeUndefined();
});

test('statistics of a project, for callers below reporters', async () => {
  const sent = { name: 'counted', visibility: 'public' };
  const { body } = await olga.client.post('/api/v4/projects').send(sent).expect(201);
  const path = `/api/v4/projects/${(body as { id: number }).id}?statistics=true`;
  const guest = await identity.person('guest');
  expect((await guest.client.get(path).expect(200)).headers['x-rookery-ignored']).toBe('statistics');
  for (const client of [olga.client, identity.root])
    expect((await client.get(path).expect(200)).headers['x-rookery-ignored']).toBeUndefined();
});

test('filters of users that only count as true', async () => {
  const ignored = async (query: string) =>
    (await olga.client.get(`/api/v4/users?${query}`).expect(200)).headers['x-rookery-ignored'];
  expect(await ignored('active=false&blocked=false')).toBe('active, blocked');
  expect(await ignored('active=true')).toBeUndefined();
});

test('settings of groups', async () => {
  const { body } = await olga.client.post('/api/v4/groups').send({ name: 'minutes', path: 'minutes' }).expect(201);
  const path = `/api/v4/groups/${(body as { id: number }).id}`;
  const sent = { shared_runners_minutes_limit: 5, description: 'd' };
  const { headers } = await olga.client.put(path).send(sent).expect(200);
  expect(headers['x-rookery-ignored']).toBe('shared_runners_minutes_limit');
  expect((await identity.root.put(path).send(sent).expect(200)).headers['x-rookery-ignored']).toBeUndefined();
});
