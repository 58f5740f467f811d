import { join } from 'node:path';
import type { GroupScope } from '@rookery/api-v4';
import type { Directory } from '@rookery/directory';
import { NotFound } from '@rookery/kernel';
import type { Database } from '@rookery/persistence';
import { expectPlan, makeViewer, testDatabase, vacuumUntilVisible } from '@rookery/testing';
import type { Planned, TestDatabase } from '@rookery/testing';
import { Pool } from 'pg';
import { migrations } from '../../src/database';
import { ComposerQueries } from '../../src/registries/composer/composer.queries';

/** Plans of the reads of Composer packages over enough rows. `UPDATE_GOLDEN=1` writes the golden files. */
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
      select 1 + g % 2000, 'composer', 'n/' || g % 5000, 'n/' || g % 5000, '1.0.' || g, now() - g * interval '1 second'
      from generate_series(1, 100000) g;
    insert into composer_versions (package_id, project_id, target_sha, description)
      select id, project_id, md5(id::text), '{}' from packages;
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
const group = { kind: 'group', id: 7, traversalIds: [7] } as unknown as GroupScope;
const queries = (db: Database): ComposerQueries => new ComposerQueries(db, directory);
const HOT: Record<string, Planned> = {
  'composer-names-of-group': (db) => queries(db).listNames(group, viewer),
  'composer-versions-of-group': (db) => queries(db).listVersions(group, viewer, 'n/75'),
  /** The reading finds nothing, as its statement is not run. */
  'composer-package-of-commit': (db) =>
    queries(db)
      .findPackage(76, 'n/75', 'a')
      .catch((error: unknown) => expect(error).toBeInstanceOf(NotFound)),
};

test.each(Object.keys(HOT))('%s keeps its plan', async (name) => {
  const shape = await expectPlan(pool, join(__dirname, '../golden/registries', name), HOT[name]!);
  expect(shape).not.toMatch(/Seq Scan on (packages|composer_versions|package_indexes)\b/);
});
