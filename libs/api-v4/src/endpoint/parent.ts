import { Forbidden, NotFound } from '@rookery/kernel';
import type { Viewer } from '@rookery/kernel';
import { admitsJobTokensOf } from '../call/job-admission';
import type { ProjectScope, ScopeResolver } from '../call/scope';
import type { RawParams } from '../params/bracket-params';
import { toIdOrPath } from '../params/coercion';
import type { EndpointRecord } from './endpoint';
import { findMovedProjectRefusal } from './moved-projects';
import type { ApiRuntime } from './runtime';
import type { ApiRequest } from '../call/api-request';

/**
 * Returns the parent that the path of a request names. `wildcard` is the name of the wildcard in the template; its
 * value is a path and never an id. Errors: NotFound, or the refusal that the endpoint declares instead; Moved and
 * MethodNotAllowed for a former path of a project; Forbidden for the token of a job in a project that does not admit
 * it.
 */
export async function resolveParentScope(
  { within: declared, refusals }: EndpointRecord['options'],
  { resolver: source, links }: ApiRuntime,
  { raw, params }: ApiRequest,
  { viewer, wildcard }: { readonly viewer: Viewer; readonly wildcard: string | null },
): Promise<unknown> {
  const within = declared!;
  const resolver = source!;
  const named = (params as RawParams)[within.param];
  const ref = within.param === wildcard ? named : toIdOrPath(named);
  const isUsable = typeof ref === 'number' || typeof ref === 'string';
  const scope = isUsable ? await within.resolve(resolver, ref, viewer) : null;
  // The refusal comes first, so that it does not show whether another project exists.
  const project = within.kind === 'project' ? (scope as ProjectScope | null) : null;
  if (!(await mayCallerJobAccessParent(project, viewer, resolver)))
    throw new Forbidden('The project does not admit the token of this job');
  if (scope !== null) return scope;
  const request = { viewer, method: raw.method!, url: raw.url! };
  const moved = isUsable ? await findMovedProjectRefusal(within, { resolver, links }, { ...request, ref }) : null;
  throw moved ?? refusals?.parentAs?.(viewer) ?? new NotFound(within.resource);
}

/**
 * Whether a parent admits the caller: true for callers without the token of a job. `parent` is null if it is missing,
 * is no project, or the caller may not see it. Source: reference identity-and-import 4.10.
 */
async function mayCallerJobAccessParent(
  parent: ProjectScope | null,
  viewer: Viewer,
  resolver: ScopeResolver,
): Promise<boolean> {
  if (viewer.job === undefined || parent?.id === viewer.job.projectId) return true;
  // Requests by jobs of other projects are rare, so their own project is read here and not for each request.
  const origin = parent?.jobAdmission ? await resolver.findProject(viewer.job.projectId, viewer) : null;
  return origin !== null && admitsJobTokensOf(parent!, origin);
}
