import type { GroupScope, ProjectScope } from '@rookery/api-v4';
import { namespaceOf } from '@rookery/api-v4';

/** A group or project with members, as the tables identify it. */
export interface MemberSource {
  readonly kind: 'group' | 'project';
  readonly type: 'namespace' | 'project';
  readonly id: number;
  /** Namespaces from the root to the group itself or to the project's namespace. */
  readonly traversalIds: readonly number[];
  /** Namespaces whose members are inherited. */
  readonly ancestorIds: readonly number[];
  /** The user of a personal namespace; null in groups. */
  readonly personalOwnerId: number | null;
  /** Level of the caller. */
  readonly level: number;
}

export function memberSource(scope: ProjectScope | GroupScope): MemberSource {
  const namespace = namespaceOf(scope);
  const isProject = scope.kind === 'project';
  return {
    kind: scope.kind,
    type: isProject ? 'project' : 'namespace',
    id: scope.id,
    traversalIds: namespace.traversalIds,
    ancestorIds: isProject ? namespace.traversalIds : namespace.traversalIds.slice(0, -1),
    personalOwnerId: namespace.ownerId,
    level: scope.level,
  };
}
