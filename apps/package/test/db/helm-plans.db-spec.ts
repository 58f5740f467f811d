import { join } from 'node:path';
import { NotFound } from '@rookery/kernel';
import type { Database } from '@rookery/persistence';
import { expectPlan, testDatabase, vacuumUntilVisible } from '@rookery/testing';
import type { Planned, TestDatabase } from '@rookery/testing';
import { Pool } from 'pg';
import { migrations } from '../../src/database';
import { HelmQueries } from '../../src/registries/helm/helm.queries';

/** Plans of the reads of Helm charts over enough rows, and few enough that statistics count them all. `UPDATE_GOLDEN=1` writes the golden files. */
let database: TestDatabase;
let pool: Pool;
beforeAll(async () => {
  database = await testDatabase('package', migrations);
  pool = new Pool({ connectionString: database.url, max: 1 });
  await pool.query(`
    insert into packages (project_id, package_type, name, name_key, version, created_at)
      select 1 + g % 125, 'helm', 'n' || g / 1000, 'n' || g / 1000, '1.0.' || g, now() - g * interval '1 second'
      from generate_series(1, 25000) g;
    insert into package_files (package_id, project_id, file_name, size, sha256, sha1, md5)
      select p.id, p.project_id, p.name || '-' || p.version || '.tgz', 1, md5(p.id::text), '', '' from packages p;
    insert into helm_files (file_id, project_id, channel, chart_name, file_name, chart)
      select f.id, f.project_id, 'c' || f.id % 2, p.name, f.file_name, '{}'
      from package_files f join packages p on p.id = f.package_id;
  `);
  await vacuumUntilVisible(pool);
}, 300_000);
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const HOT: Record<string, Planned> = {
  'helm-channel-state': (db: Database) => new HelmQueries(db).readState(8, 'c1'),
  'helm-charts': (db: Database) => new HelmQueries(db).listCharts(8, 'c1').next(),
  /** The reading finds nothing, as its statement is not run. */
  'helm-newest-file': (db: Database) =>
    new HelmQueries(db)
      .findNewest(8, 'c1', 'n0-1.0.7.tgz')
      .catch((error: unknown) => expect(error).toBeInstanceOf(NotFound)),
};

test.each(Object.keys(HOT))('%s keeps its plan', async (name) => {
  const shape = await expectPlan(pool, join(__dirname, '../golden/registries', name), HOT[name]!);
  expect(shape).not.toMatch(/Seq Scan on (packages|package_files|helm_files)\b/);
});
