import type { GroupScope, ProjectScope } from '@rookery/api-v4';
import { namespaceOf } from '@rookery/api-v4';
import type { ResourceType } from '../access-token.entity';

/** The group or project of tokens, with the names of the tables. */
export interface Resource {
  readonly type: ResourceType;
  readonly id: number;
  readonly sourceType: 'namespace' | 'project';
  /** The top-level group that decides whether tokens may be created. The personal namespace for a project in one. */
  readonly rootId: number;
  /** Access level of the caller. */
  readonly level: number;
}

export function toResource(scope: ProjectScope | GroupScope): Resource {
  return {
    type: scope.kind,
    id: scope.id,
    sourceType: scope.kind === 'project' ? 'project' : 'namespace',
    rootId: namespaceOf(scope).traversalIds[0]!,
    level: scope.level,
  };
}
