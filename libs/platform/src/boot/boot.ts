import { setFlagsFromString } from 'node:v8';
import type { INestApplicationContext } from '@nestjs/common';
import { internalKeys } from '../signing/internal-keys';
import { createLogger, LOGGER, nestLogger, stderr } from '../observability/logger';
import type { Logger } from '../observability/logger';
import { Metrics } from '../observability/metrics';
import { Outages } from '../observability/outages';
import { IS_SERVING, SERVICE_NAME } from '../platform.module';
import { platformSettings } from './platform.settings';
import type { BootContext, Command, ProcessDefinition } from './process';
import { Readiness } from './readiness';
import { renewOnRequest } from './renewal';
import { serve } from './serve';
import { ConfigurationError, readSettings, settingsIn } from '../settings/settings';
import type { SettingsOf, SettingsValues } from '../settings/settings';
import { ShutdownOrder } from './shutdown';
import { parseContextKeys } from '../signing/signed-context';
import { stopOnSignals } from './stop';
import { startTracing } from '../observability/tracing';

/**
 * V8 allocates objects of a code location directly in the old generation when many objects from there lived long, as
 * while a service starts. Afterwards that is wrong: a listener of a request in the old generation keeps the whole
 * request and its answer alive until the next full collection. Source: docs/performance.md 5.17.
 */
const NO_PRETENURING = '--no-allocation-site-pretenuring';

/** Exit codes as in sysexits.h. */
const EXIT = { failed: 1, usage: 64, configuration: 78 };

type Role = {
  readonly name: string;
  readonly run: (context: BootContext) => Promise<number | void>;
  readonly stays: boolean;
};

/**
 * Runs one process in the role that its first argument names: `all` (default), `api`, `worker`, `migrate`, or a
 * command. Purpose: everything that every process needs, so that a `main.ts` only lists its parts.
 * Errors: never rejects. Bad settings: all listed on stderr, exit 78. Unknown role: usage, exit 64. Anything else: one
 * log line, exit 1.
 * Source: docs/architecture.md 1; ADR 0011.
 */
export async function boot(definition: ProcessDefinition): Promise<void> {
  setFlagsFromString(NO_PRETENURING);
  const [name = 'all', ...args] = process.argv.slice(2);
  const role = roles(definition, args).find((candidate) => candidate.name === name);
  if (!role) return refuse(usage(definition, name), EXIT.usage);
  let context: BootContext;
  try {
    context = prepare(definition, role);
  } catch (error) {
    if (error instanceof ConfigurationError) return refuse(`${definition.name}: ${error.message}`, EXIT.configuration);
    throw error;
  }
  const latest = (): BootContext => context;
  process.on('uncaughtException', (error) => fail(context, error));
  try {
    const stopTracing = await startTracingIfConfigured(context);
    if (role.stays) {
      stopOnSignals(latest, stopTracing);
      const begin = () => role.run((context = prepare(definition, role, context.logger)));
      renewOnRequest(latest, begin, (error) => fail(context, error));
    } else context.shutdown.on('close', 'tracing', stopTracing);
    const code = await role.run(context);
    if (role.stays) return;
    await context.shutdown.run();
    await Promise.all([process.stdout, process.stderr].map(written));
    process.exit(code ?? 0);
  } catch (error) {
    fail(context, error);
  }
}

/** Resolves when all output was accepted: a slow reader gets it later, and an exit before that would lose it. */
function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => stream.write('', () => resolve()));
}

function roles(definition: ProcessDefinition, args: readonly string[]): Role[] {
  const serving = (name: string, possible: boolean): Role[] =>
    possible ? [{ name, stays: true, run: (context) => serve(definition, context) }] : [];
  const { http, worker, migrate, commands = {} } = definition;
  return [
    ...serving('all', http !== undefined || worker !== undefined),
    ...serving('api', http !== undefined),
    ...serving('worker', worker !== undefined),
    ...(migrate ? [{ name: 'migrate', stays: false, run: migrate }] : []),
    ...Object.entries(commands).map(([name, command]) => ({
      name,
      stays: false,
      run: (context: BootContext) => command.run(args, context),
    })),
  ];
}

