import { COUNT_LIMIT, MAX_PAGE_BYTES, HeavyPage, ORDINARY_PAGE_BYTES } from '@rookery/kernel';
import { toStatement, ListQuery } from '../../src';
import type { MigrationClass } from '../../src';
import { startService } from '../support/service';
import type { TestService } from '../support/service';

/** Numbers of rows. */
const BIRDS = 90;
const KINDS = 7;

class CreateBirds1790000000002 {
  async up(runner: { query(sql: string): Promise<unknown> }): Promise<void> {
    await runner.query(`create table kinds (id bigint primary key, name text not null)`);
    await runner.query(`create table birds (id bigint primary key, kind_id bigint not null, name text)`);
    await runner.query(`insert into kinds select n, 'kind ' || n from generate_series(0, ${KINDS - 1}) n`);
    // Names repeat, so that only the tie-breaker distinguishes some rows.
    await runner.query(
      `insert into birds select n, n % ${KINDS}, 'bird ' || (n % 10) from generate_series(1, ${BIRDS}) n`,
    );
  }
}

interface Bird {
  readonly id: number;
  readonly kind: string;
}

let service: TestService;
beforeAll(async () => {
  service = await startService({ migrations: [CreateBirds1790000000002 as unknown as MigrationClass] });
});
afterAll(() => service.stop());

const birdsQuery = () =>
  new ListQuery<Bird>({
    name: 'birds',
    from: 'birds b',
    columns: 'b.id, k.name as kind',
    joins: 'join kinds k on k.id = b.kind_id',
  }).orderBy([['b.name', 'asc']]);
const nameOf = (id: number): string => `${id % 10}${String(id).padStart(6, '0')}`;
const all = Array.from({ length: BIRDS }, (_, index) => index + 1).sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
const idsOf = (rows: readonly { readonly id: number }[]): number[] => rows.map(({ id }) => id);
/** Reads all pages in order. */
async function readAllPages(list: () => ListQuery<{ id: number }>, perPage: number): Promise<number[]> {
  const ids: number[] = [];
  for (let page = 1; ; page += 1) {
    const { rows, total, hasNext } = await list().readPage(service.database, { page, perPage });
    ids.push(...idsOf(rows));
    expect([total, hasNext]).toEqual([BIRDS, ids.length < BIRDS]);
    if (!hasNext) return ids;
  }
}

describe('pages', () => {
  it.each([20, 7, 45])('of %i rows make the whole list, in its order, with joined columns', async (perPage) => {
    expect(await readAllPages(birdsQuery, perPage)).toEqual(all);
    const { rows } = await birdsQuery().readPage(service.database, { page: 1, perPage: 2 });
    expect(rows).toEqual([
      { id: 10, kind: 'kind 3' },
      { id: 20, kind: 'kind 6' },
    ]);
  });

  it('past the end are empty and have the total', async () => {
    const page = await birdsQuery().readPage(service.database, { page: 9, perPage: 20 });
    expect(page).toEqual({ rows: [], total: BIRDS, hasNext: false });
  });

  it('are the same with a gathered source', async () => {
    const gathered = () => birdsQuery().fromSource({ from: 'birds b', isGathered: true });
    expect(await readAllPages(gathered, 20)).toEqual(all);
    const none = await gathered().where('false').readPage(service.database, { page: 1, perPage: 20 });
    expect(none).toEqual({ rows: [], total: 0, hasNext: false });
  });

  it('are the same from disjoint parts, of which each page reads only the first rows', async () => {
    const parts = [0, 1, 2].map((rest) => `select * from birds where id % 3 = ${rest}`);
    expect(await readAllPages(() => birdsQuery().fromParts(parts), 20)).toEqual(all);
    const narrowed = birdsQuery().where('b.kind_id = 4').fromParts(parts);
    const { rows, total } = await narrowed.readPage(service.database, { page: 1, perPage: 5 });
    expect([idsOf(rows), total]).toEqual([all.filter((id) => id % KINDS === 4).slice(0, 5), 13]);
  });

  it('continue after a row in either direction', async () => {
    for (const [sort, expected] of [
      ['asc', all],
      ['desc', all.toReversed()],
    ] as const) {
      // oxfmt-ignore
      const ids: number[] = [];
      for (let last: number | undefined; ids.length < BIRDS; last = ids.at(-1)) {
        const list = birdsQuery().orderBy([['b.name', sort]]);
        if (last !== undefined) list.startAfter([`bird ${last % 10}`, last]);
        ids.push(...idsOf(await list.readRows(service.database, 20)).slice(0, 20));
      }
      expect(ids).toEqual(expected);
    }
  });

  it('stop counting past the limit', async () => {
    const many = `(select n as id from generate_series(1, ${COUNT_LIMIT + 500}) n) b`;
    const list = new ListQuery<Bird>({ name: 'many', from: 'birds b', carries: 'b.id' }).fromSource({ from: many });
    expect(await list.countRows(service.database)).toBe(COUNT_LIMIT + 1);
    expect(await list.readPage(service.database, { page: 1, perPage: 20 })).toMatchObject({
      total: null,
      hasNext: true,
    });
  });
});

