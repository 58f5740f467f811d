import type { DomainEvent } from '@rookery/contracts';
import { NotFound } from '@rookery/kernel';
import type { Page, PageRequest } from '@rookery/kernel';
import type { DeepPartial } from 'typeorm';
import type { AllFilters } from '../sql/conditions';
import { createReader } from '../work/database';
import type { SqlReader } from '../work/database';
import { EntityTable } from './entity-table';
import { violatesConstraint } from '../sql/failures';
import { dropInternalIds, nextInternalId } from '../work/internal-ids';
import { ListQuery } from './list-query';
import type { OrderTerm } from './list-parts';
import { counterNameOf, shownByParentCondition, parentIdByProperty, findParentProperty } from './parents';
import type { Parent, Parents, Within } from './parents';
import type { Tx, Work } from '../work/work';

type ColumnValues = Readonly<Record<string, unknown>>;
type PropertyName<E> = string & keyof E;
type ToEvent<E> = (row: E, actorId: number | null) => DomainEvent;
type OrderByProperty<E> = Partial<Record<PropertyName<E>, 'ASC' | 'DESC'>>;
/** An id; a name, where the collection has one; or properties that name one row. */
export type RowKey<E> = number | string | Partial<E>;

/** The actor of a write, its parent in a scoped collection, and steps before the write. */
export interface WriteContext {
  readonly actorId: number | null;
  readonly within?: Within | undefined;
  /** Takes locks that must precede the row's lock, or the insert of a new row. */
  readonly before?: ((tx: Tx) => Promise<void>) | undefined;
  /** Checks the time of the last change before a row is deleted. Errors: PreconditionFailed. */
  readonly unchanged?: (updatedAt: Date) => void;
}

export interface CollectionOptions<E, F extends object = object> {
  /** The noun of "404 … Not Found". Without it: "404 Not found". */
  readonly resource?: string;
  /** Property that holds the parent's id; one for each kind of parent where rows belong to projects and to groups. */
  readonly within?: PropertyName<E> | Parents<PropertyName<E>>;
  /** Property by which a path may name a row instead of its id. */
  readonly name?: PropertyName<E>;
  /** Property with the number of a row within its parent, from 1 on, without gaps, such as `iid`. */
  readonly numbered?: PropertyName<E>;
  /** Sort order of lists, most significant property first; `id` is always the last tie-breaker. */
  readonly order?: OrderByProperty<E>;
  /** Filters of lists: a condition for each parameter of `F`; the row's alias is `row`. */
  readonly filters?: AllFilters<F>;
  /** The size of a row's long texts, as `ListParts.bytes`. */
  readonly bytes?: string;
  readonly created?: ToEvent<E>;
  readonly changed?: ToEvent<E>;
  readonly removed?: ToEvent<E>;
  /** Errors for violated constraints: `{ uq_topics_name: () => new Invalid({ name: ['has already been taken'] }) }`. */
  readonly taken?: Readonly<Record<string, () => Error>>;
}

export interface CollectionDefinition<E extends { id: number }, F extends object = object> {
  readonly options: CollectionOptions<E, F>;
  /** The collection in the database of this unit of work. `reads` is a transaction in which lists and finds run. */
  on(work: Work, reads?: SqlReader): Collection<E, F>;
  /** Deletes the rows of deleted parents without events, since the parent's deletion was announced. */
  drop(tx: Tx, kind: Parent['kind'], parentIds: readonly number[]): Promise<void>;
}

export interface ListRequest<E, F extends object = object> {
  readonly page: PageRequest;
  readonly within?: Within;
  /** Properties that must have these values. */
  readonly where?: Partial<E>;
  /** Request parameters; each declared filter uses its own. */
  readonly filters?: F;
  /** Replaces the collection's own order. */
  readonly order?: OrderByProperty<E>;
  /** Further conditions or another order in SQL; the row's alias is `row`. */
  readonly narrow?: (list: ListQuery<unknown>) => void;
}

/**
 * Declares a plain collection: list, find, create, change and remove rows, scoped to a parent, with events. Purpose: a
 * resource without rules of its own needs only an entity, a controller, a presenter and a migration. Example: `const
 * badges = defineCollection(Badge, { within: 'projectId' })`, then `badges.on(work)` in the controller.
 * Source: ADR 0161.
 */
