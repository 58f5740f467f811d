import { PublishMergeSettings1767225600061 } from '../../src/migrations/1767225600061-publish-merge-settings';
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
const logged = (id: number) =>
  identity.db.query<{ version: number; state: Record<string, unknown> }>(
    `select version, state from directory_changes where kind = 'project' and entity_id = $1 order by version desc`,
    [id],
  );
const settingsOf = async (id: number): Promise<unknown> => (await logged(id))[0]!.state['merge_settings'];

it('publishes the settings for merges that a project has set', async () => {
  const id = await makeProject({});
  expect(await settingsOf(id)).toBeNull();
  const change = (settings: object) => ada.client.put(`/api/v4/projects/${id}`).send(settings).expect(200);
  await change({ merge_method: 'ff', squash_option: 'always', build_timeout: 700 });
  expect(await settingsOf(id)).toEqual({ merge_method: 'ff', squash_option: 'always' });
  await change({ merge_commit_template: '%{title}', autoclose_referenced_issues: false });
  expect(await settingsOf(id)).toEqual({
    ...{ merge_method: 'ff', squash_option: 'always' },
    ...{ merge_commit_template: '%{title}', autoclose_referenced_issues: false },
  });
  await change({ merge_commit_template: null });
  expect(await settingsOf(id)).toEqual({
    merge_method: 'ff',
    squash_option: 'always',
    autoclose_referenced_issues: false,
  });
});

it('publishes again those projects that had set one before services knew of them, and no others', async () => {
  const set = await makeProject({ merge_method: 'rebase_merge', squash_option: 'never' });
  const silent = await makeProject({});
  const [before, others] = [await logged(set), await logged(silent)];
  const runner = identity.db.dataSource.createQueryRunner();
  try {
    await new PublishMergeSettings1767225600061().up(runner);
  } finally {
    await runner.release();
  }
  const [published, ...former] = await logged(set);
  expect(former).toEqual(before);
  expect(published!.state).toEqual(before[0]!.state);
  expect(published!.version).toBeGreaterThan(before[0]!.version);
  expect(await logged(silent)).toEqual(others);
});
