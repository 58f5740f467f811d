import type { RequestedLabels } from './labelling';

/** Maps `labels`, `add_labels` and `remove_labels` to a change of labels; undefined keeps them. */
export function requestedLabels(
  all: readonly string[] | undefined,
  add: readonly string[] | undefined,
  remove: readonly string[] | undefined,
): RequestedLabels | undefined {
  return all === undefined && add === undefined && remove === undefined ? undefined : { all, add, remove };
}
