/** `noteableId` as its column is named. Shape: the rule of `SnakeNaming`, for names without a run of capitals. */
type ColumnOf<Property extends string> = Property extends `${infer First}${infer Rest}`
  ? First extends Lowercase<First>
    ? `${First}${ColumnOf<Rest>}`
    : `_${Lowercase<First>}${ColumnOf<Rest>}`
  : '';

/**
 * What a hand-written statement yields of an entity's columns. Purpose: the entity is the only place that states a
 * column's type and whether it may be null; a statement says which columns it selects.
 * Shape: `RowOf<Note, 'id' | 'noteableId'>` is `{ readonly id: number; readonly noteable_id: number | null }`.
 */
export type RowOf<Entity, Property extends keyof Entity> = {
  readonly [P in Property & string as ColumnOf<P>]: Entity[P];
};

/** `noteable_id` as its property is named. */
type PropertyOf<Column extends string> = Column extends `${infer Word}_${infer Rest}`
  ? `${Word}${Capitalize<PropertyOf<Rest>>}`
  : Column;

type PropertiesOf<R> = { readonly [C in keyof R as C extends string ? PropertyOf<C> : never]: R[C] };

/** Columns as properties of their entity, for writing them through it: `{ noteable_id: 7 }` becomes `{ noteableId: 7 }`. */
export function asProperties<R extends object>(columns: R): PropertiesOf<R> {
  const properties = Object.entries(columns).map(([column, value]) => [
    column.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    value as unknown,
  ]);
  return Object.fromEntries(properties) as PropertiesOf<R>;
}
