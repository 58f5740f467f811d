import type { RenderedError } from '@rookery/api-v4';

/**
 * Adds the text of a refusal under `error`, which is the only key that some package managers show.
 * Source: reference packages-and-admin 4.4, 4.8.
 */
export function addErrorKeyToRefusal(refusal: RenderedError): RenderedError {
  const { message, error, error_description } = JSON.parse(refusal.body ?? '{}') as Readonly<Record<string, unknown>>;
  // Libraries read the scopes that a token lacks.
  if (error === 'insufficient_scope') return refusal;
  const text = [error_description, error, message].find((one) => typeof one === 'string') as string | undefined;
  if (text === undefined) return refusal;
  const shown = typeof message === 'string' ? message : text;
  return { ...refusal, body: JSON.stringify({ message: shown, error: stripStatusFromError(text) }) };
}

/** The text without its status: `404 Package Not Found` is `Package not found`. */
function stripStatusFromError(text: string): string {
  const [, after = text] = /^\d{3} (?:(?:Bad request|Forbidden|Unauthorized) - )?(.+)$/s.exec(text) ?? [];
  return after.replace(/ Not Found$/, ' not found');
}
