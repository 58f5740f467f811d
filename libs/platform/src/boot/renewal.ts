import type { BootContext } from './process';

/** What the parent asks for: first that all is let go, then that the process begins anew. */
export type RenewalRequest = { readonly type: 'rest' } | { readonly type: 'resume' };

/** What the parent gets once nothing of the former life reads or writes any more; a new life ends in `ready`. */
export interface RestingMessage {
  readonly type: 'resting';
}

/**
 * Lets the parent that started this process over IPC put other data below it: at `rest` everything is closed as at a
 * stop, at `resume` everything is made once more. Nothing that was in memory lives on but code, log and traces, so it
 * is as good as a new process, and takes a fraction of its time. Without such a parent (containers, clusters) nobody
 * can ask.
 * Shape: `latest` is what the process is made of now; `begin` makes it anew; `failed` hears what fails at either and ends
 * the process, so that its parent starts another.
 * Source: docs/reference/reliability.md 6.5.
 */
export function renewOnRequest(
  latest: () => BootContext,
  begin: () => Promise<number | void>,
  failed: (error: unknown) => void,
): void {
  if (!process.send) return;
  let turn: Promise<unknown> = Promise.resolve();
  process.on('message', (request: RenewalRequest) => {
    if (request.type === 'rest') turn = turn.then(() => rest(latest()));
    if (request.type === 'resume') turn = turn.then(begin);
    turn.catch(failed);
  });
}

async function rest({ shutdown, logger, readiness }: BootContext): Promise<void> {
  readiness.require('rest', () => 'at rest');
  if (!(await shutdown.run())) throw new Error('not everything could be let go');
  logger.info('at rest');
  const message: RestingMessage = { type: 'resting' };
  process.send?.(message);
}
