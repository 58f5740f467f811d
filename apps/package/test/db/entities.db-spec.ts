import { join } from 'node:path';
import { directoryMigrations } from '@rookery/directory';
import { instanceEntities } from '@rookery/instance';
import { jobEntities } from '@rookery/jobs';
import { entitiesOf, plumbingEntities } from '@rookery/persistence';
import { expectEntitiesToMatchSchema, expectSchemaKeys, testDatabase } from '@rookery/testing';
import type { TestDatabase } from '@rookery/testing';
import { migrations } from '../../src/database';
import { PackageModule } from '../../src/package.module';

let database: TestDatabase;
beforeAll(async () => void (database = await testDatabase('package', migrations)));
afterAll(() => database.drop());

/**
 * The copy of the directory has no entities: its statements are generated from the contract (`DIRECTORY_KINDS`), and
 * entities would repeat its columns.
 */
test('entities of all other tables match the migrated schema', async () => {
  await expectEntitiesToMatchSchema(
    database,
    [...entitiesOf(PackageModule), ...plumbingEntities, ...instanceEntities, ...jobEntities],
    directoryMigrations,
  );
});

test('the unique rules and references are those from which the distribution is checked', async () => {
  await expectSchemaKeys(database, join(__dirname, '../golden/schema/keys.txt'));
});