export function defineCollection<E extends { id: number }, F extends object = object>(
  entity: new () => E,
  options: CollectionOptions<E, F> = {},
): CollectionDefinition<E, F> {
  return {
    options,
    on: (work, reads) => new Collection(work, entity, options, reads),
    drop: async (tx, kind, parentIds) => {
      const table = new EntityTable(tx.manager.connection, entity);
      await table.deleteRows(tx, findParentProperty(options.within, kind, entity.name), parentIds);
      if (options.numbered !== undefined)
        await dropInternalIds(tx, counterNameOf(options.within, kind, table.name), parentIds);
    },
  };
}

export class Collection<E extends { id: number }, F extends object = object> {
  private readonly table: EntityTable<E>;

  constructor(
    private readonly work: Work,
    private readonly entity: new () => E,
    private readonly options: CollectionOptions<E, F>,
    private readonly reads = createReader(work.dataSource),
  ) {
    this.table = new EntityTable(work.dataSource, entity);
  }

  /** `total` is null past COUNT_LIMIT rows. */
  async list(request: ListRequest<E, F>): Promise<Page<E>> {
    const page = await this.createListQuery(request).readPage(this.reads, request.page);
    return { ...page, rows: page.rows.map((row) => this.table.instanceOf(row)) };
  }

  /** Every row of a short, unpaged collection. Bounds: at most COUNT_LIMIT rows. */
  async listAll(request: Omit<ListRequest<E, F>, 'page'>): Promise<E[]> {
    const rows = await this.createListQuery(request).readAll(this.reads);
    return rows.map((row) => this.table.instanceOf(row));
  }

  /** Errors: NotFound. */
  find(key: RowKey<E>, within?: Within): Promise<E> {
    return this.findRow(this.reads, key, within);
  }

  /**
   * Adds a row. `row` is an entity or its values; with `by.within` the parent is set from it. Errors: those of `taken`
   * and of `also`.
   */
  async create(row: DeepPartial<E>, by: WriteContext, also?: (row: E, tx: Tx) => Promise<void>): Promise<E> {
    return this.runTranslatingConflicts(async (tx) => {
      await by.before?.(tx);
      const made = tx.manager.create(this.entity, row);
      const { numbered } = this.options;
      const number = numbered === undefined ? {} : { [numbered]: await this.nextNumber(tx, by.within) };
      Object.assign(made, this.ownerColumns(by.within), number);
      await this.table.insert(tx.manager, made);
      await also?.(made, tx);
      if (this.options.created) tx.emit(this.options.created(made, by.actorId));
      return made;
    });
  }

  /**
   * Edits a row under a lock and emits the event only if a column changed. `also` runs after a change was written.
   * Errors: NotFound, those of `edit` and of `also`, those of `taken`.
   */
  async change(
    key: RowKey<E>,
    edit: (row: E, tx: Tx) => void | Promise<void>,
    by: WriteContext,
    also?: (row: E, tx: Tx) => Promise<void>,
  ): Promise<E> {
    return this.runTranslatingConflicts(async (tx) => {
      const row = await this.lockOwnRow(tx, key, by, 'update');
      const before = this.table.values(row);
      await edit(row, tx);
      const isChanged = await this.table.update(tx.manager, row, before);
      if (isChanged) await also?.(row, tx);
      if (isChanged && this.options.changed) tx.emit(this.options.changed(row, by.actorId));
      return row;
    });
  }

  /** Deletes a row and returns its last state. Errors: NotFound; those of `by.unchanged` and of `also`. */
  async remove(key: RowKey<E>, by: WriteContext, also?: (row: E, tx: Tx) => Promise<void>): Promise<E> {
    return this.runTranslatingConflicts(async (tx) => {
      const row = await this.lockOwnRow(tx, key, by, 'delete');
      by.unchanged?.(this.table.lastChangeOf(row));
      await also?.(row, tx);
      await tx.manager.delete(this.entity, row.id);
      if (this.options.removed) tx.emit(this.options.removed(row, by.actorId));
      return row;
    });
  }

  /**
   * Returns the next number of a parent, for rows that a custom statement inserts. Call it late, since it locks the
   * counter.
   * Errors: a plain Error for a collection without parents.
   */
  async nextNumber(tx: Tx, within?: Within): Promise<number> {
    const [parentId] = Object.values(this.ownerColumns(within));
    if (parentId === undefined) throw new Error(`${this.entity.name} is numbered and has no parent`);
    const kind = typeof within === 'object' ? within.kind : null;
    return nextInternalId(tx, counterNameOf(this.options.within, kind, this.table.name), parentId);
  }

