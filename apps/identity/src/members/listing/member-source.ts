import type { GroupScope, ProjectScope } from '@rookery/api-v4';
import { namespaceOf } from '@rookery/api-v4';

/** The group or project whose members are meant, in the terms of the tables. */
export interface MemberSource {
  readonly kind: 'group' | 'project';
  readonly type: 'namespace' | 'project';
  readonly id: number;
  /** Namespaces from the root to the group itself or to the project's namespace. */
  readonly traversalIds: readonly number[];
  /** Those among them whose memberships count here without being direct. */
  readonly ancestorIds: readonly number[];
  readonly personOfSpace: number | null;
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
    personOfSpace: namespace.ownerId,
    level: scope.level,
  };
}
