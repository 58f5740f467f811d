import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { INestApplication } from '@nestjs/common';
import {
  createLogger,
  Metrics,
  Outages,
  nestLogger,
  platformSettings,
  Readiness,
  readSettings,
  pickSettings,
  ShutdownOrder,
} from '@rookery/platform';
import type { BootContext } from '@rookery/platform';
import { apiV4Server } from '../../src';
import { WidgetsModule } from '../support/widgets';

const values = readSettings([platformSettings], {
  PORT: '0',
  HOST: '127.0.0.1',
  ROOKERY_INTERNAL_KEYS: `k/gateway/package:${Buffer.alloc(32).toString('base64')}`,
  ROOKERY_CONTEXT_KEYS: `k:${Buffer.alloc(32).toString('base64')}`,
});
const logger = createLogger({ service: 'package', level: 'silent' });
const metrics = new Metrics();
values.set(Metrics, metrics);
const context: BootContext = {
  name: 'package',
  role: 'api',
  values,
  logger,
  metrics,
  outages: new Outages(metrics, logger),
  readiness: new Readiness(),
  shutdown: new ShutdownOrder(logger),
  nestLogger: nestLogger(logger),
  settings: (definition) => pickSettings(values, definition),
  rootModule: () => Promise.resolve(WidgetsModule.forRoot(values)),
  application: () => Promise.reject(new Error('not asked for')),
};

let app: INestApplication;
let port: number;
beforeAll(async () => {
  app = await apiV4Server.create(context);
  await app.init();
  port = await apiV4Server.listen(app, context);
});
afterAll(() => app.close());

it('limits the time of slow peers', () => {
  const server = app.getHttpServer() as Server;
  expect([server.headersTimeout, server.requestTimeout, server.keepAliveTimeout]).toEqual([10_000, 30_000, 70_000]);
});

it('labels metrics of requests by template, never by path', async () => {
  await (await fetch(`http://127.0.0.1:${port}/api/v4/projects/1/widgets/7?private_token=secret`)).text();
  const { body } = await metrics.text();
  expect(body).toContain('route="/api/v4/projects/:id/widgets/:widget_id",status="401"');
  expect(body).toContain('rookery_http_requests_in_flight 0');
  expect(body).not.toContain('secret');
});

it('frees its port when the process ends', async () => {
  await context.shutdown.runAll();
  await expect(fetch(`http://127.0.0.1:${port}/api/v4/status`)).rejects.toThrow();
  const next = createServer();
  await new Promise<void>((resolve) => next.listen(port, '127.0.0.1', resolve));
  expect((next.address() as AddressInfo).port).toBe(port);
  await new Promise((resolve) => next.close(resolve));
});
