import type { Server } from 'node:http';
import { drainHttpServer, platformSettings } from '@rookery/platform';
import type { HttpStep, WorkerStep } from '@rookery/platform';

export const http: HttpStep = {
  create: async (context) => {
    const { NestFactory } = await import('@nestjs/core');
    const { FastifyAdapter } = await import('@nestjs/platform-fastify');
    const module = await context.rootModule();
    const app = await NestFactory.create(module, new FastifyAdapter() as never, {
      logger: context.nestLogger,
      abortOnError: false,
    });
    drainHttpServer(app.getHttpServer() as Server, context.shutdown);
    if (process.env['HANG'] === 'drain')
      context.shutdown.addStep('drain', 'hanging', () => new Promise(() => undefined));
    return app;
  },
  listen: async (app, context) => {
    const { port } = context.settings(platformSettings);
    await app.listen(port, '127.0.0.1');
    return Number(new URL(await app.getUrl()).port);
  },
};

export const worker: WorkerStep = {
  connect: () => Promise.resolve(),
  create: async (context) => {
    const { NestFactory } = await import('@nestjs/core');
    return NestFactory.createApplicationContext(await context.rootModule(), { logger: context.nestLogger });
  },
  start: (_, context) => {
    context.shutdown.addStep('drain', 'consumers', () => Promise.resolve(context.logger.info({}, 'consumers drained')));
    return Promise.resolve();
  },
};
