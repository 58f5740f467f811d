export { setting } from './setting';
export type { SettingField } from './setting';
export { ConfigurationError, defineSettings, readSettings, settingsIn } from './settings';
export type { SettingsDefinition, SettingsOf, SettingsValues } from './settings';
export { describeSettings } from './describe-settings';
export type { SettingDescription } from './describe-settings';
export { platformSettings } from './platform.settings';
export { createLogger, LOGGER, nestLogger } from './logger';
export type { Logger, LogLevel } from './logger';
export { redactText, redactValue } from './redact';
export { Follower } from './follower';
export { Metrics } from './metrics';
export type { Total } from './metrics';
export { Outages } from './outages';
export { Pace } from './pace';
export { awaitedBy, awaitedByMany, awaitedByNobody, currentWaiter } from './waiter';
export type { LimitState, Rights, Waiter } from './waiter';
export { KEYED_WRITES } from './keyed-writes';
export type { KeptAnswer, KeyedWrite, KeyedWrites, NewAnswer } from './keyed-writes';
export { Heartbeat } from './heartbeat';
export { Links } from './links';
export { Readiness } from './readiness';
export type { ReadinessReport } from './readiness';
export { drainHttpServer, KEPT_IDLE_MS } from './drain-http';
export { ShutdownOrder } from './shutdown';
export type { ShutdownPhase } from './shutdown';
export {
  CONTEXT_SKEW_MS,
  ContextKeys,
  contextKeys,
  contextKeysFor,
  contextRequest,
  ContextRefused,
  signContext,
  verifyContext,
} from './signed-context';
export { InternalKeys, internalKeys } from './internal-keys';
export { IS_SERVING, PlatformModule, SERVICE_NAME } from './platform.module';
export { boot } from './boot';
export type { RenewalRequest, RestingMessage } from './renewal';
export type { ReadyMessage } from './serve';
export type {
  BootContext,
  Command,
  HttpStep,
  MigrateStep,
  ProcessDefinition,
  ProcessName,
  RootModule,
  WorkerStep,
} from './process';
