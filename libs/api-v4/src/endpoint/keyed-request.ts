import { createHash } from 'node:crypto';
import { IDEMPOTENCY_HEADER } from '@rookery/contracts';
import { InvalidParameters, Refused, RookeryError, TooManyRequests, Unavailable } from '@rookery/kernel';
import type { Viewer } from '@rookery/kernel';
import type { KeyedWrite, NewAnswer } from '@rookery/platform';
import type { EndpointRecord } from './endpoint';
import { renderError } from '../answers/errors';
import { digestBody } from '../params/request-body';
import type { ParsedBody } from '../params/request-body';
import type { ApiRequest } from '../call/api-request';

const KEY = /^[\x20-\x7e]{1,255}$/;

/**
 * Whether requests of an endpoint may carry an idempotency key. Their answer must be storable, which files and pages
 * for browsers are not, and their body must be read before the handler runs.
 */
export function acceptsIdempotencyKey({ method, options: { answers, body, takesNoKey } }: EndpointRecord): boolean {
  return method !== 'GET' && body === undefined && !takesNoKey && answers.kind !== 'file' && answers.kind !== 'web';
}

/** Returns the idempotency key of a request; null without one. */
export function idempotencyKeyOf({ headers }: ApiRequest): string | null {
  return (headers[IDEMPOTENCY_HEADER] as string | undefined) ?? null;
}

/** Whether the path names the caller's own token. The same request with another token is a different write then. */
export function isOwnTokenRoute(template: string): boolean {
  return template.split('/').includes('self');
}

/**
 * Returns the write that a request identifies by its idempotency key. `isOfToken` is the result of `isOwnTokenRoute`.
 * Errors: InvalidParameters for a malformed key; Refused for anonymous callers, who cannot be distinguished.
 */
export function identifyIdempotentWrite(
  idempotencyKey: string,
  request: ApiRequest,
  viewer: Viewer,
  { body, isOfToken }: { readonly body: ParsedBody; readonly isOfToken: boolean },
): KeyedWrite {
  if (!KEY.test(idempotencyKey)) throw new InvalidParameters(['Idempotency-Key is invalid']);
  if (viewer.userId === null) throw new Refused('Idempotency-Key is for callers with a token');
  const { method, url } = request.raw;
  const { userId, impersonatorId, tokenId } = viewer;
  const of = isOfToken ? `${tokenId}\n` : '';
  const asked = createHash('sha256').update(`${method} ${url}\n${of}`).update(digestBody(request, body)).digest();
  return { key: idempotencyKey, userId, actorId: impersonatorId ?? 0, tokenId, request: asked };
}

/** Returns the answer to store for a failed write; null if the client should retry it. */
export function toStorableFailureAnswer(error: unknown): NewAnswer | null {
  if (!(error instanceof RookeryError) || error instanceof Unavailable || error instanceof TooManyRequests) return null;
  const { status, headers, body } = renderError(error);
  if (status >= 500) return null;
  const type = body === null || headers['content-type'] !== undefined ? [] : ['content-type', 'application/json'];
  return { status, headers: [...Object.entries(headers).flat(), ...type], body, hasSecret: false };
}
