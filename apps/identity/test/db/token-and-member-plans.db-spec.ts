import { join } from 'node:path';
import type { Database } from '@rookery/persistence';
import { makeViewer, expectPlan, testDatabase, vacuumUntilVisible } from '@rookery/testing';
import type { Planned, TestDatabase } from '@rookery/testing';
import { Pool } from 'pg';
import { migrations } from '../../src/database';
import type { MemberSource } from '../../src/members/listing/member-source';
import { MembersQueries } from '../../src/members/listing/members.queries';
import { TokenResolution } from '../../src/tokens/resolution/token-resolution';

/** Plans of resolving a token and of lists of members, over enough rows. `UPDATE_GOLDEN=1` writes the golden files. */
let database: TestDatabase;
let pool: Pool;

beforeAll(async () => {
  database = await testDatabase('identity', migrations);
  pool = new Pool({ connectionString: database.url, max: 1 });
  await pool.query(`
    insert into users (id, username, name, email)
      select g, 'u' || g, 'U', 'u' || g || '@e.example' from generate_series(1, 5000) g;
    insert into access_tokens (user_id, name, digest, scopes, family_id)
      select g, 'ci', sha256(g::text::bytea), array['api'], g from generate_series(1, 5000) g;
    insert into namespaces (id, kind, parent_id, traversal_ids, name, path, full_name, full_path, visibility, plan)
      select g, 'group', case when g % 2 = 0 then g - 1 end, case when g % 2 = 0 then array[g - 1, g] else array[g] end,
        'g', 'g' || g, 'g', 'g' || g, 'private', 'free' from generate_series(1, 400) g order by g;
    insert into members (user_id, source_type, source_id, access_level)
      select 1 + g % 5000, 'namespace', 1 + g / 100, 30 from generate_series(1, 39900) g;
  `);
  await vacuumUntilVisible(pool);
}, 300_000);
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const page = { page: 1, perPage: 20 };
const viewer = makeViewer({ userId: 1 });
/** Group 2 below group 1. */
const source: MemberSource = {
  kind: 'group',
  type: 'namespace',
  id: 2,
  traversalIds: [1, 2],
  ancestorIds: [1],
  personalOwnerId: null,
  level: 10,
};
const presented = { digest: 'ab'.repeat(32), ip: '10.0.0.1' } as never;
const createResolution = (db: Database): TokenResolution =>
  new TokenResolution(db, ...([] as unknown as [never, never, never, never, never, never]));

const HOT: Record<string, Planned> = {
  'tokens/tokens-resolve': (db) => createResolution(db).resolveToken(presented),
  'tokens/tokens-resolve-id': (db) => createResolution(db).confirm({ token_id: 7 } as never),
  'members/members-direct': (db) => new MembersQueries(db).listDirect(viewer, source, {}, page),
  'members/members-all': (db) => new MembersQueries(db).listAll(viewer, source, {}, page),
  'members/members-one': (db) => new MembersQueries(db).findMember(source, 7),
};

test.each(Object.keys(HOT))('%s keeps its plan', async (name) => {
  const shape = await expectPlan(pool, join(__dirname, '../golden', name), HOT[name]!);
  expect(shape).not.toMatch(/Seq Scan on (users|access_tokens|members)\b/);
});
