import { setFlagsFromString } from 'node:v8';
import { Neighbours } from '../neighbours/neighbours';
import { unpackProcessEnvironments } from './environments';
import type { Environments } from './environments';
import { platformSettings } from './platform.settings';
import { prepareContext } from './prepare';
import type { ProcessPart } from './prepare';
import type { BootContext, Command, ProcessDefinition } from './process';
import { restartOnParentRequest } from './renewal';
import { runAs, runningProcess } from './running-process';
import type { RunningProcess } from './running-process';
import { serveProcess } from './serve';
import { ConfigurationError } from '../settings/settings';
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

interface ProcessRole {
  readonly name: string;
  /** Runs a command or a migration; null for the roles that serve until they are stopped. */
  readonly run: ((context: BootContext) => Promise<number | void>) | null;
}

/**
 * Runs one process in the role that its first argument names: `all` (default), `api`, `worker`, `migrate`, or a
 * command. Purpose: everything that every process needs, so that a `process.ts` only lists its parts.
 * Errors: never rejects. Bad settings: all listed on stderr, exit 78. Unknown role: usage, exit 64. Anything else: one
 * log line, exit 1.
 * Source: docs/architecture.md 1; ADR 0011.
 */
export async function boot(definition: ProcessDefinition): Promise<void> {
  const [name = 'all', ...args] = process.argv.slice(2);
  const role = listProcessRoles(definition, args).find((candidate) => candidate.name === name);
  if (!role) return exitWithText(usageText(definition, name), EXIT.usage);
  const part = { definition, role: role.name, staysRunning: role.run === null, env: process.env };
  await runParts([part], async ([context]) => (context && role.run ? role.run(context) : undefined));
}

/**
 * Runs several definitions in role `all` in this one process: those that have an environment (`unpackProcessEnvironments`). Each
 * has its own settings, logger, metrics, management server, shutdown order and Nest application, as in a process of its
 * own. Clients reach the first definition, which stops before the others: its ports are reported to the parent. The
 * services call each other within the process.
 * Errors: as `boot`; a failure of one definition ends the process, and with it all others.
 * Source: ADR 0197, 0199.
 */
export async function bootTogether(definitions: readonly ProcessDefinition[]): Promise<void> {
  let environments: Environments;
  try {
    environments = unpackProcessEnvironments(process.env);
  } catch (error) {
    return exitWithText((error as Error).message, EXIT.configuration);
  }
  const neighbours = new Neighbours(true);
  const parts = definitions
    .filter(({ name }) => environments.has(name))
    .map((definition) => ({
      definition,
      role: 'all',
      staysRunning: true,
      env: environments.of(definition.name),
      neighbours,
    }));
  await runParts(parts, () => Promise.resolve());
}

/** Runs the parts of this process. `use` runs a command or a migration, and returns its exit code. */
async function runParts(
  parts: readonly ProcessPart[],
  use: (contexts: readonly BootContext[]) => Promise<number | void>,
): Promise<void> {
  setFlagsFromString(NO_PRETENURING);
  let contexts: readonly BootContext[];
  try {
    contexts = prepareContexts(parts);
  } catch (error) {
    if (error instanceof ConfigurationError) return exitWithText(error.message, EXIT.configuration);
    throw error;
  }
  const latest = (): readonly BootContext[] => contexts;
  process.on('uncaughtException', (error) => logAndExit(contexts, error));
  try {
    const stopTracing = await startTracingIfConfigured(contexts);
    if (parts.every((part) => part.staysRunning)) {
      stopOnSignals(latest, stopTracing);
      const begin = () => serveParts(parts, (contexts = prepareContexts(parts, contexts)));
      restartOnParentRequest(latest, begin, (error) => logAndExit(contexts, error));
      return await serveParts(parts, contexts);
    }
    for (const { shutdown } of contexts) shutdown.addStep('close', 'tracing', stopTracing);
    const code = await use(contexts);
    await Promise.all(contexts.map(({ shutdown }) => shutdown.runAll()));
    await Promise.all([process.stdout, process.stderr].map(waitForWrites));
    process.exit(code ?? 0);
  } catch (error) {
    logAndExit(contexts, error);
  }
}

