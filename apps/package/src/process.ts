import 'reflect-metadata';
import { apiV4Server } from '@rookery/api-v4';
import { blobsSettings } from '@rookery/blobs';
import { lostCommand } from '@rookery/directory';
import { applicationSettings } from '@rookery/instance';
import { jobSettings, withJobs } from '@rookery/jobs';
import { eventWorker, messagingSettings, republishCommand } from '@rookery/messaging';
import { databaseSettingsFor, deadLetterCommands, createMigrateStep } from '@rookery/persistence';
import type { ProcessDefinition } from '@rookery/platform';
import { migrations } from './database';
import { packageSettings } from './package.config';

/** The service as a process. */
export const packageProcess: ProcessDefinition = {
  name: 'package',
  settings: [
    databaseSettingsFor('package'),
    messagingSettings,
    jobSettings,
    applicationSettings,
    blobsSettings,
    packageSettings,
  ],
  module: async () => (await import('./package.module')).PackageModule,
  http: apiV4Server,
  worker: withJobs(eventWorker),
  migrate: createMigrateStep({ service: 'package', migrations }),
  commands: { ...deadLetterCommands, ...republishCommand, ...lostCommand },
};
