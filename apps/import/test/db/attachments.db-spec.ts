import { attachedTablesIn, entitiesOf } from '@rookery/persistence';
import { expectAttachmentsToCoverSchema, testDatabase } from '@rookery/testing';
import type { TestDatabase } from '@rookery/testing';
import { Pool } from 'pg';
import { ImportModule } from '../../src/import.module';
import { migrations } from '../../src/database';

let database: TestDatabase;
beforeAll(async () => void (database = await testDatabase('import', migrations)));
afterAll(() => database.drop());

test('every column that names something is declared, and an index serves each removal', async () => {
  const pool = new Pool({ connectionString: database.url, max: 1 });
  try {
    await expectAttachmentsToCoverSchema(pool, attachedTablesIn(ImportModule), {
      entities: entitiesOf(ImportModule),
    });
  } finally {
    await pool.end();
  }
});
