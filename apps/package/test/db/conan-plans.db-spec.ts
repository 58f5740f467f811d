import { join } from 'node:path';
import type { Directory } from '@rookery/directory';
import { NotFound } from '@rookery/kernel';
import type { Database } from '@rookery/persistence';
import { expectPlan, makeViewer, testDatabase, vacuumUntilVisible } from '@rookery/testing';
import type { Planned, TestDatabase } from '@rookery/testing';
import { Pool } from 'pg';
import { migrations } from '../../src/database';
import { ConanQueries } from '../../src/registries/conan/conan.queries';

/** Plans of the reads of Conan packages over enough rows. `UPDATE_GOLDEN=1` writes the golden files. */
let database: TestDatabase;
let pool: Pool;
beforeAll(async () => {
  database = await testDatabase('package', migrations);
  pool = new Pool({ connectionString: database.url, max: 1 });
  await pool.query(`
    insert into directory_namespaces (id, kind, parent_id, traversal_ids, name, path, full_name, full_path, visibility, plan,
        emails_enabled, created_at)
      select g, 'group', null, array[g], 'g' || g, 'g' || g, 'g' || g, 'g' || g, 'public', 'free', true, now()
      from generate_series(1, 200) g;
    insert into directory_projects (id, namespace_id, name, path, visibility, archived, issues_access_level,
        snippets_access_level, merge_requests_access_level, packages_enabled, emails_enabled, created_at)
      select g, 1 + g % 200, 'p' || g, 'p' || g, 'public', false, 'enabled', 'enabled', 'enabled', true, true, now()
      from generate_series(1, 2000) g;
    insert into packages (project_id, package_type, name, name_key, version, created_at)
      select 1 + g % 2000, 'conan', 'n' || g % 5000, 'n' || g % 5000 || '@me/stable', '1.' || g,
        now() - g * interval '1 second'
      from generate_series(1, 50000) g;
    insert into conan_revisions (package_id, project_id, recipe_revision, binary_reference, binary_revision)
      select p.id, p.project_id, md5(p.id::text), binary_reference, binary_reference
      from packages p, (values (''), ('${'1'.repeat(40)}'), ('${'2'.repeat(40)}')) as given (binary_reference);
    insert into package_files (package_id, project_id, file_name, size, sha256, sha1, md5)
      select r.package_id, r.project_id, file_name, 1, '', r.id::text, '' from conan_revisions r,
        (values ('conanmanifest.txt'), ('conanfile.py')) as given (file_name);
    insert into conan_files (file_id, revision_id) select id, sha1::bigint from package_files;
  `);
  await vacuumUntilVisible(pool);
}, 300_000);
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const directory = { requireFresh: () => Promise.resolve() } as unknown as Directory;
const viewer = makeViewer({ userId: 5 });
const project = { id: 76 };
const hello = { name: 'n75', version: '1.75', user: 'me', channel: 'stable' };
const recipeRevision = 'a'.repeat(32);
const binary = { recipeRevision, binaryReference: '1'.repeat(40), binaryRevision: '1'.repeat(40) };
const search = { pattern: 'n75*', ignoresCase: true, protocol: 'v2' } as const;
const queries = (db: Database): ConanQueries => new ConanQueries(db, directory);
/** The reading finds nothing, as its statement is not run. */
const expectNotFound = (error: unknown): void => expect(error).toBeInstanceOf(NotFound);
const HOT: Record<string, Planned> = {
  'conan-recipe-revisions': (db) =>
    queries(db).recipeRevisions(project, hello, { protocol: 'v2' }).catch(expectNotFound),
  'conan-binary-revisions': (db) => queries(db).binaryRevisions(project, hello, binary).catch(expectNotFound),
  'conan-files-of-revision': (db) => queries(db).listFiles(project, hello, binary).catch(expectNotFound),
  'conan-binaries': (db) => queries(db).listBinariesOfRecipe(project, hello, recipeRevision, false),
  'conan-search-of-project': (db) => queries(db).searchRecipes(project as never, viewer, search),
  'conan-search-of-instance': (db) => queries(db).searchRecipes(null, viewer, search),
};

test.each(Object.keys(HOT))('%s keeps its plan', async (name) => {
  const shape = await expectPlan(pool, join(__dirname, '../golden/registries', name), HOT[name]!);
  // A search of the instance reads the names of all recipes.
  const tables =
    name === 'conan-search-of-instance' ? 'package_files|conan_files' : 'packages|package_files|conan_files';
  expect(shape).not.toMatch(new RegExp(`Seq Scan on (${tables})\\b`));
});
