import { apiV4Server } from '@rookery/api-v4';
import { lostCommand } from '@rookery/directory';
import { egressSettings } from '@rookery/egress';
import { gitSettings } from '@rookery/git';
import { jobSettings, withJobs } from '@rookery/jobs';
import { eventWorker, messagingSettings, republishCommand } from '@rookery/messaging';
import { databaseSettingsFor, deadLetterCommands, createMigrateStep } from '@rookery/persistence';
import type { ProcessDefinition } from '@rookery/platform';
import { migrations } from './database';
import { importSettings } from './import.config';

/** The service as a process. */
export const importProcess: ProcessDefinition = {
  name: 'import',
  settings: [
    databaseSettingsFor('import'),
    messagingSettings,
    jobSettings,
    egressSettings,
    gitSettings,
    importSettings,
  ],
  module: async () => (await import('./import.module')).ImportModule,
  http: apiV4Server,
  worker: withJobs(eventWorker),
  migrate: createMigrateStep({ service: 'import', migrations }),
  commands: { ...deadLetterCommands, ...republishCommand, ...lostCommand },
};
