import { Database } from '@rookery/persistence';
import type { SeededService } from '@rookery/testing';
import { NameUnlimitedPeopleById1767225600400 } from '../../src/migrations/1767225600400-name-unlimited-people-by-id';
import { startAdmin } from '../support/app';

let service: SeededService;
beforeAll(async () => void (service = await startAdmin()));
afterAll(() => service.close());

const listStoredSettings = () =>
  service.database.query<{ name: string; value: unknown }>('select * from application_settings');
async function readVersion(): Promise<number> {
  const [row] = await service.database.query<{ version: number }>('select version from instance_versions');
  return row!.version;
}
async function runNamingMigration(): Promise<void> {
  const runner = service.app.get(Database).dataSource.createQueryRunner();
  try {
    await new NameUnlimitedPeopleById1767225600400().up(runner);
  } finally {
    await runner.release();
  }
}

it('converts usernames to ids, drops unknown names, and publishes the change', async () => {
  const wren = await service.seed.user({ username: 'wren' });
  const before = await readVersion();
  await runNamingMigration();
  expect([await listStoredSettings(), await readVersion()]).toEqual([[], before]);
  await service.database.query(
    `insert into application_settings values ('notes_create_limit_allowlist', '["Wren", "nobody"]'), ('notes_create_limit', '5')`,
  );
  await runNamingMigration();
  expect(await listStoredSettings()).toEqual(
    expect.arrayContaining([
      { name: 'notes_create_limit_allowlist', value: [wren.id] },
      { name: 'notes_create_limit', value: 5 },
    ]),
  );
  expect(await readVersion()).toBe(before + 1);
});
