import { setTimeout as pause } from 'node:timers/promises';
import type { INestApplicationContext } from '@nestjs/common';
import { startManagementServer } from './management-server';
import { platformSettings } from './platform.settings';
import type { BootContext, ProcessDefinition } from './process';

const READY_POLL_MS = { first: 10, most: 250 };

/** The message to a parent over IPC once the process is ready. */
export interface ReadyMessage {
  readonly type: 'ready';
  /** The port of the API; null in role `worker`. */
  readonly port: number | null;
  readonly managementPort: number;
}

/**
 * Runs the long-running roles: `all` (api and worker in one application), `api`, `worker`. The management server starts
 * first and stops last, so that health is available at any time. Returns null if the shutdown begins before it is ready.
 */
export async function serveProcess(definition: ProcessDefinition, context: BootContext): Promise<ReadyMessage | null> {
  const settings = context.settings(platformSettings);
  context.readiness.addCheck('boot', () => 'starting');
  context.metrics.collectProcess();
  const management = await startManagementServer({
    ...context,
    host: settings.managementHost,
    port: settings.managementPort,
  });
  context.shutdown.addStep('close', 'management server', () => management.close());

  const port = await startHttpAndWorker(definition, context);
  context.readiness.removeCheck('boot');
  if (!(await waitUntilReady(context))) return null;
  const message: ReadyMessage = { type: 'ready', port, managementPort: management.port };
  const memoryMb = Math.round(process.memoryUsage.rss() / 2 ** 20);
  context.logger.info({ ...message, role: context.role, ms: Math.round(performance.now()), memoryMb }, 'ready');
  return message;
}

/** Starts HTTP and worker. Returns the port of the API, null without one. */
async function startHttpAndWorker(definition: ProcessDefinition, context: BootContext): Promise<number | null> {
  const http = context.role === 'worker' ? undefined : definition.http;
  const worker = context.role === 'api' ? undefined : definition.worker;
  if (http) {
    const app = await http.create(context);
    closeAtShutdown(app, context);
    await worker?.connect(app, context);
    await app.init();
    await worker?.start(app, context);
    return http.listen(app, context);
  }
  if (worker) {
    const app = await worker.create(context);
    closeAtShutdown(app, context);
    await worker.start(app, context);
  }
  return null;
}

function closeAtShutdown(app: INestApplicationContext, context: BootContext): void {
  context.shutdown.addStep('close', 'application', () => app.close());
}

/** Waits for readiness. Returns false if the shutdown begins first. */
async function waitUntilReady(context: BootContext): Promise<boolean> {
  for (let wait = READY_POLL_MS.first; !context.shutdown.hasBegun; wait = Math.min(wait * 2, READY_POLL_MS.most)) {
    if ((await context.readiness.runChecks()).ready) return true;
    await pause(wait);
  }
  return false;
}
