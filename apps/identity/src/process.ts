import { apiV4Server } from '@rookery/api-v4';
import { applicationSettings } from '@rookery/instance';
import { jobSettings, withJobs } from '@rookery/jobs';
import { eventWorker, messagingSettings, republishCommand } from '@rookery/messaging';
import { databaseSettingsFor, deadLetterCommands, createMigrateStep } from '@rookery/persistence';
import type { ProcessDefinition } from '@rookery/platform';
import { bootstrapCommand } from './bootstrap/bootstrap.command';
import { bootstrapSettings } from './bootstrap/bootstrap.config';
import { fixedTokensCommand } from './bootstrap/fixed-tokens.command';
import { migrations } from './database';
import { newEpochCommand } from './directory/new-epoch.command';
import { identitySettings } from './identity.config';
import { lostCommand } from './removal/lost.command';

/** The service as a process. */
export const identityProcess: ProcessDefinition = {
  name: 'identity',
  settings: [
    databaseSettingsFor('identity'),
    messagingSettings,
    jobSettings,
    applicationSettings,
    identitySettings,
    bootstrapSettings,
  ],
  module: async () => (await import('./identity.module')).IdentityModule,
  http: apiV4Server,
  worker: withJobs(eventWorker),
  migrate: createMigrateStep({ service: 'identity', migrations }),
  commands: {
    bootstrap: bootstrapCommand,
    'fixed-tokens': fixedTokensCommand,
    ...deadLetterCommands,
    ...republishCommand,
    ...newEpochCommand,
    ...lostCommand,
  },
};
