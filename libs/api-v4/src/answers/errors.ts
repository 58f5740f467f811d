import {
  OutageAfterCommit,
  Conflict,
  Forbidden,
  HeavyPage,
  ImportRefused,
  CommitInDoubt,
  InsufficientScope,
  Invalid,
  InvalidWithSentences,
  InvalidParameters,
  IdempotencyKeyInUse,
  MethodNotAllowed,
  Moved,
  NotFound,
  NotImplemented,
  NotModified,
  PartlyRefused,
  PreconditionFailed,
  Refused,
  RookeryError,
  TokenRefused,
  TooLarge,
  TooManyRequests,
  Unauthorized,
  Unavailable,
  Unprocessable,
} from '@rookery/kernel';
import type { UnavailableReason } from '@rookery/kernel';
import { ContextRefused } from '@rookery/platform';
import type { Logger, Outages } from '@rookery/platform';

/** An error as status, headers and body. `body` is JSON text, null for none. */
export interface RenderedError {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** Reason phrase of the status line, in visible ASCII. Omitted: that of the status. */
  readonly reason?: string;
}

/** The path matches no route. */
export class UnknownRoute extends RookeryError {
  readonly code = 'unknown_route';
  constructor() {
    super('404 Not Found');
  }
}

/** The path matches a route, but the method does not. */
export class WrongVerb extends RookeryError {
  readonly code = 'wrong_verb';
  constructor(readonly allowed: readonly string[]) {
    super('405 Not Allowed');
  }
}

/** The body does not match its content type. */
export class MalformedBody extends RookeryError {
  readonly code = 'malformed_body';
  constructor() {
    super('message body does not match declared format');
  }
}

/** The client left before its streamed body was complete. No client reads the answer. */
export class UploadAborted extends MalformedBody {}

/** The requested range begins after the end of the file. Units: `size` of the file in bytes. */
export class RangeNotSatisfiable extends RookeryError {
  readonly code = 'range_not_satisfiable';
  constructor(readonly size: number) {
    super('416 Range Not Satisfiable');
  }
}

/** The endpoint does not accept the content type of the body. */
export class UnsupportedMediaType extends RookeryError {
  readonly code = 'unsupported_media_type';
  constructor(mediaType: string) {
    super(`The provided content-type '${mediaType}' is not supported.`);
  }
}

const TOKEN_TEXTS = {
  expired: 'Token is expired. You can either do re-authorization or token refresh.',
  revoked: 'Token was revoked. You have to re-authorize from the user.',
  impersonation_disabled: 'Token is an impersonation token but impersonation was disabled.',
} as const;
const SCOPE_TEXT = 'The request requires higher privileges than provided by the access token.';

const IMPORT_STATUSES: Readonly<Record<ImportRefused['why'], number>> = {
  address: 400,
  credential: 401,
  disabled: 403,
  forbidden: 401,
  limit: 429,
  unprocessable: 422,
  unreachable: 400,
};

/** Texts of statuses in answers. */
export const STATUS_TEXTS: Readonly<Record<number, string>> = {
  400: 'Bad request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  406: 'Not Acceptable',
  409: 'Conflict',
  413: 'Request Entity Too Large',
  414: 'URI Too Long',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Entity',
  431: 'Request Header Fields Too Large',
};

/**
 * Renders any error as its documented answer. Unexpected errors are logged here, once, and show the client no details.
 * Source: reference identity-and-import 1.1, 4.4; reference work-tracking 1.1; reference packages-and-admin 1.1.
 */
export function renderError(
  error: unknown,
  log?: Pick<Logger, 'error' | 'warn'>,
  outages?: Pick<Outages, 'recordOutage'>,
  requestId?: string,
): RenderedError {
  const reason = unavailableReason(error);
  if (reason !== null) {
    outages?.recordOutage(reason, { err: error, requestId });
    if (error instanceof CommitInDoubt) {
      // Logs each one, because an operator may have to check its outcome. Without Retry-After, so that no client
      // repeats it.
      log?.error({ err: error, requestId }, 'a commit is in doubt');
      return messageFieldAnswer(502, '502 Bad Gateway');
    }
    if (error instanceof OutageAfterCommit) return messageFieldAnswer(502, '502 Bad Gateway');
    return unavailableAnswer(error instanceof Unavailable ? error.retryAfterSeconds : 1);
  }
  const known = error instanceof RookeryError ? renderRookeryError(error, log) : undefined;
  if (known) return known;
  const status = httpStatusOf(error);
  if (status !== undefined && status >= 400 && status < 500) {
    return status === 400 ? errorFieldAnswer(400, new MalformedBody().message) : statusAnswer(status);
  }
  log?.error({ err: error }, 'unexpected error');
  return messageFieldAnswer(500, '500 Internal Server Error');
}

