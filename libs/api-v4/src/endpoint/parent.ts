import { Forbidden, NotFound } from '@rookery/kernel';
import type { Viewer } from '@rookery/kernel';
import type { FastifyRequest } from 'fastify';
import type { RawParams } from '../params/bracket-params';
import { toIdOrPath } from '../params/coercion';
import type { EndpointRecord } from './endpoint';
import { movedProject } from './moved-projects';
import type { ApiRuntime } from './runtime';

/**
 * Returns the parent that the path of a request names. Shape: `wildcard` is the name of the wildcard in the template; its
 * value is a path and never an id. Errors: NotFound, or the refusal that the endpoint declares instead; Moved and
 * MethodNotAllowed for a former path of a project; Forbidden for the token of a job in another project.
 */
export async function parentOf(
  { within: declared, refusals }: EndpointRecord['options'],
  { resolver: source, links }: ApiRuntime,
  { raw, params }: FastifyRequest,
  { viewer, wildcard }: { readonly viewer: Viewer; readonly wildcard: string | null },
): Promise<unknown> {
  const within = declared!;
  const resolver = source!;
  const named = (params as RawParams)[within.param];
  const ref = within.param === wildcard ? named : toIdOrPath(named);
  const isUsable = typeof ref === 'number' || typeof ref === 'string';
  const scope = isUsable ? await within.resolve(resolver, ref, viewer) : null;
  refuseForeignJob(within.kind, scope, viewer);
  if (scope !== null) return scope;
  const request = { viewer, method: raw.method!, url: raw.url! };
  const moved = isUsable ? await movedProject(within, { resolver, links }, { ...request, ref }) : null;
  throw moved ?? refusals?.parentAs?.(viewer) ?? new NotFound(within.resource);
}

/**
 * Refuses the token of a job in other projects than that of the job. The refusal does not show whether the other one
 * exists. Errors: Forbidden.
 */
function refuseForeignJob(kind: string, scope: { readonly id: number } | null, { job }: Viewer): void {
  if (job !== undefined && (kind !== 'project' || scope?.id !== job.projectId))
    throw new Forbidden('The token of a job works in the project of the job only');
}
