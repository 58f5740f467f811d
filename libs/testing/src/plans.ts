import { expectGolden, expectGoldenSql } from './golden';
import type { Database, DeclaredStatement, Statement } from '@rookery/persistence';
import type { Pool } from 'pg';

export type { Statement } from '@rookery/persistence';

/** The subject of a plan: a statement, or the reading of a page, of which the statement that finds the rows counts. */
export type Planned = Statement<unknown> | ((db: Database) => Promise<unknown>);

/** A node of a plan, as EXPLAIN names its parts. */
export interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Index Name'?: string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows'?: number;
  readonly 'Actual Loops'?: number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** Units: milliseconds. */
const VACUUM_LIMIT = 170_000;
const VACUUM_PAUSE = 200;
/** PostgreSQL plans the first five executions by their values, and compares the costs then. */
const RUNS_UNTIL_KEPT = 8;

/**
 * Vacuums and analyses until PostgreSQL marks every row as visible to all. A transaction of another test on the same
 * server delays that, and until then plans differ from those of a database in use.
 * Errors: a plain Error after some minutes.
 */
export async function vacuumUntilVisible(pool: Pool): Promise<void> {
  const until = Date.now() + VACUUM_LIMIT;
  for (;;) {
    await pool.query('vacuum analyze');
    const { rows } = await pool.query<{ relname: string }>(
      `select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace and relallvisible < relpages`,
    );
    if (rows.length === 0) return;
    if (Date.now() > until) throw new Error(`not all visible: ${rows.map((row) => row.relname).join(', ')}`);
    await new Promise((resolve) => setTimeout(resolve, VACUUM_PAUSE));
  }
}

/** Returns the plan of a statement; with `run` it is executed and its rows are counted. */
export async function planOf(pool: Pool, planned: Planned, how: 'look' | 'run' = 'look'): Promise<PlanNode> {
  const { text, values } = await resolvePlanned(planned);
  const options = how === 'run' ? 'analyze, format json' : 'format json, costs off';
  const { rows } = await pool.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(`explain (${options}) ${text}`, [
    ...values,
  ]);
  return rows[0]!['QUERY PLAN'][0].Plan;
}

/**
 * Compares a plan with `<golden>.plan.txt` and, if the statement is kept prepared, its SQL with `<golden>.sql`.
 * `golden` is a path without suffix, `test/golden/<wing>/<name>`. Returns the shape of the plan: a line for each node.
 * `UPDATE_GOLDEN=1` writes the files.
 */
export async function expectPlan(pool: Pool, golden: string, planned: Planned): Promise<string> {
  const statement = await resolvePlanned(planned);
  const shape = shapeOf(await planOf(pool, statement));
  expectGoldenSql(golden, statement);
  expectGolden(`${golden}.plan.txt`, shape);
  return shape;
}

function resolvePlanned(planned: Planned): Statement<unknown> | Promise<Statement<unknown>> {
  return typeof planned === 'function' ? statementOf(planned) : planned;
}

/**
 * Whether PostgreSQL plans each execution of a prepared statement by its values instead of using one generic plan: it
 * does where plans for the values look cheaper than the generic one.
 */
export async function hasCustomPlans(pool: Pool, planned: Planned): Promise<boolean> {
  const { text, values } = await resolvePlanned(planned);
  const name = 'custom_plans';
  const client = await pool.connect();
  try {
    for (let run = 0; run < RUNS_UNTIL_KEPT; run++) await client.query({ name, text, values: [...values] });
    const { rows } = await client.query<{ kept: string }>(
      'select generic_plans as kept from pg_prepared_statements where name = $1',
      [name],
    );
    return Number(rows[0]!.kept) === 0;
  } finally {
    // The connection is closed with its prepared statements: the next statement uses the same name.
    client.release(true);
  }
}

/** The statement that finds the rows of a page. Errors: a plain Error when nothing is read. */
export async function statementOf(read: (db: Database) => Promise<unknown>): Promise<Statement<unknown>> {
  const recorder = new StatementRecorder();
  await read(recorder as unknown as Database);
  const statement = recorder.statements[0];
  if (!statement) throw new Error('nothing is read');
  return statement;
}

/** The node and all below it, from the top. */
export function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

/** Returns a line for each node with the relation and the index that it reads, indented by its depth. */
export function shapeOf(node: PlanNode, depth = 0): string {
  const of = node['Relation Name'] ? ` on ${node['Relation Name']}` : '';
  const by = node['Index Name'] ? ` by ${node['Index Name']}` : '';
  const own = `${'  '.repeat(depth)}${node['Node Type']}${of}${by}\n`;
  return own + (node.Plans ?? []).map((child) => shapeOf(child, depth + 1)).join('');
}

/** The node that limits the page. Errors: a plain Error without one. */
export function limitNodeOf(plan: PlanNode): PlanNode {
  const cut = nodesOf(plan).find((node) => node['Node Type'] === 'Limit');
  if (!cut) throw new Error('nothing is cut');
  return cut;
}

/** The number of a table's rows that an executed plan read, kept or not. */
export function countReadRows(
  plan: PlanNode,
  table: string,
  isCounted: (node: PlanNode) => boolean = () => true,
): number {
  return nodesOf(plan)
    .filter((node) => node['Relation Name'] === table && isCounted(node))
    .map((node) => ((node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0)) * (node['Actual Loops'] ?? 1))
    .reduce((sum, rows) => sum + rows, 0);
}

/** A fake database that keeps statements instead of running them, and finds nothing. */
class StatementRecorder {
  readonly statements: Statement<unknown>[] = [];

  run(statement: Statement<unknown> | DeclaredStatement<object, unknown>, values?: object): Promise<unknown[]> {
    this.statements.push('with' in statement ? statement.with(values!) : statement);
    return Promise.resolve([{ counted: 0 }]);
  }
}
