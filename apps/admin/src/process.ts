import { apiV4Server } from '@rookery/api-v4';
import { lostCommand } from '@rookery/directory';
import { egressSettings } from '@rookery/egress';
import { applicationSettings } from '@rookery/instance';
import { jobSettings, withJobs } from '@rookery/jobs';
import { eventWorker, messagingSettings, republishCommand } from '@rookery/messaging';
import { databaseSettingsFor, deadLetterCommands, createMigrateStep } from '@rookery/persistence';
import type { ProcessDefinition } from '@rookery/platform';
import { migrations } from './database';
import { geoSettings } from './geo-sites/geo-sites.config';

/** The service as a process. */
export const adminProcess: ProcessDefinition = {
  name: 'admin',
  settings: [
    databaseSettingsFor('admin'),
    messagingSettings,
    jobSettings,
    applicationSettings,
    egressSettings,
    geoSettings,
  ],
  module: async () => (await import('./admin.module')).AdminModule,
  http: apiV4Server,
  worker: withJobs(eventWorker),
  migrate: createMigrateStep({ service: 'admin', migrations }),
  commands: { ...deadLetterCommands, ...republishCommand, ...lostCommand },
};
