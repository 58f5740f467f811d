import { attachedTablesIn, entitiesOf } from '@rookery/persistence';
import { expectAttachmentsToCoverSchema, testDatabase } from '@rookery/testing';
import type { TestDatabase } from '@rookery/testing';
import { Pool } from 'pg';
import { AdminModule } from '../../src/admin.module';
import { migrations } from '../../src/database';

let database: TestDatabase;
beforeAll(async () => void (database = await testDatabase('admin', migrations)));
afterAll(() => database.drop());

test('every column that names something is declared, and an index serves each removal', async () => {
  const pool = new Pool({ connectionString: database.url, max: 1 });
  try {
    await expectAttachmentsToCoverSchema(pool, attachedTablesIn(AdminModule), {
      entities: entitiesOf(AdminModule),
    });
  } finally {
    await pool.end();
  }
});
