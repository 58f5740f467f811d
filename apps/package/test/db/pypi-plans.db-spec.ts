import { join } from 'node:path';
import type { GroupScope, ProjectScope } from '@rookery/api-v4';
import type { Directory } from '@rookery/directory';
import { NotFound } from '@rookery/kernel';
import type { Database } from '@rookery/persistence';
import { makeViewer, expectPlan, testDatabase, vacuumUntilVisible } from '@rookery/testing';
import type { Planned, TestDatabase } from '@rookery/testing';
import { Pool } from 'pg';
import { migrations } from '../../src/database';
import type { PypiRelease } from '../../src/registries/pypi/release';
import { PypiReleasesService } from '../../src/registries/pypi/releases.service';
import { PypiSimpleIndexQueries } from '../../src/registries/pypi/simple-index.queries';

/** Plans of the reads of PyPI packages over enough rows. `UPDATE_GOLDEN=1` writes the golden files. */
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
      select 1 + g % 2000, 'pypi', 'n' || g / 400, 'n' || g / 400, '1.' || g, now() - g * interval '1 second'
      from generate_series(1, 100000) g;
    insert into package_files (package_id, project_id, file_name, size, sha256, sha1, md5)
      select p.id, p.project_id, 'n-' || p.version || '.zip', 1, md5(p.id::text), '', '' from packages p;
    insert into pypi_files (file_id, requires_python) select f.id, '>=3.8' from package_files f;
    insert into pypi_versions (package_id, project_id, name_key, version_key)
      select id, project_id, name_key, '0!' || version from packages;
  `);
  await vacuumUntilVisible(pool);
}, 300_000);
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const directory = { requireFresh: () => Promise.resolve() } as unknown as Directory;
const project = { kind: 'project', id: 8 } as ProjectScope;
const group = { kind: 'group', id: 7, traversalIds: [7] } as unknown as GroupScope;
const viewer = makeViewer({ userId: 5 });
const release = { nameKey: 'n75', versionKey: '0!1.30007', content: { fileName: 'n-1.30007.zip' } } as PypiRelease;

const readFirst = async (rows: AsyncGenerator<unknown>): Promise<void> => void (await rows.next());
/** The reading finds nothing, as its statement is not run. */
const expectNotFound = (error: unknown): void => expect(error).toBeInstanceOf(NotFound);
const readsIn = (place: ProjectScope | GroupScope): Record<string, Planned> => {
  const index = (db: Database): PypiSimpleIndexQueries => new PypiSimpleIndexQueries(db, directory);
  return {
    [`pypi-digest-of-${place.kind}`]: (db) => index(db).computeDigest(place, viewer, 'n75').catch(expectNotFound),
    [`pypi-files-of-${place.kind}`]: (db) => readFirst(index(db).listFiles(place, viewer, 'n75')),
    [`pypi-versions-of-${place.kind}`]: (db) => readFirst(index(db).listVersions(place, viewer, 'n75')),
    [`pypi-names-of-${place.kind}`]: (db) => readFirst(index(db).listNames(place, viewer)),
    [`pypi-download-of-${place.kind}`]: (db) => index(db).findDownload(place, viewer, 'a', 'b').catch(expectNotFound),
  };
};
const HOT: Record<string, Planned> = {
  ...readsIn(project),
  ...readsIn(group),
  'pypi-version-of-release': (db) =>
    new PypiReleasesService(undefined!, undefined!, undefined!).findVersion(db, project, release),
  'pypi-file-elsewhere': (db) =>
    new PypiReleasesService(undefined!, undefined!, undefined!).isInOtherVersion(db, project, release),
};

test.each(Object.keys(HOT))('%s keeps its plan', async (name) => {
  const shape = await expectPlan(pool, join(__dirname, '../golden/registries', name), HOT[name]!);
  expect(shape).not.toMatch(/Seq Scan on (packages|package_files|pypi_files|pypi_versions)\b/);
});
