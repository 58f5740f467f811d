import { groupAccessLevelSql } from '@rookery/directory';
import { testDatabase, untilBlocked } from '@rookery/testing';
import type { TestDatabase } from '@rookery/testing';
import { Pool } from 'pg';
import type { QueryRunner } from 'typeorm';
import { migrations } from '../../src/database';
import { OWN_TABLES } from '../../src/directory/reach/reach-sql';
import {
  firstReachedGroupsSql,
  firstReachedTopLevelGroupsSql,
  reachedGroupIdArraySql,
  reachedGroupsSql,
  reachedTopLevelGroupsSql,
} from '../../src/directory/reach/reached-groups-sql';
import { KeepPathsBesideMembers1767225600053 } from '../../src/migrations/1767225600053-keep-paths-beside-members';
import { RandomForest } from '../support/random-forest';

/**
 * Compares the fast statements of a user's groups with the single expression of access levels, over random trees,
 * memberships and shares, before and after groups are renamed, moved and removed.
 */
let database: TestDatabase;
let pool: Pool;
let forest: RandomForest;
beforeAll(async () => {
  database = await testDatabase('identity', migrations);
  pool = new Pool({ connectionString: database.url, max: 4 });
  forest = new RandomForest(pool);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

/** Runs every statement of ids, for each user and level, and compares it with the access levels. */
async function compareWithLevels(): Promise<void> {
  const level = groupAccessLevelSql({ user: '$1::bigint', namespace: 'n', tables: OWN_TABLES });
  const reach = { user: '$1::bigint', level: '$2::integer' };
  for (const user of RandomForest.USERS) {
    for (const least of [5, 10, 30, 50]) {
      const ids = async (sql: string) =>
        (await pool.query<{ id: string }>(sql, [user, least])).rows.map((row) => Number(row.id));
      const all = `select n.id, n.name, n.path from namespaces n where n.kind = 'group' and ${level} >= $2`;
      const whole = `select distinct id from unnest(${reachedGroupIdArraySql(reach)}) id`;
      expect(await ids(`${whole} order by id`)).toEqual(await ids(`${all} order by n.id`));
      for (const [found, firstOf, wanted] of [
        [reachedGroupsSql, firstReachedGroupsSql, all],
        [reachedTopLevelGroupsSql, firstReachedTopLevelGroupsSql, `${all} and n.parent_id is null`],
      ] as const) {
        expect((await ids(found(reach))).sort((a, b) => a - b)).toEqual(await ids(`${wanted} order by n.id`));
        for (const [by, sort] of ORDERS) {
          const order = `order by ${by} ${sort}, id limit 7`;
          const first = firstOf(reach, { count: 7, by, sort });
          expect(await ids(`select id from (${first}) first ${order}`)).toEqual(
            await ids(`select id from (${wanted}) n ${order}`),
          );
        }
      }
    }
  }
}

const ORDERS = (['name', 'path', 'id'] as const).flatMap((by) => [[by, 'asc'] as const, [by, 'desc'] as const]);

it.each([1, 2, 3])('return what the access levels give, in order (round %d)', async () => {
  await forest.populate();
  await compareWithLevels();
});

it('still do after groups are renamed, moved and removed', async () => {
  await forest.populate();
  for (const change of ['rename', 'moveBelow', 'moveToTop', 'removeLeaf'] as const) {
    await forest[change]();
    await compareWithLevels();
  }
});

it('contain rows from before the migration', async () => {
  await forest.populate();
  const migration = new KeepPathsBesideMembers1767225600053();
  const connection = await pool.connect();
  const runner = connection as unknown as QueryRunner;
  await migration.down(runner);
  await forest.rename();
  await migration.up(runner);
  // An interrupted migration is run again.
  await migration.up(runner);
  connection.release();
  await compareWithLevels();
});

const facts = { source_name: 'One', source_path: 'One', source_at_top: true, leads_further: false };

it.each([
  ['is renamed', `update namespaces set name = 'Zebra' where id = 1`, { source_name: 'Zebra' }],
  ['gets another path', `update namespaces set path = 'zebra' where id = 1`, { source_path: 'zebra' }],
  [
    'moves below another one',
    `update namespaces set parent_id = 3, traversal_ids = array[3, 1] where id = 1`,
    { source_at_top: false },
  ],
  [
    'gets its first subgroup',
    `insert into namespaces (id, kind, parent_id, traversal_ids, name, path, full_name, full_path, visibility, plan)
       values (2, 'group', 1, array[1, 2], 'Below', 'below', 'Below', 'below', 'private', 'free')`,
    { leads_further: true },
  ],
  [
    'is invited for the first time',
    `insert into shares (source_type, source_id, group_id, access_level) values ('namespace', 3, 1, 30)`,
    { leads_further: true },
  ],
])('a member who is added while the group %s has its new values', async (_, change, expected) => {
  await forest.populate();
  await forest.clear();
  for (const [id, name] of [
    [1, 'One'],
    [3, 'Three'],
  ])
    await pool.query(
      `insert into namespaces (id, kind, traversal_ids, name, path, full_name, full_path, visibility, plan)
       values ($1, 'group', array[$1::bigint], $2, $2, $2, $2, 'private', 'free')`,
      [id, name],
    );
  const [changing, joining] = [await pool.connect(), await pool.connect()];
  await changing.query('begin');
  await changing.query(change);
  const joined = joining.query(
    `insert into members (user_id, source_type, source_id, access_level) values (100, 'namespace', 1, 30)`,
  );
  await Promise.race([joined, untilBlocked((sql) => pool.query(sql))]);
  await changing.query('commit');
  await joined;
  changing.release();
  joining.release();
  const kept = await pool.query('select source_name, source_path, source_at_top, leads_further from members');
  expect(kept.rows).toEqual([{ ...facts, ...expected }]);
});
