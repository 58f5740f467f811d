import { setTimeout as pause } from 'node:timers/promises';

/** Waits for a condition. Bounds: 20 seconds. Errors: a plain Error. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 20_000; !(await isSo());) {
    if (Date.now() > end) throw new Error('the condition did not become true');
    await pause(2);
  }
}
