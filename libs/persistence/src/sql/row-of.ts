/**
 * The column name of a property such as `noteableId`. It follows the rule of `SnakeNaming`, for names without a run of
 * capitals.
 */
type ColumnOf<Property extends string> = Property extends `${infer First}${infer Rest}`
  ? First extends Lowercase<First>
    ? `${First}${ColumnOf<Rest>}`
    : `_${Lowercase<First>}${ColumnOf<Rest>}`
  : '';

/**
 * The row type of a hand-written statement that selects columns of an entity, such as `RowOf<Note, 'id' |
 * 'noteableId'>` for `{ readonly id: number; readonly noteable_id: number | null }`. Purpose: only the entity states a
 * column's type and whether it may be null; a statement names only the columns that it selects.
 */
export type RowOf<Entity, Property extends keyof Entity> = {
  readonly [P in Property & string as ColumnOf<P>]: Entity[P];
};

/** The property name of a column such as `noteable_id`. */
type PropertyOf<Column extends string> = Column extends `${infer Word}_${infer Rest}`
  ? `${Word}${Capitalize<PropertyOf<Rest>>}`
  : Column;

type PropertiesOf<R> = { readonly [C in keyof R as C extends string ? PropertyOf<C> : never]: R[C] };

/**
 * Renames columns to properties of their entity, for writes through it: `{ noteable_id: 7 }` becomes `{ noteableId: 7
 * }`.
 */
export function asProperties<R extends object>(columns: R): PropertiesOf<R> {
  const properties = Object.entries(columns).map(([column, value]) => [
    column.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    value as unknown,
  ]);
  return Object.fromEntries(properties) as PropertiesOf<R>;
}
