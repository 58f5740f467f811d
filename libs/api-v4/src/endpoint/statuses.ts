import type { EndpointRecord } from './endpoint';
import { takesKey } from './keyed-request';
import { acceptedScopes, dearNamesOf } from './pipeline';
import { pathNamesOf, templatesOf } from './route-template';

/**
 * Every status that an endpoint may answer with: its success, what the pipeline refuses, and what it lists itself.
 * The document shows them, and an api-spec that sees another one fails. Bounds: 500 is never among them.
 */
export function statusesOf(endpoint: EndpointRecord): readonly number[] {
  const { answers, fails = [], within, may, params, refusals, tokenScopes } = endpoint.options;
  const takesBody = endpoint.method !== 'GET';
  const named = pathNamesOf(templatesOf(endpoint)[0]!).size > 0;
  const guarded = may.rule !== null || may.kind === 'administrator';
  const statuses = new Set([answers.status, 401, 503, ...fails]);
  if (answers.otherwise) statuses.add(answers.otherwise.status);
  if (answers.hasRanges) for (const status of [206, 304, 412, 416]) statuses.add(status);
  if (params !== undefined || answers.kind === 'page' || takesBody) statuses.add(400);
  if ((guarded && !refusals?.forbiddenAs) || (tokenScopes !== 'any' && acceptedScopes(endpoint))) statuses.add(403);
  if (named || within) statuses.add(404);
  if (answers.keyset) statuses.add(405);
  // Searches and heavy pages may find no place.
  if (dearNamesOf(params).length > 0 || answers.kind === 'page') statuses.add(429);
  // A key that is in use, and one that was used for something else.
  if (takesKey(endpoint)) for (const status of [409, 422]) statuses.add(status);
  // 502: whether it was committed is not known.
  if (takesBody) for (const status of [413, 415, 502]) statuses.add(status);
  return [...statuses].sort((a, b) => a - b);
}