/** Longest reason phrase. Units: characters. */
const MAX_REASON = 200;

/**
 * Returns the same error with its text as the reason phrase: `400 Bad request - File is too large` becomes
 * `File is too large`. Source: reference packages-and-admin 4.1.
 */
export function withReasonPhrase(error: RenderedError): RenderedError {
  const body = (error.body === null || error.headers['content-type'] ? {} : JSON.parse(error.body)) as {
    readonly message?: unknown;
    readonly error?: unknown;
    readonly errors?: readonly { readonly message?: unknown }[];
  };
  const text = [body.message, body.error, body.errors?.[0]?.message].find((value) => typeof value === 'string');
  const own = text?.replace(/^\d{3} (?:[A-Za-z ]+ - )?/, '');
  if (!own) return error;
  return { ...error, reason: own.replace(/[^\x20-\x7e]/g, '?').slice(0, MAX_REASON) };
}

/** Converts an error after a commit: an outage becomes OutageAfterCommit, so that the client does not repeat the request. */
export function toErrorAfterCommit(error: unknown): unknown {
  return unavailableReason(error) === null || error instanceof CommitInDoubt ? error : new OutageAfterCommit(error);
}

function renderRookeryError(error: RookeryError, log?: Pick<Logger, 'warn'>): RenderedError | undefined {
  if (error instanceof NotFound) {
    return messageFieldAnswer(404, error.options.verbatim ? error.message : `404 ${error.message}`);
  }
  if (error instanceof InvalidParameters) return errorFieldAnswer(400, error.problems.join(', '));
  if (error instanceof HeavyPage) return errorFieldAnswer(400, error.message);
  if (error instanceof Invalid) return messageFieldAnswer(400, error.fields);
  if (error instanceof InvalidWithSentences) return messageFieldAnswer(400, error.sentences);
  if (error instanceof Refused) {
    if (error.options.underError) return messageFieldAnswer(400, { error: error.message });
    if (error.options.more) return errorAnswer(400, { message: error.message, ...error.options.more });
    return error.options.verbatim ? messageFieldAnswer(400, error.message) : statusAndReasonAnswer(400, error.reason);
  }
  if (error instanceof PartlyRefused) return errorAnswer(400, { status: 'error', message: error.reasons });
  if (error instanceof Forbidden) {
    if (error.options.inError) return errorFieldAnswer(403, error.message);
    return error.options.verbatim ? messageFieldAnswer(403, error.message) : statusAndReasonAnswer(403, error.reason);
  }
  if (error instanceof Unauthorized) {
    const rendering = statusAndReasonAnswer(401, error.reason);
    return error.challenge === undefined
      ? rendering
      : { ...rendering, headers: { 'www-authenticate': error.challenge } };
  }
  if (error instanceof TokenRefused) return tokenRefusedAnswer(TOKEN_TEXTS[error.why]);
  if (error instanceof InsufficientScope) return insufficientScopeAnswer(error.scopes);
  if (error instanceof IdempotencyKeyInUse) {
    return messageFieldAnswer(409, error.message, { 'retry-after': String(error.retryAfterSeconds) });
  }
  if (error instanceof Conflict) return messageFieldAnswer(409, error.reason ?? '409 Conflict');
  if (error instanceof Unprocessable) return messageFieldAnswer(422, error.detail ?? '422 Unprocessable Entity');
  if (error instanceof ImportRefused) {
    const detail = error.key === 'message' ? { error: error.detail } : error.detail;
    return errorAnswer(IMPORT_STATUSES[error.why], { [error.key]: detail });
  }
  if (error instanceof MethodNotAllowed) {
    if (error.explanation === undefined) return statusAnswer(405);
    return error.options.under === 'message'
      ? messageFieldAnswer(405, error.explanation)
      : errorFieldAnswer(405, error.explanation);
  }
  if (error instanceof PreconditionFailed) return messageFieldAnswer(412, '412 Precondition Failed');
  if (error instanceof Moved) {
    const headers = { location: error.location, 'content-type': 'text/plain' };
    return { status: 301, headers, body: error.message };
  }
  if (error instanceof NotModified) return { status: 304, headers: {}, body: null };
  if (error instanceof NotImplemented) return messageFieldAnswer(501, error.message);
  if (error instanceof TooLarge) return statusAnswer(413);
  if (error instanceof TooManyRequests) {
    return messageFieldAnswer(429, { error: error.message }, tooManyRequestsHeaders(error));
  }
  return renderHttpLayerError(error, log);
}

