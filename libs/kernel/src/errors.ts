/**
 * Base of the refusals and failures of a use case, in terms of the domain. The edge (`libs/api-v4`) turns each into the
 * documented status and body; no code inside a service knows a status code.
 * Source: requirements 1 §7, 2 §7, 3 §7; reference work-tracking 1.1; reference identity-and-import 1.1.
 */
export abstract class RookeryError extends Error {
  /** Stable code for logs and tests, e.g. `not_found`. */
  abstract readonly code: string;

  constructor(message: string) {
    super(message);
    this.name = new.target.name;
  }
}

/**
 * A resource that does not exist or that the viewer may not see. `new NotFound('Project')` reads "404 Project Not Found".
 * Without a name it means a row that is missing inside a known parent ("404 Not found"). The empty name reads
 * "404 Not Found". `verbatim` takes the first argument as the whole text, for endpoints whose documented text has no
 * status number.
 */
export class NotFound extends RookeryError {
  readonly code = 'not_found';
  constructor(
    readonly resource?: string,
    readonly options: { readonly verbatim?: boolean } = {},
  ) {
    const named = resource === undefined ? 'Not found' : `${resource} Not Found`.trim();
    super(options.verbatim ? (resource ?? named) : named);
  }
}

/** The resource has another address now. `location` is an absolute URL. Source: reference identity-and-import 1.2. */
export class Moved extends RookeryError {
  readonly code = 'moved';
  constructor(readonly location: string) {
    super(`This resource has been moved permanently to ${location}`);
  }
}

/** The request has no credential, or one that is not accepted. */
export class Unauthorized extends RookeryError {
  readonly code = 'unauthorized';
  /** `challenge` is the value of `WWW-Authenticate`, for clients that send credentials only after it. */
  constructor(
    readonly reason?: string,
    readonly challenge?: string,
  ) {
    super(reason ?? 'Unauthorized');
  }
}

/** The credential is known but no longer valid. Clients get an OAuth-style body. */
export class TokenRefused extends RookeryError {
  readonly code = 'invalid_token';
  constructor(readonly why: 'expired' | 'revoked' | 'impersonation_disabled') {
    super(`token is ${why}`);
  }
}

/** The token lacks a scope. Each of the `scopes` would suffice; they are sorted with the most general first. */
export class InsufficientScope extends RookeryError {
  readonly code = 'insufficient_scope';
  constructor(readonly scopes: readonly string[]) {
    super(`needs one of the scopes ${scopes.join(', ')}`);
  }
}

/**
 * The resource is readable, but the action is not allowed. `verbatim` leaves out the "403 Forbidden - " in front of the
 * reason. `inError` leaves it out too, and puts the reason under the key `error` (badges).
 */
export class Forbidden extends RookeryError {
  readonly code = 'forbidden';
  constructor(
    readonly reason?: string,
    readonly options: { readonly verbatim?: boolean; readonly inError?: boolean } = {},
  ) {
    super(reason ?? 'Forbidden');
  }
}

/** Parameters without their declared form. `problems` are complete phrases such as "body is missing". */
export class InvalidParameters extends RookeryError {
  readonly code = 'invalid_parameters';
  constructor(readonly problems: readonly string[]) {
    super(problems.join(', '));
  }
}

/** Violated rules of a resource, by field: `new Invalid({ title: ["can't be blank"] })`. */
export class Invalid extends RookeryError {
  readonly code = 'invalid';
  constructor(readonly fields: Readonly<Record<string, readonly string[]>>) {
    super(
      Object.entries(fields)
        .map(([field, texts]) => `${field} ${texts.join(', ')}`)
        .join('; '),
    );
  }
}

/** Violated rules of a resource as complete sentences, for endpoints that name no fields: `["Name can't be blank"]`. */
export class InvalidWithSentences extends RookeryError {
  readonly code = 'invalid';
  constructor(readonly sentences: readonly string[]) {
    super(sentences.join('; '));
  }
}