/**
 * Creates the contexts of all parts. `former` are those whose loggers are kept. Errors: ConfigurationError with the
 * problems of all parts.
 */
function prepareContexts(parts: readonly ProcessPart[], former: readonly BootContext[] = []): BootContext[] {
  const problems: string[] = [];
  const contexts = parts.flatMap((part, index) => {
    try {
      return [prepareContext(part, former[index]?.logger)];
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      problems.push(`${part.definition.name}: ${error.message}`);
      return [];
    }
  });
  if (problems.length > 0) throw new ConfigurationError(problems, problems.join('\n'));
  return contexts;
}

/** Serves all parts, and reports to the parent over IPC when the last of them is ready. */
async function serveParts(parts: readonly ProcessPart[], contexts: readonly BootContext[]): Promise<void> {
  const isTogether = parts.length > 1;
  const messages = await Promise.all(
    contexts.map((context, index) => {
      const start = () => serveProcess((parts[index] as ProcessPart).definition, context);
      return isTogether
        ? runAs(context, () => start().catch((error: unknown) => logAndExit([context], error)))
        : start();
    }),
  );
  const [message] = messages;
  if (messages.every(Boolean) && process.connected) process.send?.(message, () => undefined);
}

/** Resolves when all output was accepted: a slow reader gets it later, and an exit before that would lose it. */
function waitForWrites(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => stream.write('', () => resolve()));
}

function listProcessRoles(definition: ProcessDefinition, args: readonly string[]): ProcessRole[] {
  const { http, worker, migrate, commands = {} } = definition;
  const serving = { all: http ?? worker, api: http, worker };
  return [
    ...Object.entries(serving).flatMap(([name, step]) => (step ? [{ name, run: null }] : [])),
    ...(migrate ? [{ name: 'migrate', run: migrate }] : []),
    ...Object.entries(commands).map(([name, command]) => ({
      name,
      run: (context: BootContext) => command.run(args, context),
    })),
  ];
}

/** Starts tracing, once for the life of the process. Returns a function that sends remaining spans and stops it. */
async function startTracingIfConfigured(contexts: readonly BootContext[]): Promise<() => Promise<void>> {
  const traced = contexts.find((context) => context.settings(platformSettings).otlpEndpoint !== null);
  if (!traced) return () => Promise.resolve();
  return startTracing(traced.name, contexts.length > 1 ? () => runningProcess()?.name ?? null : undefined);
}

function usageText(definition: ProcessDefinition, name: string): string {
  const about: Readonly<Record<string, Pick<Command, 'about'>>> = {
    all: { about: 'API and worker in one process (the default).' },
    api: { about: 'API only.' },
    worker: { about: 'Relay, consumers and jobs only.' },
    migrate: { about: 'Brings the database to the newest schema and ends.' },
    ...definition.commands,
  };
  const lines = listProcessRoles(definition, []).map(
    (role) => `  ${role.name.padEnd(20)} ${about[role.name]?.about ?? ''}`,
  );
  return `${definition.name}: there is no role or command "${name}". There are:\n${lines.join('\n')}`;
}

/** Logs an error for the definition that it belongs to, and ends the process. */
function logAndExit(contexts: readonly RunningProcess[], error: unknown): void {
  const context = runningProcess() ?? contexts[0];
  const { code, syscall, port } = (error ?? {}) as { code?: string; syscall?: string; port?: number };
  if (code === 'EADDRINUSE' && syscall === 'listen') {
    context?.logger.error({ port }, `port ${port} is in use by another process`);
  } else {
    context?.logger.error({ err: error }, `${context.name} ${context.role} failed`);
  }
  process.exit(EXIT.failed);
}

function exitWithText(text: string, code: number): void {
  process.stderr.write(`${text}\n`);
  process.exit(code);
}
