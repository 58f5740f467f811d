import { STATUS_CODES } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import multipart from '@fastify/multipart';
import type { DynamicModule, LoggerService, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import {
  drainHttpServer,
  RequestArrivalClock,
  InternalKeys,
  LocalServer,
  LOGGER,
  Neighbours,
  Outages,
  platformSettings,
  SERVICE_NAME,
} from '@rookery/platform';
import type { HttpStep, Logger } from '@rookery/platform';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { EndpointRoutes } from './endpoint/endpoint-routes';
import { renderError } from './answers/errors';
import { ErrorsFilter } from './endpoint/errors.filter';
import { ROUTER_OPTIONS } from './endpoint/local-routes';
import { DEFAULT_BODY_LIMIT, registerParsers } from './params/request-body';
import { isReceivingUpload } from './endpoint/upload';
import { requireInternalCaller } from './endpoint/request-context';
import { writeError } from './answers/reply';

declare module 'fastify' {
  interface FastifyRequest {
    /** Earliest time at which the request's headers can have arrived. Units: as performance.now(). */
    earliestArrival: number;
  }
}

/** Units: milliseconds. Source: reference reliability 6.3 (slow peers). */
const TIMEOUTS = { headers: 10_000, request: 30_000, keepAlive: 70_000 };

/**
 * Creates a Nest application on Fastify with the parsers, error bodies and limits of API v4. It does not listen.
 * `module` imports PlatformModule and ApiV4Module.
 */
export async function createApiV4App(
  module: DynamicModule | Type,
  logger: LoggerService | false,
): Promise<NestFastifyApplication> {
  const adapter = new FastifyAdapter({
    skipMiddie: true,
    exposeHeadRoutes: false,
    bodyLimit: DEFAULT_BODY_LIMIT,
    requestTimeout: TIMEOUTS.request,
    keepAliveTimeout: TIMEOUTS.keepAlive,
    clientErrorHandler: answerUnparsableRequest,
    http: { headersTimeout: TIMEOUTS.headers, maxHeaderSize: 48 * 1024 },
    genReqId: () => '',
    routerOptions: ROUTER_OPTIONS,
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) => {
      const facts = { requestId: '', startedAt: performance.now(), isHead: request.method === 'HEAD' };
      writeError(reply, facts, renderError(error));
    },
  });
  const app = await NestFactory.create<NestFastifyApplication>(module, adapter, {
    bodyParser: false,
    logger,
    abortOnError: false,
  });
  const instance = adapter.getInstance() as unknown as FastifyInstance;
  registerParsers(instance);
  await instance.register(multipart);
  const own = { service: app.get<string>(SERVICE_NAME), internalKeys: app.get(InternalKeys) };
  const heartbeat = new RequestArrivalClock().watchServer(instance.server);
  instance.addHook('onClose', () => heartbeat.stop());
  instance.decorateRequest('earliestArrival', 0);
  // Ordinary Nest routes below /internal/ are for our own processes too; @Internal routes also check which one calls.
  instance.addHook('onRequest', (request, _reply, done) => {
    request.earliestArrival = heartbeat.earliestArrival(request.raw.socket);
    if (!request.raw.url?.startsWith('/internal/')) return done();
    try {
      requireInternalCaller(request.headers.authorization, null, own);
      done();
    } catch (error) {
      done(error as Error);
    }
  });
  app.useGlobalFilters(new ErrorsFilter(app.get(EndpointRoutes), app.get<Logger>(LOGGER), app.get(Outages)));
  return app;
}

/**
 * Answers requests that Node's parser refuses. A streamed body may exceed the request timeout, because its progress is
 * checked instead (`endpoint/upload.ts`).
 */
function answerUnparsableRequest({ code }: NodeJS.ErrnoException, socket: Socket): void {
  if (code === 'ECONNRESET' || socket.destroyed) return;
  const isLate = code === 'ERR_HTTP_REQUEST_TIMEOUT';
  if (isLate && isReceivingUpload(socket)) return;
  const status = isLate ? 408 : code === 'HPE_HEADER_OVERFLOW' ? 431 : 400;
  const body = JSON.stringify({ message: `${status} ${STATUS_CODES[status]}` });
  const head = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, `Content-Length: ${body.length}`];
  const all = [...head, 'Content-Type: application/json', 'Connection: close', '', body];
  if (socket.writable) socket.write(all.join('\r\n'));
  socket.destroy();
}

/** Creates and starts a service's API server: the `http` of its ProcessDefinition. */
export const apiV4Server: HttpStep = {
  async create(context) {
    const app = await createApiV4App(await context.rootModule(), context.nestLogger);
    drainHttpServer(app.getHttpServer() as unknown as Server, context.shutdown);
    return app;
  },

  async listen(app, context) {
    const { port, host } = context.settings(platformSettings);
    await app.listen(port, host);
    const neighbours = app.get(Neighbours);
    if (neighbours.isTogether) {
      const { local } = app.get(EndpointRoutes);
      const onFailure = (err: unknown): void => context.logger.error({ err }, 'a local call failed');
      const server = new LocalServer((request) => local.findRoute(request), onFailure);
      server.listen(context.name, neighbours, context.shutdown);
    }
    return ((app.getHttpServer() as Server).address() as AddressInfo).port;
  },
};
