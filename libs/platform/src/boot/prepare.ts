import type { INestApplicationContext } from '@nestjs/common';
import { parseInternalKeys } from '../signing/internal-keys';
import { createLogger, LOGGER, nestLogger, stderrStream } from '../observability/logger';
import type { Logger } from '../observability/logger';
import { Metrics } from '../observability/metrics';
import { Outages } from '../observability/outages';
import { Neighbours } from '../neighbours/neighbours';
import { IS_SERVING, SERVICE_NAME } from '../platform.module';
import type { Environment } from './environments';
import { platformSettings } from './platform.settings';
import type { BootContext, ProcessDefinition } from './process';
import { Readiness } from './readiness';
import { runningProcess } from './running-process';
import { ConfigurationError, readSettings, pickSettings } from '../settings/settings';
import type { SettingsOf, SettingsValues } from '../settings/settings';
import { ShutdownOrder } from './shutdown';
import { parseContextKeys } from '../signing/signed-context';

/** A role of one definition, with the environment that its settings are read from. */
export interface ProcessPart {
  readonly definition: ProcessDefinition;
  readonly role: string;
  /** Whether the role serves until it is stopped. */
  readonly staysRunning: boolean;
  readonly env: Environment;
  /** The services of this process; omitted where it has only one. */
  readonly neighbours?: Neighbours;
}

/**
 * Reads the settings of a part and creates its context. `kept` is the existing log when the process restarts in place.
 * Errors: ConfigurationError.
 */
export function prepareContext(
  { definition, role, staysRunning, env, neighbours }: ProcessPart,
  kept?: Logger,
): BootContext {
  const values: SettingsValues = readSettings([platformSettings, ...definition.settings], env);
  const platform = pickSettings(values, platformSettings);
  refuseKeysOfOthers(definition.name, platform);
  const isCommand = !staysRunning && role !== 'migrate';
  const logger =
    kept ??
    createLogger(
      { service: definition.name, instance: platform.instanceId, level: platform.logLevel },
      // The stdout of a command is for its caller, so log lines go to stderr.
      isCommand ? stderrStream() : undefined,
    );
  const metrics = new Metrics();
  const outages = new Outages(metrics, logger);
  const made = { logger, metrics, outages, readiness: new Readiness(), shutdown: new ShutdownOrder(logger) };
  values.set(SERVICE_NAME, definition.name);
  values.set(IS_SERVING, staysRunning);
  values.set(LOGGER, made.logger);
  values.set(Metrics, made.metrics);
  values.set(Outages, made.outages);
  values.set(Readiness, made.readiness);
  values.set(ShutdownOrder, made.shutdown);
  // Spans of HTTP show the path of a request through the services, so traced services call each other by HTTP.
  if (neighbours && platform.otlpEndpoint === null) values.set(Neighbours, neighbours);
  let application: Promise<INestApplicationContext> | undefined;
  const context: BootContext = {
    ...made,
    name: definition.name,
    role,
    values,
    // Nest has one logger for the whole process: that of the application created last.
    nestLogger: nestLogger(logger, () => runningProcess()?.logger ?? logger),
    settings: (wanted) => pickSettings(values, wanted),
    rootModule: async () => {
      const root = await definition.module();
      return 'forRoot' in root ? root.forRoot(values) : root;
    },
    application: () => (application ??= createStandaloneApp(context)),
  };
  return context;
}

/**
 * Refuses keys of other processes: a service that could sign or authenticate for another would make the separation of
 * keys worthless.
 * Source: reference reliability 6.1; ADR 0170.
 */
function refuseKeysOfOthers(name: string, keys: SettingsOf<typeof platformSettings>): void {
  const problems: string[] = [];
  if (name !== 'gateway' && parseContextKeys(keys.contextKeys).reachesBeyond(name)) {
    problems.push(
      `ROOKERY_CONTEXT_KEYS holds keys for others than ${name}; a service needs its own alone, as kid/${name}:base64`,
    );
  }
  if (parseInternalKeys(keys.internalKeys).reachesBeyond(name)) {
    problems.push(
      `ROOKERY_INTERNAL_KEYS holds keys for others than ${name}; a process needs those alone that it presents or checks`,
    );
  }
  if (problems.length > 0) throw new ConfigurationError(problems);
}

async function createStandaloneApp(context: BootContext): Promise<INestApplicationContext> {
  const { NestFactory } = await import('@nestjs/core');
  const module = await context.rootModule();
  const app = await NestFactory.createApplicationContext(module, { logger: context.nestLogger, abortOnError: false });
  context.shutdown.addStep('close', 'application', () => app.close());
  return app;
}
