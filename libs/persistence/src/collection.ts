import type { DomainEvent } from '@rookery/contracts';
import { COUNT_LIMIT, NotFound, offsetOf, pageOf } from '@rookery/kernel';
import type { Page, PageRequest } from '@rookery/kernel';
import type { DeepPartial, EntityManager, FindOptionsWhere, ObjectLiteral, SelectQueryBuilder } from 'typeorm';
import { translated, violates } from './failures';
import type { Tx, Work } from './work';

/** Who does it and, in a scoped collection, in which parent. */
export interface By {
  readonly actorId: number | null;
  readonly within?: number;
}

type Announce<E> = (row: E, actorId: number | null) => DomainEvent;

export interface CollectionOptions<E> {
  /** What "404 … Not Found" names; left out: "404 Not found". */
  readonly resource?: string;
  /** Property that holds the parent's id. */
  readonly within?: string & keyof E;
  /** Properties to sort lists by, the first first; `id` is always the last tie-breaker. */
  readonly order?: Partial<Record<string & keyof E, 'ASC' | 'DESC'>>;
  readonly created?: Announce<E>;
  readonly changed?: Announce<E>;
  readonly removed?: Announce<E>;
  /** What a broken unique constraint means: `{ uq_topics_name: () => new Invalid({ name: ['has already been taken'] }) }`. */
  readonly taken?: Readonly<Record<string, () => Error>>;
}

export interface CollectionDefinition<E extends { id: number }> {
  readonly options: CollectionOptions<E>;
  /** The collection in the database of this unit of work. */
  on(work: Work): Collection<E>;
}

export interface ListRequest<E> {
  readonly page: PageRequest;
  readonly within?: number;
  readonly where?: FindOptionsWhere<E>;
  /** Further conditions in SQL; the row's alias is `row`. */
  readonly narrow?: (query: SelectQueryBuilder<E & ObjectLiteral>) => void;
  /** In place of the collection's own order. */
  readonly order?: Partial<Record<string & keyof E, 'ASC' | 'DESC'>>;
}

/**
 * Declares a plain collection: list, find, create, change, remove, scoped to a parent and announced. Purpose: a
 * resource without rules of its own needs an entity, a controller, a presenter and a migration, nothing else.
 * Shape: `const badges = collection(Badge, { within: 'projectId' })`, then `badges.on(work)` in the controller.
 * Source: houses II.8; ADR 0024.
 */
export function collection<E extends { id: number }>(
  entity: new () => E,
  options: CollectionOptions<E> = {},
): CollectionDefinition<E> {
  return { options, on: (work) => new Collection(work, entity, options) };
}

export class Collection<E extends { id: number }> {
  constructor(
    private readonly work: Work,
    private readonly entity: new () => E,
    private readonly options: CollectionOptions<E>,
  ) {}

  /** Shape: `total` is null past COUNT_LIMIT rows; counting is left out when the page itself tells the number. */
  async list(request: ListRequest<E>): Promise<Page<E>> {
    try {
      const { page } = request;
      const rows = await this.ordered(request)
        .limit(page.perPage + 1)
        .offset(offsetOf(page))
        .getMany();
      const isLast = rows.length <= page.perPage && (rows.length > 0 || page.page === 1);
      return pageOf(page, rows, isLast ? offsetOf(page) + rows.length : await this.count(request));
    } catch (error) {
      throw translated(error);
    }
  }

  /** Every row of a short, unpaged collection. Bounds: at most COUNT_LIMIT rows. */
  async all(request: Omit<ListRequest<E>, 'page'>): Promise<E[]> {
    try {
      return await this.ordered(request).limit(COUNT_LIMIT).getMany();
    } catch (error) {
      throw translated(error);
    }
  }

  /** Errors: NotFound. Shape: `key` is the id, or properties that name one row. */
  async find(key: number | FindOptionsWhere<E>, within?: number): Promise<E> {
    try {
      const row = await this.work.dataSource.manager.findOne(this.entity, { where: this.named(key, within) });
      if (!row) throw new NotFound(this.options.resource);
      return row;
    } catch (error) {
      throw translated(error);
    }
  }

  /**
   * Adds a row. Shape: `row` is an entity or its values; with `by.within` the parent is set from it.
   * Errors: those of `taken`.
   */
  async create(row: DeepPartial<E>, by: By, also?: (row: E, tx: Tx) => Promise<void>): Promise<E> {
    return this.attempt(async (tx) => {
      const made = tx.manager.create(this.entity, row);
      Object.assign(made, this.scope(by.within));
      await insert(tx.manager, this.entity, made);
      await also?.(made, tx);
      if (this.options.created) tx.emit(this.options.created(made, by.actorId));
      return made;
    });
  }

