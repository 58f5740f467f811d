/**
 * What a use case may refuse, in the words of the domain. The edge (`libs/api-v4`) turns each into the documented
 * status and body; nothing inside a service knows a status code.
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
 * A thing that is missing or that the viewer may not know of. `new NotFound('Project')` reads "404 Project Not Found";
 * without a name it is a row missing inside a known parent ("404 Not found"); the empty name reads "404 Not Found".
 * `verbatim` takes the first argument as the whole text, for the few endpoints whose confirmed text has no number.
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

/** The thing has another address now. Shape: `location` is an absolute URL. Source: reference identity-and-import 1.2. */
export class Moved extends RookeryError {
  readonly code = 'moved';
  constructor(readonly location: string) {
    super(`This resource has been moved permanently to ${location}`);
  }
}

/** No credential, or one that does not count. */
export class Unauthorized extends RookeryError {
  readonly code = 'unauthorized';
  constructor(readonly reason?: string) {
    super(reason ?? 'Unauthorized');
  }
}

/** The credential is known but dead; clients see the OAuth-style body. */
export class TokenRefused extends RookeryError {
  readonly code = 'invalid_token';
  constructor(readonly why: 'expired' | 'revoked' | 'impersonation_disabled') {
    super(`token is ${why}`);
  }
}

/** The token lacks a scope. Shape: `scopes` are those that would do, most general first. */
export class InsufficientScope extends RookeryError {
  readonly code = 'insufficient_scope';
  constructor(readonly scopes: readonly string[]) {
    super(`needs one of the scopes ${scopes.join(', ')}`);
  }
}

/**
 * Readable, but not allowed. `verbatim` leaves out the "403 Forbidden - " in front of the reason; `inError` does too,
 * for the few refusals that clients find under the key `error` (badges).
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

/** Parameters that do not have their declared form; `problems` are complete phrases such as "body is missing". */
export class InvalidParameters extends RookeryError {
  readonly code = 'invalid_parameters';
  constructor(readonly problems: readonly string[]) {
    super(problems.join(', '));
  }
}

/** Rules of the thing itself, by field: `new Invalid({ title: ["can't be blank"] })`. */
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

/** Rules of the thing itself as complete sentences, for the few endpoints that name no fields: `["Name can't be blank"]`. */
export class InvalidAsSaid extends RookeryError {
  readonly code = 'invalid';
  constructor(readonly sentences: readonly string[]) {
    super(sentences.join('; '));
  }
}

/**
 * A business refusal with a reason. `verbatim` leaves out the "400 Bad request - " in front, for the few endpoints
 * whose confirmed text has none (for instance a failed group creation). `underError` does too, and puts the reason under
 * `error` within `message`, where clients look for it after a move that cannot be.
 */
export class Refused extends RookeryError {
  readonly code = 'refused';
  constructor(
    readonly reason?: string,
    readonly options: { readonly verbatim?: boolean; readonly underError?: boolean } = {},
  ) {
    super(reason ?? 'Bad request');
  }
}

/** Some of several could not be done; the others are. Shape: why not, by the name of each. */
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
 * Shape: `reason` is the value of `message` in the body: a text, problems by field (a fork whose name is taken), or a
 * list of complete sentences.
 */
export class Conflict extends RookeryError {
  readonly code = 'conflict';
  constructor(readonly reason?: string | Readonly<Record<string, readonly string[]>> | readonly string[]) {
    super(typeof reason === 'string' ? reason : 'Conflict');
  }
}

/** The write that this key names is being done right now; what comes of it can be asked for in a moment. */
export class KeyInUse extends RookeryError {
  readonly code = 'key_in_use';
  readonly retryAfterSeconds = 1;
  constructor() {
    super('A request with this Idempotency-Key is still running');
  }
}

/** `If-Unmodified-Since` is older than the record. */
export class PreconditionFailed extends RookeryError {
  readonly code = 'precondition_failed';
  constructor() {
    super('Precondition Failed');
  }
}

/** Shape: `detail` is the value of `message` in the body: a text, or an object such as `{ error: ["..."] }`. */
export class Unprocessable extends RookeryError {
  readonly code = 'unprocessable';
  constructor(readonly detail?: string | Readonly<Record<string, readonly string[]>>) {
    super(typeof detail === 'string' ? detail : 'Unprocessable Entity');
  }
}

