import type { Server } from 'node:http';
import { boot, drainHttpServer, platformSettings } from '@rookery/platform';
import type { HttpStep, WorkerStep } from '@rookery/platform';

const http: HttpStep = {
  create: async (context) => {
    const { NestFactory } = await import('@nestjs/core');
    const { FastifyAdapter } = await import('@nestjs/platform-fastify');
    const module = await context.rootModule();
    const app = await NestFactory.create(module, new FastifyAdapter() as never, {
      logger: context.nestLogger,
      abortOnError: false,
    });
    drainHttpServer(app.getHttpServer() as Server, context.shutdown);
    if (process.env['HANG'] === 'drain') context.shutdown.on('drain', 'hanging', () => new Promise(() => undefined));
    return app;
  },
  listen: async (app, context) => {
    const { port } = context.settings(platformSettings);
    await app.listen(port, '127.0.0.1');
    return Number(new URL(await app.getUrl()).port);
  },
};

const worker: WorkerStep = {
  connect: () => Promise.resolve(),
  create: async (context) => {
    const { NestFactory } = await import('@nestjs/core');
    return NestFactory.createApplicationContext(await context.rootModule(), { logger: context.nestLogger });
  },
  start: (_, context) => {
    context.shutdown.on('drain', 'consumers', () => Promise.resolve(context.logger.info({}, 'consumers drained')));
    return Promise.resolve();
  },
};

void boot({
  name: 'admin',
  settings: [],
  module: async () => (await import('./tiny.module')).TinyModule,
  http,
  worker,
  migrate: (context) => Promise.resolve(context.logger.info({}, 'migrated')),
  commands: {
    count: {
      about: 'Prints the words that follow.',
      run: async (args, context) => {
        await context.application();
        context.logger.info({}, 'not part of the output');
        process.stdout.write(`${args.length}\n`);
        return args.length;
      },
    },
    lines: {
      about: 'Prints as many lines as the word that follows says.',
      run: async ([count]) => {
        for (let line = 0; line < Number(count); line += 1) process.stdout.write(`${'x'.repeat(60)}\n`);
        await Promise.resolve();
        return 0;
      },
    },
    broken: { about: 'Fails.', run: () => Promise.reject(new Error('no use, glpat-c4n4ryc4n4ry')) },
  },
});
