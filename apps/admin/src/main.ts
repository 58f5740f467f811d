import { apiV4Server } from '@rookery/api-v4';
import { applicationSettings } from '@rookery/instance';
import { eventWorker, messagingSettings, republishCommand } from '@rookery/messaging';
import { databaseSettingsFor, deadLetterCommands, migrate } from '@rookery/persistence';
import { boot } from '@rookery/platform';
import { migrations } from './database';

void boot({
  name: 'admin',
  settings: [databaseSettingsFor('admin'), messagingSettings, applicationSettings],
  module: async () => (await import('./admin.module')).AdminModule,
  http: apiV4Server,
  worker: eventWorker,
  migrate: migrate({ service: 'admin', migrations }),
  commands: { ...deadLetterCommands, ...republishCommand },
});
