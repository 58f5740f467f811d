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

/** Does this error say that a unique, foreign key, check or not-null rule was broken (the named one, when given)? */
export function violates(error: unknown, constraint?: string): boolean {
  const failed = driverErrorOf(error);
  if (typeof failed.code !== 'string' || !failed.code.startsWith('23')) return false;
  return constraint === undefined || failed.constraint === constraint;
}

export type BrokenOff = 'deadlock' | 'serialization failure';
const BROKEN_OFF: ReadonlyMap<string, BrokenOff> = new Map([
  ['40P01', 'deadlock'],
  ['40001', 'serialization failure'],
]);

/** Why the database broke a transaction off that may be run once more as a whole; null when it did not. */
export function whyBrokenOff(error: unknown): BrokenOff | null {
  return BROKEN_OFF.get(sqlStateOf(error) ?? '') ?? null;
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
/** Of class 08, but our own mistake: values that do not fit the statement. */
const PROTOCOL_VIOLATION = '08P01';
/** What pg says without a code when the other side hangs up or the pool has nothing to give. */
const CONNECTION_TEXTS =
  /Connection terminated|timeout expired|timeout exceeded when trying to connect|Client has encountered a connection error|not queryable|Cannot use a pool after/;

const AWAY: ReadonlySet<UnavailableReason> = new Set(['database away', 'database busy', 'commit in doubt']);

/** Is the database itself away or full, so that no message and no request is to blame? */
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
 * Is it sure that a commit that failed has not happened? The server refused it in words and lives, or was never told.
 * What it says as it ends the connection (FATAL) says nothing of a commit before.
 */
export function wasRolledBack(error: unknown): boolean {
  const { severity, message } = driverErrorOf(error);
  return severity === 'ERROR' || (typeof message === 'string' && /not queryable/.test(message));
}

/** Statement and lock timeouts: the database lives but could not serve this in time. */
const TOO_SLOW = new Set(['57014', '55P03']);

/**
 * What callers shall see: `Unavailable` (with the cause) when the database is away or too slow, else the error itself.
 */
export function translated(error: unknown): unknown {
  if (error instanceof RookeryError) return error;
  const isAway = isDatabaseAway(error);
  if (!isAway && !TOO_SLOW.has(sqlStateOf(error) ?? '')) return error;
  const unavailable = new Unavailable(isAway ? 'database away' : 'database slow');
  unavailable.cause = error;
  return unavailable;
}
