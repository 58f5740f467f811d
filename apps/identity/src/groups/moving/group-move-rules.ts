import type { NamespacePlace } from '../../namespaces/paths/namespace-trees.service';
import { MAX_NESTING, subgroupPathProblems, TOO_DEEP, topLevelPathProblems } from '../../namespaces/paths/path-rules';

export const OCCUPIED = 'The parent group already has a subgroup or a project with the same path.';

/** A requested move with facts about both ends. */
export interface RequestedMove {
  readonly group: NamespacePlace & { readonly id: number };
  /** Null: to the top level. */
  readonly parent: (NamespacePlace & { readonly id: number }) | null;
  /** Whether the caller may create a group there. */
  readonly mayCreateThere: boolean;
  /** Whether the target already contains a group or project with this path. */
  readonly isTaken: boolean;
  /** Height of the moved tree. Units: levels. */
  readonly height: number;
}

/** Returns the reason why a group cannot be moved, or null if it can. Source: reference identity-and-import 2.6. */
export function refusalOfMove({ group, parent, mayCreateThere, isTaken, height }: RequestedMove): string | null {
  if (parent === null && group.parent_id === null) return 'Group is already a root group.';
  if (parent !== null && parent.id === group.parent_id) return 'Group is already associated to the parent group.';
  if (!mayCreateThere) return "You don't have enough permissions.";
  if (isTaken) return OCCUPIED;
  if (parent?.traversal_ids.includes(group.id)) return 'Cannot transfer group to one of its subgroup.';
  const path = parent ? subgroupPathProblems(group.path, parent.full_path) : topLevelPathProblems(group.path);
  if (path.length > 0) return formatGroupMoveProblem(`Path ${path[0]!}`);
  const isTooDeep = (parent?.traversal_ids.length ?? 0) + height > MAX_NESTING;
  return isTooDeep ? formatGroupMoveProblem(`Parent ${TOO_DEEP}`) : null;
}

/** Formats a problem of the general rules for groups as an error message of a move. */
export function formatGroupMoveProblem(problem: string): string {
  return `Validation failed: ${problem}`;
}

/** Returns the group's location after the move. */
export function placeBelow(
  group: NamespacePlace & { readonly id: number },
  parent: NamespacePlace | null,
): NamespacePlace {
  return {
    parent_id: parent?.traversal_ids.at(-1) ?? null,
    name: group.name,
    path: group.path,
    full_name: parent ? `${parent.full_name} / ${group.name}` : group.name,
    full_path: parent ? `${parent.full_path}/${group.path}` : group.path,
    traversal_ids: [...(parent?.traversal_ids ?? []), group.id],
  };
}
