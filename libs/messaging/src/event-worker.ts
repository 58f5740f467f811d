import type { INestApplication, INestApplicationContext, INestMicroservice } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { AsyncMicroserviceOptions, MicroserviceOptions } from '@nestjs/microservices';
import type { WorkerStep } from '@rookery/platform';
import { Broker } from './bus/broker';
import { JetStreamStrategy } from './consuming/jetstream.strategy';
import { Relay } from './relay/relay';
import { Replayer } from './relay/replayer';

/**
 * The worker role: relays this service's events and runs its effects. It never fails because the bus is down.
 * Source: reference reliability 6.4; docs/architecture.md 3.
 */
export const eventWorker: WorkerStep = {
  async connect(app) {
    // Events do not use HTTP, so global pipes and guards are not inherited.
    app.connectMicroservice<MicroserviceOptions>({ strategy: app.get(JetStreamStrategy) }, { inheritAppConfig: false });
  },

  async create(context) {
    return NestFactory.createMicroservice<AsyncMicroserviceOptions>(await context.rootModule(), {
      logger: context.nestLogger,
      abortOnError: false,
      inject: [JetStreamStrategy],
      useFactory: (strategy: JetStreamStrategy) => ({ strategy }),
    });
  },

  async start(app, context) {
    const strategy = app.get(JetStreamStrategy);
    const [broker, relay, replayer] = [app.get(Broker), app.get(Relay), app.get(Replayer)];
    context.shutdown.addStep('drain', 'events', async () => {
      await Promise.all([strategy.close(), replayer.stop(), relay.stop()]);
      await broker.stop();
    });
    broker.start();
    await startMicroserviceListening(app);
    relay.start(strategy.handled);
    replayer.start(strategy.handled);
  },
};

async function startMicroserviceListening(app: INestApplicationContext): Promise<void> {
  if ('startAllMicroservices' in app) await (app as INestApplication).startAllMicroservices();
  else await (app as INestMicroservice).listen();
}
