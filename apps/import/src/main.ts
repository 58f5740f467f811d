import { apiV4Server } from '@rookery/api-v4';
import { lostCommand } from '@rookery/directory';
import { eventWorker, messagingSettings, republishCommand } from '@rookery/messaging';
import { databaseSettingsFor, deadLetterCommands, migrate } from '@rookery/persistence';
import { boot } from '@rookery/platform';
import { migrations } from './database';

void boot({
  name: 'import',
  settings: [databaseSettingsFor('import'), messagingSettings],
  module: async () => (await import('./import.module')).ImportModule,
  http: apiV4Server,
  worker: eventWorker,
  migrate: migrate({ service: 'import', migrations }),
  commands: { ...deadLetterCommands, ...republishCommand, ...lostCommand },
});