/**
 * A business refusal with a reason. `verbatim` leaves out the "400 Bad request - " in front, for the few endpoints
 * whose documented text has none (for example a failed group creation). `underError` leaves it out too, and puts the
 * reason under `error` within `message`, where clients expect it after a refused move. `more` are keys of the body that
 * programs read in addition to `message`, such as `error_code`.
 */
export class Refused extends RookeryError {
  readonly code = 'refused';
  constructor(
    readonly reason?: string,
    readonly options: {
      readonly verbatim?: boolean;
      readonly underError?: boolean;
      readonly more?: Readonly<Record<string, string>>;
    } = {},
  ) {
    super(reason ?? 'Bad request');
  }
}

/**
 * Some items of a bulk request failed; the others succeeded. `reasons` maps the name of a failed item to its reason.
 */
export class PartlyRefused extends RookeryError {
  readonly code = 'partly_refused';
  constructor(readonly reasons: Readonly<Record<string, string>>) {
    super(
      Object.entries(reasons)
        .map(([name, reason]) => `${name}: ${reason}`)
        .join('; '),
    );
  }
}

/**
 * The request conflicts with the current state. `reason` is the value of `message` in the body: a text, problems by
 * field (a fork whose name is taken), or a list of complete sentences.
 */
export class Conflict extends RookeryError {
  readonly code = 'conflict';
  constructor(readonly reason?: string | Readonly<Record<string, readonly string[]>> | readonly string[]) {
    super(typeof reason === 'string' ? reason : 'Conflict');
  }
}

/** Another request with the same idempotency key is still running. The caller can ask for its result in a moment. */
export class IdempotencyKeyInUse extends RookeryError {
  readonly code = 'key_in_use';
  readonly retryAfterSeconds = 1;
  constructor() {
    super('A request with this Idempotency-Key is still running');
  }
}

/** The record changed after the time in `If-Unmodified-Since`. */
export class PreconditionFailed extends RookeryError {
  readonly code = 'precondition_failed';
  constructor() {
    super('Precondition Failed');
  }
}

/**
 * The request cannot be processed. `detail` is the value of `message` in the body: a text, sentences, or `{ error:
 * ["..."] }`.
 */
export class Unprocessable extends RookeryError {
  readonly code = 'unprocessable';
  constructor(readonly detail?: string | Readonly<Record<string, readonly string[]>> | readonly string[]) {
    super(typeof detail === 'string' ? detail : 'Unprocessable Entity');
  }
}

/**
 * An import that does not start. The answer has the one key `key` with `detail` as its value. If `key` is `message`,
 * the value is an object with `detail` under its one key `error`. Source: reference identity-and-import 6.3, 6.4.
 */
export class ImportRefused extends RookeryError {
  readonly code = 'import_refused';
  constructor(
    readonly why: 'address' | 'credential' | 'disabled' | 'forbidden' | 'limit' | 'unprocessable' | 'unreachable',
    readonly key: 'error' | 'errors' | 'message',
    readonly detail: string | readonly string[],
  ) {
    super([detail].flat().join(', '));
  }
}

export class MethodNotAllowed extends RookeryError {
  readonly code = 'method_not_allowed';
  /** `options.under`: the key of the explanation in the answer. */
  constructor(
    readonly explanation?: string,
    readonly options: { readonly under?: 'message' } = {},
  ) {
    super(explanation ?? 'Method Not Allowed');
  }
}

/** A part of a protocol that this server does not offer. `reason` is a sentence for the client's user. */
export class NotImplemented extends RookeryError {
  readonly code = 'not_implemented';
  constructor(readonly reason: string) {
    super(reason);
  }
}

export class TooLarge extends RookeryError {
  readonly code = 'too_large';
  constructor() {
    super('Request Entity Too Large');
  }
}

/** A limit per caller and period. `setting` is the environment variable that sets it; null when it is fixed. */
export interface RateLimit {
  readonly name: string;
  readonly most: number;
  readonly each: 'minute' | 'hour' | 'moment';
  readonly setting: string | null;
}

