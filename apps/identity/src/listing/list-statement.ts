import { createHash } from 'node:crypto';
import type { Page, PageRequest } from '@rookery/kernel';
import { COUNT_LIMIT, offsetOf, pageOf } from '@rookery/kernel';
import type { Database } from '@rookery/persistence';
import { prepared } from '@rookery/persistence';

/** Page sizes that stock clients ask for; statements of other sizes are not kept prepared. */
const USUAL_SIZES: readonly number[] = [20, 50, 100];

/**
 * A list, as its statements are made of it.
 * Shape: `from` is the FROM clause that the conditions speak of, `key` the unique column, `order` the ORDER BY list;
 * `show(ids)` gives the statement that shows the rows of the sub-select `ids` (columns `id`, `position`); `first(n)`, where
 * there is a quicker way to them, a FROM clause that holds at least the first n rows, conditions regarded.
 */
export interface List {
  readonly name: string;
  readonly from: string;
  readonly key: string;
  readonly order: string;
  readonly show: (ids: string) => string;
  readonly first?: (count: number) => string;
  /** Finding the rows at all is what costs, whatever page is wanted: they are found once, for the page and the count. */
  readonly isGathered?: boolean;
}

/** Beside the columns that are shown. */
interface Gathered {
  readonly counted: number;
  /** False for the one row of a page that has none. */
  readonly is_row: boolean | null;
}

/**
 * Collects the conditions of a list and their values, and reads one page of it: the page is cut by the index first
 * (`cut` selects ids in order), and what a row shows is joined to those few afterwards (`show`).
 * Source: performance "What was learnt" 1 and 2.
 */
export class ListStatement {
  readonly values: unknown[] = [];
  private readonly conditions: string[] = [];
  private isUsual = true;

  /** Adds a value and gives its placeholder. */
  bind(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }

  /** A condition that every caller of this list has. */
  where(condition: string): this {
    this.conditions.push(condition);
    return this;
  }

  /** A condition that only some requests have: such statements are not kept prepared, there would be too many. */
  filter(condition: string): this {
    this.isUsual = false;
    return this.where(condition);
  }

  /** `where …`, or nothing. */
  get conditionSql(): string {
    return this.conditions.length === 0 ? '' : `where ${this.conditions.join('\n  and ')}`;
  }

  /** One page, and how many rows there are. */
  page<R>(db: Database, list: List, request: PageRequest): Promise<Page<R>> {
    return list.isGathered ? this.gatheredPage(db, list, request) : this.cutPage(db, list, request);
  }

  private async cutPage<R>(db: Database, list: List, request: PageRequest): Promise<Page<R>> {
    const counting = `select count(*)::int as counted from (select 1 from ${list.from} ${this.conditionSql} limit ${COUNT_LIMIT + 1}) c`;
    const used = onlyUsed(counting, this.values);
    const counted = this.read<{ counted: number }>(db, `${list.name}-count`, used.text, used.values);
    const rows = this.rows<R>(db, list, request.perPage, offsetOf(request));
    const [[count], found] = await Promise.all([counted, rows]);
    return pageOf(request, found, count!.counted);
  }

  private async gatheredPage<R>(db: Database, list: List, request: PageRequest): Promise<Page<R>> {
    const { key, order } = list;
    const [offset, most] = [offsetOf(request), COUNT_LIMIT + 1];
    const start = `$${this.values.length + 1}`;
    const ids = `select id, position from gathered where position > ${start}::int order by position limit ${request.perPage + 1}`;
    const text = `with gathered as materialized (
        select ${key} as id, row_number() over (order by ${order}) as position from ${list.from} ${this.conditionSql}
        order by ${order} limit greatest(${most}, ${start}::int + ${request.perPage + 1}))
      select counted.counted, page.* from (select least(count(*), ${most})::int as counted from gathered) counted
      left join (select true as is_row, shown.* from (${list.show(ids)}) shown) page on true`;
    const used = onlyUsed(text, [...this.values, offset]);
    const isUsual = this.isUsual && USUAL_SIZES.includes(request.perPage);
    const read = await this.read<R & Gathered>(db, list.name, used.text, used.values, isUsual);
    const rows = read.filter((row) => row.is_row);
    return pageOf(request, rows, read[0]!.counted);
  }

  /** `perPage + 1` rows from the offset on, without counting. */
  async rows<R>(db: Database, list: List, perPage: number, offset = 0): Promise<R[]> {
    const source = list.first?.(offset + perPage + 1) ?? `${list.from} ${this.conditionSql}`;
    const cut = `select ${list.key} as id, row_number() over (order by ${list.order}) as position
      from ${source} order by ${list.order} limit ${perPage + 1} offset $${this.values.length + 1}`;
    // The number of first rows stands in the text: one text for each page of each size would be too many.
    const isUsual = this.isUsual && USUAL_SIZES.includes(perPage) && (!list.first || offset === 0);
    const used = onlyUsed(list.show(cut), [...this.values, offset]);
    return this.read<R>(db, list.name, used.text, used.values, isUsual);
  }

  private read<R>(
    db: Database,
    name: string,
    text: string,
    values: readonly unknown[],
    isUsual = this.isUsual,
  ): Promise<R[]> {
    if (!isUsual) return db.query<R>(text, values);
    const digest = createHash('sha256').update(text).digest('hex').slice(0, 12);
    return db.prepared<R>(prepared(`${name}-${digest}`, text), values);
  }
}

/** A count does without what only shows the rows, a short shape without the viewer; PostgreSQL refuses values without a place in the text. */
function onlyUsed(text: string, values: readonly unknown[]): { text: string; values: unknown[] } {
  const places = [...new Set([...text.matchAll(/\$(\d+)/g)].map((match) => Number(match[1])))];
  return {
    text: text.replace(/\$(\d+)/g, (_, place: string) => `$${places.indexOf(Number(place)) + 1}`),
    values: places.map((place) => values[place - 1]),
  };
}

/** A pattern for ILIKE that finds the text anywhere. */
export function containing(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`;
}
