import { RookeryError, Unavailable } from '@rookery/kernel';
import type { UnavailableReason } from '@rookery/kernel';
import { QueryFailedError } from 'typeorm';

interface DriverError {
  readonly code?: unknown;
  readonly constraint?: unknown;
  readonly message?: unknown;
  readonly severity?: unknown;
}

function driverErrorOf(error: unknown): DriverError {
  const inner = error instanceof QueryFailedError ? (error.driverError as unknown) : error;
  return typeof inner === 'object' && inner !== null ? (inner as DriverError) : {};
}

/** The SQLSTATE of a failed statement, or the system's code of a failed connection; null for anything else. */
export function sqlStateOf(error: unknown): string | null {
  const { code } = driverErrorOf(error);
  return typeof code === 'string' ? code : null;
}

/** Whether a unique, foreign key, check or not-null constraint was violated (the named one, when given). */
export function violatesConstraint(error: unknown, constraint?: string): boolean {
  const failed = driverErrorOf(error);
  if (typeof failed.code !== 'string' || !failed.code.startsWith('23')) return false;
  return constraint === undefined || failed.constraint === constraint;
}

const PROGRAM_LIMIT_EXCEEDED = '54000';

/** Whether a text was too long for an entry of an index: some 2700 bytes that cannot be compressed. */
export function isTooLongForIndex(error: unknown): boolean {
  return sqlStateOf(error) === PROGRAM_LIMIT_EXCEEDED;
}

export type AbortReason = 'deadlock' | 'serialization failure';
const ABORT_REASONS: ReadonlyMap<string, AbortReason> = new Map([
  ['40P01', 'deadlock'],
  ['40001', 'serialization failure'],
]);

/** The reason why the database aborted a transaction that may be retried as a whole; null for other errors. */
export function abortReasonOf(error: unknown): AbortReason | null {
  return ABORT_REASONS.get(sqlStateOf(error) ?? '') ?? null;
}

const CONNECTION_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
]);
const CONNECTION_STATES = new Set(['57P01', '57P02', '57P03', '57P05', '25P03', '53300', '53100', '53200']);
/** In class 08, but a mistake of our own: values that do not fit the statement. */
const PROTOCOL_VIOLATION = '08P01';
/** Messages of pg without a code, for a closed connection or an exhausted pool. */
const CONNECTION_TEXTS =
  /Connection terminated|timeout expired|timeout exceeded when trying to connect|Client has encountered a connection error|not queryable|Cannot use a pool after/;

const AWAY: ReadonlySet<UnavailableReason> = new Set(['database away', 'database busy', 'commit in doubt']);

/** Whether the database itself is away or full, so that no message or request is at fault. */
export function isDatabaseAway(error: unknown): boolean {
  if (error instanceof Unavailable) return AWAY.has(error.reason);
  const code = sqlStateOf(error);
  if (code !== null)
    return (
      CONNECTION_CODES.has(code) ||
      CONNECTION_STATES.has(code) ||
      (code.startsWith('08') && code !== PROTOCOL_VIOLATION)
    );
  const { message } = driverErrorOf(error);
  return typeof message === 'string' && CONNECTION_TEXTS.test(message);
}

/**
 * Whether a failed commit certainly did not happen: the server refused it and still runs, or never received it.
 * A FATAL message, sent as the server ends the connection, does not count: it says nothing about an earlier commit.
 */
export function wasRolledBack(error: unknown): boolean {
  const { severity, message } = driverErrorOf(error);
  return severity === 'ERROR' || (typeof message === 'string' && /not queryable/.test(message));
}

/** Statement and lock timeouts: the database is up but too slow for this statement. */
const TOO_SLOW = new Set(['57014', '55P03']);

/**
 * The error for callers: `Unavailable` (with the cause) when the database is away or too slow, else the error itself.
 */
export function translateDatabaseError(error: unknown): unknown {
  if (error instanceof RookeryError) return error;
  const isAway = isDatabaseAway(error);
  if (!isAway && !TOO_SLOW.has(sqlStateOf(error) ?? '')) return error;
  const unavailable = new Unavailable(isAway ? 'database away' : 'database slow');
  unavailable.cause = error;
  return unavailable;
}
