import { setTimeout as pause } from 'node:timers/promises';
import { platformSettings } from './platform.settings';
import type { BootContext } from './process';

/**
 * Shuts the process down on SIGTERM, SIGINT or when the parent that started it over IPC is gone. Readiness fails at
 * once, and answers have `Connection: close`; after `delayMs` (SIGTERM only: without it there is no load balancer) the
 * shutdown order runs; then exit 0. After another `graceMs`, exit 1 even if a step still runs.
 * Shape: `latest` returns the context at the time of the signal; `last` runs at the very end.
 * Source: reference reliability 6.4.
 */
export function stopOnSignals(latest: () => BootContext, last: () => Promise<void>): void {
  const { shutdownDelayMs, shutdownGraceMs } = latest().settings(platformSettings);
  let stopping = false;
  const stop = (reason: string, delayMs: number): void => {
    if (stopping) return;
    stopping = true;
    void end(latest(), last, { reason, delayMs, graceMs: shutdownGraceMs });
  };
  process.on('SIGTERM', () => stop('SIGTERM', shutdownDelayMs));
  process.on('SIGINT', () => stop('SIGINT', 0));
  if (process.send) {
    process.on('disconnect', () => stop('the parent process is gone', 0));
    if (!process.connected) stop('the parent process is gone', 0);
  }
}

async function end(
  context: BootContext,
  last: () => Promise<void>,
  o: { readonly reason: string; readonly delayMs: number; readonly graceMs: number },
): Promise<void> {
  const { reason, delayMs, graceMs } = o;
  const { logger, readiness, shutdown } = context;
  readiness.require('shutdown', () => 'stopping');
  logger.info({ reason, delayMs, graceMs }, 'stopping');
  setTimeout(() => {
    logger.error({ graceMs, unfinished: shutdown.unfinished }, 'shutdown took too long');
    process.exit(1);
  }, delayMs + graceMs);
  await shutdown.announce();
  await pause(delayMs);
  const clean = await shutdown.run();
  await last().catch((err: unknown) => logger.error({ err }, 'traces were lost'));
  logger.info({ clean }, 'stopped');
  process.exit(0);
}
