import { join } from 'node:path';
import type { GroupScope } from '@rookery/api-v4';
import type { Directory } from '@rookery/directory';
import type { Database } from '@rookery/persistence';
import {
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
import { MavenQueries } from '../../src/registries/maven/maven.queries';

/** Plans of the hot reads of Maven packages over enough rows. `UPDATE_GOLDEN=1` writes the golden files. */
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
      select 1 + g / 50, 'maven', 'com/n' || g / 10, 'com/n' || g / 10, nullif('1.' || g % 10, '1.0'),
        now() - g * interval '1 second' from generate_series(0, 99999) g;
    insert into package_files (package_id, project_id, file_name, size, sha256, sha1, md5)
      select p.id, p.project_id, 'f' || n, 1, md5(p.id::text), '', '' from packages p, generate_series(1, 4) n;
    insert into maven_files (file_id, sha512, listed_files)
      select id, '', case file_name when 'f1' then array['f2', 'f3', 'absent'] end from package_files;
    insert into maven_plugins (package_id, artifact_id, prefix, name)
      select p.id, 'p' || n, 'p' || n, '' from packages p, generate_series(1, 3) n where p.version is null;
  `);
  await vacuumUntilVisible(pool);
}, 300_000);
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const directory = { requireFresh: () => Promise.resolve() } as unknown as Directory;
const place = { kind: 'project', id: 8 } as const;
const group = { id: 9, traversalIds: [9] } as unknown as GroupScope;
const inGroup = { kind: 'group', group, viewer: makeViewer({ userId: 5 }) } as const;
const name = 'com/n36';
const file = { name, version: '1.1', fileName: 'f1' };
const createMavenQueries = (db: Database): MavenQueries => new MavenQueries(db, directory);

const HOT: Record<string, Planned> = {
  'newest-maven-file': (db) => createMavenQueries(db).findNewest(place, file),
  'newest-maven-file-of-group': (db) => createMavenQueries(db).findNewest(inGroup, file),
  'maven-snapshot-metadata': (db) => createMavenQueries(db).snapshotMetadata(place, file),
  'maven-versions': (db) => createMavenQueries(db).listVersions(place, name),
  'maven-versions-of-group': (db) => createMavenQueries(db).listVersions(inGroup, name),
  'maven-plugins': (db) => createMavenQueries(db).listPlugins(place, name),
};

test.each(Object.keys(HOT))('%s keeps its plan', async (read) => {
  const shape = await expectPlan(pool, join(__dirname, '../golden/registries', read), HOT[read]!);
  expect(shape).not.toMatch(/Seq Scan on (packages|package_files|maven_files|maven_plugins)\b/);
});

test('a file of a group is found among the packages of its name', async () => {
  const cut = limitNodeOf(await planOf(pool, HOT['newest-maven-file-of-group']!, 'run'));
  expect(countReadRows(cut, 'packages')).toBeLessThanOrEqual(10);
});
