import { instanceEntities } from '@rookery/instance';
import { jobEntities } from '@rookery/jobs';
import { plumbingEntities } from '@rookery/persistence';
import { expectEntitiesToMatchSchema, testDatabase } from '@rookery/testing';
import type { TestDatabase } from '@rookery/testing';
import { entities, migrations } from '../../src/database';

let database: TestDatabase;
beforeAll(async () => void (database = await testDatabase('identity', migrations)));
afterAll(() => database.drop());

test('entities say of every table of identity what the migrations made', async () => {
  await expectEntitiesToMatchSchema(database, [...entities, ...plumbingEntities, ...jobEntities, ...instanceEntities]);
});
