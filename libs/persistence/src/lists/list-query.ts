import type { Page, PageRequest } from '@rookery/kernel';
import { COUNT_LIMIT, HeavyPage, InvalidParameters, byteLimitOf, offsetOf, pageOf } from '@rookery/kernel';
import { toStatement, isNumbered } from '../sql/conditions';
import type { Bind, Condition, SqlDraft, Filters, Values } from '../sql/conditions';
import type { SqlReader } from '../work/database';
import type { JsonParts, JsonRows, ListParts, OrderTerm, Source, CountedRow } from './list-parts';
import { isUsualPage, isUsualSize, statementByText } from '../sql/prepared';

/**
 * Builder for the statements of a list: collects conditions with their values and reads one page of the matching rows.
 * An inner query limits the page by an index, and displayed columns are joined afterwards. Frequent statements are kept
 * prepared. Example:
 * `new ListQuery<EmailRow>({ name: 'emails', from: 'emails e', columns }).where(…).orderBy(…).page(db, request)`.
 * Source: docs/performance.md 5.1, 5.2; ADR 0161.
 */
export class ListQuery<R> {
  readonly values: Values;
  private readonly alias: string;
  private readonly key: string;
  private readonly conditions: string[] = [];
  private isUsual = true;
  private order: readonly OrderTerm[] | null = null;
  private source: Source;
  private readonly add: (value: unknown, name: string) => string;

  constructor(private readonly parts: ListParts) {
    const { values = {} } = parts;
    const [numbers, names] = isNumbered(values) ? [[...values], {}] : [null, { ...values }];
    this.values = numbers ?? names;
    this.add = (value, name) => (numbers ? `$${numbers.push(value)}` : `:${bindUnderFreeName(names, name, value)}`);
    this.alias = /\w+$/.exec(parts.from)![0];
    this.key = parts.key ?? `${this.alias}.id`;
    this.source = { from: parts.from };
  }

  /** Adds a value and returns its parameter. */
  readonly bind: Bind = (value, name = 'value') => this.add(value, name);

  /** Adds a condition that every request of this list has. */
  where(condition: Condition): this {
    this.conditions.push(typeof condition === 'string' ? condition : condition(this.bind));
    return this;
  }

  /** Adds a condition that few requests have: their statements are not kept prepared, there would be too many. */
  filter(condition: Condition): this {
    this.isUsual = false;
    return this.where(condition);
  }

  /** Adds the conditions of the given request parameters. */
  narrow<P extends object>(filters: Filters<P>, conditionsOf: P): this {
    for (const condition of this.listConditions(filters, conditionsOf)) this.where(condition);
    return this;
  }

  /** Returns the same conditions without adding them, for a source that contains them itself. */
  listConditions<P extends object>(filters: Filters<P>, asked: P): readonly string[] {
    const conditions = (Object.keys(filters) as (keyof P)[]).flatMap((name) => {
      const value = asked[name];
      const bind: Bind = (bound, as = String(name)) => this.add(bound, as);
      return value === undefined || value === null ? [] : filters[name]!(value, bind, asked) || [];
    });
    if (conditions.length > 0) this.isUsual = false;
    return conditions;
  }

  /**
   * Sets the order, most significant term first. `unique` breaks ties in the direction of the last term, unless it is a
   * term itself.
   */
  orderBy(terms: readonly OrderTerm[], unique = this.key): this {
    const isUnique = terms.some(([by]) => by === unique);
    this.order = isUnique ? terms : [...terms, [unique, terms.at(-1)?.[1] ?? 'asc']];
    return this;
  }

