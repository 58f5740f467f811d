import { groupLevelSql } from '@rookery/directory';
import { testDatabase, untilBlocked } from '@rookery/testing';
import type { TestDatabase } from '@rookery/testing';
import { Pool } from 'pg';
import { migrations } from '../../src/database';
import { OWN_TABLES } from '../../src/directory/reach/reach-sql';
import { firstReachedGroupsSql, reachedGroupsSql } from '../../src/directory/reach/reached-groups-sql';

/**
 * The quick statements of somebody's groups beside the one expression of levels, over trees, memberships and shares made
 * at random, before and after groups are renamed, moved and removed.
 */
let database: TestDatabase;
let pool: Pool;
const USERS = 8;
const GROUPS = 60;
beforeAll(async () => {
  database = await testDatabase('identity', migrations);
  pool = new Pool({ connectionString: database.url, max: 4 });
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

let seed = 20261121;
function random(below: number): number {
  seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
  return (seed >> 8) % below;
}
const levels = [5, 10, 20, 30, 40, 50];
// Few names, so that many are equal and the id decides.
const name = () => `Name ${random(12)}`;
// Some are over, some end later, most do not end.
const end = () => ['null', 'null', 'null', `current_date - 1`, `current_date + 5`][random(5)]!;

async function populate(): Promise<void> {
  await pool.query(`delete from members`);
  await pool.query(`delete from shares`);
  await pool.query(`delete from namespaces`);
  for (let user = 100; user < 100 + USERS; user++) {
    await pool.query(
      `insert into users (id, username, name, email) values ($1, $2, $2, $2 || '@example.com') on conflict do nothing`,
      [user, `user${user}`],
    );
  }
  const paths = new Map<number, number[]>();
  for (let id = 1; id <= GROUPS; id++) {
    const parent = id > 10 && random(3) > 0 ? 1 + random(id - 1) : null;
    const traversal = [...(parent === null ? [] : paths.get(parent)!), id];
    paths.set(id, traversal);
    await pool.query(
      `insert into namespaces (id, kind, parent_id, traversal_ids, name, path, full_name, full_path, visibility, plan)
       values ($1, 'group', $2, $3, $4, $5, $5, $5, 'private', 'free') on conflict do nothing`,
      [id, parent, traversal, `${name()}${parent === null ? '' : ` ${id}`}`, `path-${id}`],
    );
  }
  const pick = () => 1 + random(GROUPS);
  for (let n = 0; n < 70; n++) {
    await pool.query(
      `insert into members (user_id, source_type, source_id, access_level, expires_on)
       values ($1, 'namespace', $2, $3, ${end()}) on conflict do nothing`,
      [100 + random(USERS), pick(), levels[random(6)]],
    );
    if (n % 4 > 0) continue;
    await pool.query(
      `insert into shares (source_type, source_id, group_id, access_level, expires_on)
       values ('namespace', $1, $2, $3, ${end()}) on conflict do nothing`,
      [pick(), pick(), levels.slice(1)[random(5)]],
    );
  }
}

async function compare(): Promise<void> {
  const level = groupLevelSql({ user: '$1::bigint', namespace: 'n', tables: OWN_TABLES });
  const reach = { user: '$1::bigint', level: '$2::integer' };
  for (let user = 100; user < 100 + USERS; user++) {
    for (const least of [5, 10, 30, 50]) {
      const ids = async (sql: string) =>
        (await pool.query<{ id: string }>(sql, [user, least])).rows.map((row) => Number(row.id));
      const all = `select n.id from namespaces n where ${level} >= $2`;
      expect((await ids(reachedGroupsSql(reach))).sort((a, b) => a - b)).toEqual(await ids(`${all} order by n.id`));
      for (const sort of ['asc', 'desc'] as const) {
        const order = `order by name ${sort}, id limit 7`;
        const first = firstReachedGroupsSql(reach, { count: 7, sort });
        expect(await ids(`select id from (${first}) first ${order}`)).toEqual(
          await ids(`select id from (select n.id, n.name from namespaces n where ${level} >= $2) n ${order}`),
        );
      }
    }
  }
}

it.each([1, 2, 3])('tell what the levels tell, and in order (round %d)', async () => {
  await populate();
  await compare();
});

it('go on to do so when groups are renamed, moved and removed', async () => {
  await populate();
  for (let n = 0; n < 15; n++)
    await pool.query('update namespaces set name = $2 where id = $1', [1 + random(GROUPS), `${name()} ${n} new`]);
  await compare();
  // A tree goes below another one, its name changing in the same statement.
  const [root] = (
    await pool.query<{ id: string }>(`select id from namespaces where parent_id is null order by id desc`)
  ).rows;
  await pool.query(
    `update namespaces set traversal_ids = 1 || traversal_ids, name = name || ' moved',
       parent_id = case when id = $1 then 1 else parent_id end where traversal_ids[1] = $1`,
    [Number(root!.id)],
  );
  await compare();
  const leaf = `(select n.id from namespaces n where not exists (select 1 from namespaces c where c.parent_id = n.id) limit 1)`;
  await pool.query(`delete from members where source_id = ${leaf}`);
  await pool.query(`delete from shares where source_id = ${leaf}`);
  await pool.query(`delete from namespaces where id = ${leaf}`);
  await compare();
});

it.each([
  ['is renamed', `update namespaces set name = 'Zebra' where id = 1`, { source_name: 'Zebra', leads_further: false }],
  [
    'gets its first subgroup',
    `insert into namespaces (id, kind, parent_id, traversal_ids, name, path, full_name, full_path, visibility, plan)
       values (2, 'group', 1, array[1, 2], 'Below', 'below', 'Below', 'below', 'private', 'free')`,
    { source_name: 'One', leads_further: true },
  ],
  [
    'is invited for the first time',
    `insert into shares (source_type, source_id, group_id, access_level) values ('namespace', 3, 1, 30)`,
    { source_name: 'One', leads_further: true },
  ],
])('a member who comes while the group %s knows of it', async (_, change, expected) => {
  await populate();
  for (const table of ['members', 'shares', 'namespaces']) await pool.query(`delete from ${table}`);
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
  expect((await pool.query('select source_name, leads_further from members')).rows).toEqual([expected]);
});
