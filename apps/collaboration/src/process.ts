import { apiV4Server } from '@rookery/api-v4';
import { lostCommand } from '@rookery/directory';
import { jobSettings } from '@rookery/jobs';
import { messagingSettings, republishCommand } from '@rookery/messaging';
import { databaseSettingsFor, deadLetterCommands, createMigrateStep } from '@rookery/persistence';
import type { ProcessDefinition } from '@rookery/platform';
import { collaborationSettings } from './collaboration.config';
import { collaborationWorker } from './collaboration.worker';
import { migrations } from './database';

/** The service as a process. */
export const collaborationProcess: ProcessDefinition = {
  name: 'collaboration',
  settings: [databaseSettingsFor('collaboration'), messagingSettings, jobSettings, ...collaborationSettings],
  module: async () => (await import('./collaboration.module')).CollaborationModule,
  http: apiV4Server,
  worker: collaborationWorker,
  migrate: createMigrateStep({ service: 'collaboration', migrations }),
  commands: { ...deadLetterCommands, ...republishCommand, ...lostCommand },
};