  /**
   * Starts the list after a row. `place` has that row's value for each term of the order. All terms must have the same
   * direction. Errors: InvalidParameters if a value is missing, as in a cursor of a list with another order.
   */
  startAfter(place: readonly unknown[]): this {
    if (place.includes(undefined)) throw new InvalidParameters(['cursor is invalid']);
    const [[, sort]] = this.orderTerms as [OrderTerm];
    if (place.length !== this.orderTerms.length || this.orderTerms.some(([, way, nulls]) => way !== sort || nulls)) {
      throw new Error(`the order of ${this.parts.name} cannot be continued after a row`);
    }
    const columns = this.orderTerms.map(([by]) => by).join(', ');
    return this.filter(
      (bind) => `(${columns}) ${sort === 'asc' ? '>' : '<'} (${place.map((value) => bind(value, 'place')).join(', ')})`,
    );
  }

  /** Sets another source for the rows. */
  fromSource(source: Source): this {
    this.source = source;
    return this;
  }

  /**
   * Reads the rows from several disjoint statements, each by an index of its own: all rows for the count, the first
   * rows of each for a page. Call it when conditions and order are complete.
   */
  fromParts(parts: readonly string[]): this {
    const { alias, orderSql } = this;
    const firstOf = (part: string, count: number): string =>
      `(select ${alias}.* from (${part}) ${alias} ${this.whereSql} order by ${orderSql} limit ${count})`;
    const united = (texts: readonly string[]): string => `(${texts.join(' union all ')}) ${alias}`;
    return this.fromSource({
      from: united(parts),
      first: (count) => united(parts.map((part) => firstOf(part, count))),
    });
  }

  /**
   * Reads the rows of `part` for each row of `each`. `part` and all conditions may name columns of `each`; order and
   * columns use the rows alone. Each is read by an index of its own: all rows for the count, the first rows of each for
   * a page. Several ways must give disjoint rows. Call it when conditions and order are complete.
   */
  fromEach(...ways: readonly (readonly [each: string, part: string])[]): this {
    const { alias, orderSql, whereSql } = this;
    const read = ([each, part]: (typeof ways)[number], end: string): string =>
      `${each} cross join lateral (select ${alias}.* from ${part} ${whereSql} ${end}) ${alias}`;
    const all = (end: string): string =>
      ways.length === 1
        ? read(ways[0]!, end)
        : `(${ways.map((way) => `select ${alias}.* from ${read(way, end)}`).join(' union all ')}) ${alias}`;
    // The fence `offset 0` keeps sub-selects of the conditions that depend on `each` from running for every row.
    return this.fromSource({
      from: all('offset 0'),
      first: (count) => all(`order by ${orderSql} limit ${count}`),
      isNarrowed: true,
    });
  }

  /** Whether the list has no condition so far. */
  get isWhole(): boolean {
    return this.conditions.length === 0;
  }

  /**
   * Reads one page with the total, which is counted only if the page itself does not show it.
   * Errors: HeavyPage.
   */
  async readPage(db: SqlReader, request: PageRequest): Promise<Page<R>> {
    if (this.parts.bytes !== undefined) await this.refuseHeavyPage(db, request, this.parts.bytes);
    if (this.source.isGathered) return this.readGatheredPage(db, request);
    const offset = offsetOf(request);
    const rows = await this.readRows(db, request.perPage, offset);
    const isLast = rows.length <= request.perPage && (rows.length > 0 || offset === 0);
    return pageOf(request, rows, isLast ? offset + rows.length : await this.countRows(db));
  }

  /** Reads `perPage + 1` rows from the offset, without counting. */
  readRows(db: SqlReader, perPage: number, offset = 0): Promise<R[]> {
    // The text contains the number of first rows: one prepared text for each page of each size would be too many.
    const isUsual = this.isUsual && isUsualSize(perPage) && (!this.source.first || offset === 0);
    return this.queryRows<R>(db, this.pageSelectSql(this.pageCutSql(perPage + 1, offset)), { isUsual });
  }

  /** Reads every row of a short list. Bounds: at most COUNT_LIMIT rows. */
  readAll(db: SqlReader): Promise<R[]> {
    return this.queryRows<R>(db, this.pageSelectSql(this.pageCutSql(COUNT_LIMIT, 0)), { of: 'all' });
  }

