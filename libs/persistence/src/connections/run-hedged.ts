/** How long one query may take before another is sent. Units: ms. */
const WAIT_MS = 500;
/** Queries of one call at most. Each uses a connection, and every lane has more than that. */
const MAX_QUERIES = 3;

/**
 * Sends a query again while no answer comes, and returns the first answer. Purpose: an answer that many callers share
 * does not wait for one silent connection, which is found dead only seconds later.
 * Errors: those of the last query, once no other is running.
 */
export function runHedged<T>(query: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    let sent = 0;
    let running = 0;
    let timer: NodeJS.Timeout | undefined;
    const begin = (): void => {
      sent += 1;
      running += 1;
      query().then(
        (answer) => {
          clearTimeout(timer);
          resolve(answer);
        },
        (error: Error) => {
          running -= 1;
          if (running > 0) return;
          clearTimeout(timer);
          reject(error);
        },
      );
      if (sent < MAX_QUERIES) timer = setTimeout(begin, WAIT_MS);
    };
    begin();
  });
}
