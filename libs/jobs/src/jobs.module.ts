import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import type { ServiceName } from '@rookery/contracts';
import { Database, Work } from '@rookery/persistence';
import { LOGGER, Metrics } from '@rookery/platform';
import type { Logger } from '@rookery/platform';
import { DeadJobs } from './dead-jobs';
import { JobHandlers } from './job-handlers';
import { JobRecords } from './job-records';
import { JobRunner } from './job-runner';
import { JobWorker } from './job-worker';
import { Jobs } from './jobs';
import { jobSettings } from './jobs.config';
import type { JobSettings } from './jobs.config';

type RunnerParts = [Database, Work, JobRecords, JobHandlers, JobRunner, DeadJobs, JobSettings, Logger, Metrics];

/**
 * Deferred jobs of a service. Global; needs `PlatformModule` and `PersistenceModule`, and `jobMigrations` in the
 * database. `Jobs` enqueues in any role; `JobWorker` executes jobs once `withJobs` starts it.
 */
@Module({})
export class JobsModule {
  static forRoot(o: { readonly service: ServiceName }): DynamicModule {
    const name = `rookery-${o.service}-jobs`;
    return {
      module: JobsModule,
      global: true,
      imports: [DiscoveryModule],
      providers: [
        ...[DeadJobs, JobHandlers, JobRecords, JobRunner, Jobs],
        {
          provide: JobWorker,
          inject: [Database, Work, JobRecords, JobHandlers, JobRunner, DeadJobs, jobSettings.token, LOGGER, Metrics],
          useFactory: (...[database, work, records, handlers, runner, dead, settings, logger, metrics]: RunnerParts) =>
            new JobWorker({ name, database, work, records, handlers, runner, dead, settings, logger, metrics }),
        },
      ],
      exports: [Jobs, JobWorker],
    };
  }
}
