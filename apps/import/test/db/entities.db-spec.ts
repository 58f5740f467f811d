import { directoryMigrations } from '@rookery/directory';
import { jobEntities } from '@rookery/jobs';
import { entitiesOf, plumbingEntities } from '@rookery/persistence';
import { expectEntitiesToMatchSchema, testDatabase } from '@rookery/testing';
import type { TestDatabase } from '@rookery/testing';
import { migrations } from '../../src/database';
import { ImportModule } from '../../src/import.module';

let database: TestDatabase;
beforeAll(async () => void (database = await testDatabase('import', migrations)));
afterAll(() => database.drop());

/**
 * The copy of the directory has no entities: its statements are generated from the contract (`DIRECTORY_KINDS`), and
 * entities would repeat its columns.
 */
test('entities of all other tables match the migrated schema', async () => {
  await expectEntitiesToMatchSchema(
    database,
    [...entitiesOf(ImportModule), ...plumbingEntities, ...jobEntities],
    directoryMigrations,
  );
});