export class MethodNotAllowed extends RookeryError {
  readonly code = 'method_not_allowed';
  constructor(readonly explanation?: string) {
    super(explanation ?? 'Method Not Allowed');
  }
}

export class TooLarge extends RookeryError {
  readonly code = 'too_large';
  constructor() {
    super('Request Entity Too Large');
  }
}

/** What of something one caller may have in a time. Shape: `setting` is the variable that sets it; null for a fixed one. */
export interface RateLimit {
  readonly name: string;
  readonly most: number;
  readonly each: 'minute' | 'hour' | 'moment';
  readonly setting: string | null;
}

/** The sentence that tells a refused caller which limit it was, and whoever runs the estate how to change it. */
export function toldLimit({ name, most, each, setting }: RateLimit): string {
  const when = each === 'moment' ? 'at once' : `${each === 'hour' ? 'an' : 'a'} ${each}`;
  return `The limit ${name} is ${most} ${when}${setting === null ? '' : `, set by ${setting}`}.`;
}

export class TooManyRequests extends RookeryError {
  readonly code = 'too_many_requests';
  constructor(
    readonly retryAfterSeconds: number,
    readonly limit: RateLimit,
  ) {
    super(`This endpoint has been requested too many times. Try again later. ${toldLimit(limit)}`);
  }
}

/** Why an answer is 502, 503 or 504: what metrics and log call it, and what it tells an operator. */
export const UNAVAILABLE_REASONS = {
  'database away': 'The database refuses connections, or lost one in the middle of a statement.',
  'commit in doubt':
    'The connection to the database was lost while it was committing: what was written may be there or not. Answered with 502.',
  'answer lost':
    'What a request did is written, and what it was to answer could not be read any more. Answered with 502.',
  'database busy': 'No connection of the pool was free before the deadline.',
  'database slow':
    'A statement or a lock took longer than `DATABASE_STATEMENT_TIMEOUT_MS` or `DATABASE_LOCK_TIMEOUT_MS`.',
  'directory behind':
    'The copy of the directory did not catch up before the deadline, nor did identity decide instead.',
  'identity away': 'Identity refuses connections, or gave no good answer before the deadline.',
  'admin away': 'Nothing was ever heard of admin, so what administrators restrict is not known.',
  'service away': 'The gateway could not reach the service; nothing of the request was done.',
  'connection lost': 'The connection to the service broke before its answer; the request may have been carried out.',
  'rights changed':
    'What the caller may do changed while their request waited; nothing of it was done, and it may be sent again.',
  restored:
    'The database of identity was restored, and not all copies of the directory have said yet which ids they have seen; nothing gets an id until they have.',
  deadline: 'The deadline had passed: before the service began, or before it answered.',
  gone: 'Whoever asked to read something had left before that began; nobody heard this answer.',
  shed: 'The gateway had more to do than it takes on.',
  'not ready': 'Asked for its health, the process or a service behind it was not ready; the answer says why.',
  'clocks differ': 'The clocks of gateway and service are more than 30 seconds apart.',
  other: 'A connection failed that no part answers for; the log line has it.',
} as const;
export type UnavailableReason = keyof typeof UNAVAILABLE_REASONS;

/** A part that is needed cannot be reached in time; the caller may try again. */
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
 * The answer to a commit was lost: what was written may be there or not, so whoever sends it again may do it twice.
 * Work in the background may: its effects are single by themselves.
 */
export class InDoubt extends Unavailable {
  constructor(cause: unknown) {
    super('commit in doubt');
    this.cause = cause;
  }
}

/** What a request did is there for sure; only its answer is not to be had. Whoever sends it again does it twice. */
export class AnswerLost extends Unavailable {
  constructor(cause: unknown) {
    super('answer lost');
    this.cause = cause;
  }
}

/** Nothing to do: the thing is in the wanted state already (304, empty). */
export class NotModified extends RookeryError {
  readonly code = 'not_modified';
  constructor() {
    super('Not modified');
  }
}
