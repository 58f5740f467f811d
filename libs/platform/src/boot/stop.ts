import { setTimeout as pause } from 'node:timers/promises';
import { platformSettings } from './platform.settings';
import type { BootContext } from './process';
import { shutDown } from './shutdown';

/**
 * Shuts the process down on SIGTERM, SIGINT or when the parent that started it over IPC is gone. Readiness fails at
 * once, and answers have `Connection: close`; after `delayMs` (SIGTERM only: without it there is no load balancer) the
 * shutdown order runs; then exit 0. After another `graceMs`, exit 1 even if a step still runs. `latest` returns the
 * contexts at the time of the signal, of which the first stops before the others; `last` runs at the very end. Source:
 * reference reliability 6.4.
 */
export function stopOnSignals(latest: () => readonly BootContext[], last: () => Promise<void>): void {
  const limits = latest().map((context) => context.settings(platformSettings));
  const shutdownDelayMs = Math.max(...limits.map((one) => one.shutdownDelayMs));
  const shutdownGraceMs = Math.max(...limits.map((one) => one.shutdownGraceMs));
  let stopping = false;
  const stop = (reason: string, delayMs: number): void => {
    if (stopping) return;
    stopping = true;
    void stopContexts(latest(), last, { reason, delayMs, graceMs: shutdownGraceMs });
  };
  process.on('SIGTERM', () => stop('SIGTERM', shutdownDelayMs));
  process.on('SIGINT', () => stop('SIGINT', 0));
  if (process.send) {
    process.on('disconnect', () => stop('the parent process is gone', 0));
    if (!process.connected) stop('the parent process is gone', 0);
  }
}

async function stopContexts(
  contexts: readonly BootContext[],
  last: () => Promise<void>,
  o: { readonly reason: string; readonly delayMs: number; readonly graceMs: number },
): Promise<void> {
  const { reason, delayMs, graceMs } = o;
  for (const { readiness, logger } of contexts) {
    readiness.addCheck('shutdown', () => 'stopping');
    logger.info({ reason, delayMs, graceMs }, 'stopping');
  }
  setTimeout(() => {
    for (const { logger, shutdown } of contexts)
      if (shutdown.unfinishedSteps.length > 0)
        logger.error({ graceMs, unfinished: shutdown.unfinishedSteps }, 'shutdown took too long');
    process.exit(1);
  }, delayMs + graceMs);
  await Promise.all(contexts.map(({ shutdown }) => shutdown.runAnnouncement()));
  await pause(delayMs);
  const clean = await shutDown(contexts);
  await last().catch((err: unknown) => contexts[0]?.logger.error({ err }, 'traces were lost'));
  for (const { logger } of contexts) logger.info({ clean }, 'stopped');
  process.exit(0);
}
