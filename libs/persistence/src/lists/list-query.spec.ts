import type { Statement } from '../sql/prepared';
import { filter } from '../sql/conditions';
import type { Bind, Filters, Values } from '../sql/conditions';
import type { SqlReader } from '../work/database';
import { ListQuery } from './list-query';

/** A fake database that keeps the statements and answers each with the next of these numbers of rows. */
function recordingDatabase(...counts: number[]) {
  const statements: Statement[] = [];
  const run = (statement: Statement): Promise<unknown[]> => {
    statements.push({ ...statement, text: statement.text.replace(/\s+/g, ' ') });
    return Promise.resolve(Array.from({ length: counts.shift() ?? 1 }, () => ({ counted: 77 })));
  };
  return { run, statements } as unknown as SqlReader & { readonly statements: readonly Statement[] };
}
interface BirdFilters {
  readonly state?: string;
  readonly isLoud?: boolean | null;
}
const FILTERS: Filters<BirdFilters> = { state: filter.equals('b.state'), isLoud: filter.when('b.loud') };
const birdsQuery = (values: Values = {}) =>
  new ListQuery({
    name: 'birds',
    from: 'birds b',
    columns: 'b.id, n.name',
    joins: 'join nests n on n.id = b.nest_id',
    values,
  });
const first = { page: 1, perPage: 20 };

describe('a page', () => {
  it('is cut by the key before displayed columns are joined', async () => {
    const db = recordingDatabase();
    await birdsQuery()
      .where((bind) => `b.nest_id = ${bind(7)}`)
      .orderBy([['b.name', 'desc', 'nulls last']])
      .readPage(db, first);
    expect(db.statements).toEqual([
      {
        name: expect.stringMatching(/^birds-[0-9a-f]{12}$/),
        text:
          'select b.id, n.name from (select b.id as id, row_number() over (order by b.name desc nulls last, b.id desc) as position ' +
          'from birds b where b.nest_id = $1 order by b.name desc nulls last, b.id desc limit 21) cut ' +
          'join birds b on b.id = cut.id join nests n on n.id = b.nest_id order by cut.position',
        values: [7],
        names: ['value'],
      },
    ]);
  });

  it('of a plain table is read by one scan', async () => {
    const db = recordingDatabase();
    await new ListQuery({ name: 'birds', from: 'birds b', carries: 'b.id, b.name' }).readPage(db, first);
    expect(db.statements[0]!.text).toBe('select b.id, b.name from birds b order by b.id asc limit 21');
  });

  it('gives the total when it is the last page, and counts rows otherwise', async () => {
    const last = recordingDatabase(3);
    expect(await birdsQuery().readPage(last, { page: 3, perPage: 20 })).toMatchObject({ total: 43, hasNext: false });
    expect(last.statements).toHaveLength(1);
    for (const db of [recordingDatabase(21), recordingDatabase(0)]) {
      expect(await birdsQuery().readPage(db, { page: 2, perPage: 20 })).toMatchObject({ total: 77 });
      expect(db.statements[1]).toEqual({
        name: expect.stringMatching(/^birds-count-/),
        text: 'select (select count(*)::int from (select 1 from birds b limit 10001) c) as counted',
        values: [],
        names: [],
      });
    }
  });
});

describe('a statement is kept prepared', () => {
  const nameOf = async (list: ListQuery<unknown>, page = first): Promise<string | undefined> => {
    const db = recordingDatabase();
    await list.readPage(db, page);
    return db.statements[0]!.name;
  };

  it('under one name for each text, independent of its values', async () => {
    const of = (nest: number) => birdsQuery().where((bind) => `b.nest_id = ${bind(nest)}`);
    expect(await nameOf(of(1))).toBe(await nameOf(of(2)));
    expect(await nameOf(of(1))).not.toBe(await nameOf(birdsQuery()));
  });

  it('not with a filter, and not for unusual sizes', async () => {
    expect(await nameOf(birdsQuery().narrow(FILTERS, {}))).toBeDefined();
    expect(await nameOf(birdsQuery().narrow(FILTERS, { state: 'open' }))).toBeUndefined();
    expect(await nameOf(birdsQuery().filter('b.loud'))).toBeUndefined();
    expect(await nameOf(birdsQuery(), { page: 1, perPage: 21 })).toBeUndefined();
    expect(await nameOf(birdsQuery(), { page: 2, perPage: 20 })).toBeDefined();
  });

  it('not for later pages of a source that counts its first rows in the text', async () => {
    const list = () =>
      birdsQuery().fromSource({ from: 'birds b', first: (count) => `(select * from birds limit ${count}) b` });
    expect(await nameOf(list())).toBeDefined();
    expect(await nameOf(list(), { page: 2, perPage: 20 })).toBeUndefined();
  });
});

