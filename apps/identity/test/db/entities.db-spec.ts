import { instanceEntities } from '@rookery/instance';
import { jobEntities } from '@rookery/jobs';
import { entitiesOf, plumbingEntities } from '@rookery/persistence';
import { expectEntitiesToMatchSchema, testDatabase } from '@rookery/testing';
import type { TestDatabase } from '@rookery/testing';
import { migrations } from '../../src/database';
import { IdentityModule } from '../../src/identity.module';

let database: TestDatabase;
beforeAll(async () => void (database = await testDatabase('identity', migrations)));
afterAll(() => database.drop());

test('entities of all tables match the migrated schema', async () => {
  await expectEntitiesToMatchSchema(database, [
    ...entitiesOf(IdentityModule),
    ...plumbingEntities,
    ...jobEntities,
    ...instanceEntities,
  ]);
});
