import { directoryMigrations } from '@rookery/directory';
import { jobEntities } from '@rookery/jobs';
import { entitiesOf, plumbingEntities } from '@rookery/persistence';
import { expectEntitiesToMatchSchema, testDatabase } from '@rookery/testing';
import type { TestDatabase } from '@rookery/testing';
import { AdminModule } from '../../src/admin.module';
import { migrations } from '../../src/database';

let database: TestDatabase;
beforeAll(async () => void (database = await testDatabase('admin', migrations)));
afterAll(() => database.drop());

/**
 * The copy of the directory has no entities: its columns are those of the contract (`DIRECTORY_KINDS`), which its
 * statements are made from, and an entity would state them a second time.
 */
test('entities say of every other table what the migrations made', async () => {
  await expectEntitiesToMatchSchema(
    database,
    [...entitiesOf(AdminModule), ...plumbingEntities, ...jobEntities],
    directoryMigrations,
  );
});
