import { toGitClientError } from '@rookery/api-v4';
import { describeLimit } from '@rookery/kernel';
import type { RateLimit, UnavailableReason } from '@rookery/kernel';

/** An answer that the gateway gives instead of a service. `body` is null for none. */
export interface Refusal {
  readonly status: number;
  readonly body: string | null;
  readonly type: 'application/json' | 'text/plain';
  readonly headers: readonly string[];
  readonly reason: string;
  /** The reason of 502, 503 and 504 in metrics and log. */
  readonly unavailable?: UnavailableReason;
}

const NO_HEADERS: readonly string[] = [];
const JSON_TYPE = 'application/json';

function jsonRefusal(status: number, reason: string, body: object, headers: readonly string[] = NO_HEADERS): Refusal {
  return { status, reason, body: JSON.stringify(body), type: JSON_TYPE, headers };
}

function outageRefusal(
  status: 502 | 503 | 504,
  unavailable: UnavailableReason,
  text: string,
  headers: readonly string[] = NO_HEADERS,
): Refusal {
  return { ...jsonRefusal(status, unavailable, { message: `${status} ${text}` }, headers), unavailable };
}

export function isRefusal(value: object): value is Refusal {
  return 'status' in value && 'reason' in value;
}

function invalidTokenRefusal(reason: string, description: string): Refusal {
  const challenge = `Bearer realm="The API", error="invalid_token", error_description="${description}"`;
  return jsonRefusal(401, reason, { error: 'invalid_token', error_description: description }, [
    'WWW-Authenticate',
    challenge,
  ]);
}

/** Built once. Source: reference identity-and-import 1.1, 4.4. */
export const REFUSALS = {
  badRequest: jsonRefusal(400, 'malformed', { message: '400 Bad request' }),
  unreadSudo: jsonRefusal(400, 'sudo', {
    error: 'sudo cannot be read here, it can be sent in the query or as a header',
  }),
  severalSudo: jsonRefusal(400, 'several sudo', { error: 'sudo names more than one person' }),
  unreadBody: jsonRefusal(400, 'body of a read', {
    error: 'the body of a read cannot be read here, parameters can be sent in the query',
  }),
  unauthorized: jsonRefusal(401, 'unauthorized', { message: '401 Unauthorized' }),
  expired: invalidTokenRefusal('expired', 'Token is expired. You can either do re-authorization or token refresh.'),
  revoked: invalidTokenRefusal('revoked', 'Token was revoked. You have to re-authorize from the user.'),
  impersonation_disabled: invalidTokenRefusal(
    'impersonation disabled',
    'Token is an impersonation token but impersonation was disabled.',
  ),
  notFound: jsonRefusal(404, 'no route', { error: '404 Not Found' }),
  requestTimeout: jsonRefusal(408, 'slow peer', { message: '408 Request Timeout' }),
  tooLarge: jsonRefusal(413, 'too large', { message: '413 Request Entity Too Large' }),
  uriTooLong: jsonRefusal(414, 'uri too long', { message: '414 URI Too Long' }),
  headersTooLarge: jsonRefusal(431, 'headers too large', { message: '431 Request Header Fields Too Large' }),
  internal: jsonRefusal(500, 'internal', { message: '500 Internal Server Error' }),
  badGateway: outageRefusal(502, 'connection lost', 'Bad Gateway'),
  serviceAway: outageRefusal(503, 'service away', 'Service Unavailable', ['Retry-After', '1']),
  identityAway: outageRefusal(503, 'identity away', 'Service Unavailable', ['Retry-After', '1']),
  rightsChanged: outageRefusal(503, 'rights changed', 'Service Unavailable', ['Retry-After', '1']),
  late: outageRefusal(504, 'deadline', 'Gateway Timeout'),
} as const;

export function forbidden(reason: string): Refusal {
  return jsonRefusal(403, 'forbidden', { message: `403 Forbidden - ${reason}` });
}

export function insufficientScope(scopes: readonly string[]): Refusal {
  return jsonRefusal(403, 'scope', {
    error: 'insufficient_scope',
    error_description: 'The request requires higher privileges than provided by the access token.',
    scope: scopes.join(' '),
  });
}

export function userNotFound(ref: string): Refusal {
  return jsonRefusal(404, 'sudo', { message: `404 User with ID or username '${ref}' Not Found` });
}

export function methodNotAllowed(allowed: readonly string[]): Refusal {
  return jsonRefusal(405, 'method', { error: '405 Not Allowed' }, ['Allow', allowed.join(', ')]);
}

/**
 * Answers 429 as plain text. Source: reference identity-and-import 1.1: the throttle in front of the application uses
 * it.
 */
export function throttled(limit: RateLimit, headers: readonly string[]): Refusal {
  const body = `Retry later\n${describeLimit(limit)}\n`;
  return { status: 429, reason: 'throttled', body, type: 'text/plain', headers };
}

const SHED = [1, 2, 3, 4, 5].map((seconds) =>
  outageRefusal(503, 'shed', 'Service Unavailable', ['Retry-After', String(seconds)]),
);

/** One of five prebuilt answers with different delays, so that refused clients do not return at the same time. */
export function shedRefusal(): Refusal {
  return SHED[Math.floor(Math.random() * SHED.length)] as Refusal;
}

/**
 * The same refusal for npm clients, which print the text under `error`, or the challenge instead if there is one.
 */
export function toNpmRefusal(refusal: Refusal): Refusal {
  const { message, error_description } = JSON.parse(refusal.body ?? '{}') as {
    message?: string;
    error_description?: string;
  };
  const body = JSON.stringify({ message: message ?? '401 Unauthorized', error: error_description ?? 'Unauthorized' });
  return { ...refusal, body, headers: [] };
}

/** Converts a refusal to a JSON list of errors, which Conan reads. The text of a throttle becomes JSON too. */
export function toConanRefusal(refusal: Refusal): Refusal {
  const message = refusalMessage(refusal) ?? refusal.reason;
  return { ...refusal, type: JSON_TYPE, body: JSON.stringify({ errors: [{ status: refusal.status, message }] }) };
}

function refusalMessage({ type, body }: Refusal): string | undefined {
  if (type !== JSON_TYPE) return body?.trimEnd();
  const { message, error_description } = JSON.parse(body ?? '{}') as { message?: string; error_description?: string };
  return message ?? error_description;
}

/** Adds the challenge to a refusal that git and package managers expect. */
export function withBasicChallenge(refusal: Refusal): Refusal {
  return { ...refusal, headers: [...refusal.headers, 'WWW-Authenticate', 'Basic realm="GitLab Packages Registry"'] };
}

/** Converts a refusal to plain text, because git shows only text to its user. A 401 gets the Basic challenge. */
export function toGitRefusal(refusal: Refusal): Refusal {
  const { headers, body } = toGitClientError({ status: refusal.status, headers: {}, body: refusal.body }, 'text');
  const { 'content-type': _, ...challenge } = headers;
  const others = refusal.headers.filter((_name, index) => refusal.headers[index - (index % 2)] !== 'WWW-Authenticate');
  return { ...refusal, type: 'text/plain', body, headers: [...others, ...Object.entries(challenge).flat()] };
}
