import { join } from 'node:path';
import type { Directory } from '@rookery/directory';
import { NotFound } from '@rookery/kernel';
import type { Database } from '@rookery/persistence';
import { expectPlan, makeViewer, testDatabase, vacuumUntilVisible } from '@rookery/testing';
import type { Planned, TestDatabase } from '@rookery/testing';
import { Pool } from 'pg';
import { migrations } from '../../src/database';
import { TerraformQueries } from '../../src/registries/terraform/terraform.queries';

/** Plans of the reads of Terraform modules over enough rows. `UPDATE_GOLDEN=1` writes the golden files. */
let database: TestDatabase;
let pool: Pool;
beforeAll(async () => {
  database = await testDatabase('package', migrations);
  pool = new Pool({ connectionString: database.url, max: 1 });
  await pool.query(`
    insert into directory_namespaces (id, kind, parent_id, traversal_ids, name, path, full_name, full_path, visibility, plan,
        emails_enabled, created_at)
      select g, 'group', case when g > 20 then 1 + g % 20 end, case when g > 20 then array[1 + g % 20, g] else array[g] end,
        'g' || g, 'g' || g, 'g' || g, 'g' || g, 'public', 'free', true, now() from generate_series(1, 200) g;
    insert into directory_projects (id, namespace_id, name, path, visibility, archived, issues_access_level,
        snippets_access_level, merge_requests_access_level, packages_enabled, emails_enabled, created_at)
      select g, 1 + g % 200, 'p' || g, 'p' || g, 'public', false, 'enabled', 'enabled', 'enabled', true, true, now()
      from generate_series(1, 2000) g;
    insert into packages (project_id, package_type, name, name_key, version, created_at)
      select 1 + g % 2000, 'terraform_module', 'n' || g % 5000 || '/aws', 'n' || g % 5000 || '/aws', '1.0.' || g,
        now() - g * interval '1 second'
      from generate_series(1, 100000) g;
    insert into package_files (package_id, project_id, file_name, size, sha256, sha1, md5)
      select p.id, p.project_id, p.version || '.tgz', 1, md5(p.id::text), '', '' from packages p;
    insert into package_indexes (project_id, package_type, name_key)
      select distinct project_id, package_type, name_key from packages;
  `);
  await vacuumUntilVisible(pool);
}, 300_000);
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const directory = { requireFresh: () => Promise.resolve() } as unknown as Directory;
const viewer = makeViewer({ userId: 5 });
const vpc = { namespace: 'g7', name: 'n75', system: 'aws' };
const queries = (db: Database): TerraformQueries => new TerraformQueries(db, directory);
/** The reading finds nothing, as its statement is not run. */
const expectNotFound = (error: unknown): void => expect(error).toBeInstanceOf(NotFound);
const HOT: Record<string, Planned> = {
  'terraform-versions-of-instance': (db) => queries(db).listVersions(vpc, viewer).catch(expectNotFound),
  'terraform-file-of-instance': (db) => queries(db).findFile(vpc, '1.0.75', viewer).catch(expectNotFound),
  'terraform-versions-of-project': (db) => queries(db).latestOfProject(76, vpc).catch(expectNotFound),
  'terraform-file-of-project': (db) => queries(db).fileOfProject(76, vpc, '1.0.75').catch(expectNotFound),
};

test.each(Object.keys(HOT))('%s keeps its plan', async (name) => {
  const shape = await expectPlan(pool, join(__dirname, '../golden/registries', name), HOT[name]!);
  expect(shape).not.toMatch(/Seq Scan on (packages|package_files|package_indexes)\b/);
});
