import {
  Metrics,
  Neighbours,
  Outages,
  Readiness,
  ShutdownOrder,
  createLogger,
  nestLogger,
  platformSettings,
} from '@rookery/platform';
import { LOGGER, readSettings, pickSettings } from '@rookery/platform';
import type { BootContext } from '@rookery/platform';
import type { INestApplication } from '@nestjs/common';
import type { UnavailableReason } from '@rookery/kernel';
import { testInternalKeys } from '@rookery/testing';
import { gatewayServer } from '../../src/edge/gateway-server';
import { gatewaySettings } from '../../src/gateway.config';
import type { GatewaySettings } from '../../src/gateway.config';
import { GatewayModule } from '../../src/gateway.module';
import { generateRoutes } from '../../src/routes/generate';
import { RouteTable } from '../../src/routes/route-table';
import { FakeIdentity } from './fake-identity';
import { FakeService } from './fake-service';
import { collaborationDocument, identityDocument, packageDocument } from './documents';

export const KEYS = `k1:${Buffer.alloc(32, 7).toString('base64')}`;

export const routes = generateRoutes({
  identity: identityDocument,
  collaboration: collaborationDocument,
  package: packageDocument,
});

/** A running gateway; only the services behind it are fakes. */
export interface Gateway {
  readonly url: string;
  readonly port: number;
  readonly app: INestApplication;
  readonly metrics: Metrics;
  readonly shutdown: ShutdownOrder;
  /** Requests that it received. */
  readonly requests: number;
  /** Every log line since the start, parsed. */
  readonly logs: readonly Readonly<Record<string, unknown>>[];
  stop(): Promise<void>;
}

export class Estate {
  readonly identityInside = new FakeIdentity();
  readonly identity = new FakeService('identity', KEYS);
  readonly collaboration = new FakeService('collaboration', KEYS);
  readonly package = new FakeService('package', KEYS);
  private readonly gateways: Gateway[] = [];

  async start(): Promise<this> {
    await Promise.all([this.identityInside, this.identity, this.collaboration, this.package].map((one) => one.start()));
    return this;
  }

  /**
   * Starts a gateway. `over` has settings that operators cannot choose, such as a lease that outlasts the test.
   * `neighbours` are the services of its process.
   */
  async gateway(
    env: Readonly<Record<string, string>> = {},
    over: Partial<GatewaySettings> = {},
    neighbours = new Neighbours(false),
  ): Promise<Gateway> {
    const servers = {
      IDENTITY_URL: this.identityInside.url,
      GATEWAY_UPSTREAM_IDENTITY: this.identity.url,
      GATEWAY_UPSTREAM_COLLABORATION: this.collaboration.url,
      GATEWAY_UPSTREAM_PACKAGE: this.package.url,
      GATEWAY_UPSTREAM_IMPORT: 'http://127.0.0.1:1',
      GATEWAY_UPSTREAM_ADMIN: 'http://127.0.0.1:1',
      RATE_LIMITS: 'off',
    };
    const gateway = await startGateway({ ...servers, ...env }, over, neighbours);
    this.gateways.push(gateway);
    await eventually(() => this.identityInside.followers >= this.gateways.length);
    return gateway;
  }

  async stop(): Promise<void> {
    await Promise.all(this.gateways.map((gateway) => gateway.stop()));
    await Promise.all([this.identityInside, this.identity, this.collaboration, this.package].map((one) => one.stop()));
  }
}

async function startGateway(
  env: Readonly<Record<string, string>>,
  over: Partial<GatewaySettings>,
  neighbours: Neighbours,
): Promise<Gateway> {
  const logs: Record<string, unknown>[] = [];
  const write = (line: string): void => void logs.push(JSON.parse(line) as Record<string, unknown>);
  const logger = createLogger({ service: 'gateway', level: 'info' }, { write });
  const values = readSettings([platformSettings, gatewaySettings], {
    PORT: '0',
    HOST: '127.0.0.1',
    ROOKERY_INTERNAL_KEYS: testInternalKeys('gateway'),
    ROOKERY_CONTEXT_KEYS: KEYS,
    ...env,
  });
  values.set(gatewaySettings.token, { ...pickSettings(values, gatewaySettings), ...over });
  const metrics = new Metrics();
  const outages = new Outages(metrics, logger);
  const made = { logger, metrics, outages, readiness: new Readiness(), shutdown: new ShutdownOrder(logger) };
  values.set(LOGGER, logger).set(Metrics, made.metrics).set(Readiness, made.readiness);
  values.set(ShutdownOrder, made.shutdown).set(Outages, outages).set(Neighbours, neighbours);
  const context: BootContext = {
    ...made,
    name: 'gateway',
    role: 'all',
    values,
    nestLogger: nestLogger(logger),
    settings: (wanted) => pickSettings(values, wanted),
    rootModule: () => {
      const table = { provide: RouteTable, useValue: new RouteTable(routes) };
      return Promise.resolve({ ...GatewayModule.forRoot(values), providers: [table] });
    },
    application: () => Promise.reject(new Error('no application')),
  };
  const app = await gatewayServer.create(context);
  await app.init();
  const port = await gatewayServer.listen(app, context);
  let requests = 0;
  app.getHttpServer().on('request', () => (requests += 1));
  const stop = async (): Promise<void> => {
    app.getHttpServer().closeAllConnections();
    await app.close();
  };
  const { shutdown } = made;
  return {
    ...{ url: `http://127.0.0.1:${port}`, port, app, metrics, shutdown, stop, logs },
    get requests() {
      return requests;
    },
  };
}

/** Waits for a condition; fails if it is not true in time. */
export async function eventually(holds: () => boolean | Promise<boolean>, withinMs = 50_000): Promise<void> {
  const end = performance.now() + withinMs;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`not true within ${withinMs} ms: ${holds.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Waits until the gateway has counted an answer 502, 503 or 504 for this reason. */
export function countsOutage(gateway: Gateway, reason: UnavailableReason): Promise<void> {
  const counted = new RegExp(`^rookery_unavailable_total\\{reason="${reason}"\\} [1-9]`, 'm');
  return eventually(async () => counted.test((await gateway.metrics.text()).body));
}
