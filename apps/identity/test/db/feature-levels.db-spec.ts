import { TellFeatureLevels1767225600042 } from '../../src/migrations/1767225600042-tell-feature-levels';
import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';

let identity: IdentityApp;
let ada: Person;
let serial = 0;

beforeAll(async () => {
  identity = await startIdentity();
  ada = await identity.person('ada');
});
afterAll(() => identity.close());

async function createProject(levels: object): Promise<number> {
  const name = `levels${(serial += 1)}`;
  const made = await ada.client
    .post('/api/v4/projects')
    .send({ name, ...levels })
    .expect(201);
  return (made.body as { id: number }).id;
}
const listLoggedStates = (id: number) =>
  identity.db.query<{ version: number; state: Record<string, unknown> }>(
    `select version, state from directory_changes where kind = 'project' and entity_id = $1 order by version desc`,
    [id],
  );
async function readLoggedLevels(id: number): Promise<unknown[]> {
  const [newest] = await listLoggedStates(id);
  return [newest!.state['repository_access_level'], newest!.state['feature_flags_access_level']];
}

it('publishes the access levels of the repository and the feature flags of a project', async () => {
  const id = await createProject({});
  expect(await readLoggedLevels(id)).toEqual([null, null]);
  const change = (levels: object) => ada.client.put(`/api/v4/projects/${id}`).send(levels).expect(200);
  await change({ feature_flags_access_level: 'disabled' });
  expect(await readLoggedLevels(id)).toEqual([null, 'disabled']);
  await change({ feature_flags_access_level: 'private', repository_access_level: 'disabled' });
  expect(await readLoggedLevels(id)).toEqual(['disabled', 'private']);
  await change({ feature_flags_access_level: 'enabled', repository_access_level: 'enabled' });
  expect(await readLoggedLevels(id)).toEqual(['enabled', 'enabled']);
});

it('publishes again those projects whose levels were set before services knew of them, and no others', async () => {
  const said = await createProject({ feature_flags_access_level: 'disabled', description: 'Eggs' });
  const silent = await createProject({});
  const [before, others] = [await listLoggedStates(said), await listLoggedStates(silent)];
  const runner = identity.db.dataSource.createQueryRunner();
  try {
    await new TellFeatureLevels1767225600042().up(runner);
  } finally {
    await runner.release();
  }
  const [told, ...former] = await listLoggedStates(said);
  expect(former).toEqual(before);
  // This migration comes before the one of the settings for merges.
  expect(told!.state).toEqual({
    ...before[0]!.state,
    merge_settings: undefined,
    fork: undefined,
    job_admission: undefined,
    initialize_with_readme: undefined,
  });
  expect(await listLoggedStates(silent)).toEqual(others);
  const [head] = await identity.db.query<{ version: number }>('select version from directory_head');
  expect(told!.version).toBe(head!.version);
  expect(told!.version).toBeGreaterThan(before[0]!.version);
});