/** Reads the settings and creates the context. Shape: `kept` is the existing log when the process restarts in place. */
function prepare(definition: ProcessDefinition, role: Role, kept?: Logger): BootContext {
  const values: SettingsValues = readSettings([platformSettings, ...definition.settings], process.env);
  const platform = settingsIn(values, platformSettings);
  refuseForeignKeys(definition.name, platform);
  const isCommand = !role.stays && role.name !== 'migrate';
  const logger =
    kept ??
    createLogger(
      { service: definition.name, instance: platform.instanceId, level: platform.logLevel },
      // The stdout of a command is for its caller, so log lines go to stderr.
      isCommand ? stderr() : undefined,
    );
  const metrics = new Metrics();
  const outages = new Outages(metrics, logger);
  const made = { logger, metrics, outages, readiness: new Readiness(), shutdown: new ShutdownOrder(logger) };
  values.set(SERVICE_NAME, definition.name);
  values.set(IS_SERVING, role.stays);
  values.set(LOGGER, made.logger);
  values.set(Metrics, made.metrics);
  values.set(Outages, made.outages);
  values.set(Readiness, made.readiness);
  values.set(ShutdownOrder, made.shutdown);
  let application: Promise<INestApplicationContext> | undefined;
  const context: BootContext = {
    ...made,
    name: definition.name,
    role: role.name,
    values,
    nestLogger: nestLogger(logger),
    settings: (wanted) => settingsIn(values, wanted),
    rootModule: async () => {
      const root = await definition.module();
      return 'forRoot' in root ? root.forRoot(values) : root;
    },
    application: () => (application ??= standalone(context)),
  };
  return context;
}

/**
 * Refuses keys of other processes: a service that could sign or authenticate for another would make the separation of
 * keys worthless.
 * Source: reference reliability 6.1; ADR 0170.
 */
function refuseForeignKeys(name: string, keys: SettingsOf<typeof platformSettings>): void {
  const problems: string[] = [];
  if (name !== 'gateway' && parseContextKeys(keys.contextKeys).reachesBeyond(name)) {
    problems.push(
      `ROOKERY_CONTEXT_KEYS holds keys for others than ${name}; a service needs its own alone, as kid/${name}:base64`,
    );
  }
  if (internalKeys(keys.internalKeys).reachesBeyond(name)) {
    problems.push(
      `ROOKERY_INTERNAL_KEYS holds keys for others than ${name}; a process needs those alone that it presents or checks`,
    );
  }
  if (problems.length > 0) throw new ConfigurationError(problems);
}

async function standalone(context: BootContext): Promise<INestApplicationContext> {
  const { NestFactory } = await import('@nestjs/core');
  const module = await context.rootModule();
  const app = await NestFactory.createApplicationContext(module, { logger: context.nestLogger, abortOnError: false });
  context.shutdown.on('close', 'application', () => app.close());
  return app;
}

/** Starts tracing, once for the life of the process. Shape: the result sends remaining spans and stops it. */
async function startTracingIfConfigured(context: BootContext): Promise<() => Promise<void>> {
  if (context.settings(platformSettings).otlpEndpoint === null) return () => Promise.resolve();
  return startTracing(context.name);
}

function usage(definition: ProcessDefinition, name: string): string {
  const about: Readonly<Record<string, Pick<Command, 'about'>>> = {
    all: { about: 'API and worker in one process (the default).' },
    api: { about: 'API only.' },
    worker: { about: 'Relay, consumers and jobs only.' },
    migrate: { about: 'Brings the database to the newest schema and ends.' },
    ...definition.commands,
  };
  const lines = roles(definition, []).map((role) => `  ${role.name.padEnd(20)} ${about[role.name]?.about ?? ''}`);
  return `${definition.name}: there is no role or command "${name}". There are:\n${lines.join('\n')}`;
}

function fail(context: BootContext, error: unknown): void {
  const { code, syscall, port } = (error ?? {}) as { code?: string; syscall?: string; port?: number };
  if (code === 'EADDRINUSE' && syscall === 'listen') {
    context.logger.error({ port }, `port ${port} is in use by another process`);
  } else {
    context.logger.error({ err: error }, `${context.name} ${context.role} failed`);
  }
  process.exit(EXIT.failed);
}

function refuse(text: string, code: number): void {
  process.stderr.write(`${text}\n`);
  process.exit(code);
}
