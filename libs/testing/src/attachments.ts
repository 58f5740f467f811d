import type { AttachedTable } from '@rookery/persistence';
import type { Pool, PoolClient } from 'pg';
import { getMetadataArgsStorage } from 'typeorm';

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly 'TID Cond'?: string;
  readonly Plans?: readonly PlanNode[];
}

/**
 * Checks the attachments of a service against its migrated schema. Each bigint column whose name ends in `_id` or
 * `_ids` is a foreign key or in an attachment of its table. Each generated statement is served by an index. `entities`
 * are those of the service; `unindexed` are names of statements that read their whole table.
 */
export async function expectAttachmentsToCoverSchema(
  pool: Pool,
  attachments: readonly AttachedTable<never>[],
  o: { readonly entities: readonly Function[]; readonly unindexed?: readonly string[] },
): Promise<void> {
  expect(await findUndeclaredAttachmentColumns(pool, attachments, o.entities)).toEqual([]);
  const client = await pool.connect();
  try {
    await client.query('begin; set local enable_seqscan = off; set local plan_cache_mode = force_generic_plan');
    const unindexed: string[] = [];
    for (const { name, text } of attachments.flatMap((one) => one.allStatements())) {
      if (!(await isStatementIndexed(client, text))) unindexed.push(name);
    }
    expect(unindexed).toEqual(o.unindexed ?? []);
  } finally {
    await client.query('rollback');
    client.release();
  }
}

async function findUndeclaredAttachmentColumns(
  pool: Pool,
  attachments: readonly AttachedTable<never>[],
  entities: readonly Function[],
): Promise<string[]> {
  const tables = getMetadataArgsStorage()
    .tables.filter(({ target }) => entities.includes(target as Function))
    .map(({ name }) => name);
  const { rows } = await pool.query<{ name: string }>(
    `select c.table_name || '.' || c.column_name as name from information_schema.columns c
     where c.table_schema = current_schema() and c.column_name ~ '_ids?$' and c.udt_name in ('int8', '_int8')
       and c.table_name = any($1::text[])
       and not exists (select 1 from pg_constraint k
         join pg_attribute a on a.attrelid = k.conrelid and a.attnum = any(k.conkey)
         where k.contype = 'f' and k.conrelid = c.table_name::regclass and a.attname = c.column_name)
     order by 1`,
    [tables],
  );
  const declared = new Set(
    attachments.flatMap((one) => declaredColumns(one).map((column) => `${one.table}.${column}`)),
  );
  return rows.map(({ name }) => name).filter((name) => !declared.has(name));
}

function declaredColumns({ rows }: AttachedTable<never>): readonly string[] {
  const parents = [rows.project, rows.group].filter((one) => one !== undefined);
  return [
    ...(rows.noteable ? [rows.noteable.id] : []),
    ...parents.map((one) => (typeof one === 'string' ? one : one.column)),
    ...(rows.users ?? []).map(({ column }) => column),
    ...Object.keys(rows.stays ?? {}),
  ];
}

/** Whether a condition of an index finds the rows. The tables are empty: a plan reads one only if no index serves it. */
async function isStatementIndexed(client: PoolClient, statementText: string): Promise<boolean> {
  const values = Array.from({ length: new Set(statementText.match(/\$\d+/g)).size }, () => 'null').join(', ');
  await client.query(`prepare attached as ${statementText}`);
  const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
    `explain (format json) execute attached(${values})`,
  );
  await client.query('deallocate attached');
  const scans = allPlanNodes(rows[0]!['QUERY PLAN'][0].Plan).filter((node) => node['Node Type'].endsWith('Scan'));
  const read = scans.filter((node) => node['Node Type'] !== 'Bitmap Heap Scan');
  const served = await Promise.all(read.map((node) => isScanByFirstIndexColumn(client, node)));
  return served.length > 1 && served.every(Boolean);
}

/** Whether a condition is on the first column of the index: for other columns the whole index is searched. */
async function isScanByFirstIndexColumn(client: PoolClient, node: PlanNode): Promise<boolean> {
  if (node['TID Cond'] !== undefined) return true;
  const { rows } = await client.query<{ first: string }>('select pg_get_indexdef($1::regclass, 1, true) as first', [
    node['Index Name'],
  ]);
  return new RegExp(`\\b${rows[0]!.first}\\b`).test(node['Index Cond'] ?? '');
}

function allPlanNodes(node: PlanNode): readonly PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(allPlanNodes)];
}
