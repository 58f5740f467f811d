import type { GroupScope, ProjectScope } from '@rookery/api-v4';

/**
 * The place in which a request searches for packages. `prefix` is the path of the registry below `/api/v4` as the
 * client has it, without a slash at its end.
 */
export interface NpmPlace {
  readonly prefix: string;
  /** Undefined for the registry of the instance. */
  readonly scope: ProjectScope | GroupScope | undefined;
}

/** Returns the place of a request. `ref` is the id or path of the project or group in the URL, if it is known. */
export function npmPlaceOf(scope: ProjectScope | GroupScope | undefined, ref: string | undefined): NpmPlace {
  if (scope === undefined) return { prefix: 'packages/npm', scope };
  const parent = encodeURIComponent(ref ?? scope.id);
  const prefix = scope.kind === 'project' ? `projects/${parent}/packages/npm` : `groups/${parent}/-/packages/npm`;
  return { prefix, scope };
}
