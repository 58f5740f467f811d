/**
 * Database settings of tests: a busy machine is slow at what a test does not look for, so nothing is refused for being
 * late. A test of a limit sets that limit itself.
 */
export const DATABASE_PATIENCE = {
  DATABASE_POOL_WAIT_MS: '50000',
  DATABASE_STATEMENT_TIMEOUT_MS: '50000',
  DATABASE_LOCK_TIMEOUT_MS: '50000',
  DATABASE_IDLE_IN_TRANSACTION_TIMEOUT_MS: '50000',
} as const;
