import type { SqlReader } from '../work/database';
import { CachedStatements, prepareStatement } from './prepared';
import { statement } from './statement';

interface BirdRow {
  readonly id: number;
  readonly name: string;
}
const ONE = statement<{ nest: number; name: string | null }, BirdRow>(
  'spec-birds-one',
  'select b.id, b.name from birds b where b.nest_id = :nest::bigint and b.name = :name and :nest::bigint > 0',
);

it('orders its values by their numbers', () => {
  expect(ONE.with({ name: 'wren', nest: 7 })).toEqual({
    name: 'spec-birds-one',
    text: 'select b.id, b.name from birds b where b.nest_id = $1::bigint and b.name = $2 and $1::bigint > 0',
    values: [7, 'wren'],
    names: ['nest', 'name'],
  });
});

it('refuses a parameter in its text that has no value', () => {
  const misspelt = statement<{ nest: number }, BirdRow>('spec-birds-misspelt', 'select 1 where :nets = 1');
  expect(() => misspelt.with({ nest: 7 })).toThrow('spec-birds-misspelt lacks a value of :nets');
});

describe('a name', () => {
  it('is declared once, even with the same text', () => {
    expect(() => statement('spec-birds-one', 'select 1')).toThrow('two statements are named spec-birds-one');
    prepareStatement('spec-birds-old', 'select 1');
    expect(() => statement('spec-birds-old', 'select 1')).toThrow('two statements are named spec-birds-old');
  });

  it('is not given to another text later', () => {
    const text = 'select 1 where 1 = :id';
    expect(() => prepareStatement('spec-birds-one', 'select 1')).toThrow('two statements are named');
    const first = statement<{ id: number }, never>('spec-birds-lazy', () => text);
    const same = statement<{ id: number }, never>('spec-birds-lazy', () => text);
    const other = statement<{ id: number }, never>('spec-birds-lazy', () => `${text} and true`);
    expect(same.with({ id: 1 })).toEqual(first.with({ id: 1 }));
    expect(() => other.with({ id: 1 })).toThrow('two statements are named spec-birds-lazy');
  });
});

it('is composed once, at its first use, if its text is a function', () => {
  const compose = jest.fn(() => 'select :id::int');
  const lazy = statement<{ id: number }, never>('spec-birds-composed', compose);
  expect(compose).not.toHaveBeenCalled();
  for (const id of [1, 2]) expect(lazy.with({ id }).values).toEqual([id]);
  expect(compose).toHaveBeenCalledTimes(1);
});

it('with shared values omits those that its text does not name, and refuses a parameter without one', () => {
  const kept = new CachedStatements();
  const values = { viewer: 5, nest: 7 };
  const of = (name: string, text: string) => kept.findOrCompose(name, values, () => ({ text, values }));
  expect(of('spec-family-nest', 'select :nest::int')).toMatchObject({ text: 'select $1::int', values: [7] });
  expect(() => of('spec-family-wrong', 'select :nets::int')).toThrow('spec-family-wrong lacks a value of :nets');
});

/** Only compiled: mistakes that the types of a declared statement refuse. */
export async function typed(db: SqlReader): Promise<void> {
  const rows: BirdRow[] = await db.run(ONE, { nest: 7, name: null });
  const bound: BirdRow[] = await db.run(ONE.with({ nest: 7, name: 'wren' }));
  void [rows, bound];
  // @ts-expect-error a parameter is missing
  await db.run(ONE, { nest: 7 });
  // @ts-expect-error a parameter is misspelt
  await db.run(ONE, { nets: 7, name: 'wren' });
  // @ts-expect-error a parameter is surplus
  await db.run(ONE, { nest: 7, name: 'wren', colour: 'brown' });
  // @ts-expect-error a value has another type
  await db.run(ONE, { nest: '7', name: 'wren' });
  // @ts-expect-error undefined would be sent as null
  await db.run(ONE, { nest: 7, name: undefined });
  // @ts-expect-error its values are missing
  await db.run(ONE);
  // @ts-expect-error rows have no such column
  void rows[0]?.colour;
  // @ts-expect-error the rows of a declared statement are those that it declares
  const others: { colour: string }[] = await db.run(ONE, { nest: 7, name: 'wren' });
  void others;
}