  /** Reads the first or only row. `lock` is a locking clause. */
  async readOne(db: SqlReader, lock = ''): Promise<R | undefined> {
    const { carries = `${this.alias}.*`, columns = carries, joins = '' } = this.parts;
    const order = this.order ? `order by ${this.orderSql}` : '';
    const text = `select ${columns} from ${this.source.from} ${joins} ${this.outerWhereSql} ${order} limit 1 ${lock}`;
    return (await this.queryRows<R>(db, text, { of: 'one' }))[0];
  }

  /** Counts the rows. Bounds: stops at COUNT_LIMIT + 1. */
  async countRows(db: SqlReader): Promise<number> {
    const [row] = await this.queryRows<{ counted: number }>(db, `select ${this.countSql} as counted`, { of: 'count' });
    return row!.counted;
  }

  /**
   * Composes the page and its count as one statement. It returns one row with `counted`, `has_more`, `json` and
   * `extraColumns`. `has_more` is null if `counted` decides.
   */
  jsonSql(request: PageRequest, o: JsonParts): SqlDraft {
    const extra = o.extraColumns ? `${o.extraColumns}, ` : '';
    const text = `${o.with ? `with ${o.with} ` : ''}select ${extra}${this.countAndMoreSql(request, o)}, ${this.arraySql(request, o.rows)} as json
      ${o.from ?? ''}`;
    return { text, values: this.values };
  }

  /** An expression for the rows of a page, as `rows` renders them. */
  arraySql(request: PageRequest, rows: JsonRows): string {
    const { bytes, joins = '' } = this.parts;
    const cut = this.pageCutSql(request.perPage, offsetOf(request));
    if (bytes === undefined) return rows(`from (${cut}) ${this.alias} ${joins}`, this.orderSql, null);
    const isHeavy = `sum(${bytes}) over () > ${byteLimitOf(request)} as is_heavy`;
    const weighed = `select ${this.alias}.*, ${isHeavy} from (${cut}) ${this.alias}`;
    return rows(`from (${weighed}) ${this.alias} ${joins}`, this.orderSql, `${this.alias}.is_heavy`);
  }

  /** The bounded count, as an expression. */
  get countSql(): string {
    return `(select count(*)::int from (select 1 from ${this.source.from} ${this.outerWhereSql} limit ${COUNT_LIMIT + 1}) c)`;
  }

  /** The conditions so far, joined by `and`. */
  get conditionSql(): string {
    return this.conditions.join('\n  and ');
  }

  private countAndMoreSql(
    { page, perPage }: PageRequest,
    { counted = this.countSql, countedTo = COUNT_LIMIT }: JsonParts,
  ): string {
    const end = page * perPage;
    const more = `exists (select 1 from ${this.sourceSql(end + 1)} order by ${this.orderSql} limit 1 offset ${end})`;
    return `${counted} as counted, ${end < countedTo ? 'null' : more}::boolean as has_more`;
  }

  private async refuseHeavyPage(db: SqlReader, request: PageRequest, bytes: string): Promise<void> {
    const offset = offsetOf(request);
    const isUsual = this.isUsual && isUsualPage(request);
    const skipped = offset === 0 ? '' : `offset ${this.bind(offset, 'offset')}`;
    const rows = `select ${bytes} as bytes from ${this.sourceSql(offset + request.perPage)} order by ${this.orderSql}`;
    const text = `select coalesce(sum(bytes), 0) > ${byteLimitOf(request)} as is_heavy
      from (${rows} limit ${request.perPage} ${skipped}) weighed`;
    const [row] = await this.queryRows<{ is_heavy: boolean }>(db, text, { isUsual, of: 'bytes' });
    if (row!.is_heavy) throw new HeavyPage();
  }

  private get whereSql(): string {
    return this.isWhole ? '' : `where ${this.conditionSql}`;
  }

