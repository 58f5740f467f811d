/** How long somebody waits for one answer before they ask besides. Units: ms. */
const WAIT_MS = 500;
/** A connection each; there are more in every lane. */
const MOST_LOOKS = 3;

/**
 * Asks again, besides, while no answer comes, and takes the first. Purpose: what many share waits for no single
 * connection that has fallen silent; it is found dead seconds later only.
 * Errors: those of the last look, once none is left that may still answer.
 */
export function hedged<T>(look: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    let looks = 0;
    let running = 0;
    let timer: NodeJS.Timeout | undefined;
    const begin = (): void => {
      looks += 1;
      running += 1;
      look().then(
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
      if (looks < MOST_LOOKS) timer = setTimeout(begin, WAIT_MS);
    };
    begin();
  });
}
