/** Target position of an item in a list: ids of its two new neighbours. Undefined permits any neighbour. */
export interface Neighbours {
  /** The item directly before the moved one. */
  readonly before: number | undefined;
  readonly after: number | undefined;
}

/**
 * Returns the ids in their new order. Errors: the error of `misplaced`, if a neighbour is not in the list or they are
 * in another order. Source: reference work-tracking 5.6, 5.7.
 */
export function reorderIds(
  ids: readonly number[],
  moved: number,
  { before, after }: Neighbours,
  misplaced: () => Error,
): number[] {
  const others = ids.filter((id) => id !== moved);
  const at = before === undefined ? others.indexOf(after!) : others.indexOf(before) + 1;
  const isListed = (id: number | undefined): boolean => id === undefined || others.includes(id);
  const isBetween = before === undefined || after === undefined || others.indexOf(after) >= at;
  if (!isListed(before) || !isListed(after) || !isBetween) throw misplaced();
  return [...others.slice(0, at), moved, ...others.slice(at)];
}
