import { join } from 'node:path';
import { directoryMigrations } from '@rookery/directory';
import { instanceEntities } from '@rookery/instance';
import { jobEntities } from '@rookery/jobs';
import { entitiesOf, plumbingEntities } from '@rookery/persistence';
import { expectEntitiesToMatchSchema, expectSchemaKeys, testDatabase } from '@rookery/testing';
import type { TestDatabase } from '@rookery/testing';
import { CollaborationModule } from '../../src/collaboration.module';
import { migrations } from '../../src/database';

let database: TestDatabase;
beforeAll(async () => void (database = await testDatabase('collaboration', migrations)));
afterAll(() => database.drop());

/**
 * The directory copy has no entities: its columns are those of the contract (`DIRECTORY_KINDS`), from which its
 * statements are generated, and entities would repeat them.
 */
test('entities match the migrated schema of all other tables', async () => {
  await expectEntitiesToMatchSchema(
    database,
    [...entitiesOf(CollaborationModule), ...plumbingEntities, ...jobEntities, ...instanceEntities],
    directoryMigrations,
  );
});

test('the unique rules and references are those from which the distribution is checked', async () => {
  await expectSchemaKeys(database, join(__dirname, '../golden/schema/keys.txt'));
});