  private async lockOwnRow(tx: Tx, key: RowKey<E>, by: WriteContext, verb: 'update' | 'delete'): Promise<E> {
    await by.before?.(tx);
    const row = await this.findRow(tx, key, by.within, 'for no key update');
    const { within } = this.options;
    const owners = Object.entries(this.ownerColumns(by.within)) as [keyof E, unknown][];
    if (owners.every(([property, id]) => row[property] === id)) return row;
    throw (typeof within === 'object' && within.refuse?.(verb)) || new NotFound(this.options.resource);
  }

  private async findRow(reads: SqlReader, key: RowKey<E>, within?: Within, lock?: string): Promise<E> {
    const list = this.queryWithinParent(within);
    if (typeof key === 'object') this.addValueConditions(list, key);
    else this.addKeyCondition(list, key, within);
    const row = await list.readOne(reads, lock);
    if (!row) throw new NotFound(this.options.resource);
    return this.table.instanceOf(row);
  }

  private async runTranslatingConflicts<T>(use: (tx: Tx) => Promise<T>): Promise<T> {
    try {
      return await this.work.run(use);
    } catch (error) {
      for (const [constraint, meaning] of Object.entries(this.options.taken ?? {})) {
        if (violatesConstraint(error, constraint)) throw meaning();
      }
      throw error;
    }
  }

  private columnSql(property: string): string {
    return `row.${this.table.column(property)}`;
  }

  /** Query for all rows that this parent shows. */
  private queryWithinParent(within?: Within): ListQuery<ColumnValues> {
    const { name } = this.table;
    const { bytes } = this.options;
    const carries = this.table.columns('row');
    const list = new ListQuery<ColumnValues>({
      name,
      from: `${name} row`,
      carries,
      ...(bytes === undefined ? {} : { bytes }),
    });
    const own = this.ownRowCondition(list, within);
    if (own === null) return list;
    return list.where(shownByParentCondition(this.options.within, within, own, (property) => this.columnSql(property)));
  }

  private ownerColumns(within?: Within): Readonly<Record<string, number>> {
    return parentIdByProperty(this.options.within, within, this.entity.name);
  }

  private ownRowCondition(list: ListQuery<unknown>, within?: Within): string | null {
    const [owner] = Object.entries(this.ownerColumns(within));
    return owner ? `${this.columnSql(owner[0])} = ${list.bind(owner[1], 'parent')}` : null;
  }

  private addValueConditions(list: ListQuery<unknown>, values: Partial<E>): void {
    for (const [property, value] of Object.entries(values)) {
      const column = this.columnSql(property);
      list.where((bind) => (value === null ? `${column} is null` : `${column} = ${bind(value)}`));
    }
  }

  /**
   * Restricts a list to the row with this id or name. A row with the id comes before a row with such a name, and the
   * parent's own row before an inherited one.
   */
  private addKeyCondition(list: ListQuery<unknown>, key: number | string, within?: Within): void {
    const { name } = this.options;
    if (name === undefined) {
      if (typeof key === 'string') throw new Error(`${this.entity.name} has no name to be found by`);
      list.where((bind) => `row.id = ${bind(key, 'id')}`);
      return;
    }
    const isNamed = `${this.columnSql(name)} = ${list.bind(String(key), 'name')}`;
    const isId = typeof key === 'number' ? [`row.id = ${list.bind(key, 'id')}`] : [];
    const isOwn = this.ownRowCondition(list, within);
    list.where(`(${[...isId, isNamed].join(' or ')})`);
    // For a parent of another kind the column is null, and nulls would come first.
    list.orderBy([...isId, ...(isOwn ? [`coalesce(${isOwn}, false)`] : [])].map((first) => [first, 'desc']));
  }

  private createListQuery(request: Omit<ListRequest<E, F>, 'page'>): ListQuery<ColumnValues> {
    const list = this.queryWithinParent(request.within);
    this.addValueConditions(list, request.where ?? {});
    if (this.options.filters && request.filters) list.narrow(this.options.filters, request.filters);
    const order = Object.entries(request.order ?? this.options.order ?? {}) as [string, 'ASC' | 'DESC'][];
    list.orderBy(order.map(([property, way]): OrderTerm => [this.columnSql(property), way === 'ASC' ? 'asc' : 'desc']));
    request.narrow?.(list);
    return list;
  }
}