function renderHttpLayerError(error: RookeryError, log?: Pick<Logger, 'warn'>): RenderedError | undefined {
  if (error instanceof UnknownRoute) return errorFieldAnswer(404, '404 Not Found');
  if (error instanceof WrongVerb) return errorFieldAnswer(405, '405 Not Allowed', { allow: error.allowed.join(', ') });
  if (error instanceof MalformedBody) return errorFieldAnswer(400, error.message);
  if (error instanceof UnsupportedMediaType) return errorFieldAnswer(415, error.message);
  if (error instanceof RangeNotSatisfiable)
    return messageFieldAnswer(416, error.message, { 'content-range': `bytes */${error.size}` });
  if (error instanceof ContextRefused) {
    // Only our own processes can reach a service directly, so a request without a valid context is logged.
    log?.warn({ why: error.why }, 'request context refused');
    return statusAnswer(401);
  }
  return undefined;
}

function errorAnswer(status: number, body: object, headers: Readonly<Record<string, string>> = {}): RenderedError {
  return { status, headers, body: JSON.stringify(body) };
}
function messageFieldAnswer(
  status: number,
  value: string | object,
  headers?: Readonly<Record<string, string>>,
): RenderedError {
  return errorAnswer(status, { message: value }, headers);
}
function errorFieldAnswer(status: number, text: string, headers?: Readonly<Record<string, string>>): RenderedError {
  return errorAnswer(status, { error: text }, headers);
}
function statusAndReasonAnswer(status: number, reason?: string): RenderedError {
  return messageFieldAnswer(status, `${status} ${STATUS_TEXTS[status]!}${reason === undefined ? '' : ` - ${reason}`}`);
}
function statusAnswer(status: number): RenderedError {
  return messageFieldAnswer(status, `${status} ${STATUS_TEXTS[status] ?? 'Error'}`);
}
function unavailableAnswer(retryAfterSeconds: number): RenderedError {
  return messageFieldAnswer(503, '503 Service Unavailable', { 'retry-after': String(retryAfterSeconds) });
}
function tooManyRequestsHeaders({ retryAfterSeconds, limit }: TooManyRequests): Readonly<Record<string, string>> {
  const retryAfter = { 'retry-after': String(retryAfterSeconds) };
  // Limits of concurrency have no reset time.
  if (limit.each === 'moment') return retryAfter;
  return {
    ...retryAfter,
    'ratelimit-name': limit.name,
    'ratelimit-limit': String(limit.most),
    'ratelimit-remaining': '0',
    'ratelimit-reset': String(Math.ceil(Date.now() / 1000) + retryAfterSeconds),
  };
}
function tokenRefusedAnswer(description: string): RenderedError {
  const challenge = `Bearer realm="The API", error="invalid_token", error_description="${description}"`;
  const body = { error: 'invalid_token', error_description: description };
  return errorAnswer(401, body, { 'www-authenticate': challenge });
}
function insufficientScopeAnswer(scopes: readonly string[]): RenderedError {
  return errorAnswer(403, { error: 'insufficient_scope', error_description: SCOPE_TEXT, scope: scopes.join(' ') });
}

/**
 * PostgreSQL: statement and lock timeouts; connection and shutdown classes, too many connections. Node: no connection.
 */
const REASONS: readonly (readonly [RegExp, UnavailableReason])[] = [
  [/^(57014|55P03)$/, 'database slow'],
  [/^(08...|57P0.|53300)$/, 'database away'],
  [/^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EAI_AGAIN)$/, 'other'],
];

/**
 * Returns the reason of a 503; null for other errors. Services throw Unavailable, but drivers' errors may also get
 * here.
 */
function unavailableReason(error: unknown): UnavailableReason | null {
  if (error instanceof Unavailable) return error.reason;
  if (error instanceof RookeryError) return null;
  const { code, driverError, cause } = (error ?? {}) as { code?: unknown; driverError?: unknown; cause?: unknown };
  const known = REASONS.find(([codes]) => typeof code === 'string' && codes.test(code));
  if (known) return known[1];
  if (error instanceof Error && /^(Connection terminated|timeout exceeded when trying to connect)/.test(error.message))
    return 'database away';
  for (const inner of [driverError, cause]) {
    const reason = inner === undefined || inner === error ? null : unavailableReason(inner);
    if (reason !== null) return reason;
  }
  return httpStatusOf(error) === 503 ? 'other' : null;
}

/** Returns the status of an error from Fastify or Nest. */
function httpStatusOf(error: unknown): number | undefined {
  const { statusCode, status } = (error ?? {}) as { statusCode?: unknown; status?: unknown };
  return typeof statusCode === 'number' ? statusCode : typeof status === 'number' ? status : undefined;
}