  /**
   * Edits a row that is locked from reading to writing; announced only when a column changed.
   * Errors: NotFound, those of `edit`, those of `taken`.
   */
  async change(key: number | FindOptionsWhere<E>, edit: (row: E, tx: Tx) => void | Promise<void>, by: By): Promise<E> {
    return this.attempt(async (tx) => {
      const row = await this.locked(tx, key, by.within);
      const before = this.values(row);
      await edit(row, tx);
      const after = this.values(row);
      const changed = Object.keys(after).filter((name) => !isSame(before[name], after[name]));
      if (changed.length === 0) return row;
      await update(tx.manager, this.entity, row, changed);
      if (this.options.changed) tx.emit(this.options.changed(row, by.actorId));
      return row;
    });
  }

  /** Deletes a row and answers what it was. Errors: NotFound; those of `also`. */
  async remove(key: number | FindOptionsWhere<E>, by: By, also?: (row: E, tx: Tx) => Promise<void>): Promise<E> {
    return this.attempt(async (tx) => {
      const row = await this.locked(tx, key, by.within);
      await also?.(row, tx);
      await tx.manager.delete(this.entity, row.id);
      if (this.options.removed) tx.emit(this.options.removed(row, by.actorId));
      return row;
    });
  }

  private async locked(tx: Tx, key: number | FindOptionsWhere<E>, within?: number): Promise<E> {
    const row = await tx.manager.findOne(this.entity, {
      where: this.named(key, within),
      lock: { mode: 'for_no_key_update' },
    });
    if (!row) throw new NotFound(this.options.resource);
    return row;
  }

  private async attempt<T>(use: (tx: Tx) => Promise<T>): Promise<T> {
    try {
      return await this.work.run(use);
    } catch (error) {
      for (const [constraint, meaning] of Object.entries(this.options.taken ?? {})) {
        if (violates(error, constraint)) throw meaning();
      }
      throw error;
    }
  }

  private named(key: number | FindOptionsWhere<E>, within?: number): FindOptionsWhere<E> {
    const own = typeof key === 'number' ? ({ id: key } as FindOptionsWhere<E>) : key;
    return { ...own, ...this.scope(within) };
  }

  /** A scoped collection refuses to be used without its parent, or rows of others would show. */
  private scope(within?: number): FindOptionsWhere<E> {
    const { within: column } = this.options;
    if ((column === undefined) !== (within === undefined)) {
      throw new Error(`${this.entity.name} is ${column === undefined ? 'not ' : ''}kept within a parent`);
    }
    return (column === undefined ? {} : { [column]: within }) as FindOptionsWhere<E>;
  }

  private filtered(request: Omit<ListRequest<E>, 'page'>): SelectQueryBuilder<E & ObjectLiteral> {
    const query = this.work.dataSource.manager
      .createQueryBuilder(this.entity as new () => E & ObjectLiteral, 'row')
      .where({ ...request.where, ...this.scope(request.within) });
    request.narrow?.(query);
    return query;
  }

  private ordered(request: Omit<ListRequest<E>, 'page'>): SelectQueryBuilder<E & ObjectLiteral> {
    const query = this.filtered(request);
    const order = request.order ?? this.options.order ?? {};
    const entries = Object.entries(order) as [string, 'ASC' | 'DESC'][];
    for (const [property, direction] of entries) query.addOrderBy(`row.${property}`, direction);
    // The tie-breaker follows the first key, so that a page read backwards is the reverse.
    if (!('id' in order)) query.addOrderBy('row.id', entries[0]?.[1] ?? 'ASC');
    return query;
  }

  private async count(request: Omit<ListRequest<E>, 'page'>): Promise<number> {
    const [sql, values] = this.filtered(request)
      .select('1')
      .limit(COUNT_LIMIT + 1)
      .getQueryAndParameters();
    const rows: { counted: number }[] = await this.work.dataSource.query(
      `select count(*)::int as counted from (${sql}) counted`,
      values as unknown[],
    );
    return rows[0]?.counted ?? 0;
  }

  private values(row: E): Record<string, unknown> {
    const { columns } = this.work.dataSource.getMetadata(this.entity);
    return Object.fromEntries(
      columns.map((column) => [column.propertyName, structuredClone(column.getEntityValue(row) as unknown)]),
    );
  }
}

/** One statement each, unlike `save`, which reads the row first. */
async function insert<E extends ObjectLiteral>(manager: EntityManager, entity: new () => E, row: E): Promise<void> {
  await manager.insert(entity, row as never);
}

async function update<E extends { id: number }>(
  manager: EntityManager,
  entity: new () => E,
  row: E,
  properties: readonly string[],
): Promise<void> {
  const part = Object.fromEntries(properties.map((name) => [name, row[name as keyof E]]));
  // `whereEntity` brings columns that the statement itself sets, such as `updated_at`, back into the row.
  await manager
    .createQueryBuilder()
    .update(entity)
    .set(part as never)
    .whereEntity(row)
    .execute();
}

function isSame(left: unknown, right: unknown): boolean {
  if (left instanceof Date && right instanceof Date) return left.getTime() === right.getTime();
  if (typeof left === 'object' || typeof right === 'object') return JSON.stringify(left) === JSON.stringify(right);
  return left === right || (left ?? null) === (right ?? null);
}
