import { readFileSync, writeFileSync } from 'node:fs';
import type { Pool } from 'pg';

/** A statement and its values. */
export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

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
const VACUUM_LIMIT = 60_000;
const VACUUM_PAUSE = 200;

/**
 * Vacuums and analyses until PostgreSQL knows every row to be visible to everybody. A transaction of another test that
 * runs on the same server holds that up, and then plans are other than those of a database in use.
 * Errors: a plain Error after a minute.
 */
export async function vacuumed(pool: Pool): Promise<void> {
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

/** How PostgreSQL goes about a statement; `run` to have it run and its rows counted. */
export async function planOf(pool: Pool, { text, values }: Statement, how: 'look' | 'run' = 'look'): Promise<PlanNode> {
  const options = how === 'run' ? 'analyze, format json' : 'format json, costs off';
  const { rows } = await pool.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(`explain (${options}) ${text}`, [
    ...values,
  ]);
  return rows[0]!['QUERY PLAN'][0].Plan;
}

/** The node and all below it, from the top. */
export function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

/** Shape: a line for each node with what it reads and by which index, indented by its depth. */
export function shapeOf(node: PlanNode, depth = 0): string {
  const of = node['Relation Name'] ? ` on ${node['Relation Name']}` : '';
  const by = node['Index Name'] ? ` by ${node['Index Name']}` : '';
  const own = `${'  '.repeat(depth)}${node['Node Type']}${of}${by}\n`;
  return own + (node.Plans ?? []).map((child) => shapeOf(child, depth + 1)).join('');
}

/** Holds a text against the golden file; `UPDATE_GOLDEN=1` writes it anew. */
export function expectGolden(file: string, text: string): void {
  if (process.env['UPDATE_GOLDEN']) writeFileSync(file, text);
  expect(text).toBe(readFileSync(file, 'utf8'));
}

/** The part that cuts the page. */
export function cutOf(plan: PlanNode): PlanNode {
  const cut = nodesOf(plan).find((node) => node['Node Type'] === 'Limit');
  if (!cut) throw new Error('nothing is cut');
  return cut;
}

/** Rows of a table that a plan that was run looked at, kept or not. */
export function readRows(plan: PlanNode, table: string, isCounted: (node: PlanNode) => boolean = () => true): number {
  return nodesOf(plan)
    .filter((node) => node['Relation Name'] === table && isCounted(node))
    .map((node) => ((node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0)) * (node['Actual Loops'] ?? 1))
    .reduce((sum, rows) => sum + rows, 0);
}

/** Stands in for a database and keeps the statements instead of running them; counts are answered with 0. */
export class TakenStatements {
  readonly statements: Statement[] = [];

  query(text: string, values: readonly unknown[]): Promise<unknown[]> {
    this.statements.push({ text, values });
    return Promise.resolve([{ counted: 0 }]);
  }

  prepared(statement: { readonly text: string }, values: readonly unknown[]): Promise<unknown[]> {
    return this.query(statement.text, values);
  }
}
