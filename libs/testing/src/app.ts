import { once } from 'node:events';
import { Agent as Connections } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Type } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { createApiV4App, EndpointRoutes, statusesOf, templatesOf } from '@rookery/api-v4';
import type { Viewer } from '@rookery/kernel';
import {
  ContextSigningKeys,
  parseContextKeys,
  createLogger,
  LOGGER,
  platformSettings,
  readSettings,
} from '@rookery/platform';
import type { ProcessName, RootModule, SettingsDefinition, SettingsValues } from '@rookery/platform';
import type { Agent, Response } from 'supertest';
import { agentFor } from './agent';
import { answerProblem } from './answer-schemas';
import { testInternalKeys } from './internal-keys';
import { createLocalCallProxy } from './local-proxy';
import type { Target } from './agent';
import { recordTestedRoute, writeRouteTestCounts } from './route-tests';

const TEST_CONTEXT_KEYS = `test:${Buffer.alloc(32, 1).toString('base64')}`;

export interface TestAppOptions {
  /** The service under test; contexts are signed for it. */
  readonly service: ProcessName;
  readonly module: RootModule;
  /** The settings of its ProcessDefinition, without platformSettings. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- definitions of any fields, as in ProcessDefinition
  readonly settings?: readonly SettingsDefinition<any>[];
  /** Sets `DATABASE_URL_<SERVICE>`. */
  readonly databaseUrl?: string;
  /** Further environment variables. */
  readonly env?: Readonly<Record<string, string>>;
  /** Replaces objects that `boot` would create, by injection token: a clock, a logger. */
  readonly replace?: SettingsValues;
}

/** A service in this process, listening on a port of its own. */
export interface TestApp {
  readonly app: NestFastifyApplication;
  readonly baseUrl: string;
  /** Every log line since the start, parsed. */
  readonly logs: readonly Readonly<Record<string, unknown>>[];
  /**
   * An agent for a viewer. With `isUncounted`, answers are not counted as tests of the endpoint, and may have an
   * unlisted status.
   * Units: `waitMs` is the deadline of a request, for tests of deadlines.
   */
  as(viewer: Viewer, o?: { readonly isUncounted?: boolean; readonly waitMs?: number }): Agent;
  /** An agent without a context, as for a request that bypassed the gateway. */
  bare(): Agent;
  /** A provider of the service. */
  get<T>(token: abstract new (...args: never[]) => T): T;
  close(): Promise<void>;
}

/**
 * Starts the API role of a service without its gateway: real HTTP, real database, contexts signed as by the gateway. An
 * answer whose status the endpoint does not list fails the test that got it. With `TEST_TRANSPORT=local` the requests
 * reach the service as local calls. Source: ADR 0003, 0199.
 */
export async function startTestApp(options: TestAppOptions): Promise<TestApp> {
  const logs: Record<string, unknown>[] = [];
  const values = testSettings(options);
  const write = (line: string): void => void logs.push(JSON.parse(line) as Record<string, unknown>);
  values.set(LOGGER, createLogger({ service: options.service, level: 'info' }, { write }));
  for (const [token, value] of options.replace ?? []) values.set(token, value);
  const { module } = options;
  const app = await createApiV4App('forRoot' in module ? module.forRoot(values) : (module as Type), false);
  await app.listen(0, '127.0.0.1');
  const { port: httpPort } = (app.getHttpServer() as unknown as Server).address() as AddressInfo;
  const keys = app.get(ContextSigningKeys) ?? parseContextKeys(TEST_CONTEXT_KEYS);
  const behind = { service: options.service, keys, routes: app.get(EndpointRoutes), port: httpPort };
  const front = process.env['TEST_TRANSPORT'] === 'local' ? createLocalCallProxy(behind).listen(0, '127.0.0.1') : null;
  if (front !== null) await once(front, 'listening');
  const port = front === null ? httpPort : (front.address() as AddressInfo).port;
  const seenBy =
    (isUncounted: boolean): Target['seen'] =>
    (method, url, response) =>
      checkAnswerAsDocumented(app.get(EndpointRoutes), { method, url, response, isUncounted, logs });
  const target: Target = {
    baseUrl: `http://127.0.0.1:${port}`,
    service: options.service,
    keys,
    connections: new Connections({ keepAlive: true }),
    seen: seenBy(false),
  };
  return {
    app,
    baseUrl: target.baseUrl,
    logs,
    as: (viewer, { isUncounted = false, ...o } = {}) =>
      agentFor({ ...target, seen: seenBy(isUncounted), ...o }, viewer),
    bare: () => agentFor(target, null),
    get: (token) => app.get(token as Type, { strict: false }),
    close: () => {
      writeRouteTestCounts(options.service);
      target.connections.destroy();
      front?.close();
      front?.closeAllConnections();
      return app.close();
    },
  };
}

