import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Type } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { createApiV4App, EndpointRoutes, statusesOf, templatesOf } from '@rookery/api-v4';
import type { Viewer } from '@rookery/kernel';
import { ContextKeys, contextKeys, createLogger, LOGGER, platformSettings, readSettings } from '@rookery/platform';
import type { ProcessName, RootModule, SettingsDefinition, SettingsValues } from '@rookery/platform';
import { TestClient } from './client';
import type { Target, TestResponse } from './client';
import { noteRoute, writeRouteTests } from './route-tests';

export const TEST_INTERNAL_SECRET = 'internal-secret-of-tests-0123456789';
const TEST_CONTEXT_KEYS = `test:${Buffer.alloc(32, 1).toString('base64')}`;

export interface TestAppOptions {
  /** Whose app it is; contexts are signed for it. */
  readonly service: ProcessName;
  readonly module: RootModule;
  /** The settings of its ProcessDefinition, without platformSettings. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- definitions of any fields, as in ProcessDefinition
  readonly settings?: readonly SettingsDefinition<any>[];
  /** Sets `DATABASE_URL_<SERVICE>`. */
  readonly databaseUrl?: string;
  /** Further environment variables. */
  readonly env?: Readonly<Record<string, string>>;
  /** Replaces what `boot` would make, by injection token: a clock, a logger. */
  readonly replace?: SettingsValues;
}

/** A service in this process, listening on a port of its own. */
export interface TestApp {
  readonly app: NestFastifyApplication;
  readonly baseUrl: string;
  /** Every log line since the start, parsed. */
  readonly logs: readonly Readonly<Record<string, unknown>>[];
  as(viewer: Viewer): TestClient;
  /** Without any context, as somebody who got past the gateway. */
  bare(): TestClient;
  /** A provider of the service. */
  get<T>(token: abstract new (...args: never[]) => T): T;
  close(): Promise<void>;
}

/**
 * Starts the API role of a service without its gateway: real HTTP, real database, contexts signed as the gateway does.
 * An answer whose status the endpoint does not list fails the test that saw it. Source: houses II.9.
 */
export async function startTestApp(options: TestAppOptions): Promise<TestApp> {
  const logs: Record<string, unknown>[] = [];
  const values = settingsOf(options);
  const write = (line: string): void => void logs.push(JSON.parse(line) as Record<string, unknown>);
  values.set(LOGGER, createLogger({ service: options.service, level: 'info' }, { write }));
  for (const [token, value] of options.replace ?? []) values.set(token, value);
  const { module } = options;
  const app = await createApiV4App('forRoot' in module ? module.forRoot(values) : (module as Type), false);
  await app.listen(0, '127.0.0.1');
  const { port } = (app.getHttpServer() as unknown as Server).address() as AddressInfo;
  const target: Target = {
    baseUrl: `http://127.0.0.1:${port}`,
    service: options.service,
    keys: app.get(ContextKeys) ?? contextKeys(TEST_CONTEXT_KEYS),
    seen: (method, url, response) => judge(app.get(EndpointRoutes), method, url, response),
  };
  return {
    app,
    baseUrl: target.baseUrl,
    logs,
    as: (viewer) => new TestClient(target, viewer),
    bare: () => new TestClient(target, null),
    get: (token) => app.get(token as Type, { strict: false }),
    close: () => {
      writeRouteTests(options.service);
      return app.close();
    },
  };
}

function settingsOf({ service, settings = [], databaseUrl, env }: TestAppOptions): SettingsValues {
  const database = databaseUrl === undefined ? {} : { [`DATABASE_URL_${service.toUpperCase()}`]: databaseUrl };
  const nats = process.env['TEST_NATS_URL'];
  return readSettings([platformSettings, ...settings], {
    ROOKERY_INTERNAL_SECRET: TEST_INTERNAL_SECRET,
    ROOKERY_CONTEXT_KEYS: TEST_CONTEXT_KEYS,
    ...(nats === undefined ? {} : { NATS_URL: nats }),
    ...database,
    ...env,
  });
}

/** Errors: a plain Error when the endpoint does not list the status it answered with. */
function judge(routes: EndpointRoutes, method: string, url: string, { status, text }: TestResponse): void {
  const endpoint = routes.endpointAt(method, url);
  // The whole path: an endpoint may leave a part of it to its controller.
  if (endpoint !== null) noteRoute({ method: endpoint.method, path: templatesOf(endpoint)[0]! });
  if (endpoint === null || statusesOf(endpoint).includes(status)) return;
  throw new Error(
    `${method} ${url} (${endpoint.controller.name}.${endpoint.handler}) answered ${status}, which it does not list: ${text}`,
  );
}
