import { PublishMergeSettings1767225600061 } from '../../src/migrations/1767225600061-publish-merge-settings';
import { PublishCiSettings1767225600070 } from '../../src/migrations/1767225600070-publish-ci-settings';
import { PublishForks1767225600200 } from '../../src/migrations/1767225600200-publish-forks';
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

async function makeProject(settings: object): Promise<number> {
  const sent = { name: `merges${(serial += 1)}`, ...settings };
  return ((await ada.client.post('/api/v4/projects').send(sent).expect(201)).body as { id: number }).id;
}
const listLoggedStates = (id: number) =>
  identity.db.query<{ version: number; state: Record<string, unknown> }>(
    `select version, state from directory_changes where kind = 'project' and entity_id = $1 order by version desc`,
    [id],
  );
const readMergeSettings = async (id: number): Promise<unknown> =>
  (await listLoggedStates(id))[0]!.state['merge_settings'];

it('publishes the settings for merges that a project has set', async () => {
  const id = await makeProject({});
  expect(await readMergeSettings(id)).toBeNull();
  const change = (settings: object) => ada.client.put(`/api/v4/projects/${id}`).send(settings).expect(200);
  await change({ merge_method: 'ff', squash_option: 'always', build_timeout: 700 });
  expect(await readMergeSettings(id)).toEqual({ merge_method: 'ff', squash_option: 'always' });
  await change({ merge_commit_template: '%{title}', autoclose_referenced_issues: false });
  expect(await readMergeSettings(id)).toEqual({
    ...{ merge_method: 'ff', squash_option: 'always' },
    ...{ merge_commit_template: '%{title}', autoclose_referenced_issues: false },
  });
  await change({ ci_config_path: 'ci/all.yml', jobs_enabled: false });
  expect(await readMergeSettings(id)).toMatchObject({ ci_config_path: 'ci/all.yml', builds_access_level: 'disabled' });
  await change({ merge_commit_template: null, ci_config_path: null, jobs_enabled: true });
  expect(await readMergeSettings(id)).toEqual({
    merge_method: 'ff',
    squash_option: 'always',
    autoclose_referenced_issues: false,
    builds_access_level: 'enabled',
  });
});

it.each([
  ['merges', { merge_method: 'rebase_merge', squash_option: 'never' }, {}, new PublishMergeSettings1767225600061()],
  [
    'pipelines',
    { ci_config_path: 'ci.yml', jobs_enabled: false },
    { squash_option: 'always' },
    new PublishCiSettings1767225600070(),
  ],
])(
  'publishes again those projects that had set one for %s before services knew of them, and no others',
  async (_, own, other, migration) => {
    const set = await makeProject(own);
    const silent = await makeProject(other);
    const [before, others] = [await listLoggedStates(set), await listLoggedStates(silent)];
    const runner = identity.db.dataSource.createQueryRunner();
    try {
      await migration.up(runner);
    } finally {
      await runner.release();
    }
    const [published, ...former] = await listLoggedStates(set);
    expect(former).toEqual(before);
    expect(published!.state).toEqual({
      ...before[0]!.state,
      fork: undefined,
      job_admission: undefined,
      initialize_with_readme: undefined,
    });
    expect(published!.version).toBeGreaterThan(before[0]!.version);
    expect(await listLoggedStates(silent)).toEqual(others);
  },
);

it('publishes existing forks again, with an empty branch, and no other projects', async () => {
  const origin = await makeProject({});
  const forkOf = async (id: number): Promise<number> => {
    const sent = { name: `fork${(serial += 1)}`, path: `fork${serial}` };
    return ((await ada.client.post(`/api/v4/projects/${id}/fork`).send(sent).expect(201)).body as { id: number }).id;
  };
  const first = await forkOf(origin);
  const second = await forkOf(first);
  const [before, others] = [await listLoggedStates(second), await listLoggedStates(origin)];
  expect(before[0]!.state['fork']).toEqual({ project_id: first, network_id: origin, branch: null });
  const runner = identity.db.dataSource.createQueryRunner();
  try {
    await new PublishForks1767225600200().down(runner);
    await new PublishForks1767225600200().up(runner);
  } finally {
    await runner.release();
  }
  const [published, ...former] = await listLoggedStates(second);
  expect(former).toEqual(before);
  const fork = { project_id: first, network_id: origin, branch: '' };
  expect(published!.state).toEqual({
    ...before[0]!.state,
    fork,
    job_admission: undefined,
    initialize_with_readme: undefined,
  });
  expect(await listLoggedStates(origin)).toEqual(others);
});