  private get outerWhereSql(): string {
    return this.source.isNarrowed ? '' : this.whereSql;
  }

  private get orderTerms(): readonly OrderTerm[] {
    return this.order ?? [[this.key, 'asc']];
  }

  private get orderSql(): string {
    return this.orderTerms.map((term) => term.join(' ')).join(', ');
  }

  private sourceSql(neededRows: number): string {
    return this.source.first?.(neededRows) ?? `${this.source.from} ${this.outerWhereSql}`;
  }

  private get positionColumns(): string {
    return `${this.key} as id, row_number() over (order by ${this.orderSql}) as position`;
  }

  private pageCutSql(limit: number, offset: number): string {
    const skipped = offset === 0 ? '' : ` offset ${this.bind(offset, 'offset')}`;
    return `select ${this.parts.carries ?? this.positionColumns} from ${this.sourceSql(offset + limit)}
      order by ${this.orderSql} limit ${limit}${skipped}`;
  }

  /** Selects the displayed columns for the rows of `pageCutSql`. */
  private pageSelectSql(cut: string): string {
    const { from, columns = `${this.alias}.*`, joins = '', carries } = this.parts;
    if (carries && !this.parts.columns) return cut;
    if (carries) return `select ${columns} from (${cut}) ${this.alias} ${joins} order by ${this.orderSql}`;
    return `select ${columns} from (${cut}) cut join ${from} on ${this.key} = cut.id ${joins} order by cut.position`;
  }

  /** Finds the rows in the cheapest order and sorts them afterwards: as many as the page and those before it need. */
  private async readGatheredPage(db: SqlReader, request: PageRequest): Promise<Page<R>> {
    // The key is selected once: narrow rows matter where thousands are found.
    const held = (by: string, at: number): string => (by === this.key ? 'id' : `key_${at}`);
    const keys = this.orderTerms.map(([by], at) => (by === this.key ? '' : `, ${by} as ${held(by, at)}`)).join('');
    const order = this.orderTerms.map(([by, ...way], at) => [held(by, at), ...way].join(' ')).join(', ');
    const found = `select ${this.key} as id${keys} from ${this.source.from} ${this.outerWhereSql}`;
    // Limited before rows are numbered, so that the first of many rows are found without sorting them all.
    const cut = `select id, row_number() over (order by ${order}) as position from (select * from gathered
      order by ${order} limit ${request.perPage + 1} offset ${this.bind(offsetOf(request), 'offset')}::int) first`;
    const text = `with gathered as materialized (${found})
      select counted.counted, page.* from (select least(count(*), ${COUNT_LIMIT + 1})::int as counted from gathered) counted
      left join (select true as is_row, shown.* from (${this.pageSelectSql(cut)}) shown) page on true`;
    const read = await this.queryRows<CountedRow<R>>(db, text, {
      isUsual: this.isUsual && isUsualSize(request.perPage),
    });
    const rows = read.filter((row) => row.is_row);
    return pageOf(request, rows, read[0]!.counted);
  }

  private queryRows<T>(
    db: SqlReader,
    sql: string,
    o: { readonly isUsual?: boolean; readonly of?: 'all' | 'bytes' | 'count' | 'one' },
  ): Promise<T[]> {
    if (!(o.isUsual ?? this.isUsual)) return db.run<T>(toStatement({ text: sql, values: this.values }));
    const kind = o.of ? `${this.parts.name}-${o.of}` : this.parts.name;
    return db.run<T>(statementByText(kind, sql, this.values));
  }
}

/** Adds a value under the name, or under the name and a number if the name is taken. Returns the used name. */
function bindUnderFreeName(values: Record<string, unknown>, name: string, value: unknown): string {
  const plain = name.replace(/\W/g, '_');
  let free = plain;
  for (let count = 2; Object.hasOwn(values, free); count += 1) free = `${plain}_${count}`;
  values[free] = value;
  return free;
}
