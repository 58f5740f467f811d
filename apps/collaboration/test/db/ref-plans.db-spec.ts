import { join } from 'node:path';
import { Pool } from 'pg';
import { expectPlan, vacuumUntilVisible } from '@rookery/testing';
import type { SeededService } from '@rookery/testing';
import { RefProtections } from '../../src/code/protected-refs/ref-protections';
import { startCollaboration } from '../support/app';

let service: SeededService;
let pool: Pool;
beforeAll(async () => {
  service = await startCollaboration();
  pool = new Pool({ connectionString: service.databaseUrl, max: 1 });
  await pool.query(`
    insert into protected_branches (project_id, name, push_levels, merge_levels, unprotect_levels)
      select 1 + g % 5000, 'branch-' || g, '{40}', '{40}', '{40}' from generate_series(1, 20000) g;
    insert into protected_tags (project_id, name, create_levels)
      select 1 + g % 5000, 'tag-' || g, '{40}' from generate_series(1, 20000) g`);
  await vacuumUntilVisible(pool);
}, 300_000);
afterAll(async () => {
  await pool.end();
  await service.close();
});

test('the rules of a project are read by their index', async () => {
  const caller = { viewer: { isAdmin: false }, project: { id: 7, level: 30 } };
  const shape = await expectPlan(pool, join(__dirname, '../golden/protected-refs/rules-of-project'), (db) =>
    new RefProtections(db).of(caller),
  );
  expect(shape).not.toContain('Seq Scan');
});