it('parameters that are missing, null or false flags add no condition', async () => {
  for (const asked of [{}, { isLoud: null }, { isLoud: false }]) {
    expect(birdsQuery().narrow(FILTERS, asked).isWhole).toBe(true);
  }
  const db = recordingDatabase();
  await birdsQuery().narrow(FILTERS, { state: 'open', isLoud: true }).countRows(db);
  expect(db.statements[0]).toEqual(expect.objectContaining({ values: ['open'] }));
  expect(db.statements[0]!.text).toContain('where b.state = $1 and b.loud limit 10001');
});

it.each<[string, string, Values]>([
  ['numbered', '$1', [5]],
  ['named', ':viewer', { viewer: 5 }],
])('values that only show rows are not sent with the count: %s', async (_, mine, given) => {
  const list = new ListQuery({ name: 'birds', from: 'birds b', columns: `b.id = ${mine} as mine`, values: given });
  list.where((bind) => `b.nest_id = ${bind(7)}`);
  const db = recordingDatabase(21);
  await list.readPage(db, first);
  expect(db.statements.map(({ values }) => values)).toEqual([[5, 7], [7]]);
  expect(db.statements[1]!.text).toContain('b.nest_id = $1');
});

it('names the parameters of filters after the filters', async () => {
  const both = (names: readonly string[], bind: Bind): string =>
    names.map((name) => `b.name = ${bind(name)}`).join(' or ');
  const list = birdsQuery({ state: 'ours' })
    .narrow({ state: filter.equals('b.state'), names: both }, { state: 'open', names: ['wren', 'tit'] })
    .where((bind) => `b.nest_id = ${bind(7, 'nest')}`);
  expect(list.conditionSql).toBe(
    'b.state = :state_2\n  and b.name = :names or b.name = :names_2\n  and b.nest_id = :nest',
  );
  expect(list.values).toEqual({ state: 'ours', state_2: 'open', names: 'wren', names_2: 'tit', nest: 7 });
});

describe('the order', () => {
  const orderOf = async (list: ListQuery<unknown>): Promise<string> => {
    const db = recordingDatabase();
    await list.readOne(db);
    return /order by (.*) limit 1/.exec(db.statements[0]!.text)![1]!.trim();
  };

  it.each<[string, ListQuery<unknown>]>([
    ['b.name desc, b.id desc', birdsQuery().orderBy([['b.name', 'desc']])],
    ['b.id desc', birdsQuery().orderBy([['b.id', 'desc']])],
    ['b.id asc', birdsQuery().orderBy([])],
    ['b.name desc, b.id asc', birdsQuery().orderBy([['b.name', 'desc'], ['b.id', 'asc']])], // oxfmt-ignore
    ['m.size asc, m.bird_id asc', birdsQuery().orderBy([['m.size', 'asc']], 'm.bird_id')],
  ])('%s', async (expected, list) => expect(await orderOf(list)).toBe(expected));

  it('continues a list after a row', async () => {
    const db = recordingDatabase();
    await birdsQuery()
      .orderBy([['b.name', 'desc']])
      .startAfter(['wren', 9])
      .readRows(db, 20);
    expect(db.statements[0]!.text).toContain('where (b.name, b.id) < ($1, $2)');
    expect(db.statements[0]!.values).toEqual(['wren', 9]);
  });

  it('refuses to continue an order of mixed directions, or after a row with other values than its terms', () => {
    const mixed = birdsQuery().orderBy([['b.name', 'desc'], ['b.id', 'asc']]); // oxfmt-ignore
    expect(() => mixed.startAfter(['wren', 9])).toThrow('the order of birds cannot be continued after a row');
    expect(() => birdsQuery().startAfter(['wren', 9])).toThrow('cannot be continued');
    expect(() =>
      birdsQuery()
        .orderBy([['b.name', 'asc', 'nulls last']])
        .startAfter(['wren', 9]),
    ).toThrow('cannot be continued');
  });

  it('refuses a cursor without the value of its order', () => {
    expect(() => birdsQuery().orderBy([['b.name', 'desc']]).startAfter([undefined, 9])).toThrow('cursor is invalid'); // oxfmt-ignore
  });
});
