import { PublishArchivedGroups1767225600062 } from '../../src/migrations/1767225600062-publish-archived-groups';
import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';

let identity: IdentityApp;
let ada: Person;

beforeAll(async () => {
  identity = await startIdentity();
  ada = await identity.person('ada');
});
afterAll(() => identity.close());

async function makeGroup(path: string, parentId: number | null): Promise<number> {
  const sent = { name: path, path, parent_id: parentId };
  return ((await ada.client.post('/api/v4/groups').send(sent).expect(201)).body as { id: number }).id;
}
const listLoggedStates = (id: number) =>
  identity.db.query<{ version: number; state: Record<string, unknown> }>(
    `select version, state from directory_changes where kind = 'namespace' and entity_id = $1 order by version desc`,
    [id],
  );

it('publishes again the groups at or below a mark for deletion, and no others', async () => {
  const marked = await makeGroup('marked', null);
  const below = await makeGroup('below', marked);
  const other = await makeGroup('other', null);
  await ada.client.delete(`/api/v4/groups/${marked}`).expect(202);
  const before = [await listLoggedStates(marked), await listLoggedStates(below), await listLoggedStates(other)];
  const runner = identity.db.dataSource.createQueryRunner();
  try {
    await new PublishArchivedGroups1767225600062().up(runner);
  } finally {
    await runner.release();
  }
  for (const [index, id] of [marked, below].entries()) {
    const [published, ...former] = await listLoggedStates(id);
    expect(former).toEqual(before[index]);
    expect(published!.state).toEqual({ ...before[index]![0]!.state, default_branch_protection: undefined });
    expect(published!.state).toMatchObject({ archived: true });
  }
  expect(await listLoggedStates(other)).toEqual(before[2]);
});
