import type { RenderedError } from './errors';
import { STATUS_TEXTS } from './errors';

const PROBLEM = 'application/problem+json';

/** Whether a client names the form of problem details (RFC 9457) in `Accept`, with a weight above 0. */
export function acceptsProblemDetails(accept: string | undefined): boolean {
  return (accept ?? '').split(',').some((range) => {
    const [type, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    return type === PROBLEM && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });
}

/**
 * Returns a refusal as problem details, which also have its own keys. Clients compare the media type with the bare one.
 * Source: reference packages-and-admin 4.6.
 */
export function toProblemDetails(refusal: RenderedError): RenderedError {
  if (refusal.body === null || refusal.headers['content-type'] !== undefined) return refusal;
  const own = JSON.parse(refusal.body) as Readonly<Record<string, unknown>>;
  const text = [own['message'], own['error']].find((value) => typeof value === 'string');
  const title = STATUS_TEXTS[refusal.status] ?? 'Error';
  const problem = { type: 'about:blank', status: refusal.status, title, detail: text ?? title, ...own };
  return {
    ...refusal,
    headers: { ...refusal.headers, 'content-type': PROBLEM, vary: 'Accept' },
    body: JSON.stringify({ ...problem, error: own['error'] ?? problem.detail }),
  };
}
