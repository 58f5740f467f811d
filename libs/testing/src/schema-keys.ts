import { Client } from 'pg';
import type { TestDatabase } from './database';
import { expectGolden } from './golden';

interface CatalogRow {
  readonly table: string;
  readonly kind: string;
  readonly name: string;
  readonly columns: readonly string[];
  readonly to: string | null;
  readonly toColumns: readonly string[] | null;
}

/** Columns, unique rules and references of all tables, as the catalog describes them. */
const SCHEMA = `
  with tables as (
    select oid, relname::text as name from pg_class
    where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace
  )
  select t.name as "table", case when a.attnotnull then 'required' else 'optional' end as kind, '' as name,
    array_agg(a.attname::text order by a.attnum) as columns, null as "to", null::text[] as "toColumns"
  from tables t join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
  group by t.name, a.attnotnull
  union all
  select t.name, case when i.indisprimary then 'primary key' when i.indisexclusion then 'exclusion' else 'unique' end,
    i.indexrelid::regclass::text,
    array(select pg_get_indexdef(i.indexrelid, place, true) from generate_series(1, i.indnkeyatts) place order by place),
    null, null
  from tables t join pg_index i on i.indrelid = t.oid
  where i.indisunique or i.indisexclusion
  union all
  select t.name, 'foreign key', k.conname::text,
    array(select attname::text from unnest(k.conkey) with ordinality u(number, place)
      join pg_attribute on attrelid = k.conrelid and attnum = number order by place),
    k.confrelid::regclass::text,
    array(select attname::text from unnest(k.confkey) with ordinality u(number, place)
      join pg_attribute on attrelid = k.confrelid and attnum = number order by place)
  from tables t join pg_constraint k on k.conrelid = t.oid and k.contype = 'f'`;

/**
 * Compares tables of a migrated database with the golden file, from which `npm run check` proves that each unique rule
 * of a distributed table contains its key. `UPDATE_GOLDEN=1` writes the file. The file has a line for each table, and
 * indented ones for its required columns, its optional columns and each rule.
 */
export async function expectSchemaKeys({ url }: TestDatabase, file: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<CatalogRow>(SCHEMA);
    expectGolden(file, renderSchemaKeys(rows));
  } finally {
    await client.end();
  }
}

function renderSchemaKeys(rows: readonly CatalogRow[]): string {
  const tables = new Map<string, string[]>();
  for (const { table, kind, name, columns, to, toColumns } of rows) {
    const line = name === '' ? `${kind} ${columns.join(', ')}` : `${kind} ${name} (${columns.join('; ')})`;
    const target = to === null ? '' : ` to ${to} (${toColumns!.join('; ')})`;
    tables.set(table, [...(tables.get(table) ?? []), `  ${line}${target}\n`]);
  }
  // Sorted here, because the order of PostgreSQL depends on its locale.
  const names = [...tables.keys()].sort();
  return names.map((table) => `${table}\n${tables.get(table)!.sort().join('')}`).join('');
}
