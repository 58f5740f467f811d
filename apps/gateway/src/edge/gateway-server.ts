import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { drainHttpServer, platformSettings } from '@rookery/platform';
import type { BootContext, HttpStep } from '@rookery/platform';
import { gatewaySettings } from '../gateway.config';
import { Edge } from './edge';
import type { OwnRoutes } from './edge';
import { PublicServer } from './public-server';

/**
 * The HTTP step of the gateway: Nest on Fastify for its own routes, with the edge in front of both on Node's raw
 * request.
 * Source: ADR 0050.
 */
export const gatewayServer: HttpStep = {
  async create(context: BootContext): Promise<INestApplication> {
    const front = new PublicServer(context.settings(gatewaySettings));
    const adapter = new FastifyAdapter({ skipMiddie: true, serverFactory: (own: OwnRoutes) => front.inFrontOf(own) });
    const app = await NestFactory.create(await context.rootModule(), adapter, {
      logger: context.nestLogger,
      bodyParser: false,
      abortOnError: false,
    });
    drainHttpServer(front.server, context.shutdown);
    front.open(app.get(Edge));
    return app;
  },

  async listen(app: INestApplication, context: BootContext): Promise<number> {
    const { port, host } = context.settings(platformSettings);
    await app.listen(port, host);
    return (app.getHttpServer().address() as { port: number }).port;
  },
};