/** Describes which limit refused the caller, and which setting changes it. */
export function describeLimit({ name, most, each, setting }: RateLimit): string {
  const when = each === 'moment' ? 'at once' : `${each === 'hour' ? 'an' : 'a'} ${each}`;
  return `The limit ${name} is ${most} ${when}${setting === null ? '' : `, set by ${setting}`}.`;
}

export class TooManyRequests extends RookeryError {
  readonly code = 'too_many_requests';
  /** `text` is the documented text of an endpoint that has its own. */
  constructor(
    readonly retryAfterSeconds: number,
    readonly limit: RateLimit,
    text?: string,
  ) {
    super(text ?? `This endpoint has been requested too many times. Try again later. ${describeLimit(limit)}`);
  }
}

/** Reasons for the statuses 502, 503 and 504: the label in metrics and logs, with its explanation for operators. */
export const UNAVAILABLE_REASONS = {
  'database away': 'The database refuses connections, or lost one in the middle of a statement.',
  'commit in doubt':
    'The connection to the database was lost during the commit: the data may have been written or not. Answered with 502.',
  'answer lost': 'The data of the request was written, but its answer could not be read afterwards. Answered with 502.',
  'database busy': 'No connection of the pool was free before the deadline.',
  'database slow':
    'A statement or a lock took longer than `DATABASE_STATEMENT_TIMEOUT_MS` or `DATABASE_LOCK_TIMEOUT_MS`.',
  'directory behind':
    'The copy of the directory did not catch up before the deadline, nor did identity decide instead.',
  'identity away': 'Identity refuses connections, or gave no good answer before the deadline.',
  'collaboration away': 'Collaboration refuses connections, or gave no good answer before the deadline.',
  'import away': 'The import service refuses connections, or gave no good answer before the deadline.',
  'package away': 'The package service refuses connections, or gave no good answer before the deadline.',
  'blobs away': 'The store of uploaded files refuses connections, or gave no good answer in time.',
  'admin away':
    'The service has never received the instance settings from admin, so it does not know what is restricted.',
  'service away': 'The gateway could not reach the service; no part of the request was executed.',
  'connection lost': 'The connection to the service broke before its answer; the request may have been carried out.',
  'rights changed':
    'The permissions of the caller changed while the request waited; no part of it was executed, and it may be sent again.',
  restored:
    'The database of identity was restored, and not all copies of the directory have reported yet which ids they have seen; no new ids are given out until then.',
  'git busy':
    'Too many git processes run or wait (`REPOSITORY_TRANSPORTS_COUNT`, `REPOSITORY_COMMANDS_COUNT`), or one took too long.',
  deadline: 'The deadline had passed: before the service began, or before it answered.',
  gone: 'The client closed the connection of a read before the service began with it; no client received this answer.',
  shed: 'The gateway was overloaded and refused the request.',
  'not ready': 'A health check found the process or a service that it needs not ready; the answer has the reason.',
  'clocks differ': 'The clocks of gateway and service are more than 30 seconds apart.',
  other: 'A connection failed and no more specific reason applies; the log line has the error.',
} as const;
export type UnavailableReason = keyof typeof UNAVAILABLE_REASONS;

/** A required part cannot be reached in time. The caller may try again. */
export class Unavailable extends RookeryError {
  readonly code = 'unavailable';
  constructor(
    readonly reason: UnavailableReason,
    readonly retryAfterSeconds = 1,
  ) {
    super(`unavailable: ${reason}`);
  }
}

/**
 * The outcome of a commit is unknown: the data may have been written or not, so sending the request again may apply it
 * twice. Background work may be retried: its effects are idempotent.
 */
export class CommitInDoubt extends Unavailable {
  constructor(cause: unknown) {
    super('commit in doubt');
    this.cause = cause;
  }
}

/** The data was committed; only the answer could not be produced. Sending the request again applies it twice. */
export class OutageAfterCommit extends Unavailable {
  constructor(cause: unknown) {
    super('answer lost');
    this.cause = cause;
  }
}

/** The resource already has the wanted state. Answered with 304 and an empty body. */
export class NotModified extends RookeryError {
  readonly code = 'not_modified';
  constructor() {
    super('Not modified');
  }
}
