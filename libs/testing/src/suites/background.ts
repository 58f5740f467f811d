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

/** Files whose timers run in every process that answers requests. */
const ANSWERING = ['libs/platform/src/waiting/request-arrival-clock.ts'];

const ROOT = join(__dirname, '../../../..');
/**
 * Time in which every loop sleeps at least once; the limit is longer, for expected loops that start late. Units:
 * milliseconds.
 */
const WATCHED_MS = 500;
const WATCHED_AT_MOST_MS = 60_000;

export interface BackgroundWorkTestOptions {
  readonly service: ProcessName;
  readonly module: RootModule;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- definitions of any fields, as in ProcessDefinition
  readonly settings: readonly SettingsDefinition<any>[];
  readonly migrations: readonly MigrationClass[];
  readonly worker: WorkerStep;
  /** Further environment variables that the settings require. */
  readonly env?: Readonly<Record<string, string>>;
  /** Files that start something in every process that serves: paths from the root of the repository. */
  readonly everywhere?: readonly string[];
  /** Further files that must start timers in the worker role. */
  readonly inWorkers: readonly string[];
}

/**
 * Checks the background work of each role: loops, intervals, queues. Deferred work is a job or a loop of the worker
 * role alone; the role `api` may be scaled, and commands may run, without more of it. The checks find timers that the
 * service, our libraries or the job queue start while the process is idle.
 * Source: ADR 0011, 0160.
 */
export function registerBackgroundWorkTests(o: BackgroundWorkTestOptions): void {
  describe('background work', () => {
    const everywhere = o.everywhere ?? [];

    it('in the role api is limited to that of every process', async () => {
      const wanted = [...everywhere, ...ANSWERING];
      expect(await filesThatStartTimers(o, 'api', wanted)).toEqual([...wanted].sort());
    });

    it('does not exist in a command', async () => {
      expect(await filesThatStartTimers(o, 'command', [])).toEqual([]);
    });

    it('in the role worker includes all loops', async () => {
      const wanted = [...everywhere, ...o.inWorkers];
      expect(await filesThatStartTimers(o, 'worker', wanted)).toEqual(expect.arrayContaining(wanted));
    });
  });
}

/** Returns the files that start timers in an idle process of this role, sorted; waits for the expected ones. */
async function filesThatStartTimers(
  o: BackgroundWorkTestOptions,
  role: 'api' | 'worker' | 'command',
  expectedFiles: readonly string[],
): Promise<string[]> {
  const database = await testDatabase(o.service, o.migrations);
  // Identity, admin and the bus are unreachable: loops that follow them try, wait, and try again.
  const env = {
    NATS_URL: 'nats://127.0.0.1:1',
    ...o.env,
  };
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
      const starter = type === 'Timeout' ? sourceFileOfTimer(new Error().stack ?? '') : null;
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
    for (
      const end = Date.now() + WATCHED_AT_MOST_MS;
      !expectedFiles.every((file) => found.has(file)) && Date.now() < end;
    )
      await pause(20);
    hook.disable();
    await shutdown.runAll();
    await app.close();
  } finally {
    hook.disable();
    await database.drop();
  }
  return [...found].sort();
}

/**
 * Files whose timers end with what they limit: the wait for a connection, its silence, the wait for one answer, one
 * process of git, the program that starts git.
 */
const LIMITS = [
  'libs/persistence/src/connections/lanes.ts',
  'libs/persistence/src/connections/steady-client.ts',
  'libs/persistence/src/connections/run-hedged.ts',
  'libs/git/src/process/git-run.ts',
  'libs/git/src/process/git-starter.ts',
];

/**
 * Returns the source of a timer: a source file of ours, or the job queue. Null for timers inside other packages, in
 * `LIMITS`, and of the test.
 */
function sourceFileOfTimer(stack: string): string | null {
  const isBetween = (line: string): boolean => /^Error|\(node:|at node:|\(<anonymous>\)/.test(line);
  const caller = stack.split('\n').find((line) => !isBetween(line) && !line.includes(__filename));
  const path = /\(?(\/[^():]+):\d+:\d+\)?$/.exec(caller ?? '')?.[1];
  if (path === undefined) return null;
  const file = relative(ROOT, path);
  if (file.includes('node_modules/graphile-worker/')) return 'graphile-worker';
  if (LIMITS.includes(file) || file.startsWith('libs/testing/')) return null;
  return /^(apps|libs)\/[^/]+\/src\//.test(file) ? file : null;
}
