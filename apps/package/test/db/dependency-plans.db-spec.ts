import { join } from 'node:path';
import { expectPlan, testDatabase, vacuumUntilVisible } from '@rookery/testing';
import type { Planned, TestDatabase } from '@rookery/testing';
import { Pool } from 'pg';
import { migrations } from '../../src/database';
import { DependencyComponentsQueries } from '../../src/dependency-exports/generating/components.queries';
import { DependencyReportSources } from '../../src/dependency-exports/generating/dependency-sources';

/** Plans of the reads of exports over enough rows. `UPDATE_GOLDEN=1` writes the golden files. */
let database: TestDatabase;
let pool: Pool;
beforeAll(async () => {
  database = await testDatabase('package', migrations);
  pool = new Pool({ connectionString: database.url, max: 1 });
  await pool.query(`
    insert into directory_namespaces (id, kind, traversal_ids, name, path, full_name, full_path, visibility, plan,
        emails_enabled, created_at)
      select g, 'group', array[g], 'g' || g, 'g' || g, 'g' || g, 'g' || g, 'public', 'free', true, now()
      from generate_series(1, 200) g;
    insert into directory_projects (id, namespace_id, name, path, visibility, archived, issues_access_level,
        snippets_access_level, merge_requests_access_level, packages_enabled, emails_enabled, created_at, default_branch)
      select g, 1 + g % 200, 'p' || g, 'p' || g, 'public', false, 'enabled', 'enabled', 'enabled', true, true, now(), 'main'
      from generate_series(1, 2000) g;
    insert into pipelines (project_id, iid, sha, ref, is_tag, source, status)
      select 1 + g % 2000, g, md5(g::text) || '00000000', case when g % 3 = 0 then 'main' else 'r' end, false, 'external',
        'success' from generate_series(1, 20000) g;
    insert into dependency_reports (project_id, pipeline_id, job_id, file_name, sha256, size, state)
      select p.project_id, p.id, p.id, 'a', md5(p.id::text), 1, 'valid' from pipelines p where p.project_id % 2 = 0;
    insert into dependency_components (report_id, position, ref, name, component_type)
      select r.id, n, 'pkg:npm/n' || n, 'n' || n, 'library' from dependency_reports r, generate_series(1, 20) n;
    insert into dependency_components (report_id, position, ref, name, component_type)
      select r, 20 + n, 'pkg:npm/m' || n, 'm' || n, 'library' from unnest(array[7, 8]) r, generate_series(1, 20000) n;
  `);
  await vacuumUntilVisible(pool);
}, 300_000);
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const signal = new AbortController().signal;
const readFirst = async (rows: AsyncGenerator<unknown>): Promise<void> => void (await rows.next());
const facts = { id: 8, fullPath: 'g/p', name: 'p', defaultBranch: 'main', traversalIds: [8] };
const directory = { findProjects: () => new Map([[8, facts]]), findNamespaces: () => new Map([[8, facts]]) };
const reading = { readAll: () => Promise.resolve() };
const createSources = (db: unknown) =>
  new DependencyReportSources(db as never, directory as never, {} as never, reading as never);

/** Only the first statement is explained, and it has no rows that a second one could use. */
const withoutRows = (): void => undefined;

const HOT: Record<string, Planned> = {
  occurrences: (db) => readFirst(new DependencyComponentsQueries(db).ofReport(7)),
  'distinct-components': (db) => readFirst(new DependencyComponentsQueries(db).listDistinct([7, 8])),
  'pipeline-of-project': (db) => createSources(db).ofProject(8, signal).catch(withoutRows),
  'projects-of-group': (db) => readFirst(createSources(db).ofGroup(8, signal)).catch(withoutRows),
};

test.each(Object.keys(HOT))('%s keeps its plan', async (read) => {
  const shape = await expectPlan(pool, join(__dirname, '../golden/dependency-exports', read), HOT[read]!);
  expect(shape).not.toMatch(/Seq Scan on (pipelines|dependency_\w+)\b/);
});
