import type { ServiceName } from '@rookery/contracts';
import type { DynamicModule, INestApplication, INestApplicationContext, LoggerService, Type } from '@nestjs/common';
import type { Logger } from '../observability/logger';
import type { Metrics } from '../observability/metrics';
import type { Outages } from '../observability/outages';
import type { Readiness } from './readiness';
import type { SettingsDefinition, SettingsOf, SettingsValues } from '../settings/settings';
import type { ShutdownOrder } from './shutdown';

export type ProcessName = 'gateway' | ServiceName;

/** A Nest root module, or a class that creates one from the values of the process. */
export type RootModule = Type | { forRoot(values: SettingsValues): DynamicModule };

/**
 * Definition of one process, in its `process.ts`. The module is imported only by the roles that need it, so that `migrate`
 * and commands load little.
 */
export interface ProcessDefinition {
  readonly name: ProcessName;
  /** `platformSettings` are always read and need not be listed. */
  readonly settings: readonly SettingsDefinition[];
  readonly module: () => Promise<RootModule>;
  readonly http?: HttpStep;
  readonly worker?: WorkerStep;
  readonly migrate?: MigrateStep;
  /** Commands by their names, for instance `node dist/main.js dead-letters list`. */
  readonly commands?: Readonly<Record<string, Command>>;
}

/** Objects that `boot` creates before any step and passes to every step. */
export interface BootContext {
  readonly name: ProcessName;
  /** `all`, `api`, `worker`, `migrate`, or the name of a command. */
  readonly role: string;
  readonly values: SettingsValues;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly outages: Outages;
  readonly readiness: Readiness;
  readonly shutdown: ShutdownOrder;
  /** Logger for Nest's own lines: `NestFactory.create(module, adapter, { logger: context.nestLogger })`. */
  readonly nestLogger: LoggerService;
  /** Values of a definition of this process. Errors: thrown if `ProcessDefinition.settings` does not list it. */
  settings<D extends SettingsDefinition>(definition: D): SettingsOf<D>;
  /** Imports the root module and prepares it for `NestFactory`; once per process. */
  rootModule(): Promise<DynamicModule | Type>;
  /** A Nest application without HTTP and consumers, for commands; created on first use, closed by `boot`. */
  application(): Promise<INestApplicationContext>;
}

/**
 * Serves HTTP (roles `all` and `api`). `boot` calls create, then `app.init()`, then listen, and closes the application
 * at the end of the shutdown order. `create` passes `abortOnError: false` to Nest and registers `stop-accepting` and `drain` on `context.shutdown`
 * (`drainHttpServer` does both).
 */
export interface HttpStep {
  /** Creates the application; does not listen. */
  create(context: BootContext): Promise<INestApplication>;
  /** Resolves, with the port, when connections are accepted. */
  listen(app: INestApplication, context: BootContext): Promise<number>;
}

/**
 * Relays and consumes events (roles `all` and `worker`). None of the calls may fail because the broker is down.
 * Role `all`: connect (before init), start. Role `worker`: create, start. `start` registers its `drain` on
 * `context.shutdown`.
 */
export interface WorkerStep {
  /** Adds the consumers to the application that serves HTTP: `app.connectMicroservice({ strategy }, { inheritAppConfig: true })`. */
  connect(app: INestApplication, context: BootContext): Promise<void>;
  /**
   * Creates an application without HTTP: `NestFactory.createMicroservice(await context.rootModule(), { strategy })`.
   */
  create(context: BootContext): Promise<INestApplicationContext>;
  /** Begins to relay and to consume: `app.startAllMicroservices()` or `app.listen()`. */
  start(app: INestApplicationContext, context: BootContext): Promise<void>;
}

/** Migrates the database to the newest schema; run as a job of its own, never inside a replica's boot. */
export type MigrateStep = (context: BootContext) => Promise<void>;

/**
 * An operator's command. `args` are the words after the command's name. `run` returns the exit code, or nothing for 0.
 */
export interface Command {
  /** One sentence, shown in the usage text. */
  readonly about: string;
  run(args: readonly string[], context: BootContext): Promise<number | void>;
}
