export { setting } from './settings/setting';
export type { SettingField } from './settings/setting';
export { ConfigurationError, defineSettings, readSettings, pickSettings } from './settings/settings';
export type { SettingsDefinition, SettingsOf, SettingsValues } from './settings/settings';
export { describeSettings } from './settings/describe-settings';
export type { SettingDescription } from './settings/describe-settings';
export { platformSettings } from './boot/platform.settings';
export { createLogger, LOGGER, nestLogger } from './observability/logger';
export type { Logger, LogLevel } from './observability/logger';
export { redactText, redactValue } from './observability/redact';
export { Follower } from './waiting/follower';
export { Metrics } from './observability/metrics';
export type { Total } from './observability/metrics';
export { Outages } from './observability/outages';
export { activeTraceId } from './observability/tracing';
export { Pace } from './waiting/pace';
export { runForWaiter, runWithoutDeadline, currentWaiter, runDetached } from './waiting/waiter';
export type { LimitState, Rights, Waiter } from './waiting/waiter';
export { KEYED_WRITES } from './waiting/keyed-writes';
export type { KeptAnswer, KeyedWrite, KeyedWrites, NewAnswer } from './waiting/keyed-writes';
export { RequestArrivalClock } from './waiting/request-arrival-clock';
export { Links } from './boot/links';
export { Readiness } from './boot/readiness';
export type { ReadinessReport } from './boot/readiness';
export { drainHttpServer, KEPT_IDLE_MS } from './boot/drain-http';
export { ShutdownOrder } from './boot/shutdown';
export type { ShutdownPhase } from './boot/shutdown';
export {
  checkClaims,
  CONTEXT_SKEW_MS,
  ContextSigningKeys,
  parseContextKeys,
  contextKeysFor,
  contextRequestClaim,
  ContextRefused,
  signContext,
  verifyContext,
} from './signing/signed-context';
export { InternalKeys, parseInternalKeys } from './signing/internal-keys';
export { InternalRefusal } from './calling/internal-route';
export type { InternalRouteClient } from './calling/internal-route';
export { InternalRoutes } from './calling/internal-routes';
export { LocalServer } from './neighbours/local-server';
export type { LocalHandler } from './neighbours/local-server';
export type { LocalResponse } from './neighbours/local-response';
export { Neighbours } from './neighbours/neighbours';
export type { LocalCall, LocalCaller, LocalRequest } from './neighbours/neighbours';
export { IS_SERVING, PlatformModule, SERVICE_NAME } from './platform.module';
export { boot, bootTogether } from './boot/boot';
export { runningProcess } from './boot/running-process';
export type { RenewalRequest, RestingMessage } from './boot/renewal';
export type { ReadyMessage } from './boot/serve';
export type {
  BootContext,
  Command,
  HttpStep,
  MigrateStep,
  ProcessDefinition,
  ProcessName,
  RootModule,
  WorkerStep,
} from './boot/process';
