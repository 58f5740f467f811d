import type { DataSource, EntityManager, EntityMetadata, ObjectLiteral } from 'typeorm';
import { chunkSql, REMOVAL_CHUNK, runInChunks } from '../removal/chunks';
import { prepareStatement } from '../sql/prepared';
import type { Tx } from '../work/work';

/** The table of an entity: names of its columns, and conversion between rows and instances. */
export class EntityTable<E extends { id: number }> {
  constructor(
    private readonly dataSource: DataSource,
    private readonly entity: new () => E,
  ) {}

  get name(): string {
    return this.metadata.tableName;
  }

  /** All columns for a SELECT list, under the names of their properties. `instanceOf` makes such a row an entity. */
  columns(alias: string): string {
    return this.metadata.columns.map((one) => `${alias}.${one.databaseName} as "${one.propertyName}"`).join(', ');
  }

  /** The column that holds a property. Errors: a plain Error for a property without one. */
  column(property: string): string {
    const column = this.metadata.findColumnWithPropertyName(property);
    if (!column) throw new Error(`${this.entity.name} has no column for ${property}`);
    return column.databaseName;
  }

  /** Returns the entity for a row that `columns` selected. */
  instanceOf(row: Readonly<Record<string, unknown>>): E {
    const instance = this.metadata.create() as E;
    for (const column of this.metadata.columns) {
      column.setEntityValue(instance, this.dataSource.driver.prepareHydratedValue(row[column.propertyName], column));
    }
    return instance;
  }

  /** A copy of the row's values, for detecting changes later. */
  values(row: E): Record<string, unknown> {
    const valueOf = (column: EntityMetadata['columns'][number]): unknown => column.getEntityValue(row);
    return Object.fromEntries(
      this.metadata.columns.map((column) => [column.propertyName, structuredClone(valueOf(column))]),
    );
  }

  /** The time of the row's last change. Errors: a plain Error for an entity without `updated_at`. */
  lastChangeOf(row: E): Date {
    const column = this.metadata.findColumnWithDatabaseName('updated_at');
    if (!column) throw new Error(`${this.entity.name} has no updated_at column`);
    return column.getEntityValue(row) as Date;
  }

  /** One statement, unlike `save`, which reads the row first. Columns that the database fills are set in the row. */
  async insert(manager: EntityManager, row: E): Promise<void> {
    await manager.insert(this.entity, row as never);
  }

  /** Writes the changed columns. Returns false if no column changed. */
  async update(manager: EntityManager, row: E, before: Readonly<Record<string, unknown>>): Promise<boolean> {
    const now = Object.entries(this.values(row));
    const part = Object.fromEntries(now.filter(([property, value]) => !isSameColumnValue(before[property], value)));
    if (Object.keys(part).length === 0) return false;
    // `whereEntity` sets columns that the statement itself computes, such as `updated_at`, in the row.
    await manager
      .createQueryBuilder()
      .update(this.entity as new () => E & ObjectLiteral)
      .set(part as never)
      .whereEntity(row)
      .execute();
    return true;
  }

  /** Deletes all rows whose property is one of these ids. */
  async deleteRows(tx: Tx, property: string, ids: readonly number[]): Promise<void> {
    const column = this.column(property);
    const where = `${column} = any($1::bigint[])`;
    const chunk = chunkSql({ table: this.name, key: 'id', where, limit: REMOVAL_CHUNK });
    const sql = `delete from ${this.name} where ${chunk} returning 1`;
    await runInChunks(tx, prepareStatement(`removal_${this.name}_${column}`, sql), [ids]);
  }

  private get metadata(): EntityMetadata {
    return this.dataSource.getMetadata(this.entity);
  }
}

function isSameColumnValue(left: unknown, right: unknown): boolean {
  if (left instanceof Date && right instanceof Date) return left.getTime() === right.getTime();
  if (typeof left === 'object' || typeof right === 'object') return JSON.stringify(left) === JSON.stringify(right);
  return left === right || (left ?? null) === (right ?? null);
}
