import { PublishBranchProtection1767225600410 } from '../../src/migrations/1767225600410-publish-branch-protection';
import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';

let identity: IdentityApp;
let ada: Person;

beforeAll(async () => {
  identity = await startIdentity();
  ada = await identity.person('ada');
});
afterAll(() => identity.close());

const listLoggedStates = (id: number) =>
  identity.db.query<{ state: Record<string, unknown> }>(
    `select state from directory_changes where kind = 'namespace' and entity_id = $1 order by version desc`,
    [id],
  );

async function makeGroup(path: string): Promise<number> {
  const { body } = await ada.client.post('/api/v4/groups').send({ name: path, path }).expect(201);
  return (body as { id: number }).id;
}

it.each([
  [{ default_branch_protection: 0 }, { push_levels: [30], merge_levels: [30], allow_force_push: true }],
  [{ default_branch_protection: 1 }, { push_levels: [30], merge_levels: [40] }],
  [{ default_branch_protection: 2 }, { push_levels: [40], merge_levels: [40] }],
  [{ default_branch_protection: 3 }, { push_levels: [40], merge_levels: [30] }],
  [{ default_branch_protection: 4 }, { push_levels: [40], merge_levels: [40], developer_can_initial_push: true }],
  [
    { default_branch_protection_defaults: { allowed_to_push: [{ access_level: 0 }], allowed_to_merge: [] } },
    { push_levels: [0], merge_levels: [] },
  ],
])('publishes the protection of default branches: %j', async (sent, published) => {
  const id = await makeGroup(`group-${JSON.stringify(sent).replaceAll(/\W+/g, '-')}x`);
  expect((await listLoggedStates(id))[0]!.state).toMatchObject({ default_branch_protection: null });
  await ada.client.put(`/api/v4/groups/${id}`).send(sent).expect(200);
  const full = { allow_force_push: false, developer_can_initial_push: false, ...published };
  expect((await listLoggedStates(id))[0]!.state).toMatchObject({ default_branch_protection: full });
});

it('publishes groups with a protection again, and no others', async () => {
  const [set, other] = [await makeGroup('set'), await makeGroup('other')];
  await ada.client.put(`/api/v4/groups/${set}`).send({ default_branch_protection: 4 }).expect(200);
  const before = [await listLoggedStates(set), await listLoggedStates(other)];
  const runner = identity.db.dataSource.createQueryRunner();
  try {
    await new PublishBranchProtection1767225600410().up(runner);
  } finally {
    await runner.release();
  }
  const [published, ...former] = await listLoggedStates(set);
  expect(former).toEqual(before[0]);
  expect(published).toEqual(former[0]);
  expect(await listLoggedStates(other)).toEqual(before[1]);
});
