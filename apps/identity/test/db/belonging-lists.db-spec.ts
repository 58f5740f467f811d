import { groupAccessLevelSql, projectAccessLevelSql } from '@rookery/directory';
import type { Page } from '@rookery/kernel';
import type { Database, Statement } from '@rookery/persistence';
import { makeViewer, testDatabase } from '@rookery/testing';
import type { TestDatabase } from '@rookery/testing';
import { Pool } from 'pg';
import { migrations } from '../../src/database';
import { OWN_TABLES } from '../../src/directory/reach/reach-sql';
import type { GroupFilters } from '../../src/groups/listing/group-filters';
import { GroupListsQueries } from '../../src/groups/listing/group-lists.queries';
import type { ProjectFilters } from '../../src/projects/listing/project-filters';
import { ProjectListsQueries } from '../../src/projects/listing/project-lists.queries';
import { RandomForest } from '../support/random-forest';

/**
 * Compares lists of a user's groups and projects with a simple reference: every group and project, filtered by the
 * expression of access levels. Both must have the same ids in the same order, and the same total, over consecutive
 * pages. Source: ADR 0063.
 */
let database: TestDatabase;
let pool: Pool;
let forest: RandomForest;
beforeAll(async () => {
  database = await testDatabase('identity', migrations);
  pool = new Pool({ connectionString: database.url, max: 1 });
  forest = new RandomForest(pool);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const runStatement = async (statement: Statement) =>
  (await pool.query({ text: statement.text, values: [...statement.values] })).rows as unknown[];
const db = { run: runStatement } as unknown as Database;
const PER_PAGE = 6;
const PEOPLE = RandomForest.USERS.slice(0, 4);

type ReadPage = (page: { readonly page: number; readonly perPage: number }) => Promise<Page<{ readonly id: number }>>;

/** Three pages compared with all rows in order. */
async function comparePages(read: ReadPage, plain: string, values: readonly unknown[]): Promise<void> {
  const all = (await pool.query<{ id: string }>(plain, [...values])).rows.map((row) => Number(row.id));
  for (const page of [1, 2, 3]) {
    const { rows, total } = await read({ page, perPage: PER_PAGE });
    const wanted = all.slice((page - 1) * PER_PAGE, page * PER_PAGE);
    expect([rows.map((row) => Number(row.id)), total]).toEqual([wanted, all.length]);
  }
}

const GROUPS: GroupFilters = {
  order_by: 'name',
  sort: 'asc',
  owned: false,
  top_level_only: false,
  with_custom_attributes: false,
};
type BelongingFilters = Pick<ProjectFilters, 'membership' | 'owned' | 'min_access_level'>;
const LEVELS = [{ owned: true }, { min_access_level: 30 }];
const leastLevel = (asked: BelongingFilters) => (asked.owned ? 50 : (asked.min_access_level ?? 10));
const inBothDirections = <T>(terms: readonly T[]) =>
  terms.flatMap((by) => [[by, 'asc'] as const, [by, 'desc'] as const]);

async function compareGroups(): Promise<void> {
  const lists = new GroupListsQueries(db);
  const level = groupAccessLevelSql({ user: '$1::bigint', namespace: 'n', tables: OWN_TABLES });
  for (const user of PEOPLE) {
    for (const asked of [{}, ...LEVELS]) {
      for (const [order_by, sort] of inBothDirections(['name', 'path', 'id'] as const)) {
        for (const [narrowed, where] of [
          [{}, 'true'],
          [{ top_level_only: true }, 'n.parent_id is null'],
          [
            { search: 'path-1' },
            `(n.name ilike '%path-1%' or n.path ilike '%path-1%' or n.full_path ilike '%path-1%')`,
          ],
          [{ top_level_only: true, skip_groups: [1, 2, 3] }, 'n.parent_id is null and n.id > 3'],
        ] as const) {
          const params = { ...GROUPS, ...asked, ...narrowed, order_by, sort };
          await comparePages(
            (page) => lists.list(makeViewer({ userId: user }), params, page),
            `select n.id from namespaces n where n.kind = 'group' and ${where} and ${level} >= $2
             order by n.${order_by} ${sort}, n.id`,
            [user, leastLevel(asked)],
          );
        }
      }
    }
  }
}

async function compareProjects(): Promise<void> {
  const lists = new ProjectListsQueries(db);
  const level = projectAccessLevelSql({ user: '$1::bigint', project: 'p.id', namespace: 'n', tables: OWN_TABLES });
  const plain: ProjectFilters = { order_by: 'created_at', sort: 'desc', simple: true };
  for (const user of PEOPLE) {
    for (const asked of [{ membership: true }, ...LEVELS]) {
      for (const [order_by, sort] of inBothDirections(['created_at', 'last_activity_at', 'name'] as const)) {
        for (const [narrowed, where] of [
          [{}, 'true'],
          [{ search: 'project-1' }, `p.name ilike '%project-1%'`],
        ] as const) {
          const by = order_by === 'created_at' ? 'id' : order_by;
          await comparePages(
            (page) =>
              lists.list(makeViewer({ userId: user }), { ...plain, ...asked, ...narrowed, order_by, sort }, page),
            `select p.id from projects p join namespaces n on n.id = p.namespace_id where ${where} and ${level} >= $2
             order by p.${by} ${sort}, p.id ${sort}`,
            [user, leastLevel(asked)],
          );
        }
      }
    }
  }
}

describe.each([
  ['groups', compareGroups],
  ['projects', compareProjects],
])("lists of a user's %s", (_, compareLists) => {
  it.each([1, 2])('contain what the access levels give (round %d)', async () => {
    await forest.populate();
    await compareLists();
  });

  it('still do after groups are renamed, moved and removed', async () => {
    await forest.populate();
    await forest.rename();
    await forest.moveBelow();
    await forest.moveToTop();
    await forest.removeLeaf();
    await compareLists();
  });
});
