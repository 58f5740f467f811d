import { AsyncLocalStorage } from 'node:async_hooks';
import type { BootContext } from './process';

/** The definition that the running code belongs to, where several are booted in one process. */
export type RunningProcess = Pick<BootContext, 'name' | 'role' | 'logger'>;

const running = new AsyncLocalStorage<RunningProcess>();

/**
 * Runs work as that of one definition. Servers, timers, connections and jobs that it creates belong to the definition
 * too, for their whole life. Source: ADR 0197.
 */
export function runAs<T>(process: RunningProcess, use: () => T): T {
  return running.run(process, use);
}

/** The definition that the running code belongs to; null where each has a process of its own. */
export function runningProcess(): RunningProcess | null {
  return running.getStore() ?? null;
}
