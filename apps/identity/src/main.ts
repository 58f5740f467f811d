import 'reflect-metadata';
import { apiV4Server } from '@rookery/api-v4';
import { deadLetterCommands, eventWorker, messagingSettings, republishCommand } from '@rookery/messaging';
import { databaseSettingsFor, migrate } from '@rookery/persistence';
import { boot } from '@rookery/platform';
import { bootstrapCommand } from './bootstrap/bootstrap.command';
import { bootstrapSettings } from './bootstrap/bootstrap.config';
import { migrations } from './database';
import { newEpochCommand } from './directory/new-epoch.command';
import { identitySettings } from './identity.config';

void boot({
  name: 'identity',
  settings: [databaseSettingsFor('identity'), messagingSettings, identitySettings, bootstrapSettings],
  module: async () => (await import('./identity.module')).IdentityModule,
  http: apiV4Server,
  worker: eventWorker,
  migrate: migrate({ service: 'identity', migrations }),
  commands: { bootstrap: bootstrapCommand, ...deadLetterCommands, ...republishCommand, ...newEpochCommand },
});
