import { refusesFormerPaths } from './moved-projects';
import type { EndpointRecord } from './endpoint';
import { acceptsIdempotencyKey } from './keyed-request';
import { acceptedTokenScopes, costlyParamNamesOf } from './pipeline';
import { pathParamNamesOf, templatesOf } from './route-template';

/**
 * Returns every status that an endpoint may answer: its successes, the refusals of the pipeline and the failures that
 * it declares. The OpenAPI document shows them, and an api-spec that sees another one fails. Bounds: 500 is never
 * included.
 */
export function statusesOf(endpoint: EndpointRecord): readonly number[] {
  const { answers, fails = [], within, may, params, refusals, tokenScopes, isCostly } = endpoint.options;
  const takesBody = endpoint.method !== 'GET';
  const named = pathParamNamesOf(templatesOf(endpoint)[0]!).size > 0;
  const guarded = may.rule !== null || may.kind === 'administrator';
  const statuses = new Set([answers.status, 401, 503, ...fails]);
  if (answers.alternative) statuses.add(answers.alternative.status);
  if (answers.hasRanges) for (const status of [206, 304, 412, 416]) statuses.add(status);
  if (params !== undefined || answers.kind === 'page' || takesBody) statuses.add(400);
  if ((guarded && !refusals?.forbiddenAs) || (tokenScopes !== 'any' && acceptedTokenScopes(endpoint)))
    statuses.add(403);
  if (named || within) statuses.add(404);
  if (answers.keyset) statuses.add(405);
  if (within && refusesFormerPaths(within)) statuses.add(takesBody ? 405 : 301);
  // Searches and heavy pages are limited in number.
  if (isCostly || costlyParamNamesOf(params).length > 0 || answers.kind === 'page') statuses.add(429);
  // 409: the idempotency key is in use. 422: it was used for another request.
  if (acceptsIdempotencyKey(endpoint)) for (const status of [409, 422]) statuses.add(status);
  // 502: it is unknown whether the write was committed.
  if (takesBody) for (const status of [413, 415, 502]) statuses.add(status);
  return [...statuses].sort((a, b) => a - b);
}
