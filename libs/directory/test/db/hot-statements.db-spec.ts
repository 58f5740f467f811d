import { DirectorySeed } from '@rookery/testing';
import type { SeededUser, TestDatabase } from '@rookery/testing';
import { GROUP_BY_ID, GROUP_BY_PATH, PROJECT_BY_ID, PROJECT_BY_PATH } from '../../src/sql/scope-statements';
import { Copy } from '../copy';

/** Few rounds, which only show that everything runs. Meaningful figures need TEST_FIGURES. */
const ROUNDS = process.env['TEST_FIGURES'] ? 3000 : 100;

interface Plan {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly Plans?: readonly Plan[];
}

/** Tables that a plan reads completely. */
function tablesReadCompletely(plan: Plan): string[] {
  const below = (plan.Plans ?? []).flatMap(tablesReadCompletely);
  return plan['Node Type'].includes('Seq Scan') ? [plan['Relation Name'] ?? '?', ...below] : below;
}

describe('the statements that authorize every request', () => {
  let database: TestDatabase;
  let seed: DirectorySeed;
  let copy: Copy;
  let member: SeededUser;

  beforeAll(async () => {
    database = await Copy.database();
    seed = await DirectorySeed.open(database.url);
    copy = await Copy.start(database.url, 'http://127.0.0.1:9');
    member = await seed.user();
    await insertSampleRows(copy);
    // A user with many memberships, in a project that four groups were invited to.
    await copy.database.query(
      `insert into directory_memberships select 900000 + i, $1, 'namespace', 100000 + i, 30 from generate_series(1, 2000) i`,
      [member.id],
    );
    await copy.database.query(
      `insert into directory_shares select 900000 + i, 'project', 200001, 100000 + i, 40 from generate_series(1, 4) i`,
    );
    await copy.database.query('analyze');
  });

  afterAll(async () => {
    await copy.stop();
    await seed.close();
    await database.drop();
  });

  it.each([
    [PROJECT_BY_ID, [200_001]],
    [PROJECT_BY_PATH, ['top1/sub6', 'code5']],
    [GROUP_BY_ID, [100_006]],
    [GROUP_BY_PATH, ['top1/sub6']],
  ] as const)('reads no table completely (%#)', async (statement, values) => {
    const types = ['bigint', ...values.map((value) => (typeof value === 'number' ? 'bigint' : 'text'))];
    const plan = await copy.database.dataSource.transaction(async (manager) => {
      await manager.query('set local plan_cache_mode = force_generic_plan');
      await manager.query(`prepare asked (${types.join(', ')}) as ${statement.text}`);
      const literals = [member.id, ...values].map((value) => `'${value}'`).join(', ');
      const rows = (await manager.query(`explain (format json) execute asked(${literals})`)) as {
        'QUERY PLAN': { Plan: Plan }[];
      }[];
      await manager.query('deallocate asked');
      return rows[0]!['QUERY PLAN'][0]!.Plan;
    });
    // The state table has one row.
    expect(tablesReadCompletely(plan).filter((table) => table !== 'directory_state')).toEqual([]);
  });

  it('prints the cost of a scope', async () => {
    const viewer = seed.viewer(member);
    const timed = async (name: string, run: () => Promise<unknown>): Promise<string> => {
      for (let i = 0; i < ROUNDS / 10; i++) await run();
      const started = performance.now();
      for (let i = 0; i < ROUNDS; i++) await run();
      return `${name} ${Math.round(((performance.now() - started) * 1000) / ROUNDS)} us`;
    };
    const together = async (name: string, run: () => Promise<unknown>): Promise<string> => {
      const [started, cpu] = [performance.now(), process.cpuUsage()];
      for (let i = 0; i < ROUNDS / 16; i++) await Promise.all(Array.from({ length: 16 }, run));
      const { user, system } = process.cpuUsage(cpu);
      const each = (us: number): number => Math.round(us / ROUNDS);
      return `${name} ${each((performance.now() - started) * 1000)} us (own CPU ${each(user + system)} us)`;
    };
    const bump = 'update directory_state set version = version + 1';
    const figures = [
      await timed('bare round trip', () => copy.database.query('select 1')),
      await timed('project by id', () => copy.directory.findProject(200_001, viewer)),
      await timed('project by path', () => copy.directory.findProject('top1/sub6/code5', viewer)),
      await timed('group by id', () => copy.directory.findGroup(100_006, viewer)),
      await timed('fresh', () => copy.directory.requireFresh(viewer)),
      await together('16 at a time: project by id', () => copy.directory.findProject(200_001, viewer)),
      await together('bare round trip', () => copy.database.query('select 1')),
      // The difference is the cost of a scope after a change of the directory, without the cost of that change.
      await timed('a change', () => copy.database.query(bump)),
      await timed('a change and project by id', async () => {
        await copy.database.query(bump);
        await copy.directory.findProject(200_001, viewer);
      }),
    ];
    process.stdout.write(`scope: ${figures.join(', ')}\n`);
    expect(await copy.directory.findProject(200_001, viewer)).not.toBeNull();
  });
});

/** Inserts 2,000 users, 2,000 groups on two levels, 10,000 projects, 40,000 memberships. */
async function insertSampleRows(copy: Copy): Promise<void> {
  const statements = [
    `insert into directory_users select 10000 + i, 'person' || i, 'Person ' || i, 'active', 'human', false, false, false,
       null, null, null, now() from generate_series(1, 2000) i`,
    `insert into directory_namespaces
     select 100000 + i, 'group', null, case when i > 5 then 100000 + (i - 1) % 5 + 1 end,
       case when i > 5 then array[100000 + (i - 1) % 5 + 1, 100000 + i] else array[100000 + i] end,
       'g', 'g', 'g', case when i > 5 then 'top' || (i - 1) % 5 + 1 || '/sub' || i else 'top' || i end,
       'private', null, true, 'free', now()
     from generate_series(1, 2000) i`,
    `insert into directory_projects
     select 200000 + i, 100000 + i % 2000 + 1, null, 'p', 'code' || i, null, 'private', false, 'enabled', 'enabled', 'enabled',
       true, true, null, null, now() from generate_series(1, 10000) i`,
    `insert into directory_memberships
     select 300000 + i, 10000 + i % 2000 + 1, case when i % 2 = 0 then 'project' else 'namespace' end,
       case when i % 2 = 0 then 200000 + (i * 7) % 10000 + 1 else 100000 + (i * 7) % 2000 + 1 end, 30
     from generate_series(1, 40000) i`,
    `insert into directory_shares
     select 400000 + i, 'project', 200000 + (i * 3) % 10000 + 1, 100000 + i % 2000 + 1, 30 from generate_series(1, 5000) i`,
  ];
  for (const statement of statements) await copy.database.query(statement);
}
