import { InstanceSettings } from '@rookery/instance';
import type { ApplicationSettings } from '@rookery/instance';
import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';

/** Settings that an administrator changes at run time. Source: reference packages-and-admin 10.3; ADR 0180. */
let identity: IdentityApp;
let olga: Person;
let serial = 0;

beforeAll(async () => {
  identity = await startIdentity();
  olga = await identity.person('olga');
});
afterAll(() => identity.close());
afterEach(() => applySettings({}));

function applySettings(settings: Partial<ApplicationSettings>): void {
  identity.app.get(InstanceSettings).applyAnswer({ version: 1, features: {}, settings });
}

interface Group {
  readonly id: number;
  readonly visibility: string;
}
async function createGroup(): Promise<Group> {
  const path = `changed${(serial += 1)}`;
  return (await olga.client.post('/api/v4/groups').send({ name: path, path }).expect(201)).body as Group;
}
async function createProject(): Promise<{ readonly visibility: string }> {
  const name = `changed${(serial += 1)}`;
  return (await olga.client.post('/api/v4/projects').send({ name }).expect(201)).body as { visibility: string };
}
async function createToken(
  params: object = {},
): Promise<{ readonly token: string; readonly expires_at: string | null }> {
  const token = { name: 't', scopes: ['api'], ...params };
  const path = `/api/v4/users/${olga.id}/personal_access_tokens`;
  return (await identity.root.post(path).send(token).expect(201)).body as never;
}
const dayAfterDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

test('default visibility of new groups and projects', async () => {
  expect([(await createGroup()).visibility, (await createProject()).visibility]).toEqual(['private', 'private']);
  applySettings({ default_group_visibility: 'public', default_project_visibility: 'internal' });
  expect([(await createGroup()).visibility, (await createProject()).visibility]).toEqual(['public', 'internal']);
});

test('plan of new top-level groups', async () => {
  const planOf = async ({ id }: Group): Promise<unknown> => {
    const { body } = await identity.root.get(`/api/v4/namespaces/${id}`).expect(200);
    return (body as { plan: unknown }).plan;
  };
  const before = await createGroup();
  applySettings({ default_plan: 'premium' });
  expect([await planOf(await createGroup()), await planOf(before)]).toEqual(['premium', 'ultimate']);
});

test('delay between deletion and removal', async () => {
  const remove = async (): Promise<number> => {
    const { id } = await createGroup();
    await olga.client.delete(`/api/v4/groups/${id}`).expect(202);
    return (await olga.client.get(`/api/v4/groups/${id}`)).status;
  };
  expect(await remove()).toBe(200);
  applySettings({ deletion_adjourned_period: 0 });
  expect(await remove()).toBe(404);
});

test('prefix and expiry of new tokens', async () => {
  applySettings({ personal_access_token_prefix: 'nest-' });
  expect((await createToken()).token).toMatch(/^nest-[\w-]{20}$/);
  applySettings({ require_personal_access_token_expiry: false });
  expect((await createToken()).expires_at).toBeNull();
  applySettings({ max_personal_access_token_lifetime: 10 });
  const { expires_at: end } = await createToken();
  // Midnight may pass between the request and the read of the clock.
  expect([dayAfterDays(9), dayAfterDays(10)]).toContain(end);
  const path = `/api/v4/users/${olga.id}/personal_access_tokens`;
  await identity.root
    .post(path)
    .send({ name: 't', scopes: ['api'], expires_at: dayAfterDays(20) })
    .expect(400);
  applySettings({});
  const later = dayAfterDays(20);
  expect((await createToken({ expires_at: later })).expires_at).toBe(later);
});

test('expiry of new tokens of service accounts', async () => {
  const { id } = await createGroup();
  const accounts = `/api/v4/groups/${id}/service_accounts`;
  const { body: bot } = await olga.client.post(accounts).send({ name: 'Robin' }).expect(201);
  const path = `${accounts}/${(bot as { id: number }).id}/personal_access_tokens`;
  const ends = async (): Promise<unknown> =>
    (
      await olga.client
        .post(path)
        .send({ name: 't', scopes: ['api'] })
        .expect(201)
    ).body.expires_at;
  expect(await ends()).toMatch(/^\d{4}-/);
  applySettings({ service_access_tokens_expiration_enforced: false });
  expect(await ends()).toBeNull();
  expect((await createToken()).expires_at).not.toBeNull();
});

test('permission to manage service accounts', async () => {
  const { id } = await createGroup();
  const list = () => olga.client.get(`/api/v4/groups/${id}/service_accounts`);
  await list().expect(200);
  applySettings({ allow_top_level_group_owners_to_create_service_accounts: false });
  await list().expect(403);
  await identity.root.get(`/api/v4/groups/${id}/service_accounts`).expect(200);
});
