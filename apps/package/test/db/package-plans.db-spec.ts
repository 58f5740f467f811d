import { join } from 'node:path';
import type { GroupScope, ProjectScope } from '@rookery/api-v4';
import type { Directory } from '@rookery/directory';
import type { InstanceSettings, PlanLimitName } from '@rookery/instance';
import type { Database } from '@rookery/persistence';
import {
  anonymousViewer,
  makeViewer,
  limitNodeOf,
  expectPlan,
  planOf,
  countReadRows,
  testDatabase,
  vacuumUntilVisible,
} from '@rookery/testing';
import type { Planned, TestDatabase } from '@rookery/testing';
import { Pool } from 'pg';
import { migrations } from '../../src/database';
import { PackageSettingsService } from '../../src/package-settings/package-settings.service';
import { PackagesQueries } from '../../src/packages/listing/packages.queries';
import { tagsOfPackages } from '../../src/packages/indexing/package-tags';
import { DuplicateFilePolicy } from '../../src/packages/publishing/duplicate-files';
import { StorageQuota } from '../../src/packages/publishing/storage-quota';
import { GenericPackagesService } from '../../src/registries/generic/generic.service';
import { npmPlaceOf } from '../../src/registries/npm/reading/npm-place';
import { NpmQueries } from '../../src/registries/npm/reading/npm.queries';

/** Plans of the hot reads over enough rows. `UPDATE_GOLDEN=1` writes the golden files. */
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
      select 1 + g % 2000, 'generic', 'n' || g / 20000, 'n' || g / 20000, '1.' || g, now() - g * interval '1 second'
      from generate_series(1, 100000) g;
    insert into package_files (package_id, project_id, file_name, size, sha256, sha1, md5)
      select p.id, p.project_id, 'f' || n, 1, md5(p.id::text), '', '' from packages p, generate_series(1, 2) n;
    insert into packages (project_id, package_type, name, name_key, version)
      select 1 + g / 20 % 2000, 'npm', '@g1/n' || g / 100, '@g1/n' || g / 100, '1.0.' || g from generate_series(1, 39999) g;
    insert into package_indexes (package_type, name_key, project_id)
      select distinct package_type, name_key, project_id from packages where package_type = 'npm';
    insert into npm_versions (package_id, project_id, manifest, brief, integrity, shasum)
      select id, project_id, '{}', '{}', '', '' from packages where package_type = 'npm';
    insert into package_files (package_id, project_id, file_name, size, sha256, sha1, md5)
      select id, project_id, 'f', 1, md5(id::text), '', '' from packages where package_type = 'npm';
    insert into package_tags (package_id, project_id, package_type, name_key, name)
      select id, project_id, package_type, name_key, 't' || id from packages where package_type = 'npm';
    insert into package_settings (group_id) select g from generate_series(1, 200) g;
  `);
  await vacuumUntilVisible(pool);
}, 300_000);
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const directory = { requireFresh: () => Promise.resolve() } as unknown as Directory;
const project = {
  kind: 'project',
  id: 8,
  fullPath: 'g9/p8',
  visibility: 'public',
  packagesEnabled: true,
  level: 0,
  namespace: { traversalIds: [8], plan: 'free' },
} as unknown as ProjectScope;
const group = { id: 7, traversalIds: [7] } as unknown as GroupScope;
const page = { page: 1, perPage: 20 };
const asked = { order_by: 'created_at', sort: 'asc', include_versionless: false, exclude_subgroups: false } as const;
const member = makeViewer({ userId: 5 });
const NPM_NAME = '@g1/n50';
const npmGroup = { kind: 'group', id: 1, traversalIds: [1] } as unknown as GroupScope;
const createNpmQueries = (db: Database): NpmQueries => new NpmQueries(db, directory);
const named = { type: 'generic', name: 'n1', version: '1.30007', fileName: 'f1' } as const;
/** The quota with one limit. */
const createStorageQuota = (db: Database, name: PlanLimitName): StorageQuota => {
  const limits = { planLimit: (asked: PlanLimitName) => (asked === name ? 1024 ** 4 : 0) };
  return new StorageQuota(limits as unknown as InstanceSettings, db);
};
const file = { name: 'n1', version: '1.30007', path: 'f1' };

const HOT: Record<string, Planned> = {
  'packages/packages-of-project': (db) => new PackagesQueries(db, directory).ofProject(project, member, asked, page),
  'packages/packages-of-group': (db) => new PackagesQueries(db, directory).ofGroup(group, member, asked, page),
  'packages/packages-of-group-anonymous': (db) =>
    new PackagesQueries(db, directory).ofGroup(group, anonymousViewer(), asked, page),
  'packages/siblings': (db) => new PackagesQueries(db, directory).listSiblings(8),
  'packages/files': (db) => new PackagesQueries(db, directory).listFiles(8, { order_by: 'id', sort: 'asc' }, page),
  'packages/tags': (db) => tagsOfPackages(db, [100_001, 100_002, 100_003]),
  'registries/newest-generic-file': (db) =>
    new GenericPackagesService(db, undefined!, undefined!, undefined!, undefined!).findNewest(project, file),
  'registries/named-file': (db) =>
    new DuplicateFilePolicy(db, undefined!, undefined!, undefined!).findFile(db, project, named),
  'packages/storage-of-project': (db) => createStorageQuota(db, 'project_packages_size_limit').admitUpload(project, 0),
  'packages/storage-of-namespace': (db) =>
    createStorageQuota(db, 'namespace_packages_size_limit').admitUpload(project, 0),
  'packages/settings-of-group': (db) => new PackageSettingsService(db, undefined!, undefined!).ofGroup([2, 22]),
  'registries/npm-sources-of-project': (db) =>
    createNpmQueries(db).listSources(npmPlaceOf(project, '8'), member, NPM_NAME),
  'registries/npm-sources-of-group': (db) =>
    createNpmQueries(db).listSources(npmPlaceOf(npmGroup, '1'), member, NPM_NAME),
  'registries/npm-sources-of-instance': (db) =>
    createNpmQueries(db).listSources(npmPlaceOf(undefined, undefined), member, NPM_NAME),
  'registries/npm-versions': (db) => createNpmQueries(db).listVersions([251, 252], NPM_NAME),
  'registries/npm-tags': (db) => createNpmQueries(db).listTags([251, 252], NPM_NAME),
  'registries/npm-manifests': (db) => createNpmQueries(db).listManifests('full', [100_001, 100_501]),
  'registries/npm-manifest': (db) => createNpmQueries(db).findManifest(100_501),
  'registries/npm-manifest-sizes': (db) => createNpmQueries(db).readManifestSizes([100_001, 100_501]),
  'registries/npm-brief-manifests': (db) => createNpmQueries(db).listManifests('short', [100_001, 100_501]),
  'registries/npm-tarball': (db) => createNpmQueries(db).findTarball([251, 252], NPM_NAME, '1.0.5007'),
};

test.each(Object.keys(HOT))('%s keeps its plan', async (name) => {
  const shape = await expectPlan(pool, join(__dirname, '../golden', name), HOT[name]!);
  expect(shape).not.toMatch(/Seq Scan on (packages|package_files|package_indexes|package_tags|npm_versions)\b/);
});

test('the list of a group reads little more than a page of each project', async () => {
  const cut = limitNodeOf(await planOf(pool, HOT['packages/packages-of-group']!, 'run'));
  expect(countReadRows(cut, 'packages')).toBeLessThanOrEqual(21 * 110);
});
