import { namespaceOf } from '@rookery/api-v4';
import type { GroupScope, ProjectScope } from '@rookery/api-v4';
import { ACCESS_LEVELS } from '@rookery/kernel';
import type { Viewer } from '@rookery/kernel';

/**
 * The permission `read_dependency`: developers, under the plan that has dependency lists. Source: requirements 3 §5;
 * reference packages-and-admin 1.3, 6.2.
 */
export function canReadDependencies(viewer: Pick<Viewer, 'isAdmin'>, source: ProjectScope | GroupScope): boolean {
  if (namespaceOf(source).plan !== 'ultimate') return false;
  return viewer.isAdmin || source.level >= ACCESS_LEVELS.developer;
}
