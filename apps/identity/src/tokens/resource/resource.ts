import type { GroupScope, ProjectScope } from '@rookery/api-v4';
import { namespaceOf } from '@rookery/api-v4';
import type { ResourceType } from '../access-token.entity';

/** The group or project whose tokens are meant, in the terms of the tables. */
export interface Resource {
  readonly type: ResourceType;
  readonly id: number;
  readonly sourceType: 'namespace' | 'project';
  /** The top-level group that says whether tokens may be made; a personal space when the project lies in one. */
  readonly rootId: number;
  /** Level of the caller. */
  readonly level: number;
}

export function resourceOf(scope: ProjectScope | GroupScope): Resource {
  return {
    type: scope.kind,
    id: scope.id,
    sourceType: scope.kind === 'project' ? 'project' : 'namespace',
    rootId: namespaceOf(scope).traversalIds[0]!,
    level: scope.level,
  };
}
