import { join } from 'node:path';
import { runMigrations } from '@rookery/persistence';
import { expectPlan, testDatabase, vacuumUntilVisible } from '@rookery/testing';
import type { Planned, TestDatabase } from '@rookery/testing';
import { Pool } from 'pg';
import { migrations } from '../../src/database';
import { DiscussionStatements } from '../../src/talk/notes/discussions/discussions.statements';
import { CommitCommentStatements } from '../../src/work/commit-comments/commit-comments.queries';
import { commitKind } from '../../src/work/commit-comments/commit.kind';

/** The plan shapes of lists of comments on commits over enough rows. `UPDATE_GOLDEN=1` rewrites them. */
let database: TestDatabase;
let pool: Pool;
const externalUrl = 'http://localhost:8080';
const comments = new CommitCommentStatements(externalUrl);
const discussions = new DiscussionStatements(commitKind, externalUrl);

beforeAll(async () => {
  database = await testDatabase('collaboration', migrations);
  await runMigrations(database.url, migrations);
  pool = new Pool({ connectionString: database.url, max: 1 });
  await pool.query(`
    insert into directory_users (id, username, name, state, kind, admin, external, private_profile, created_at)
      select g, 'user' || g, 'User ' || g, 'active', 'human', false, false, false, now() from generate_series(1, 5000) g;
    insert into discussed_commits (project_id, sha, title, description, parent_ids, author_name, author_email, authored_date,
        committer_name, committer_email, committed_date, public_notes_count)
      select 1 + g % 40, md5(g::text), 'Commit ' || g, 'Commit', '{}', 'a', 'a', 'a', 'a', 'a', 'a', 20
      from generate_series(1, 2000) g;
    insert into notes (noteable_type, noteable_id, project_id, author_id, body, created_at, updated_at)
      select 'Commit', i.id, i.project_id, 1 + (i.id * 7 + k) % 5000, 'x', now() - k * interval '1 minute', now()
      from discussed_commits i, generate_series(1, 20) k;
    update notes set thread_id = id where id % 4 = 0;
    insert into note_positions (thread_id, noteable_type, noteable_id, position_type, shown, original, old_path, new_path)
      select id, 'Commit', noteable_id, 'text', '{"new_line": 1}', '{}', 'a', 'a' from notes where thread_id is not null`);
  // Samples every row, so that the statistics are the same each time.
  await pool.query('set default_statistics_target = 1000');
  await vacuumUntilVisible(pool);
}, 300_000);
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const pageOne = { page: 1, perPage: 20 };
const reader = {
  ...{ parent: 3, named: 10, viewer: 7, is_member: true, reads_confidential: true, reads_internal: true },
  is_admin: false,
  reads_code: true,
};
const HOT: Record<string, () => Planned> = {
  'commits/comments': () => comments.pageStatement(10, pageOne),
  'commits/discussions': () => discussions.pageStatement(pageOne, reader),
};

test.each(Object.keys(HOT))('%s keeps its plan', async (name) => {
  const shape = await expectPlan(pool, join(__dirname, '../golden', name), HOT[name]!());
  expect(shape).not.toMatch(/Seq Scan/);
});