/**
 * Addresses of the other services, of which tests start only those they need. Their default names would be looked up, which
 * takes seconds on a machine without a name server; a connection to this port is refused at once.
 */
const AWAY = 'http://127.0.0.1:1';
const OTHER_SERVICES = Object.fromEntries(
  ['IDENTITY_URL', 'COLLABORATION_URL', 'PACKAGE_URL', 'IMPORT_URL', 'ADMIN_URL'].map((name) => [name, AWAY]),
);

/** The settings of a service under test: the product's, except those that the test sets. */
export function testSettings({
  service,
  settings = [],
  databaseUrl,
  env,
}: Pick<TestAppOptions, 'service' | 'settings' | 'databaseUrl' | 'env'>): SettingsValues {
  const database = databaseUrl === undefined ? {} : { [`DATABASE_URL_${service.toUpperCase()}`]: databaseUrl };
  const nats = process.env['TEST_NATS_URL'];
  return readSettings([platformSettings, ...settings], {
    ROOKERY_INTERNAL_KEYS: testInternalKeys(service),
    ROOKERY_CONTEXT_KEYS: TEST_CONTEXT_KEYS,
    // No token of these tests is known to a real identity, and the machine may be slow: tests of rechecks set their own
    // limit.
    REQUEST_RIGHTS_MS: '60000',
    ...OTHER_SERVICES,
    ...(nats === undefined ? {} : { NATS_URL: nats }),
    ...database,
    ...env,
  });
}

interface AnsweredRequest {
  readonly method: string;
  readonly url: string;
  readonly response: Response;
  readonly isUncounted: boolean;
  /** The log lines of the service so far. */
  readonly logs: readonly Readonly<Record<string, unknown>>[];
}

/**
 * Checks an answer. Errors: a plain Error when the endpoint does not list the status, when the media type of JSON
 * differs, or when the answer is not as documented: another type of body, absent or additional fields, another header.
 */
function checkAnswerAsDocumented(
  routes: EndpointRoutes,
  { method, url, response, isUncounted, logs }: AnsweredRequest,
): void {
  const endpoint = routes.findEndpoint(method, url);
  if (endpoint === null) return;
  // The whole path: an endpoint may pass a part of it to its controller.
  if (!isUncounted) recordTestedRoute({ method: endpoint.method, path: templatesOf(endpoint)[0]! });
  const call = `${method} ${url} (${endpoint.controller.name}.${endpoint.handler})`;
  const { status, text, type } = response;
  if (!statusesOf(endpoint).includes(status)) {
    if (isUncounted) return;
    // The cause is printed below the message.
    const cause = status < 500 ? undefined : logs.findLast((line) => 'err' in line)?.['err'];
    throw new Error(`${call} answered ${status}, which it does not list: ${text}`, { cause });
  }
  const announced = response.get('content-type');
  // Supertest reads JSON whatever charset is announced; the API announces none.
  const isOther = endpoint.options.answers.otherTypes?.[type] !== undefined && announced === type;
  if (type === 'application/json' && announced !== type && !isOther) throw new Error(`${call} announced ${announced}`);
  const body: unknown = response.body;
  const seen = text ?? (Buffer.isBuffer(body) ? body.toString('latin1') : '');
  const headers = { get: (name: string) => response.get(name.toLowerCase()) as string | undefined };
  const problem = answerProblem(endpoint, method, { status, text: seen, headers });
  if (problem !== null) throw new Error(`${call} answered ${status} and deviates from its document: ${problem}`);
}
