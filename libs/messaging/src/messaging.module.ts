import { Module } from '@nestjs/common';
import type { DynamicModule, Provider } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import type { EventDefinition, ServiceName } from '@rookery/contracts';
import { Database, DeadLetters, Work } from '@rookery/persistence';
import { LOGGER, Metrics } from '@rookery/platform';
import type { Logger } from '@rookery/platform';
import { Broker } from './bus/broker';
import { connectionOptions } from './bus/bus-address';
import type { BusFiles } from './bus/bus-address';
import { Effects } from './consuming/effects';
import { FaultPoints } from './bus/fault-points';
import { JetStreamStrategy } from './consuming/jetstream.strategy';
import { messagingSettings } from './bus/messaging.config';
import type { MessagingSettings } from './bus/messaging.config';
import { waitForDatabaseHistoryCheck } from './relay/history-check';
import { Relay } from './relay/relay';
import { Replayer } from './relay/replayer';
import { Streams } from './bus/streams';

/**
 * Events out and in: relay, consumers, dead letters. Global; needs `PlatformModule` and `PersistenceModule`. No part
 * runs until `eventWorker` starts it, so a process in the role `api` has no connection to the bus.
 */
@Module({})
export class MessagingModule {
  static forRoot(o: { readonly service: ServiceName }): DynamicModule {
    return {
      module: MessagingModule,
      global: true,
      providers: [Effects, FaultPoints, ...createMessagingProviders(o.service)],
      exports: [Broker, FaultPoints, JetStreamStrategy, Relay, Replayer],
    };
  }
}

function createMessagingProviders(service: ServiceName): Provider[] {
  const settings = messagingSettings.token;
  return [
    {
      provide: Broker,
      inject: [settings, LOGGER],
      useFactory: (values: MessagingSettings, logger: Logger) =>
        new Broker(connectionOptions(values.natsUrl, toBusTlsFiles(values)), service, logger),
    },
    {
      provide: Streams,
      inject: [settings, LOGGER],
      useFactory: (values: MessagingSettings, logger: Logger) =>
        new Streams({ replicas: values.streamReplicasCount, maxBytes: values.streamMaxBytes }, logger),
    },
    {
      provide: Relay,
      inject: [Database, Work, Broker, Streams, settings, LOGGER, Metrics, FaultPoints],
      useFactory: (
        ...[database, work, broker, streams, values, logger, metrics, faults]: [
          Database,
          Work,
          Broker,
          Streams,
          MessagingSettings,
          Logger,
          Metrics,
          FaultPoints,
        ]
      ) => new Relay({ service, database, work, broker, streams, settings: values, logger, metrics, faults }),
    },
    {
      provide: JetStreamStrategy,
      inject: [ModuleRef, Broker, Streams, Effects, DeadLetters, settings, LOGGER, Metrics, FaultPoints, Database],
      useFactory: (
        ...[modules, broker, streams, effects, letters, values, logger, metrics, faults, database]: [
          ModuleRef,
          Broker,
          Streams,
          Effects,
          DeadLetters,
          MessagingSettings,
          Logger,
          Metrics,
          FaultPoints,
          Database,
        ]
      ) => {
        const retryDelaysMs = values.consumerRetryDelaysMs.map(Number);
        const batchCount = values.consumerBatchCount;
        const parts = {
          service,
          broker,
          streams,
          effects,
          letters,
          logger,
          metrics,
          faults,
          batchCount,
          retryDelaysMs,
        };
        return new JetStreamStrategy(
          parts,
          ({ token }) => modules.get<readonly EventDefinition[]>(token, { strict: false }),
          (signal) => waitForDatabaseHistoryCheck(database, logger, signal),
        );
      },
    },
    {
      provide: Replayer,
      inject: [Effects, DeadLetters, settings, LOGGER],
      useFactory: (effects: Effects, letters: DeadLetters, values: MessagingSettings, logger: Logger) =>
        new Replayer(effects, letters, values.deadLetterPollMs, logger),
    },
  ];
}

function toBusTlsFiles({ natsCaFile, natsCertFile, natsKeyFile }: MessagingSettings): BusFiles {
  return { caFile: natsCaFile, certFile: natsCertFile, keyFile: natsKeyFile };
}
