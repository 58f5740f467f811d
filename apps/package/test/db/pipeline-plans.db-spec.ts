import { join } from 'node:path';
import type { ProjectScope } from '@rookery/api-v4';
import { systemClock } from '@rookery/kernel';
import { expectPlan, testDatabase, vacuumUntilVisible } from '@rookery/testing';
import type { Planned, TestDatabase } from '@rookery/testing';
import { Pool } from 'pg';
import { CommitStatusesQueries } from '../../src/ci/commit-statuses/commit-statuses.queries';
import { JobTokens } from '../../src/ci/jobs/job-tokens';
import { JobsQueries } from '../../src/ci/jobs/jobs.queries';
import { PipelinesQueries } from '../../src/ci/pipelines/pipelines.queries';
import { migrations } from '../../src/database';

/** Plans of the hot reads of pipelines over enough rows. `UPDATE_GOLDEN=1` writes the golden files. */
let database: TestDatabase;
let pool: Pool;
beforeAll(async () => {
  database = await testDatabase('package', migrations);
  pool = new Pool({ connectionString: database.url, max: 1 });
  await pool.query(`
    insert into pipelines (project_id, iid, sha, ref, is_tag, source, status)
      select 1 + g % 100, g, md5((g / 3)::text) || '00000000', 'r' || g % 7, false, 'external', 'success'
      from generate_series(1, 50000) g;
    insert into ci_jobs (project_id, pipeline_id, kind, name, stage, ref, status, is_retried, token_digest)
      select p.project_id, p.id, case when n < 3 then 'status' else 'job' end, 'n' || n, 'external', p.ref, 'success', n = 1,
        case when n = 4 then sha256(p.id::text::bytea) end
      from pipelines p, generate_series(1, 4) n;
  `);
  await vacuumUntilVisible(pool);
}, 300_000);
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const project = { kind: 'project', id: 8, fullPath: 'g/p' } as ProjectScope;
const page = { page: 1, perPage: 20 };
const byId = { order_by: 'id', sort: 'desc' } as const;
const sha = 'c4ca4238a0b923820dcc509a6f75849b00000000';

const HOT: Record<string, Planned> = {
  pipelines: (db) => new PipelinesQueries(db).list(project, byId, page),
  'pipelines-of-commit': (db) => new PipelinesQueries(db).list(project, { ...byId, sha }, page),
  'latest-pipeline': (db) => new PipelinesQueries(db).findLatest(project, 'r1', sha),
  'commit-statuses': (db) =>
    new CommitStatusesQueries(db).list(8, sha, { order_by: 'id', sort: 'asc', all: false }, page),
  'pipeline-of-status': (db) =>
    new CommitStatusesQueries(db).findPipeline({ project: 8, sha, ref: null, pipeline: null }),
  jobs: (db) => new JobsQueries(db).ofProject(project, {}, page),
  'jobs-of-pipeline': (db) => new JobsQueries(db).ofPipeline(project, 8, { include_retried: false }, page),
  'job-of-token': (db) => new JobTokens(db, systemClock).findJobInAnyState('glcbt-x'),
};

test.each(Object.keys(HOT))('%s keeps its plan', async (read) => {
  const shape = await expectPlan(pool, join(__dirname, '../golden/ci', read), HOT[read]!);
  expect(shape).not.toMatch(/Seq Scan on (pipelines|ci_jobs)\b/);
});
