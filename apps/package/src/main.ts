import { apiV4Server } from '@rookery/api-v4';
import { lostCommand } from '@rookery/directory';
import { applicationSettings } from '@rookery/instance';
import { eventWorker, messagingSettings, republishCommand } from '@rookery/messaging';
import { databaseSettingsFor, deadLetterCommands, migrate } from '@rookery/persistence';
import { boot } from '@rookery/platform';
import { migrations } from './database';

void boot({
  name: 'package',
  settings: [databaseSettingsFor('package'), messagingSettings, applicationSettings],
  module: async () => (await import('./package.module')).PackageModule,
  http: apiV4Server,
  worker: eventWorker,
  migrate: migrate({ service: 'package', migrations }),
  commands: { ...deadLetterCommands, ...republishCommand, ...lostCommand },
});
