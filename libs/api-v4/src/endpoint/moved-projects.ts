import { MethodNotAllowed, Moved } from '@rookery/kernel';
import type { Viewer } from '@rookery/kernel';
import type { Links } from '@rookery/platform';
import type { ScopeOption, ScopeResolver } from '../call/scope';

/** Source: reference identity-and-import 1.2. */
const NOT_FOLLOWED = 'Non GET methods are not allowed for moved projects';

/** A request whose parent was not found. `url` is the target with its query, as sent. */
export interface UnresolvedRequest {
  readonly ref: number | string;
  readonly viewer: Viewer;
  readonly method: string;
  readonly url: string;
}

/** Whether requests that name the parent by a former path are redirected or refused. */
export function refusesFormerPaths({ kind, servesFormerPaths }: ScopeOption<unknown>): boolean {
  return kind === 'project' && servesFormerPaths !== true;
}

/**
 * Returns the refusal of a request that names a project by a full path which it had formerly: reads are redirected to
 * the same route with its id, writes are refused because clients would repeat them as reads. Returns null if the viewer
 * may not see such a project.
 */
export async function findMovedProjectRefusal(
  within: ScopeOption<unknown>,
  { resolver, links }: { readonly resolver: ScopeResolver; readonly links: Links },
  { ref, viewer, method, url }: UnresolvedRequest,
): Promise<Moved | MethodNotAllowed | null> {
  if (!refusesFormerPaths(within) || typeof ref !== 'string') return null;
  const found = await resolver.formerProject?.(ref, viewer);
  if (!found) return null;
  if (method !== 'GET' && method !== 'HEAD') return new MethodNotAllowed(NOT_FOLLOWED, { under: 'message' });
  const path = url.replace(/\?.*$/s, '');
  const target = path.replace(/(\/+projects?\/+)[^/]+/, `$1${found.id}`) + url.slice(path.length);
  const isOfApi = target.startsWith('/api/v4/');
  return new Moved(isOfApi ? links.apiUrl(target.slice('/api/v4/'.length)) : links.webUrl(target));
}
