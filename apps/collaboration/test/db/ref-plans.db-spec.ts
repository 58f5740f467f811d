import { join } from 'node:path';
import { Directory } from '@rookery/directory';
import { Pool } from 'pg';
import { expectPlan, vacuumUntilVisible } from '@rookery/testing';
import type { SeededService } from '@rookery/testing';
import { RefProtections } from '../../src/code/protected-refs/ref-protections';
import { sharedBranches } from '../../src/code/protected-refs/shared-branches';
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
      select 1 + g % 5000, 'tag-' || g, '{40}' from generate_series(1, 20000) g;
    insert into merge_requests (project_id, iid, author_id, title, source_project_id, source_branch, target_branch, allow_collaboration)
      select 1, g, 1, 'T', 1 + g % 5000, 'topic-' || g, 'main', true from generate_series(1, 20000) g`);
  await vacuumUntilVisible(pool);
}, 300_000);
afterAll(async () => {
  await pool.end();
  await service.close();
});

test('the rules of a project are read by their index', async () => {
  const viewer = service.seed.viewer(await service.seed.user());
  const caller = { viewer, project: { id: 7, level: 30 } };
  const shape = await expectPlan(pool, join(__dirname, '../golden/protected-refs/rules-of-project'), (db) =>
    new RefProtections(db, service.app.get(Directory)).readAccess(caller),
  );
  expect(shape).not.toContain('Seq Scan');
});

test('the branches that merge requests of a fork share are read by their index', async () => {
  const shape = await expectPlan(pool, join(__dirname, '../golden/protected-refs/shared-branches'), (db) =>
    db.run(sharedBranches, { projectId: 7, userId: 1 }),
  );
  expect(shape).not.toMatch(/Seq Scan on merge_requests/);
});
