import { SnakeNaming } from '@rookery/persistence';
import type { MigrationClass } from '@rookery/persistence';
import { DataSource } from 'typeorm';
import { testDatabase } from './database';
import type { TestDatabase } from './database';

/**
 * Returns the changes that TypeORM would make to a migrated database to match the entities, and tables without an
 * entity: statements, and one sentence for each table. The list is empty when both agree. `libraries` are migrations of
 * tables that belong to libraries.
 */
export async function schemaDifferences(
  database: TestDatabase,
  entities: readonly Function[],
  libraries: readonly MigrationClass[],
): Promise<string[]> {
  const bare = await testDatabase('libraries', libraries);
  try {
    const kept = await withDataSource(bare, [], listTables);
    return await withDataSource(database, entities, async (dataSource) => {
      const described = new Set(dataSource.entityMetadatas.map((entity) => entity.tableName));
      const tables = (await listTables(dataSource)).filter((table) => !kept.includes(table) && !described.has(table));
      await createGeneratedColumnsTable(dataSource);
      const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
      return [...upQueries.map(({ query }) => query), ...tables.map((table) => `${table} has no entity`)];
    });
  } finally {
    await bare.drop();
  }
}

/** Expects the columns of the entities and those of the migrated schema to be the same. Source: ADR 0023. */
export async function expectEntitiesToMatchSchema(
  database: TestDatabase,
  entities: readonly Function[],
  libraries: readonly MigrationClass[] = [],
): Promise<void> {
  expect(await schemaDifferences(database, entities, libraries)).toEqual([]);
}

async function withDataSource<T>(
  { url }: TestDatabase,
  entities: readonly Function[],
  use: (dataSource: DataSource) => Promise<T>,
): Promise<T> {
  const dataSource = new DataSource({
    type: 'postgres',
    url,
    entities: [...entities],
    namingStrategy: new SnakeNaming(),
    // One connection, so that a temporary table exists for all statements.
    poolSize: 1,
    installExtensions: false,
  });
  await dataSource.initialize();
  try {
    return await use(dataSource);
  } finally {
    await dataSource.destroy();
  }
}

/** TypeORM reads the expressions of generated columns from a table of its own, which this creates. */
async function createGeneratedColumnsTable(dataSource: DataSource): Promise<void> {
  await dataSource.query(`
    create temporary table typeorm_metadata as
      select 'GENERATED_COLUMN'::text as type, current_database()::text as database, 'public'::text as schema,
        c.relname::text as "table", a.attname::text as name, pg_get_expr(d.adbin, d.adrelid) as value
      from pg_attribute a join pg_class c on c.oid = a.attrelid
        join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
      where a.attgenerated = 's'`);
}

async function listTables(dataSource: DataSource): Promise<string[]> {
  const rows = await dataSource.query<{ tablename: string }[]>(
    `select tablename from pg_tables where schemaname = 'public' order by tablename`,
  );
  return rows.map((row) => row.tablename);
}
