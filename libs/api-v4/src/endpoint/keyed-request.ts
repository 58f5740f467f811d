import { createHash } from 'node:crypto';
import { IDEMPOTENCY_HEADER } from '@rookery/contracts';
import { InvalidParameters, Refused, RookeryError, TooManyRequests, Unavailable } from '@rookery/kernel';
import type { Viewer } from '@rookery/kernel';
import type { KeyedWrite, NewAnswer } from '@rookery/platform';
import type { FastifyRequest } from 'fastify';
import type { EndpointRecord } from './endpoint';
import { renderError } from '../answers/errors';
import { digestOf } from '../params/request-body';
import type { ReadBody } from '../params/request-body';

const KEY = /^[\x20-\x7e]{1,255}$/;

/**
 * Whether requests of an endpoint may carry an idempotency key. Their answer must be one that can be kept, which bytes
 * and pages for browsers are not, and their body must be known before the handler runs.
 */
export function takesKey({ method, options: { answers, body } }: EndpointRecord): boolean {
  return method !== 'GET' && body === undefined && answers.kind !== 'file' && answers.kind !== 'web';
}

/** What the sender called it; null when they did not. */
export function keyOf({ headers }: FastifyRequest): string | null {
  return (headers[IDEMPOTENCY_HEADER] as string | undefined) ?? null;
}

/** Whether the path means the token that asks: then the same words of another token are another request. */
export function meansItsToken(template: string): boolean {
  return template.split('/').includes('self');
}

/**
 * The write that a request names. Shape: `isOfToken` as `meansItsToken`. Errors: InvalidParameters for a key that is none; Refused for one of a caller whom
 * nothing tells from others.
 */
export function keyedWriteOf(
  key: string,
  request: FastifyRequest,
  viewer: Viewer,
  { body, isOfToken }: { readonly body: ReadBody; readonly isOfToken: boolean },
): KeyedWrite {
  if (!KEY.test(key)) throw new InvalidParameters(['Idempotency-Key is invalid']);
  if (viewer.userId === null) throw new Refused('Idempotency-Key is for callers with a token');
  const { method, url } = request.raw;
  const { userId, impersonatorId, tokenId } = viewer;
  const of = isOfToken ? `${tokenId}\n` : '';
  const asked = createHash('sha256').update(`${method} ${url}\n${of}`).update(digestOf(request, body)).digest();
  return { key, userId, actorId: impersonatorId ?? 0, tokenId, request: asked };
}

/** The answer to a refusal that can be told again; null for what the sender shall try again. */
export function keptRefusal(error: unknown): NewAnswer | null {
  if (!(error instanceof RookeryError) || error instanceof Unavailable || error instanceof TooManyRequests) return null;
  const { status, headers, body } = renderError(error);
  if (status >= 500) return null;
  const type = body === null || headers['content-type'] !== undefined ? [] : ['content-type', 'application/json'];
  return { status, headers: [...Object.entries(headers).flat(), ...type], body, hasSecret: false };
}
