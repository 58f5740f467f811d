/** Beside what a thing of an epic is to stand. */
export interface Neighbours {
  /** What comes before it then. */
  readonly before: number | undefined;
  readonly after: number | undefined;
}

/**
 * Ids in their new order. Errors: what `stuck` makes, for neighbours that are not there, or do not stand so.
 * Source: reference work-tracking 5.6, 5.7.
 */
export function placed(
  ids: readonly number[],
  moved: number,
  { before, after }: Neighbours,
  stuck: () => Error,
): number[] {
  const others = ids.filter((id) => id !== moved);
  const at = before === undefined ? others.indexOf(after!) : others.indexOf(before) + 1;
  const isThere = (id: number | undefined): boolean => id === undefined || others.includes(id);
  const isBetween = before === undefined || after === undefined || others.indexOf(after) >= at;
  if (!isThere(before) || !isThere(after) || !isBetween) throw stuck();
  return [...others.slice(0, at), moved, ...others.slice(at)];
}
