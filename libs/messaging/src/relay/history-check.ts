import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '@rookery/persistence';
import { HISTORY } from '@rookery/persistence';
import type { Logger } from '@rookery/platform';

/** Units: milliseconds. */
const PAUSE_MS = 200;

/**
 * Waits until the leader of the relay has checked whether the database was restored. After a restore, consumers start
 * at another position; starting earlier would apply events of the lost history. Returns false if `signal` was aborted.
 * Source: docs/reference/reliability.md 2.6.
 */
export async function waitForDatabaseHistoryCheck(
  database: Pick<Database, 'query'>,
  logger: Pick<Logger, 'warn'>,
  signal: AbortSignal,
): Promise<boolean> {
  let isWarned = false;
  while (!signal.aborted) {
    try {
      const [kept] = await database.query<{ is_checked: boolean }>(
        `select history in ('', ${HISTORY}) as is_checked from database_history`,
      );
      if (kept?.is_checked) return !signal.aborted;
    } catch (error) {
      if (!isWarned) logger.warn({ err: error }, 'consumers cannot begin yet');
      isWarned = true;
    }
    await pause(PAUSE_MS, undefined, { signal }).catch(() => undefined);
  }
  return false;
}
