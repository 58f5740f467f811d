import { SnakeNaming } from './naming';
import { asProperties } from './row-of';
import type { RowOf } from './row-of';

class Nest {
  id: number;
  noteableId: number | null;
  lastLaid2At: Date;
  rename(): void {}
}

/** Compiles only when both are one type. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

test('a row has the columns of the chosen properties, with their types', () => {
  type Row = RowOf<Nest, 'id' | 'noteableId' | 'lastLaid2At'>;
  const same: Same<Row, { readonly id: number; readonly noteable_id: number | null; readonly last_laid2_at: Date }> =
    true;
  expect(same).toBe(true);
});

test('its columns have the names that TypeORM gives them', () => {
  const row: RowOf<Nest, 'noteableId' | 'lastLaid2At'> = { noteable_id: null, last_laid2_at: new Date() };
  const naming = new SnakeNaming();
  expect(Object.keys(row)).toEqual(['noteableId', 'lastLaid2At'].map((name) => naming.columnName(name, undefined, [])));
});

test('columns are converted back to properties of their entity', () => {
  const columns: RowOf<Nest, 'id' | 'noteableId' | 'lastLaid2At'> = {
    id: 1,
    noteable_id: null,
    last_laid2_at: new Date(0),
  };
  const properties: Partial<Nest> = asProperties(columns);
  expect(properties).toEqual({ id: 1, noteableId: null, lastLaid2At: new Date(0) });
});
