import type { FieldOptions, Fields, FieldType, PresentContext } from '@rookery/api-v4';

type Condition<T> = (row: T, ctx: PresentContext) => boolean;
type Spec<T> = readonly [
  FieldType<never>,
  (row: T, loaded: undefined, ctx: PresentContext) => never,
  FieldOptions<T, undefined>?,
];

/** Fields that are declared apart from a presenter, with the types that they have there: `fieldsOf<User>()({…})`. */
export function fieldsOf<T>() {
  return <V extends Record<string, unknown>>(fields: Fields<T, undefined, V>): Fields<T, undefined, V> => fields;
}

/** The same fields, shown only when the condition holds (and their own, if they have one). */
export function onlyWhen<T, V extends Record<string, unknown>>(
  holds: Condition<T>,
  fields: Fields<T, undefined, V>,
): Fields<T, undefined, V> {
  const conditional = Object.entries(fields as unknown as Record<string, Spec<T>>).map(
    ([name, [type, source, options]]) => {
      const own = options?.when;
      const when = (row: T, loaded: undefined, ctx: PresentContext): boolean =>
        holds(row, ctx) && (own === undefined || own(row, loaded, ctx));
      return [name, [type, source, { ...options, when }]] as const;
    },
  );
  // Names and types are those that came in; only Object.entries loses them.
  return Object.fromEntries(conditional) as unknown as Fields<T, undefined, V>;
}
