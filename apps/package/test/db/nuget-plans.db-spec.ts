import { join } from 'node:path';
import type { GroupScope, ProjectScope } from '@rookery/api-v4';
import type { Directory } from '@rookery/directory';
import { NotFound } from '@rookery/kernel';
import type { Database } from '@rookery/persistence';
import { expectPlan, makeViewer, testDatabase, vacuumUntilVisible } from '@rookery/testing';
import type { Planned, TestDatabase } from '@rookery/testing';
import { Pool } from 'pg';
import { migrations } from '../../src/database';
import { NugetPlaces } from '../../src/registries/nuget/nuget-places';
import { NugetQueries } from '../../src/registries/nuget/nuget.queries';
import { FeedQueries } from '../../src/registries/nuget/v2/feed.queries';
import { SymbolsQueries } from '../../src/registries/nuget/symbols/symbols.queries';

/** Plans of the reads of NuGet packages over enough rows. `UPDATE_GOLDEN=1` writes the golden files. */
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
      select 1 + g % 2000, 'nuget', 'n' || g / 400, 'n' || g / 400, '1.0.' || g, now() - g * interval '1 second'
      from generate_series(1, 100000) g;
    insert into package_files (package_id, project_id, file_name, size, sha256, sha1, md5)
      select p.id, p.project_id, p.name || '.' || p.version || '.nupkg', 1, md5(p.id::text), '', '' from packages p;
    insert into nuget_versions (package_id, project_id, name_key, version_key, is_prerelease, nuspec)
      select id, project_id, name_key, version, false, '{}' from packages;
    insert into nuget_symbols (file_id, entry_name, project_id, name_key, signature, checksum, size)
      select id, 'a.pdb', project_id, 'a.pdb', md5(id::text), md5(id::text), 1 from package_files;
  `);
  await vacuumUntilVisible(pool);
}, 300_000);
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const directory = { requireFresh: () => Promise.resolve() } as unknown as Directory;
const viewer = makeViewer({ userId: 5 });
/** The reading finds nothing, as its statement is not run. */
const expectNotFound = (error: unknown): void => expect(error).toBeInstanceOf(NotFound);
const readsIn = (place: ProjectScope | GroupScope): Record<string, Planned> => {
  const places = (db: Database): NugetPlaces => new NugetPlaces(db, directory);
  const queries = (db: Database): NugetQueries => new NugetQueries(db, places(db));
  const symbol = { name: 'a.pdb', signature: 'a', checksums: ['b'] };
  return {
    [`nuget-versions-of-${place.kind}`]: (db) => queries(db).listVersions(place, viewer, 'n75').catch(expectNotFound),
    [`nuget-version-of-${place.kind}`]: (db) =>
      queries(db).findVersion(place, viewer, 'n75', '1.0.5').catch(expectNotFound),
    [`nuget-file-of-${place.kind}`]: (db) =>
      queries(db).findFile(place, viewer, 'n75', '1.0.5', 'a').catch(expectNotFound),
    [`nuget-names-of-${place.kind}`]: (db) =>
      queries(db).searchNames(place, viewer, { q: '7', skip: 0, take: 20, prerelease: true }),
    [`nuget-symbol-of-${place.kind}`]: (db) =>
      new SymbolsQueries(places(db)).show(place, viewer, symbol).catch(expectNotFound),
    [`nuget-versions-of-names-of-${place.kind}`]: (db) =>
      queries(db).listVersionsOfNames(place, viewer, ['n7', 'n70'], true),
  };
};
const HOT: Record<string, Planned> = {
  'nuget-feed-rows': (db) => new FeedQueries(db, undefined as unknown as NugetQueries).findRows([1, 2, 3]),
  ...readsIn({ kind: 'project', id: 8 } as ProjectScope),
  ...readsIn({ kind: 'group', id: 7, traversalIds: [7] } as unknown as GroupScope),
};

test.each(Object.keys(HOT))('%s keeps its plan', async (name) => {
  const shape = await expectPlan(pool, join(__dirname, '../golden/registries', name), HOT[name]!);
  expect(shape).not.toMatch(/Seq Scan on (packages|package_files|nuget_versions|nuget_symbols)\b/);
});
