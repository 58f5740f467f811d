import type { Refusal } from '../request/refusal';
import type { RequestHead } from '../request/request-head';

const TWO_HOURS_SECONDS = '7200';
const HEADER_LIST = /^[A-Za-z0-9!#$%&'*+.^_`|~, -]{0,2000}$/;

/** The answer to OPTIONS. Any origin may ask, never with cookies. Source: reference identity-and-import 1.4. */
export function preflight(head: RequestHead, allowed: readonly string[]): Refusal {
  const headers = ['Allow', allowed.join(', ')];
  if (head.origin !== '' && head.askedMethod !== '') {
    headers.push('Access-Control-Allow-Methods', allowed.join(', '), 'Access-Control-Max-Age', TWO_HOURS_SECONDS);
    if (head.askedHeaders !== '' && HEADER_LIST.test(head.askedHeaders)) {
      headers.push('Access-Control-Allow-Headers', head.askedHeaders);
    }
  }
  return { status: 204, body: null, type: 'application/json', headers, reason: 'preflight' };
}
