import { createHook } from 'node:async_hooks';
import { join, relative } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { NestFactory } from '@nestjs/core';
import type { ProcessName, RootModule, SettingsDefinition, WorkerStep } from '@rookery/platform';
import { createLogger, IS_SERVING, LOGGER, ShutdownOrder } from '@rookery/platform';
import type { BootContext } from '@rookery/platform';
import { createApiV4App } from '@rookery/api-v4';
import type { MigrationClass } from '@rookery/persistence';
import { testSettings } from '../app';
import { testDatabase } from '../database';

/** Whoever answers requests knows when they stood still. */
const ANSWERING = ['libs/platform/src/waiting/heartbeat.ts'];

const ROOT = join(__dirname, '../../../..');
/** Long enough for whatever begins by itself to go to sleep once; it is longer until all that must begin has. Units: milliseconds. */
const WATCHED_MS = 500;
const WATCHED_AT_MOST_MS = 60_000;

export interface BackgroundOptions {
  readonly service: ProcessName;
  readonly module: RootModule;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- definitions of any fields, as in ProcessDefinition
  readonly settings: readonly SettingsDefinition<any>[];
  readonly migrations: readonly MigrationClass[];
  readonly worker: WorkerStep;
  /** Files that start something in every process that serves: paths from the root of the repository. */
  readonly everywhere?: readonly string[];
  /** Further ones that the worker role must be seen to start. */
  readonly inWorkers: readonly string[];
}

/**
 * What begins by itself, by role: loops, intervals, queues. Whatever is done later is a job, or a loop of the worker role
 * alone; a role `api` may be scaled and a command may be run without more of them.
 * Shape: timers that the service, our libraries or the queue of jobs start while the process is left alone.
 * Source: ADR 0011, 0160.
 */
export function background(o: BackgroundOptions): void {
  describe('what begins by itself', () => {
    const everywhere = o.everywhere ?? [];

    it('in the role api is what every process needs', async () => {
      const wanted = [...everywhere, ...ANSWERING];
      expect(await startersIn(o, 'api', wanted)).toEqual([...wanted].sort());
    });

    it('in a command is nothing', async () => {
      expect(await startersIn(o, 'command', [])).toEqual([]);
    });

    it('in the role worker is the rest', async () => {
      const wanted = [...everywhere, ...o.inWorkers];
      expect(await startersIn(o, 'worker', wanted)).toEqual(expect.arrayContaining(wanted));
    });
  });
}

/** Files that start timers in a process of this role that nobody uses, sorted; the wanted ones are waited for. */
async function startersIn(
  o: BackgroundOptions,
  role: 'api' | 'worker' | 'command',
  wanted: readonly string[],
): Promise<string[]> {
  const database = await testDatabase(o.service, o.migrations);
  // Neither identity nor admin nor the bus is there: those who follow them try, rest, and try again.
  const env = { NATS_URL: 'nats://127.0.0.1:1', IDENTITY_URL: 'http://127.0.0.1:1', ADMIN_URL: 'http://127.0.0.1:1' };
  const values = testSettings({ service: o.service, settings: o.settings, databaseUrl: database.url, env });
  const logger = createLogger({ service: o.service, level: 'silent' });
  values.set(LOGGER, logger).set(IS_SERVING, role !== 'command');
  const rootModule = 'forRoot' in o.module ? o.module.forRoot(values) : o.module;
  const shutdown = new ShutdownOrder(logger);
  const settings = (wanted: SettingsDefinition) => values.get(wanted.token);
  const context = { nestLogger: false, shutdown, settings, rootModule: async () => rootModule };
  const found = new Set<string>();
  const hook = createHook({
    init: (_id, type) => {
      const starter = type === 'Timeout' ? starterOf(new Error().stack ?? '') : null;
      if (starter) found.add(starter);
    },
  });
  hook.enable();
  try {
    const app =
      role === 'api'
        ? await createApiV4App(rootModule as never, false)
        : role === 'worker'
          ? await o.worker.create(context as unknown as BootContext)
          : await NestFactory.createApplicationContext(rootModule, { logger: false });
    if (role === 'api') await app.init();
    if (role === 'worker') await o.worker.start(app, context as unknown as BootContext);
    await pause(WATCHED_MS);
    for (const end = Date.now() + WATCHED_AT_MOST_MS; !wanted.every((file) => found.has(file)) && Date.now() < end;)
      await pause(20);
    hook.disable();
    await shutdown.run();
    await app.close();
  } finally {
    hook.disable();
    await database.drop();
  }
  return [...found].sort();
}

/** End with what they limit: the wait for a connection, its silence, the wait for one answer. */
const LIMITS = ['lanes', 'steady-client', 'hedged'].map((name) => `libs/persistence/src/connections/${name}.ts`);

/**
 * Who called for the timer: a source file of ours, or the queue of jobs. Null for timers inside other packages and in
 * `LIMITS`, which end with what they limit, and for those of the test.
 */
function starterOf(stack: string): string | null {
  const isBetween = (line: string): boolean => /^Error|\(node:|at node:|\(<anonymous>\)/.test(line);
  const caller = stack.split('\n').find((line) => !isBetween(line) && !line.includes(__filename));
  const path = /\(?(\/[^():]+):\d+:\d+\)?$/.exec(caller ?? '')?.[1];
  if (path === undefined) return null;
  const file = relative(ROOT, path);
  if (file.includes('node_modules/graphile-worker/')) return 'graphile-worker';
  if (LIMITS.includes(file) || file.startsWith('libs/testing/')) return null;
  return /^(apps|libs)\/[^/]+\/src\//.test(file) ? file : null;
}