describe('one row', () => {
  it('is the first in order, or none', async () => {
    expect(await birdsQuery().where('b.id in (11, 21)').readOne(service.database)).toEqual({ id: 11, kind: 'kind 4' });
    expect(await birdsQuery().where('false').readOne(service.database)).toBeUndefined();
  });

  it('is held by its lock until the transaction ends', async () => {
    await service.work.run(async (tx) => {
      await birdsQuery().where('b.id = 5').readOne(tx, 'for update of b');
      const other = (id: number) => service.database.query(`select 1 from birds where id = ${id} for update nowait`);
      await expect(other(5)).rejects.toThrow();
      await expect(other(6)).resolves.toHaveLength(1);
    });
  });
});

it('a page as JSON has its count, whether there is more, and extra columns', async () => {
  const list = new ListQuery({
    name: 'json',
    from: 'birds b',
    carries: 'b.*',
    joins: 'join kinds k on k.id = b.kind_id',
    values: ['unused', 6],
  }).where((bind) => `b.id < $2 and b.id > ${bind(1)}`);
  const rows = (from: string, order: string) => `(select json_agg(k.name || b.id order by ${order}) ${from})`;
  const draft = list.jsonSql(
    { page: 2, perPage: 3 },
    { rows, with: 'm as (select 8 as x)', extraColumns: 'm.x', from: 'from m' },
  );
  expect(await service.database.run(toStatement(draft))).toEqual([
    { x: 8, counted: 4, has_more: null, json: ['kind 55'] },
  ]);
  const deep = list.jsonSql({ page: 101, perPage: 100 }, { rows, counted: '3' });
  expect(await service.database.run(toStatement(deep))).toEqual([{ counted: 3, has_more: false, json: null }]);
  for (const [countedTo, hasMore] of [
    [7, null],
    [6, false],
    [2, false],
  ] as const) {
    const short = list.jsonSql({ page: 2, perPage: 3 }, { rows, counted: '3', countedTo });
    expect(await service.database.run(toStatement(short))).toMatchObject([{ has_more: hasMore }]);
  }
});

describe('a page with a byte limit', () => {
  /** Rows of a third of the limit and one byte: three of them exceed it. */
  const heavy = (most: number) =>
    new ListQuery<Bird>({
      name: 'heavy',
      from: 'birds b',
      carries: 'b.*',
      columns: 'b.id',
      bytes: `${Math.floor(most / 3) + 1}`,
    });
  const first = (perPage: number, hasHeavyPagePermit = false) => ({ page: 1, perPage, hasHeavyPagePermit });

  it.each([
    [ORDINARY_PAGE_BYTES, false],
    [MAX_PAGE_BYTES, true],
  ])('is returned up to %i bytes, and refused beyond', async (most, hasHeavyPagePermit) => {
    const list = heavy(most);
    expect((await list.readPage(service.database, first(2, hasHeavyPagePermit))).rows).toHaveLength(2);
    await expect(list.readPage(service.database, first(3, hasHeavyPagePermit))).rejects.toThrow(HeavyPage);
  });

  it('computes `is_heavy` in SQL, so that no JSON is rendered for a heavy page', async () => {
    const rows = (from: string, order: string, isHeavy: string | null) =>
      `(select json_agg(${isHeavy} order by ${order}) ${from})`;
    const read = (perPage: number) =>
      service.database.run(toStatement(heavy(ORDINARY_PAGE_BYTES).jsonSql(first(perPage), { rows })));
    expect(await read(2)).toEqual([{ counted: BIRDS, has_more: null, json: [false, false] }]);
    expect(await read(3)).toEqual([{ counted: BIRDS, has_more: null, json: [true, true, true] }]);
  });
});
