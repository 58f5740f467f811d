import type { BootContext } from './process';
import { shutDown } from './shutdown';

/** Requests of the parent process: first to release everything, then to start again. */
export type RenewalRequest = { readonly type: 'rest' } | { readonly type: 'resume' };

/** Reply to `rest`: the process no longer reads or writes anything. Reply to `resume` is `ready`. */
export interface RestingMessage {
  readonly type: 'resting';
}

/**
 * Lets the parent that started this process over IPC replace its data. At `rest` everything is closed as at a stop, and
 * at `resume` everything is created again. Only code, log and tracing stay in memory, so the result is as good as a new
 * process in a fraction of the time. Without such a parent (containers, clusters) there are no such requests.
 *
 * `latest` returns the current contexts, of which the first closes before the others. `begin` starts again. `failed`
 * gets an error of `rest` or `resume` and ends the process, so that its parent starts another.
 * Source: docs/reference/reliability.md 6.5.
 */
export function restartOnParentRequest(
  latest: () => readonly BootContext[],
  begin: () => Promise<void>,
  failed: (error: unknown) => void,
): void {
  if (!process.send) return;
  let turn: Promise<unknown> = Promise.resolve();
  process.on('message', (request: RenewalRequest) => {
    if (request.type === 'rest') turn = turn.then(() => shutDownForRenewal(latest()));
    if (request.type === 'resume') turn = turn.then(begin);
    turn.catch(failed);
  });
}

async function shutDownForRenewal(contexts: readonly BootContext[]): Promise<void> {
  for (const { readiness } of contexts) readiness.addCheck('rest', () => 'at rest');
  if (!(await shutDown(contexts))) throw new Error('not everything could be closed');
  for (const { logger } of contexts) logger.info('at rest');
  const message: RestingMessage = { type: 'resting' };
  process.send?.(message);
}
