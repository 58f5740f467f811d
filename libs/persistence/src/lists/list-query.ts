import type { Page, PageRequest } from '@rookery/kernel';
import { COUNT_LIMIT, HeavyPage, mostBytesOf, offsetOf, pageOf } from '@rookery/kernel';
import { fitted, isNumbered } from '../sql/conditions';
import type { Bind, Condition, Draft, Filters, Values } from '../sql/conditions';
import type { Reads } from '../work/database';
import type { JsonParts, JsonRows, ListParts, OrderTerm, Source, CountedRow } from './list-parts';
import { isUsualPage, isUsualSize, statementByText } from '../sql/prepared';

/**
 * A list: collects conditions with their values, and reads a page of what they leave. The page is cut by an index first
 * and what a row shows is joined afterwards; statements that most requests send are kept prepared.
 * Shape: `new ListQuery<EmailRow>({ name: 'emails', from: 'emails e', columns }).where(…).orderBy(…).page(db, request)`.
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
    this.add = (value, name) => (numbers ? `$${numbers.push(value)}` : `:${added(names, name, value)}`);
    this.alias = /\w+$/.exec(parts.from)![0];
    this.key = parts.key ?? `${this.alias}.id`;
    this.source = { from: parts.from };
  }

  /** Adds a value and gives its parameter. */
  readonly bind: Bind = (value, name = 'value') => this.add(value, name);

  /** A condition that every request of this caller has. */
  where(condition: Condition): this {
    this.conditions.push(typeof condition === 'string' ? condition : condition(this.bind));
    return this;
  }

  /** A condition that few requests have: their statements are not kept prepared, there would be too many. */
  filter(condition: Condition): this {
    this.isUsual = false;
    return this.where(condition);
  }

  /** Adds the conditions that parameters ask for. */
  narrow<P extends object>(filters: Filters<P>, asked: P): this {
    for (const condition of this.asked(filters, asked)) this.where(condition);
    return this;
  }

  /** The same conditions without adding them, for a source that holds them in itself. */
  asked<P extends object>(filters: Filters<P>, asked: P): readonly string[] {
    const conditions = (Object.keys(filters) as (keyof P)[]).flatMap((name) => {
      const value = asked[name];
      const bind: Bind = (bound, as = String(name)) => this.add(bound, as);
      return value === undefined || value === null ? [] : filters[name]!(value, bind, asked) || [];
    });
    if (conditions.length > 0) this.isUsual = false;
    return conditions;
  }

  /** The first term counts first; `unique` tells equal rows apart, the way of the last term, unless it is a term itself. */
  orderBy(terms: readonly OrderTerm[], unique = this.key): this {
    const isUnique = terms.some(([by]) => by === unique);
    this.order = isUnique ? terms : [...terms, [unique, terms.at(-1)?.[1] ?? 'asc']];
    return this;
  }

  /** From the place after this row on. Shape: its values by the terms of the order, which all go the same way. */
  after(place: readonly unknown[]): this {
    const [[, sort]] = this.terms as [OrderTerm];
    if (place.length !== this.terms.length || this.terms.some(([, way, nulls]) => way !== sort || nulls)) {
      throw new Error(`the order of ${this.parts.name} has no place to go on from`);
    }
    const columns = this.terms.map(([by]) => by).join(', ');
    return this.filter(
      (bind) => `(${columns}) ${sort === 'asc' ? '>' : '<'} (${place.map((value) => bind(value, 'place')).join(', ')})`,
    );
  }

  /** Looks for the rows there. */
  among(source: Source): this {
    this.source = source;
    return this;
  }

  /**
   * Statements of rows that have nothing in common, each read by an index of its own: all for the count, the first rows of
   * each for a page. To be called when conditions and order are known.
   */
  amongParts(parts: readonly string[]): this {
    const { alias, orderSql } = this;
    const firstOf = (part: string, count: number): string =>
      `(select ${alias}.* from (${part}) ${alias} ${this.whereSql} order by ${orderSql} limit ${count})`;
    const united = (texts: readonly string[]): string => `(${texts.join(' union all ')}) ${alias}`;
    return this.among({ from: united(parts), first: (count) => united(parts.map((part) => firstOf(part, count))) });
  }

  /**
   * For each row of `each` the rows of `part`, which may name it, as may all conditions; order and columns are those of
   * the rows alone. Each is read by an index of its own: all for the count, the first rows of each for a page. Of several
   * ways no two give the same row. To be called when conditions and order are known.
   */
  amongEach(...ways: readonly (readonly [each: string, part: string])[]): this {
    const { alias, orderSql, whereSql } = this;
    const read = ([each, part]: (typeof ways)[number], end: string): string =>
      `${each} cross join lateral (select ${alias}.* from ${part} ${whereSql} ${end}) ${alias}`;
    const all = (end: string): string =>
      ways.length === 1
        ? read(ways[0]!, end)
        : `(${ways.map((way) => `select ${alias}.* from ${read(way, end)}`).join(' union all ')}) ${alias}`;
    // The fence keeps what the conditions look up of `each` from being looked up for every row.
    return this.among({
      from: all('offset 0'),
      first: (count) => all(`order by ${orderSql} limit ${count}`),
      isNarrowed: true,
    });
  }

  /** Nothing narrows the list so far. */
  get isWhole(): boolean {
    return this.conditions.length === 0;
  }

  /**
   * One page, and how many rows there are: they are counted only when the page itself does not tell.
   * Errors: HeavyPage.
   */
  async page(db: Reads, request: PageRequest): Promise<Page<R>> {
    if (this.parts.bytes !== undefined) await this.refuseHeavy(db, request, this.parts.bytes);
    if (this.source.isGathered) return this.gatheredPage(db, request);
    const offset = offsetOf(request);
    const rows = await this.rows(db, request.perPage, offset);
    const isLast = rows.length <= request.perPage && (rows.length > 0 || offset === 0);
    return pageOf(request, rows, isLast ? offset + rows.length : await this.count(db));
  }

  /** `perPage + 1` rows from the offset on, without counting. */
  rows(db: Reads, perPage: number, offset = 0): Promise<R[]> {
    // The number of first rows stands in the text: one text for each page of each size would be too many.
    const isUsual = this.isUsual && isUsualSize(perPage) && (!this.source.first || offset === 0);
    return this.read<R>(db, this.shown(this.cut(perPage + 1, offset)), { isUsual });
  }

  /** Every row of a short list. Bounds: at most COUNT_LIMIT rows. */
  all(db: Reads): Promise<R[]> {
    return this.read<R>(db, this.shown(this.cut(COUNT_LIMIT, 0)), { of: 'all' });
  }

  /** The first row, or the only one that the conditions leave. Shape: `lock` is a locking clause. */
  async one(db: Reads, lock = ''): Promise<R | undefined> {
    const { carries = `${this.alias}.*`, columns = carries, joins = '' } = this.parts;
    const order = this.order ? `order by ${this.orderSql}` : '';
    const text = `select ${columns} from ${this.source.from} ${joins} ${this.narrowing} ${order} limit 1 ${lock}`;
    return (await this.read<R>(db, text, { of: 'one' }))[0];
  }

  /** How many rows there are. Bounds: stops at COUNT_LIMIT + 1. */
  async count(db: Reads): Promise<number> {
    const [row] = await this.read<{ counted: number }>(db, `select ${this.countSql} as counted`, { of: 'count' });
    return row!.counted;
  }

  /**
   * The page and its count in one statement. Shape: one row with `counted`, `has_more` (null: the count tells), `json`, and
   * what is asked besides.
   */
  json(request: PageRequest, o: JsonParts): Draft {
    const besides = o.besides ? `${o.besides}, ` : '';
    const text = `${o.with ? `with ${o.with} ` : ''}select ${besides}${this.headSql(request, o)}, ${this.arraySql(request, o.rows)} as json
      ${o.from ?? ''}`;
    return { text, values: this.values };
  }

  /** The rows of a page alone, as `rows` writes them. */
  arraySql(request: PageRequest, rows: JsonRows): string {
    const { bytes, joins = '' } = this.parts;
    const cut = this.cut(request.perPage, offsetOf(request));
    if (bytes === undefined) return rows(`from (${cut}) ${this.alias} ${joins}`, this.orderSql, null);
    const isHeavy = `sum(${bytes}) over () > ${mostBytesOf(request)} as is_heavy`;
    const weighed = `select ${this.alias}.*, ${isHeavy} from (${cut}) ${this.alias}`;
    return rows(`from (${weighed}) ${this.alias} ${joins}`, this.orderSql, `${this.alias}.is_heavy`);
  }

  /** The bounded count, as an expression. */
  get countSql(): string {
    return `(select count(*)::int from (select 1 from ${this.source.from} ${this.narrowing} limit ${COUNT_LIMIT + 1}) c)`;
  }

  /** The conditions so far. */
  get conditionSql(): string {
    return this.conditions.join('\n  and ');
  }

  private headSql(
    { page, perPage }: PageRequest,
    { counted = this.countSql, countedTo = COUNT_LIMIT }: JsonParts,
  ): string {
    const end = page * perPage;
    const more = `exists (select 1 from ${this.rowsSql(end + 1)} order by ${this.orderSql} limit 1 offset ${end})`;
    return `${counted} as counted, ${end < countedTo ? 'null' : more}::boolean as has_more`;
  }

  private async refuseHeavy(db: Reads, request: PageRequest, bytes: string): Promise<void> {
    const offset = offsetOf(request);
    const isUsual = this.isUsual && isUsualPage(request);
    const skipped = offset === 0 ? '' : `offset ${this.bind(offset, 'offset')}`;
    const rows = `select ${bytes} as bytes from ${this.rowsSql(offset + request.perPage)} order by ${this.orderSql}`;
    const text = `select coalesce(sum(bytes), 0) > ${mostBytesOf(request)} as is_heavy
      from (${rows} limit ${request.perPage} ${skipped}) weighed`;
    const [row] = await this.read<{ is_heavy: boolean }>(db, text, { isUsual, of: 'bytes' });
    if (row!.is_heavy) throw new HeavyPage();
  }

  private get whereSql(): string {
    return this.isWhole ? '' : `where ${this.conditionSql}`;
  }

  private get narrowing(): string {
    return this.source.isNarrowed ? '' : this.whereSql;
  }

  private get terms(): readonly OrderTerm[] {
    return this.order ?? [[this.key, 'asc']];
  }

  private get orderSql(): string {
    return this.terms.map((term) => term.join(' ')).join(', ');
  }

  private rowsSql(count: number): string {
    return this.source.first?.(count) ?? `${this.source.from} ${this.narrowing}`;
  }

  private get positioned(): string {
    return `${this.key} as id, row_number() over (order by ${this.orderSql}) as position`;
  }

  private cut(limit: number, offset: number): string {
    const skipped = offset === 0 ? '' : ` offset ${this.bind(offset, 'offset')}`;
    return `select ${this.parts.carries ?? this.positioned} from ${this.rowsSql(offset + limit)}
      order by ${this.orderSql} limit ${limit}${skipped}`;
  }

  /** What a page shows, by the sub-select that cuts it. */
  private shown(cut: string): string {
    const { from, columns = `${this.alias}.*`, joins = '', carries } = this.parts;
    if (carries && !this.parts.columns) return cut;
    if (carries) return `select ${columns} from (${cut}) ${this.alias} ${joins} order by ${this.orderSql}`;
    return `select ${columns} from (${cut}) cut join ${from} on ${this.key} = cut.id ${joins} order by cut.position`;
  }

  /** Found in whatever order is cheapest, and only then put in order: as many as the page and those before it need. */
  private async gatheredPage(db: Reads, request: PageRequest): Promise<Page<R>> {
    // The key is never held twice: narrow rows are what finding thousands costs.
    const held = (by: string, at: number): string => (by === this.key ? 'id' : `key_${at}`);
    const keys = this.terms.map(([by], at) => (by === this.key ? '' : `, ${by} as ${held(by, at)}`)).join('');
    const order = this.terms.map(([by, ...way], at) => [held(by, at), ...way].join(' ')).join(', ');
    const found = `select ${this.key} as id${keys} from ${this.source.from} ${this.narrowing}`;
    // Cut before it is numbered: the first of many are found without sorting them all.
    const cut = `select id, row_number() over (order by ${order}) as position from (select * from gathered
      order by ${order} limit ${request.perPage + 1} offset ${this.bind(offsetOf(request), 'offset')}::int) first`;
    const text = `with gathered as materialized (${found})
      select counted.counted, page.* from (select least(count(*), ${COUNT_LIMIT + 1})::int as counted from gathered) counted
      left join (select true as is_row, shown.* from (${this.shown(cut)}) shown) page on true`;
    const read = await this.read<CountedRow<R>>(db, text, { isUsual: this.isUsual && isUsualSize(request.perPage) });
    const rows = read.filter((row) => row.is_row);
    return pageOf(request, rows, read[0]!.counted);
  }

  private read<T>(
    db: Reads,
    sql: string,
    o: { readonly isUsual?: boolean; readonly of?: 'all' | 'bytes' | 'count' | 'one' },
  ): Promise<T[]> {
    if (!(o.isUsual ?? this.isUsual)) return db.run<T>(fitted({ text: sql, values: this.values }));
    const kind = o.of ? `${this.parts.name}-${o.of}` : this.parts.name;
    return db.run<T>(statementByText(kind, sql, this.values));
  }
}

/** Adds a value under a name that is free. Shape: gives the name. */
function added(values: Record<string, unknown>, name: string, value: unknown): string {
  const plain = name.replace(/\W/g, '_');
  let free = plain;
  for (let count = 2; Object.hasOwn(values, free); count += 1) free = `${plain}_${count}`;
  values[free] = value;
  return free;
}
